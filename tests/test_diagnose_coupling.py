"""Training progress against what it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from diagnose_logs import make_log, make_run, rise

from numerics.diagnose import (
    FAULT,
    HEALTHY,
    NOT_OBSERVABLE,
    WARNING,
    Context,
    best_checkpoint,
    coupling,
    diagnose,
)
from numerics.inputs import InvalidInput


def noisy(level: np.ndarray, seed: int, size: float = 0.03) -> np.ndarray:
    return level + size * np.random.default_rng(seed).standard_normal(len(level))


def held_out(level: np.ndarray, seed: int, *, every: int = 10, size: float = 0.01):  # type: ignore[no-untyped-def]
    step = every * np.arange(1.0, len(level) + 1)
    return make_run(step=step, eval_reward=noisy(level, seed, size))


def test_slopes_of_opposite_sign_are_a_fault() -> None:
    run = make_run(reward=noisy(rise(200, 60), 1))
    finding = coupling(run, Context(evaluation=held_out(np.linspace(0.6, 0.4, 20), 2)))
    assert (finding.verdict, finding.kind) == (FAULT, "opposite slopes")
    assert finding.value is not None
    assert finding.value.high < 0
    assert {"hacking", "mismatch"} <= {
        word for rival in finding.rivals for word in rival.explanation.replace(":", "").split()
    }


def test_an_evaluation_that_turns_is_caught_in_the_late_part() -> None:
    level = np.r_[np.linspace(0.3, 0.6, 15), np.linspace(0.6, 0.35, 15)]
    run = make_run(reward=noisy(np.linspace(0.2, 0.9, 300), 3))
    finding = coupling(run, Context(evaluation=held_out(level, 4)))
    assert (finding.verdict, finding.kind) == (FAULT, "opposite slopes")
    assert "since step" in finding.evidence[0]
    assert "step 150" in finding.evidence[1] or "step 160" in finding.evidence[1]


def test_progress_that_is_passed_on_is_healthy() -> None:
    run = make_run(reward=noisy(rise(200, 60), 5))
    finding = coupling(run, Context(evaluation=held_out(rise(20, 6, low=0.3, high=0.6), 6)))
    assert finding.verdict == HEALTHY
    assert finding.value is not None
    assert finding.value.low > 0.2


def test_opposite_but_inside_the_noise_is_a_warning_and_not_a_fault() -> None:
    """Train 0.65 to 0.74, held-out 0.63 to 0.58 of 500 items: 1.6 standard errors."""
    run = make_run(reward=noisy(np.linspace(0.65, 0.74, 100), 7, 0.02))
    two = make_run(step=np.array([1.0, 100.0]), eval_reward=np.array([0.63, 0.58]))
    finding = coupling(run, Context(evaluation=two, evaluation_items=500))
    assert (finding.verdict, finding.kind) == (WARNING, "perhaps opposite")
    assert "-1.6 standard errors" in finding.evidence[0]
    many = coupling(run, Context(evaluation=two, evaluation_items=50_000))
    assert many.verdict == FAULT
    unknown = coupling(run, Context(evaluation=two))
    assert unknown.verdict == NOT_OBSERVABLE
    assert "--eval-items" in unknown.evidence[0]


def test_a_proxy_that_rises_alone_is_decoupled() -> None:
    """Proxy 0.21 to 0.74; the true reward stays near 0, though it rises a little."""
    run = make_run(
        reward=noisy(np.linspace(0.21, 0.74, 45), 8, 0.01),
        true_reward=np.abs(noisy(np.linspace(0.001, 0.004, 45), 9, 0.001)),
    )
    finding = coupling(run, Context())
    assert (finding.verdict, finding.kind) == (FAULT, "decoupled")
    assert finding.value is not None
    assert finding.value.high < 0.1


def test_format_learnt_while_correctness_stands_is_a_warning() -> None:
    random = np.random.default_rng(10)
    correct = 0.5 + 0.03 * random.standard_normal(200)
    run = make_run(reward=correct + rise(200, 20, low=0.0, high=1.0), true_reward=correct)
    finding = coupling(run, Context())
    assert (finding.verdict, finding.kind) == (WARNING, "decoupled")


def test_a_true_reward_that_is_the_reward_is_no_second_opinion() -> None:
    reward = noisy(rise(100, 30), 11)
    finding = coupling(make_run(reward=reward, true_reward=2 * reward), Context())
    assert finding.verdict == NOT_OBSERVABLE
    assert any("eval_strategy" in key for key in finding.missing)


def test_without_training_progress_nothing_is_claimed() -> None:
    run = make_run(reward=noisy(np.full(100, 0.4), 12))
    finding = coupling(run, Context(evaluation=held_out(np.full(10, 0.3), 13)))
    assert finding.verdict == HEALTHY
    assert "no training progress" in finding.evidence[0]


def test_noise_is_seldom_called_apart() -> None:
    """Rising training reward, evaluations that rise as well but drown in their noise."""
    faults = 0
    for seed in range(200):
        run = make_run(reward=noisy(rise(120, 40), seed))
        level = rise(12, 4, low=0.30, high=0.33)
        finding = coupling(run, Context(evaluation=held_out(level, seed + 1000, size=0.03)))
        faults += finding.verdict == FAULT
    assert faults <= 1


def test_the_best_checkpoint_is_where_the_evaluation_peaks() -> None:
    """Success 55, 98, 26 % at steps 0, 10, 50."""
    assert best_checkpoint(np.array([0.0, 10, 50]), np.array([0.55, 0.98, 0.26])) == 10
    with pytest.raises(InvalidInput, match="shapes"):
        best_checkpoint(np.array([]), np.array([]))
    evaluation = make_run(step=np.array([0.0, 10, 50]), eval_reward=np.array([0.55, 0.98, 0.26]))
    run = make_run(reward=noisy(rise(60, 20), 14), step=np.arange(60.0))
    found = diagnose(make_log(run, evaluations=(evaluation,)), evaluation_items=50)[0]
    assert found.best_step == 10
    assert found.best_by == "eval_reward"


def test_another_log_can_be_the_evaluation() -> None:
    run = make_run(reward=noisy(rise(200, 60), 15))
    falls = noisy(np.linspace(0.6, 0.4, 20), 16, 0.01)
    other = make_run(step=10 * np.arange(1.0, 21), reward=falls)
    found = diagnose(make_log(run), evaluation=make_log(other))[0]
    assert found.finding("train-eval").verdict == FAULT
