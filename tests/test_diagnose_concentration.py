"""Entropy that collapses, spreads or does neither; completions that are cut."""

from __future__ import annotations

import numpy as np
import pytest
from diagnose_logs import make_log, make_run, rise

from numerics.diagnose import FAULT, HEALTHY, NOT_OBSERVABLE, WARNING, Context, concentration
from numerics.diagnose import diagnose as whole

RANDOM = 40


def noisy(level: np.ndarray, share: float = 0.1, seed: int = RANDOM) -> np.ndarray:
    return level * np.exp(share * np.random.default_rng(seed).standard_normal(len(level)))


def reward(level: np.ndarray, seed: int = 41) -> np.ndarray:
    return level + 0.05 * np.random.default_rng(seed).standard_normal(len(level))


@pytest.mark.parametrize("rows", [20, 60, 200])
def test_entropy_up_and_reward_down_is_divergence(rows: int) -> None:
    """0.3 to 2.0 with falling reward is divergence, not concentration."""
    run = make_run(
        reward=reward(np.linspace(0.7, 0.3, rows)),
        entropy=noisy(np.linspace(0.3, 2.0, rows), 0.05),
    )
    finding = concentration(run, Context())
    assert (finding.verdict, finding.kind) == (FAULT, "divergence")
    assert finding.rivals


def test_a_level_entropy_is_neither() -> None:
    run = make_run(reward=reward(np.full(200, 0.5)), entropy=noisy(np.full(200, 0.6), 0.2))
    finding = concentration(run, Context())
    assert (finding.verdict, finding.kind) == (HEALTHY, "")


def test_noise_is_seldom_called() -> None:
    """200 logs of level entropy and level reward, 8 to 120 rows: at most one flag."""
    flagged = 0
    for seed in range(200):
        rows = (8, 15, 40, 120)[seed % 4]
        run = make_run(
            reward=reward(np.full(rows, 0.5), seed), entropy=noisy(np.full(rows, 0.6), 0.3, seed)
        )
        flagged += concentration(run, Context()).verdict in (WARNING, FAULT)
    assert flagged <= 1


def test_a_fall_hidden_by_a_rising_reward_is_a_fault() -> None:
    entropy = np.r_[np.full(100, 0.6), np.geomspace(0.6, 0.05, 100)]
    run = make_run(reward=reward(rise(200, 80)), entropy=noisy(entropy))
    finding = concentration(run, Context())
    assert (finding.verdict, finding.kind) == (FAULT, "collapse")
    assert finding.onset is not None
    assert 80 <= finding.onset.step <= 120
    assert "hides it" in finding.evidence[0]


def test_a_fall_as_the_task_is_solved_is_healthy() -> None:
    level = rise(200, 20, low=0.1, high=1.0)
    random = np.random.default_rng(42)
    solved = random.binomial(32, level) / 32
    run = make_run(reward=solved, entropy=noisy(np.geomspace(2.9, 0.1, 200)))
    finding = concentration(run, Context())
    assert finding.verdict == HEALTHY
    assert "solved" in finding.evidence[0]


def test_a_moderate_fall_is_healthy_and_a_larger_one_a_warning() -> None:
    for factor, verdict in ((2.0, HEALTHY), (4.0, WARNING), (8.0, FAULT)):
        run = make_run(
            reward=reward(rise(200, 80)), entropy=noisy(np.geomspace(1.0, 1 / factor, 200), 0.03)
        )
        assert concentration(run, Context()).verdict == verdict, factor


def test_growth_with_a_rising_reward_is_healthy() -> None:
    run = make_run(reward=reward(rise(200, 40)), entropy=noisy(rise(200, 40, low=0.13, high=0.27)))
    assert concentration(run, Context()).verdict == HEALTHY


def test_an_excursion_that_came_back_is_told_and_the_last_one_dated() -> None:
    level = np.full(80, 0.1)
    level[15:19] = 1.5
    level[55:65] = np.geomspace(0.1, 5, 10)
    level[65:] = 5
    good = np.full(80, 0.9)
    good[15:19] = 0.1
    good[55:] = np.r_[np.linspace(0.9, 0, 10), np.zeros(15)]
    run = make_run(reward=np.clip(reward(good), 0, 1), entropy=noisy(level))
    finding = whole(make_log(run))[0].finding("policy")
    assert (finding.verdict, finding.kind) == (FAULT, "divergence")
    assert finding.onset is not None
    assert 50 <= finding.onset.step <= 62
    assert finding.called_at is not None
    assert 55 <= finding.called_at <= 70
    assert "had come back" in " ".join(finding.evidence)


def test_an_excursion_alone_is_no_fault_afterwards() -> None:
    level = np.full(80, 0.1)
    level[15:19] = 1.5
    run = make_run(reward=reward(np.full(80, 0.8)), entropy=noisy(level))
    assert concentration(run, Context()).verdict == HEALTHY


def test_truncation_that_rises_is_a_fault_of_its_own() -> None:
    share = np.clip(np.r_[np.full(20, 0.1), np.linspace(0.1, 1, 20), np.full(60, 0.98)], 0, 1)
    run = make_run(
        reward=reward(rise(100, 30)), truncated_fraction=share, length=np.full(100, 700.0)
    )
    finding = concentration(run, Context())
    assert (finding.verdict, finding.kind) == (FAULT, "truncation")
    assert finding.onset is not None
    assert 15 <= finding.onset.step <= 25
    assert any("0.20" in key for key in finding.missing)


def test_one_token_answers_are_cut_by_design() -> None:
    run = make_run(
        reward=reward(rise(100, 30)), entropy=noisy(np.full(100, 1.0)),
        truncated_fraction=np.linspace(0.3, 1, 100), length=np.ones(100),
    )  # fmt: skip
    assert concentration(run, Context()).verdict == HEALTHY


def test_without_an_entropy_it_is_not_observable() -> None:
    finding = concentration(make_run(reward=reward(rise(100, 30))), Context())
    assert finding.verdict == NOT_OBSERVABLE
    assert any("trl logs it as entropy from 0.20 on" in key for key in finding.missing)
