"""E4: how a run fluctuates at rest, by theory and on runs that were sampled without torch."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from transformer_held import held_run

from numerics.experiments.transformer.comparison import Row
from numerics.experiments.transformer.fluctuation import FLUCTUATION
from numerics.experiments.transformer.run import load
from numerics.experiments.transformer.setting import Run
from numerics.experiments.transformer.theory.anchored import Anchor, variances, weight_for
from numerics.experiments.transformer.theory.answers import Answers
from numerics.experiments.transformer.theory.stationary import LOGIT, STEP, families

KLS = ("reverse", "k3")


def logit(p: float) -> float:
    return math.log(p / (1 - p))


def noise(kl: str, p_star: float, p_ref: float, size: int) -> float:
    """Return G S at rest at `p_star`."""
    beta = weight_for(p_star, group_size=size, kl=kl, p_ref=p_ref)
    return size * Anchor(size, beta, kl, p_ref).rest(logit(p_star)).noise


def test_variances_are_those_of_an_autoregression() -> None:
    """Of the first order with coefficient 1 - x."""
    for x in (0.01, 0.3, 1.7):
        found = variances(x, 0.5, 0.04)
        level = 0.5**2 * 0.04 / (1 - (1 - x) ** 2)
        assert found.logit == pytest.approx(level, rel=1e-12)
        assert found.step == pytest.approx(level * (2 - 2 * (1 - x)), rel=1e-12)


@pytest.mark.parametrize(("p_star", "p_ref"), [(0.4, 0.3), (0.5, 0.2), (0.8, 0.5)])
def test_the_leading_noise_of_both_estimators(p_star: float, p_ref: float) -> None:
    """k3: as if its KL term had none; reverse: the sum of two logs over their difference."""
    right, wrong = math.log(p_star / p_ref), math.log((1 - p_star) / (1 - p_ref))
    leading = {
        "k3": (1 - 2 * p_star) ** 2 / 4,
        "reverse": ((right + wrong) / (right - wrong)) ** 2 / 4,
    }
    for kl, expected in leading.items():
        half, full = noise(kl, p_star, p_ref, 512), noise(kl, p_star, p_ref, 1024)
        assert 2 * full - half == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize(("kl", "p_star", "p_ref"), [("k3", 0.5, 0.3), ("reverse", 0.6, 0.4)])
def test_where_the_leading_noise_vanishes(kl: str, p_star: float, p_ref: float) -> None:
    """k3 at 1/2, reverse at 1 - p_ref: there S falls as 1/G^2, elsewhere as 1/G."""
    for at, ratio in ((p_star, 2.0), (p_star + 0.2, 1.0)):
        seen = noise(kl, at, p_ref, 128) / noise(kl, at, p_ref, 256)
        assert seen == pytest.approx(ratio, rel=0.06)


@pytest.mark.parametrize("kl", KLS)
def test_two_answers_are_two_arms(kl: str) -> None:
    """Their kernel has one direction, and the theory of all answers is that of the logit."""
    anchor = Anchor(8, weight_for(0.6, group_size=8, kl=kl, p_ref=0.4), kl, 0.4)
    rest, gain, eta = anchor.rests[0], 7.0, 0.02
    slope = np.array([1 - rest.p, -rest.p])
    two = Answers(
        anchor, np.log([rest.p, 1 - rest.p]), np.log([0.4, 0.6]), np.array([True, False]),
        gain * np.outer(slope, slope),
    )  # fmt: skip
    assert two.gain == pytest.approx(gain, rel=1e-12)
    assert two.noise == pytest.approx(rest.noise, rel=1e-6)
    told = variances(eta * gain * rest.stiffness, eta * gain, rest.noise)
    found = two.variances(eta)
    assert found.logit == pytest.approx(told.logit, rel=1e-5)
    assert found.step == pytest.approx(told.step, rel=1e-5)


def of_logits(said: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Return the kernel of the log-probabilities where that of the logits is `kernel`."""
    turn = np.eye(said.size) - np.exp(said)
    return np.asarray(turn @ kernel @ turn.T)


