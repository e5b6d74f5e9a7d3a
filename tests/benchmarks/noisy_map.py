"""The scalar map with noise, 10 000 chains at lag 2, against drawing its normals and no more."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Row, faster, measured
from numerics.simulation import (
    LANE_WIDTH,
    ConstantLag,
    GaussianNoise,
    Measure,
    simulate_linear_chains,
)

_CHAINS, _LAG, _MU, _X, _SEED = 10_000, 2, 0.9, 0.01, 7


def _run(steps: int, lane: int = _CHAINS, measure: Measure | None = None) -> object:
    return simulate_linear_chains(
        "heavy-ball",
        ConstantLag(_LAG),
        mu=_MU,
        x=_X,
        stale_share=1,
        initial=0,
        steps=steps,
        chains=_CHAINS,
        noise=GaussianNoise(1, "recurrence"),
        seed=_SEED,
        lane=lane,
        measure=measure,
    )


def normals(steps: int) -> None:
    """Draw as many normals with the same generator, into memory that stays in the cache."""
    rng = np.random.Generator(np.random.PCG64(_SEED))
    row = np.empty(_CHAINS)
    for _ in range(steps):
        rng.standard_normal(out=row)


def by_hand(steps: int) -> None:
    """Run the map in place on the same normals, in the five ufunc calls a step that it takes."""
    rng = np.random.Generator(np.random.PCG64(_SEED))
    size = _LAG + 2
    ring = np.zeros((size, _CHAINS))
    kick, velocity, force = np.empty(_CHAINS), np.zeros(_CHAINS), np.empty(_CHAINS)
    for k in range(steps):
        rng.standard_normal(out=kick)
        np.multiply(ring[(k - _LAG) % size], _X, force)
        np.subtract(kick, force, kick)
        np.multiply(velocity, _MU, velocity)
        np.add(velocity, kick, velocity)
        np.add(ring[k % size], velocity, ring[(k + 1) % size])


def measure(quick: bool) -> Row:
    """Measure the row of the noisy map."""
    steps, rounds = (20, 3) if quick else (300, 9)
    watched = Measure(burn_in=0)
    times = measured(
        {
            "ours": lambda: _run(steps),
            "measured": lambda: _run(steps, measure=watched),
            "narrow": lambda: _run(steps, lane=LANE_WIDTH),
            "by hand": lambda: by_hand(steps),
            "normals": lambda: normals(steps),
        },
        rounds=rounds,
    )
    return Row(
        "noisy scalar map, 10 000 chains, lag 2",
        ">= 0.9 of the rate of drawing the normals alone",
        [
            faster("over drawing the normals", times["ours"], times["normals"], least=0.9),
            faster("what a bare loop by hand reaches", times["by hand"], times["normals"]),
            faster(
                "with mean and variance of every chain measured on the way",
                times["measured"],
                times["normals"],
            ),
            faster(f"in lanes of {LANE_WIDTH}, as by default", times["narrow"], times["normals"]),
        ],
        (
            "`simulate_linear_chains`, heavy ball, all chains in one lane; against "
            f"`Generator(PCG64).standard_normal(out=)` into one array of {_CHAINS}, as often as "
            f"there are steps ({steps}).",
            "That the run is bit-identical to a plain Python loop is a test "
            "(`tests/test_simulation_chains.py`).",
        ),
        "A step is five operations on every chain, and each is a pass over the cache that costs "
        "about a fortieth of drawing a normal: together an eighth. A bare loop by hand that checks "
        "nothing (second figure) reaches no more. Tried: lanes from 1000 chains to all of them "
        "(wider is better until the cache is full), the stale force of several steps in one call, "
        "rows aligned to cache lines, a ring of rows instead of a block that is copied. BLAS could "
        "fuse two of the passes (`axpy`), and with them two roundings: the run would no longer be "
        "the plain loop's, bit for bit.",
    )
