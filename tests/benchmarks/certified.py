"""Stability at lag 8, proved point by point in ball arithmetic."""

from __future__ import annotations

import numpy as np

from benchmarks.companion import spectral_radius
from benchmarks.harness import Row, measured, rate, value
from numerics.dynamics import certified_stable, threshold
from numerics.exact import Configuration

_LAG = 8


def _decided(points: list[tuple[float, float]]) -> list[bool]:
    return [
        certified_stable(Configuration("heavy-ball", "constant", mu, 1, lag=_LAG), x)
        for mu, x in points
    ]


def measure(quick: bool) -> Row:
    """Measure the row of certified stability."""
    count, rounds = (20, 3) if quick else (500, 9)
    rng = np.random.default_rng(13)
    mu = rng.uniform(0, 0.99, count)
    border = threshold("heavy-ball", mu=mu, stale_share=1, lag=_LAG).value
    wide = list(zip(mu.tolist(), (border * rng.uniform(0, 2, count)).tolist(), strict=True))
    # As near to the border as floats get: one step to either side of the rounded threshold.
    side = np.where(rng.random(count) < 0.5, 0, np.inf)
    near = list(zip(mu.tolist(), np.nextafter(border, side).tolist(), strict=True))
    said, looked = _decided(wide), [spectral_radius(m, x, _LAG) < 1 for m, x in wide]
    times = measured(
        {"wide": lambda: _decided(wide), "near": lambda: _decided(near)}, rounds=rounds
    )
    return Row(
        "certified stability at lag 8",
        ">= 1000 points per CPU second",
        [
            rate("x uniform up to twice the threshold", times["wide"], count, "/s", least=1000),
            rate("x within a rounding of the threshold", times["near"], count, "/s"),
            value(
                "share of verdicts that the eigenvalues confirm",
                sum(a == b for a, b in zip(said, looked, strict=True)) / count,
                "",
            ),
        ],
        (
            "`numerics.dynamics.certified_stable`, heavy ball, whole force stale, mu uniform on "
            f"[0, 0.99], {count} points one after the other: the Schur-Cohn recursion in ball "
            "arithmetic, in more bits or whole numbers where balls cannot tell.",
        ),
    )