def four_answers(kl: str, size: int) -> tuple[Answers, np.ndarray]:
    """Return four answers, two of them right, without symmetry, and the kernel of their logits."""
    rng = np.random.default_rng(3)
    anchor = Anchor(size, 1.5, kl, 0.4)
    said, held = (row - np.log(np.exp(row).sum()) for row in rng.normal(0, 0.5, (2, 4)))
    slopes = rng.normal(size=(4, 3))
    kernel = slopes @ slopes.T
    right = np.array([True, False, True, False])
    return Answers(anchor, said, held, right, of_logits(said, kernel)), kernel


@pytest.mark.parametrize("kl", KLS)
def test_the_noise_of_many_answers_is_that_of_every_group(kl: str) -> None:
    """All 256 groups of 4 samples of 4 answers, each with its own advantages."""
    four, _ = four_answers(kl, 4)
    pi = np.exp(four.said)
    p = pi[four.right].sum()
    slope = np.where(four.right, pi / p, -pi / (1 - p))
    seen = four.kernel @ slope / four.gain
    pull = four.said - four.held if kl == "reverse" else 1 - np.exp(four.held - four.said)
    drifts, weights = [], []
    for group in product(range(4), repeat=4):
        samples = np.array(group)
        reward = four.right[samples].astype(float)
        advantage = (reward - reward.mean()) / (reward.std(ddof=1) + 1e-4)
        drifts.append(np.mean((advantage - 1.5 * pull[samples]) * seen[samples]))
        weights.append(np.prod(pi[samples]))
    mean = np.dot(weights, drifts)
    assert four.noise == pytest.approx(np.dot(weights, (drifts - mean) ** 2), rel=1e-10)


def test_the_variances_of_many_answers_are_those_of_the_sampled_map() -> None:
    """Four answers at rest under large groups: within 5 %, 400 chains of 200 steps."""
    size, eta = 512, 0.05
    first, kernel = four_answers("reverse", size)
    rng = np.random.default_rng(11)
    y = first.said[None]
    for _ in range(4000):
        y = _moved(first, kernel, y, np.exp(y), eta)
    four = replace(first, said=y[0], kernel=of_logits(y[0], kernel))
    told = four.variances(eta)
    chains = np.tile(y, (400, 1))
    seen = []
    for _ in range(300):
        share = rng.multinomial(size, np.exp(chains)) / size
        chains = _moved(four, kernel, chains, share, eta)
        odds = np.exp(chains)
        seen.append(np.log(odds[:, four.right].sum(1) / odds[:, ~four.right].sum(1)))
    kept = np.array(seen[100:])
    assert kept.var() == pytest.approx(told.logit, rel=0.05)
    assert (np.diff(kept, axis=0) ** 2).mean() == pytest.approx(told.step, rel=0.05)


def _moved(
    four: Answers, kernel: np.ndarray, y: np.ndarray, share: np.ndarray, eta: float
) -> np.ndarray:
    """Return the log-probabilities after a step on groups with these shares of each answer."""
    size = four.anchor.group_size
    right = share[:, four.right].sum(1, keepdims=True)
    std = np.sqrt(right * (1 - right) * size / (size - 1)) + 1e-4
    pull = four.anchor.beta * (y - four.held)
    force = share * ((four.right - right) / std - pull)
    force = force - np.exp(y) * force.sum(1, keepdims=True)  # the slopes of a softmax
    y = y + eta * force @ kernel
    return np.asarray(y - np.log(np.exp(y).sum(1, keepdims=True)))


@cache
def sampled(factor: float) -> tuple[list[Run], list[Row]]:
    """Return the runs of two answers, sampled; their deviations from rest times `factor`."""
    plan = load(FLUCTUATION, quick=False)
    cases = [case for case in plan["cases"] if case.get("answers", 2) == 2]
    runs = []
    for setting in FLUCTUATION.settings({**plan, "seeds": 6, "cases": cases[1:]}):
        run = held_run(setting)
        runs.append(replace(run, logit=run.logit[0] + factor * (run.logit - run.logit[0])))
    return runs, FLUCTUATION.rows(runs)


