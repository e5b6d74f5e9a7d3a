"""The two-arm bandit with sampled groups, against drawing its binomials and no more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row, faster, measured
from numerics.simulation import (
    LANE_WIDTH,
    ChainRun,
    ConstantLag,
    Measure,
    simulate_two_arm_chains,
    success_probability,
)

_CHAINS, _GROUP, _LAG = 10_000, 16, 2


def _run(
    staleness: str, steps: int, *, lane: int = _CHAINS, measure: Measure | None = None
) -> ChainRun:
    return simulate_two_arm_chains(
        staleness,
        "heavy-ball",
        ConstantLag(_LAG),
        group_size=_GROUP,
        normaliser="std",
        ddof=0,
        eps=0.0,
        beta=2.0,
        theta_ref=0.0,
        eta=0.01,
        mu=0.9,
        initial=1.0,
        steps=steps,
        chains=_CHAINS,
        seed=3,
        lane=lane,
        measure=measure,
    )


def binomials(p: NDArray[np.float64], steps: int) -> None:
    """Draw a number of successes for every chain at every step, each at its own p."""
    rng = np.random.Generator(np.random.PCG64(3))
    for _ in range(steps):
        rng.binomial(_GROUP, p)


def measure(quick: bool) -> Row:
    """Measure the row of the two-arm bandit."""
    steps, rounds = (10, 3) if quick else (60, 9)
    # Where the chains stand in the end, so the baseline draws at the p of the run itself.
    p = success_probability(_run("delayed-gradient", 10 * steps).path[0])
    times = measured(
        {
            "delayed": lambda: _run("delayed-gradient", steps),
            "stale": lambda: _run("stale-samples", steps),
            "ratio": lambda: _run("stale-samples-ratio", steps),
            "watched": lambda: _run("delayed-gradient", steps, measure=Measure()),
            "narrow": lambda: _run("delayed-gradient", steps, lane=LANE_WIDTH),
            "binomials": lambda: binomials(p, steps),
        },
        rounds=rounds,
    )
    drawn = times["binomials"]
    return Row(
        "two-arm bandit, finite G",
        ">= 0.8 of drawing the binomials alone",
        [
            faster("delayed gradient (equation 3)", times["delayed"], drawn, least=0.8),
            faster("the same, measuring every chain on the way", times["watched"], drawn),
            faster(f"the same, in lanes of {LANE_WIDTH}, as by default", times["narrow"], drawn),
            faster("stale samples, no ratio", times["stale"], drawn),
            faster("stale samples, unclipped ratio", times["ratio"], drawn),
        ],
        (
            f"`simulate_two_arm_chains`, {_CHAINS} chains in one lane, G = {_GROUP}, lag {_LAG}, "
            f"std-normalised, "
            f"beta = 2 and p_ref = 1/2; against `Generator(PCG64).binomial({_GROUP}, p)`, p the "
            f"{_CHAINS} success probabilities the run settles at "
            f"(from {p.min():.2f} to {p.max():.2f}).",
        ),
    )
