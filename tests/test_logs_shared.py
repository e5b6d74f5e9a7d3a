"""The real logs in ../shared/logs, which is beside the project and not part of it.

Without that directory nothing is checked here; the tests of formats, rows and meanings
cover the same ground on logs they write themselves.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from numerics.inputs import InvalidInput
from numerics.logs import read_log

SHARED = Path(__file__).resolve().parents[2] / "shared" / "logs"
#: Reward rows of each run and their spacing, as that directory's README has them.
ROWS: dict[str, tuple[list[int], float | None]] = {
    "llama31_8b_gsm8k_G6.trainer_state.json": ([250], 1),
    "gemma3_gsm8k_G4_every10.trainer_state.json": ([25], 10),
    "llama32_3b_supply_chain_G8.log_history.json": ([400], 1),
    "llama32_3b_supply_chain_G8.csv": ([400], 1),
    "verl_qwen25_7b_econ_G4.log": ([699], 1),
    "trl_console_qwen25_7b_G4_collapse.log": ([40], 5),
    "trl_console_qwen25_7b_G4_healthy.log": ([40], 5),
    "llama32_1b_leetcode_G8_hacking.jsonl": ([1, 6, 45], 1),
    "tinker_qwen3_4b_code_G8.jsonl": ([101], 1),
    "tinker_arithmetic_G4.jsonl": ([100], 1),
    "tinker_gsm8k_G_sweep.json": ([30] * 15, 1),
    "unsloth_llama32_3b_gsm8k_G4.ipynb": ([500], 1),
    "two_runs_one_file_math.csv": ([75, 100], 1),
    **{f"trl_tiny_transformer/G{g}_seed0.trainer_state.json": ([300], 1) for g in (2, 4, 16, 64)},
}
PRESENT = [name for name in ROWS if (SHARED / name).exists()]


def test_reward_rows() -> None:
    for name in PRESENT:
        rows, spacing = ROWS[name]
        log = read_log(SHARED / name)
        assert [run.series("reward")[0].size for run in log.runs] == rows, name
        assert log.rows["reward"] == sum(rows), name
        assert log.runs[-1].spacing == spacing, name
        assert log.gaps == (), name


def test_csv_and_json_of_one_run_agree() -> None:
    names = [n for n in PRESENT if n.startswith("llama32_3b_supply_chain")]
    if names:
        one, other = (read_log(SHARED / name) for name in names)
        assert one.rows == other.rows == {"reward": 400, "summary": 2}
        assert set(one.runs[0].columns) == set(other.runs[0].columns)
        np.testing.assert_array_equal(one.runs[0].step, other.runs[0].step)
        for column, values in one.runs[0].values.items():
            np.testing.assert_array_equal(values, other.runs[0].values[column], err_msg=column)


def test_end_points_are_no_curve() -> None:
    path = SHARED / "nemo_rl_gsm8k_final_accuracy_by_G.csv"
    if path.exists():
        with pytest.raises(InvalidInput, match=r"142 rows of 141 different runs.*end points"):
            read_log(path)


def test_evaluations_of_the_tinker_run() -> None:
    path = SHARED / "tinker_qwen3_4b_code_G8.jsonl"
    if path.exists():
        log = read_log(path)
        assert log.rows == {"reward": 101, "evaluation": 10}
        assert log.evaluations[0].series("eval_reward")[0].size == 10
