r"""A policy let go beside its fixed point, and how it comes to rest: a part of E6.

A k3 term holds the policy at a success probability of one half, where the sampling noise vanishes
to leading order. Let go a little below, on-policy, it obeys the linear map with the stiffness per
step x that its gain there gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics import dominant, onset
from numerics.exact import truncated_onset
from numerics.experiments.transformer.experiment import Plan
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.theory.anchored import Anchor, Rest, weight_for
from numerics.experiments.transformer.theory.curve import Curve
from numerics.experiments.transformer.theory.seeds import Case, alike, together
from numerics.experiments.transformer.theory.stationary import held
from numerics.kernels.oscillator import heavy_ball_constant

__all__ = [
    "FACTOR",
    "MODULUS",
    "ONSET",
    "PERIOD",
    "Motion",
    "cases",
    "exact",
    "fitted",
    "rest_of",
    "settings",
    "stiffness",
    "truncated",
]

MODULUS, PERIOD = "what a step leaves of the swing", "steps of a swing"
FACTOR, ONSET = "what a step leaves of the distance", "x at which it begins to swing"


@dataclass(frozen=True)
class Motion:
    """The dominant root, and how far the two roots are from meeting.

    Attributes
    ----------
    root
        The root z of largest modulus; of a pair the upper one.
    margin
        Above 0 where no root swings: the discriminant, or the root where there is only one.
    """

    root: complex
    margin: float

    @property
    def period(self) -> float:
        """Steps of a swing; infinite where there is none."""
        angle = abs(np.angle(self.root))
        return float(2 * np.pi / angle) if angle else float("inf")


def settings(plan: Plan) -> list[Setting]:
    """Return the runs; x holds at the first policy's gain, and a run's own is measured."""
    ring = plan["ring"]
    return [
        replace(_setting({**ring, **case}), policy_seed=seed, seed=seed)
        for case, seed in product(ring["cases"], range(plan["seeds"]))
    ]


def _setting(case: Plan) -> Setting:
    size, p_ref = case["group_size"], case["p_ref"]
    beta = round(weight_for(case["p_star"], group_size=size, kl="k3", p_ref=p_ref), 6)
    rest = _lowest(Anchor(size, beta, "k3", p_ref))
    start = round(float(1 / (1 + np.exp(case["away"] - rest.logit))), 6)
    return Setting(
        p_ref=p_ref, p_start=start, beta=beta, kl="k3", optimizer=case["optimizer"],
        mu=case["mu"], pace=round(case["x"] / rest.stiffness, 6), group_size=size,
        steps=case["steps"], measures=("flow",),
    )  # fmt: skip


def rest_of(setting: Setting) -> Rest:
    """Return the lowest fixed point of a run's mean drift."""
    return _lowest(held(setting))


@lru_cache(maxsize=64)
def _lowest(anchor: Anchor) -> Rest:
    return anchor.rests[0]


def stiffness(run: Run) -> float:
    """Return x = eta * gain * K at the fixed point, the gain as measured on the network."""
    rest = rest_of(run.setting)
    return float(run.facts["eta"] * Curve.of(run).slope_at(rest.logit) ** 2 * rest.stiffness)


def fitted(run: Run) -> Motion:
    """Return the roots of the recurrence that fits a run's distances to the fixed point best.

    A term in the square of the distance takes up what the force bends.
    """
    q = run.logit[:, 0] - rest_of(run.setting).logit
    order = 1 if run.setting.mu == 0 else 2
    past = [q[order - 1 - j : -1 - j] for j in range(order)]
    weights = np.linalg.lstsq(np.stack([*past, past[0] ** 2], axis=1), q[order:], rcond=None)[0]
    return _motion(*weights[:order])


def _motion(one: float, two: float | None = None) -> Motion:
    if two is None:
        return Motion(complex(one), float(one))
    roots = np.roots([1.0, -one, -two])
    first = roots[np.argmax(np.abs(roots))]
    return Motion(complex(first.real, abs(first.imag)), float(one**2 + 4 * two))


def exact(optimizer: str, mu: float, x: float) -> complex:
    """Return the dominant root of the linear map."""
    return complex(dominant(optimizer, mu=mu, x=x, stale_share=0.0, lag=0).root)


def truncated(mu: float, x: float) -> complex:
    """Return what theorem-7's oscillator does in a step: exp of its dominant exponent."""
    mass, damping, force = (float(c) for c in heavy_ball_constant(mu=mu, x=x, d=0.0, s=1.0))
    return complex(np.exp(max(np.roots([mass, damping, force]), key=lambda r: (r.real, r.imag))))


def cases(runs: Sequence[Run]) -> list[Case]:
    """Return modulus and period of what swings, the factor of what does not, and the onsets."""
    families = alike(runs)
    found = [case for some in families for case in _one(some)]
    sweeps: dict[tuple[str, float], list[list[Run]]] = {}
    for some in families:
        setting = some[0].setting
        sweeps.setdefault((setting.optimizer, setting.mu), []).append(some)
    for (optimizer, mu), sweep in sweeps.items():
        found += _onset(optimizer, mu, sweep)
    return found


def _one(some: Sequence[Run]) -> Iterator[Case]:
    setting = some[0].setting
    xs = [stiffness(run) for run in some]
    seen = [fitted(run) for run in some]
    name = f"ring-down, {setting.optimizer}, mu {setting.mu:g}, x near {_planned(setting):.2g}"
    theories = {"exact": [exact(setting.optimizer, setting.mu, x) for x in xs]}
    if setting.optimizer == "heavy-ball":
        theories["source"] = [truncated(setting.mu, x) for x in xs]
    swings = theories["exact"][0].imag != 0
    for theory, roots in theories.items():
        if swings:
            yield together(
                name, MODULUS, theory, np.abs(roots), [abs(one.root) for one in seen]
            )  # fmt: skip
            periods = [Motion(root, 0.0).period for root in roots]
            yield together(name, PERIOD, theory, periods, [one.period for one in seen])
        elif not any(root.imag for root in roots):
            reals = [root.real for root in roots]
            yield together(name, FACTOR, theory, reals, [one.root.real for one in seen])


def _planned(setting: Setting) -> float:
    return setting.pace * rest_of(setting).stiffness


def _onset(optimizer: str, mu: float, sweep: Sequence[Sequence[Run]]) -> list[Case]:
    """Return the onset between the two stiffnesses around it, by a straight line."""
    ordered = sorted(sweep, key=lambda some: some[0].setting.pace)
    margins = np.array([[fitted(run).margin for run in some] for some in ordered])
    xs = np.array([[stiffness(run) for run in some] for some in ordered])
    middle = margins.mean(axis=1)
    for low, high in pairwise(range(len(ordered))):
        if middle[low] > 0 > middle[high]:
            share = margins[low] / (margins[low] - margins[high])
            found = xs[low] + share * (xs[high] - xs[low])
            return _onset_cases(optimizer, mu, found)
    return []


def _onset_cases(optimizer: str, mu: float, found: NDArray[np.float64]) -> list[Case]:
    name = f"ring-down, {optimizer}, mu {mu:g}"
    predicted = float(onset(optimizer, mu=mu, stale_share=0.0, lag=0))
    cases: list[Case] = [(name, ONSET, "exact", predicted, found)]
    if optimizer == "heavy-ball":
        source = truncated_onset(((1 + mu) / 2, 0), (1 - mu, 0))
        assert source is not None
        cases.append((name, ONSET, "source", source, found))
    return cases
