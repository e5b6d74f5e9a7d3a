"""Dead groups: counted, compared with chance, waited for; and not read off a misleading column."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from diagnose_logs import make_run, rise

from numerics.diagnose import (
    FAULT,
    HEALTHY,
    NOT_OBSERVABLE,
    WARNING,
    Context,
    dead_groups,
    degeneracy,
    steps_until_live,
)
from numerics.inputs import InvalidInput


@pytest.mark.parametrize(
    ("group_size", "share"), [(2, 0.7024), (4, 0.4490), (8, 0.2007), (16, 0.0403)]
)
def test_dead_groups_are_those_of_the_theory(group_size: int, share: float) -> None:
    assert dead_groups(0.1819, group_size) == pytest.approx(share, abs=5e-5)


def test_the_expected_wait_is_geometric() -> None:
    assert steps_until_live(0.5, 1) == 2
    assert steps_until_live(0.9, 8) == pytest.approx(1 / (1 - 0.9**8))
    assert steps_until_live(1.0, 8) == np.inf


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: dead_groups(1.5, 4), "probability"),
        (lambda: dead_groups(0.5, 0), "group_size"),
        (lambda: steps_until_live(-0.1, 4), "share"),
        (lambda: steps_until_live(0.5, 0), "prompts"),
    ],
)
def test_numbers_out_of_range_are_refused(call: object, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        call()  # type: ignore[operator]


def groups(p: np.ndarray, group_size: int, prompts: int, seed: int) -> Mapping[str, np.ndarray]:
    """Draw rewards of equally hard prompts; return the mean and the share of dead groups."""
    random = np.random.default_rng(seed)
    good = random.binomial(group_size, p[:, None], (len(p), prompts))
    return {
        "reward": good.mean(axis=1) / group_size,
        "dead_fraction": ((good == 0) | (good == group_size)).mean(axis=1),
    }


def test_chance_alone_explains_equally_hard_prompts() -> None:
    run = make_run(**groups(np.full(300, 0.3), 4, 8, 1))
    finding = degeneracy(run, Context(group_size=4, prompts=8))
    assert finding.verdict == HEALTHY
    assert finding.value is not None
    expected = finding.measures["dead share expected"].value
    assert finding.value.low < expected < finding.value.high
    assert "prompts differ" not in " ".join(finding.evidence)


def test_more_dead_groups_than_chance_makes_is_told() -> None:
    """Half of the prompts at 0.05, half at 0.55."""
    easy = groups(np.full(300, 0.55), 4, 8, 2)
    hard = groups(np.full(300, 0.05), 4, 8, 3)
    run = make_run(**{key: (easy[key] + hard[key]) / 2 for key in easy})
    finding = degeneracy(run, Context(group_size=4, prompts=16))
    assert "prompts differ" in " ".join(finding.evidence)


def test_a_row_with_every_group_dead_says_so() -> None:
    """Per-function std 5.08, reward_std 0, dead fraction 1, loss 0, gradient norm 0."""
    one = np.array([1.0])
    run = make_run(reward=one, dead_fraction=one, reward_std=0 * one, loss=0 * one)
    finding = degeneracy(run, Context())
    assert (finding.verdict, finding.kind) == (WARNING, "all dead")
    assert finding.value is not None
    assert finding.value.value == 1
    assert "No row has a live group" in " ".join(finding.evidence)
    many = make_run(reward=np.zeros(40), dead_fraction=np.ones(40))
    assert degeneracy(many, Context()).verdict == FAULT


def test_a_dead_start_is_told_with_its_steps() -> None:
    p = np.r_[np.zeros(15), rise(85, 20)]
    finding = degeneracy(make_run(**groups(p, 8, 4, 4)), Context())
    assert (finding.verdict, finding.kind) == (WARNING, "dead at the start")
    assert finding.onset is not None
    assert finding.onset.step == 1
    assert "from step 1 to" in " ".join(finding.evidence)


def test_a_run_that_dies_at_the_bottom_is_a_fault_with_its_onset() -> None:
    p = np.r_[np.full(60, 0.5), np.zeros(40)]
    finding = degeneracy(make_run(**groups(p, 8, 4, 5)), Context())
    assert (finding.verdict, finding.kind) == (FAULT, "no signal")
    assert finding.onset is not None
    assert abs(finding.onset.step - 61) <= 2


def test_rising_to_the_ceiling_is_no_fault_but_sitting_there_is_a_warning() -> None:
    rose = make_run(**groups(rise(200, 30, low=0.2, high=0.985), 8, 8, 6))
    assert degeneracy(rose, Context()).verdict == HEALTHY
    sits = make_run(**groups(np.full(200, 0.985), 8, 8, 7))
    finding = degeneracy(sits, Context())
    assert (finding.verdict, finding.kind) == (WARNING, "most groups dead")
    done = make_run(**groups(rise(200, 10, low=0.2, high=0.9999), 8, 8, 8))
    finding = degeneracy(done, Context())
    assert (finding.verdict, finding.kind) == (WARNING, "no signal left")


@pytest.mark.parametrize(
    "columns",
    [
        {"live_fraction": np.tile([0.5, 0.25, 0.75, 0.5], 10)},
        {"all_good_fraction": np.full(40, 0.2), "all_bad_fraction": np.full(40, 0.3)},
    ],
)
def test_the_same_share_under_other_names(columns: Mapping[str, np.ndarray]) -> None:
    finding = degeneracy(make_run(reward=np.linspace(0.3, 0.5, 40), **columns), Context())
    assert finding.value is not None
    assert finding.value.value == pytest.approx(0.5, abs=0.05)


GLOBAL = "std of all rewards of the step at once (ddof 1), no measure of dead groups"
MEAN = "mean over the groups of the std in a group (ddof 1)"


def test_reward_std_is_no_measure_from_trl_0_27_on() -> None:
    """All groups dead, half at 0 and half at 1: 0 before, 0.501 after, from 256 rewards."""
    n = 256
    after = np.full(40, 0.5 * np.sqrt(n / (n - 1)))
    reward = np.full(40, 0.5) + 1e-3 * np.arange(40)
    late = make_run(reward=reward, reward_std=after, meanings={"reward_std": GLOBAL})
    finding = degeneracy(late, Context())
    assert finding.verdict == NOT_OBSERVABLE
    assert "0.27" in " ".join(finding.evidence)
    assert any("frac_reward_zero_std" in key for key in finding.missing)
    early = make_run(reward=reward, reward_std=0 * after, meanings={"reward_std": MEAN})
    finding = degeneracy(early, Context())
    assert finding.verdict == NOT_OBSERVABLE
    assert "In 40 of 40 rows" in " ".join(finding.evidence)
