"""The lab with the real trainer, step by step against the theory (opt-in).

    GRPO_DYNAMICS_TRAINER_TESTS=1 python -m pytest -n 0 tests/test_transformer_training.py

needs the extra ``transformer``. The same numbers are checked without torch on the runs that are
kept, in tests/test_transformer_results.py.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from transformer_held import group_gradient

from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.theory.anchored import weight_for
from numerics.experiments.transformer.theory.cycles import period
from numerics.experiments.transformer.theory.staleness_theory import slopes
from numerics.simulation import STALENESS

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("GRPO_DYNAMICS_TRAINER_TESTS") != "1",
        reason="trains with trl: asked for by GRPO_DYNAMICS_TRAINER_TESTS=1",
    ),
    pytest.mark.filterwarnings("ignore"),
]


def _train(setting: Setting) -> Run:
    from numerics.experiments.transformer.lab.trainer import train

    return train(setting)


def _sample_drift(reward: np.ndarray, size: int) -> np.ndarray:
    """Return what a group of these rewards adds to the logit, per unit of eta times gain."""
    spread = reward * (1 - reward)
    return spread / (np.sqrt(spread * size / (size - 1)) + 1e-4)


PLAIN = Setting(p_ref=0.2, pace=0.005, group_size=8, steps=12, measures=("gain-along",))


def test_every_step_is_the_scalar_law() -> None:
    """Two answers: each step moves the logit by eta * gain * (the drift of its own group)."""
    for staleness in ("stale-samples-ratio", "stale-samples", "delayed-gradient"):
        run = _train(replace(PLAIN, staleness=staleness))
        gain = np.interp(run.logit[:-1, 0], run.facts["gain_at"], run.facts["gain_along"])
        said = run.facts["eta"] * gain * _sample_drift(run.reward, 8)
        live = said > 0
        assert live.any()
        np.testing.assert_allclose(np.diff(run.logit[:, 0])[live], said[live], rtol=0.01)
        np.testing.assert_allclose(np.diff(run.logit[:, 0])[~live], 0, atol=1e-6)


def test_a_kl_term_pulls_every_step_as_its_estimator() -> None:
    """Two answers: each step is the slope of the loss of its own group."""
    for kl in ("reverse", "k3"):
        run = _train(replace(PLAIN, p_ref=0.3, p_start=0.6, beta=1.5, kl=kl, pace=0.05))
        gain = np.interp(run.logit[:-1, 0], run.facts["gain_at"], run.facts["gain_along"])
        slopes = [
            -group_gradient(np.arange(8) < round(8 * share), logit, 0.3, 1.5, kl)
            for logit, share in zip(run.logit[:-1, 0], run.reward, strict=True)
        ]
        said = run.facts["eta"] * gain * np.array(slopes)
        np.testing.assert_allclose(np.diff(run.logit[:, 0]), said, rtol=0.02, atol=1e-5)


def test_momentum_starts_from_rest() -> None:
    """The first step of the averaged gradient is (1 - mu) of the plain one, not all of it."""
    plain = _train(PLAIN)
    for name, share in (("heavy-ball", 1.0), ("ema", 0.1), ("nesterov", 1.9)):
        run = _train(replace(PLAIN, optimizer=name, mu=0.9))
        first = int(np.flatnonzero(np.diff(plain.logit[:, 0]))[0])
        ratio = np.diff(run.logit[:, 0])[first] / np.diff(plain.logit[:, 0])[first]
        assert ratio == pytest.approx(share, rel=0.02)


def test_staleness_changes_what_it_should() -> None:
    """On-policy the three kinds are one; with refresh 4 they part after the first step."""
    kinds = ("stale-samples-ratio", "stale-samples", "delayed-gradient")
    held = replace(PLAIN, p_ref=0.5, p_start=0.7, beta=1.0, pace=0.2, group_size=32)
    on = [_train(replace(held, staleness=kind)).logit for kind in kinds]
    np.testing.assert_allclose(on[0], on[1], rtol=1e-5)
    np.testing.assert_allclose(on[0], on[2], rtol=1e-5)
    off = [_train(replace(held, staleness=kind, refresh=4)).logit[:, 0] for kind in kinds]
    for one, two in ((0, 1), (0, 2), (1, 2)):
        assert off[one][1] == pytest.approx(off[two][1], rel=1e-4)
        assert abs(off[one][4] - off[two][4]) > 1e-4


def test_policies_are_where_they_are_asked_to_be() -> None:
    """Calibrated to 1e-5 of logit for every prompt and task; the trainer samples the same p."""
    from numerics.experiments.transformer.lab.policy import success_logit
    from numerics.experiments.transformer.lab.trainer import prepare

    spread = (0.05, 0.3, 0.6, 0.9)
    for name in ("one-token", "several-token", "parity"):
        setting = Setting(task=name, answers=8, prompts=4, p_ref=spread, p_start=0.5)
        work, first, reference = prepare(setting)
        p = 1 / (1 + np.exp(-success_logit(reference, work).detach().numpy()))
        np.testing.assert_allclose(p, spread, atol=1e-5)
        assert np.abs(success_logit(first, work).detach().numpy()).max() < 1e-4
        still = _train(replace(setting, p_start=None, pace=1e-9, steps=40, group_size=64))
        # 2560 samples a prompt; |z| < 6.11 of their mean.
        error = np.sqrt(np.mean([q * (1 - q) for q in spread]) / (40 * 64 * 4))
        assert abs(still.reward.mean() - np.mean(spread)) < 6.11 * error


@pytest.mark.parametrize("staleness", STALENESS)
def test_the_response_of_the_trainer_is_the_formulas(staleness: str) -> None:
    """Fresh and stale slopes within five standard errors, and the run is not disturbed."""
    size, p_star, p_ref = 64, 0.8, 0.45
    beta = weight_for(p_star, group_size=size, kl="reverse", p_ref=p_ref)
    setting = Setting(
        p_ref=p_ref, p_start=p_star, beta=beta, pace=1.0, group_size=size, staleness=staleness,
        refresh=2, steps=3,
    )  # fmt: skip
    run = _train(replace(setting, measures=("response",)))
    said = slopes(
        staleness, group_size=size, beta=beta, p_ref=p_ref, p_star=p_star, kl="sampled"
    )  # fmt: skip
    expected = {"fresh": said.fresh, "stale": said.stale, "whole": said.stiffness}
    for kind, value in expected.items():
        values = np.array(run.facts["response"][kind])
        error = values.std(ddof=1) / np.sqrt(values.size)
        assert values.mean() == pytest.approx(value, abs=5 * error + 0.003)
    np.testing.assert_array_equal(run.logit, _train(setting).logit)


def test_a_batch_used_again_is_sampled_once() -> None:
    """num_iterations lengthens the cycle: M batches n times each are one sampling of M n steps."""
    again = Setting(
        p_ref=0.3, pace=0.3, group_size=16, refresh=2, steps=12, trl=(("num_iterations", 3),)
    )  # fmt: skip
    run = _train(again)
    assert len(run.reward) == 12 // period(run) == 2
    # Under a delayed gradient the same batch makes the same step, three times in turn.
    moves = np.diff(_train(replace(again, staleness="delayed-gradient", pace=0.01)).logit[:, 0])
    for first in (0, 1, 6, 7):
        np.testing.assert_allclose(moves[first : first + 5 : 2], moves[first], rtol=0.02)


def test_an_interrupted_experiment_goes_on(tmp_path: Path) -> None:
    """Runs that are there are not done again."""
    from numerics.experiments.transformer import chosen, do

    (experiment,) = chosen(["E2"])
    first = do(experiment, tmp_path, quick=True, processes=1)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    counted: list[int] = []

    def progress(results, total):  # type: ignore[no-untyped-def]
        counted.append(total)
        return results

    again = do(experiment, tmp_path, quick=True, processes=1, progress=progress)
    assert counted == [0]
    assert again.rows == first.rows
    assert set(before) == {"E2.paths.csv", "E2.runs.csv"}
