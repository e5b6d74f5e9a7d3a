"""Verdicts on public logs of real runs, read from ../shared/logs beside this tree.

The logs are not part of the project; where they are absent these tests have nothing to run on, and
the synthetic ones in the other files stand for each kind of fault.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from numerics.diagnose import Diagnosis, diagnose, noise_of_sweep
from numerics.logs import read_log

LOGS = Path(__file__).resolve().parents[2] / "shared" / "logs"
PRESENT = LOGS.is_dir()
COUPLING, DEGENERACY, CONCENTRATION, INSTABILITY = range(4)


@cache
def diagnosed(name: str) -> tuple[Diagnosis, ...]:
    return diagnose(read_log(LOGS / name))


def verdicts(found: Diagnosis) -> list[str]:
    return [finding.verdict.partition(" ")[0] for finding in found.findings]


#: File, run, part of the summary, the four verdicts ("not": not observable).
EXPECTED = [
    ("llama31_8b_gsm8k_G6.trainer_state.json", "", "healthy, saturated, noisy",
     "not not not healthy"),
    ("gemma3_gsm8k_G4_every10.trainer_state.json", "", "healthy, rising", "healthy not not not"),
    ("llama32_3b_supply_chain_G8.log_history.json", "", "fault: policy concentration",
     "not healthy fault healthy"),
    ("verl_qwen25_7b_econ_G4.log", "", "healthy, saturated", "not not healthy healthy"),
    ("trl_console_qwen25_7b_G4_collapse.log", "", "fault: policy concentration (divergence",
     "not fault fault not"),
    ("trl_console_qwen25_7b_G4_healthy.log", "", "warning: advantage degeneracy",
     "not warning healthy not"),
    ("llama32_1b_leetcode_G8_hacking.jsonl", "start 3", "fault: train-eval coupling (decoupled",
     "fault not healthy healthy"),
    ("tinker_qwen3_4b_code_G8.jsonl", "", "no trend distinguishable from noise",
     "healthy healthy not healthy"),
    ("tinker_arithmetic_G4.jsonl", "", "(no signal left from step 3); saturated",
     "not warning healthy healthy"),
    ("unsloth_llama32_3b_gsm8k_G4.ipynb", "", "healthy, two-stage", "healthy not not healthy"),
    ("two_runs_one_file_math.csv", "run_a_noclip", "healthy, saturated",
     "healthy healthy not healthy"),
    ("two_runs_one_file_math.csv", "run_b", "(dead at the start from step 1); saturated",
     "healthy warning not healthy"),
    *((f"trl_tiny_transformer/G{size}_seed0.trainer_state.json", "", "healthy, saturated",
       "not healthy healthy healthy") for size in (2, 4, 16, 64)),
]  # fmt: skip


def test_every_verdict_is_the_expected_one() -> None:
    for name, run, summary, four in EXPECTED if PRESENT else []:
        found = {one.run: one for one in diagnosed(name)}[run]
        assert summary in found.summary, name
        assert verdicts(found) == four.split(), name


if PRESENT:

    def test_the_collapse_is_dated() -> None:
        finding = diagnosed("trl_console_qwen25_7b_G4_collapse.log")[0].findings[CONCENTRATION]
        assert finding.onset is not None
        assert 120 <= finding.onset.step <= 145
        assert finding.called_at is not None
        assert finding.onset.step <= finding.called_at <= 160
        assert "from step 40 to 50" in " ".join(finding.evidence)

    def test_a_dead_start_is_dated() -> None:
        finding = diagnosed("two_runs_one_file_math.csv")[1].findings[DEGENERACY]
        assert "from step 1 to 12" in " ".join(finding.evidence)

    def test_csv_and_json_of_one_run_get_one_diagnosis() -> None:
        one, other = (
            diagnosed(f"llama32_3b_supply_chain_G8.{kind}")[0].to_json()
            for kind in ("csv", "log_history.json")
        )
        assert one == other

    def test_old_keys_are_told_with_the_version_that_has_them() -> None:
        finding = diagnosed("llama31_8b_gsm8k_G6.trainer_state.json")[0].findings[DEGENERACY]
        assert any("frac_reward_zero_std from 0.18" in key for key in finding.missing)

    def test_an_averaged_log_of_few_rows_is_refused_for_both_reasons() -> None:
        name = "gemma3_gsm8k_G4_every10.trainer_state.json"
        evidence = " ".join(diagnosed(name)[0].findings[INSTABILITY].evidence)
        assert "too few" in evidence
        assert "mean over the steps" in evidence

    def test_the_sweep_learns_nothing_and_its_noise_falls_with_the_group_size() -> None:
        name = "tinker_gsm8k_G_sweep.json"
        for found in diagnosed(name):
            assert "no trend distinguishable from noise" in found.summary
        exponent = noise_of_sweep(read_log(LOGS / name))
        assert exponent is not None
        assert exponent.high < 0
