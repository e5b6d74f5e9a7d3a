"""A deterministic sweep of the scalar map over 10 000 parameter sets, against NumPy by hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row, faster, measured
from numerics.simulation import LANE_WIDTH, ConstantLag, simulate_linear_chains

Array = NDArray[np.float64]

_SETS, _LAG = 10_000, 2


def by_hand(mu: Array, x: Array, steps: int, width: int) -> Array:
    """Run q += h, h = mu h - x q[lag steps ago] in place, `width` parameter sets at a time.

    The fastest loop found: four calls a step, no temporaries, a ring of the last coordinates with
    its views made once, and few enough sets at a time for the cache.
    """
    last = np.empty_like(x)
    ring = np.empty((_LAG + 2, width))
    velocity, force = np.empty(width), np.empty(width)
    size = len(ring)
    turns = [(ring[k % size], ring[(k - _LAG) % size], ring[(k + 1) % size]) for k in range(size)]
    multiply, subtract, add = np.multiply, np.subtract, np.add
    for start in range(0, len(x), width):
        own_mu, own_x = mu[start : start + width], x[start : start + width]
        ring[:] = 1
        velocity[:] = 0
        for k in range(steps):
            now, old, new = turns[k % size]
            multiply(old, own_x, force)
            multiply(velocity, own_mu, velocity)
            subtract(velocity, force, velocity)
            add(now, velocity, new)
        last[start : start + width] = new
    return last


def measure(quick: bool) -> Row:
    """Measure the row of the sweep."""
    steps, rounds = (50, 3) if quick else (2000, 9)
    rng = np.random.default_rng(3)
    mu, x = rng.uniform(0, 0.9, _SETS), rng.uniform(1e-4, 1e-2, _SETS)

    def ours(lane: int = _SETS) -> Array:
        run = simulate_linear_chains(
            "heavy-ball",
            ConstantLag(_LAG),
            mu=mu,
            x=x,
            stale_share=1,
            initial=1,
            steps=steps,
            chains=_SETS,
            lane=lane,
        )
        return run.path[0]

    widths = (1000, 2000, _SETS)
    np.testing.assert_allclose(ours(), by_hand(mu, x, steps, widths[0]), rtol=1e-9, atol=1e-12)
    times = measured(
        {
            "ours": ours,
            "narrow": lambda: ours(LANE_WIDTH),
            **{f"{w}": lambda w=w: by_hand(mu, x, steps, w) for w in widths},
        },
        rounds=rounds,
    )
    best = min(widths, key=lambda w: sorted(times[f"{w}"].cpu)[rounds // 2])
    return Row(
        "deterministic sweep, 10 000 parameter sets",
        ">= 0.9 of the best hand-written NumPy loop",
        [
            faster(
                f"over NumPy by hand, {w} sets at a time" + (" (the best)" if w == best else ""),
                times["ours"],
                times[f"{w}"],
                least=0.9 if w == best else None,
            )
            for w in widths
        ]
        + [
            faster(f"in lanes of {LANE_WIDTH}, as by default", times["narrow"], times[f"{best}"]),
        ],
        (
            f"`simulate_linear_chains` without noise, heavy ball, lag {_LAG}, {steps} steps, all "
            "sets in one lane; against an in-place loop of four ufunc calls a step (`by_hand` in "
            "`tests/benchmarks/sweep.py`), which checks nothing and watches for no overflow.",
        ),
    )