def test_sampled_runs_fluctuate_as_predicted() -> None:
    """Within two half-widths, false alarm below 1e-4."""
    _, rows = sampled(1.0)
    for row in rows:
        if row.theory == "exact":
            assert abs(row.measured - row.predicted) < row.high - row.low
    pooled = [row for row in rows if row.quantity == f"{STEP}, over the predicted"]
    assert pooled[0].measured == pytest.approx(1, abs=0.06)


def test_the_rivals_fail_where_they_should() -> None:
    """1/G where the leading noise vanishes; a silent KL term under the reverse estimator."""
    _, rows = sampled(1.0)
    powers = [row for row in rows if row.quantity.startswith("power") and row.theory == "source"]
    assert [row.agrees for row in powers] == [False, False]
    silent = [r for r in rows if r.theory == "rival" and r.case.startswith("reverse, p_star 0.5")]
    assert [row.agrees for row in silent] == [False]


def test_another_noise_is_found_out() -> None:
    """Deviations a quarter larger: the steps of all cases together tell."""
    _, rows = sampled(1.25)
    (pooled,) = (row for row in rows if row.quantity == f"{STEP}, over the predicted")
    assert not pooled.agrees


def test_the_plan_names_every_run_once() -> None:
    """Each samples with a seed of its own, and two answers start at rest."""
    for quick in (False, True):
        settings = FLUCTUATION.settings(load(FLUCTUATION, quick=quick))
        assert len({setting.name for setting in settings}) == len(settings)
        assert len({setting.seed for setting in settings}) == len(settings)
    runs = [held_run(setting, steps=60) for setting in settings]
    for family in families(runs):
        assert family.rest.p == pytest.approx(family.runs[0].setting.p_start, abs=1e-9)
    keys = {f"{row.case} / {row.quantity} / {row.theory}" for row in FLUCTUATION.rows(runs)}
    assert FLUCTUATION.headline in keys


def test_sixteen_answers_are_held_against_their_own_kernel() -> None:
    """Facts as `kernel-at-rest` gives them: one class as one answer is two arms again."""
    plan = load(FLUCTUATION, quick=False)
    cases = [case for case in plan["cases"] if case.get("answers", 2) > 2]
    settings = FLUCTUATION.settings({**plan, "seeds": 2, "cases": cases})
    runs = []
    for setting in settings:
        assert setting.measures == ("kernel-at-rest",)
        assert setting.p_start is None
        right = np.arange(16) % 4 == 0
        rest = Anchor(setting.group_size, setting.beta, setting.kl, float(setting.p_ref)).rests[0]  # type: ignore[arg-type]
        said = np.where(right, rest.p / 4, (1 - rest.p) / 12)
        held = np.where(right, setting.p_ref / 4, (1 - setting.p_ref) / 12)  # type: ignore[operator]
        slope = np.where(right, 1 - rest.p, -rest.p)
        kernel = np.outer(slope, slope)[np.tril_indices(16)]
        run = held_run(setting)
        facts = run.facts | {
            "rest_said": np.log(said).tolist(), "rest_held": np.log(held).tolist(),
            "rest_kernel": kernel.tolist(),
        }  # fmt: skip
        runs.append(replace(run, facts=facts))
    for family in families(runs):
        np.testing.assert_allclose(
            family.predicted(STEP), family.of_two_arms(STEP, family.rest.noise), rtol=1e-4
        )
    rows = FLUCTUATION.rows(runs)
    assert not any(row.quantity == LOGIT for row in rows)


def test_the_figures_are_drawn_the_same_twice() -> None:
    """Noise against the success probability, and against the group size."""
    runs, rows = sampled(1.0)
    one, two = FLUCTUATION.figures(runs, rows), FLUCTUATION.figures(runs, rows)
    assert one == two
    assert set(one) == {"transformer_noise.svg", "transformer_noise_group_size.svg"}
