"""What public logs say of the claimed R^2; reads `../shared` and checks nothing without it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from numerics.fit import claimed_r_squared, curve_of_log, fit
from numerics.logs import read_log

LOGS = Path(__file__).resolve().parents[2] / "shared" / "logs"
#: Verdict on raw rows, as docs/how-to/fit-a-curve.md and the record have it: (file, run, verdict).
EXPECTED = [
    ("llama31_8b_gsm8k_G6.trainer_state.json", None, "out of reach"),
    ("unsloth_llama32_3b_gsm8k_G4.ipynb", None, "missed"),
    ("gemma3_gsm8k_G4_every10.trainer_state.json", None, "out of reach"),
    ("verl_qwen25_7b_econ_G4.log", None, "out of reach"),
    ("llama32_3b_supply_chain_G8.csv", None, "out of reach"),
    ("llama32_1b_leetcode_G8_hacking.jsonl", "start 3", "reached"),
    ("tinker_arithmetic_G4.jsonl", None, "reached"),
    ("two_runs_one_file_math.csv", "run_a_noclip", "out of reach"),
    ("two_runs_one_file_math.csv", "run_b", "out of reach"),
    ("trl_tiny_transformer/G2_seed0.trainer_state.json", None, "out of reach"),
    ("trl_tiny_transformer/G4_seed0.trainer_state.json", None, "undecided"),
    ("trl_tiny_transformer/G16_seed0.trainer_state.json", None, "reached"),
    ("trl_tiny_transformer/G64_seed0.trainer_state.json", None, "reached"),
]
HERE = [case for case in EXPECTED if (LOGS / case[0]).exists()]


def test_the_counts_are_those_of_the_record() -> None:
    assert Counter(verdict for _, _, verdict in EXPECTED) == {
        "reached": 4, "missed": 1, "undecided": 1, "out of reach": 7,
    }  # fmt: skip


def test_the_claimed_r_squared_on_raw_rows() -> None:
    for file, run, verdict in HERE:
        given = curve_of_log(read_log(LOGS / file), run=run).series
        found = claimed_r_squared(fit(given, "three-phase"), fit(given, "exponential"))
        assert found.verdict == verdict, (file, run)
