"""A hundred thousand exact thresholds, against looking once at the eigenvalues at each."""

from __future__ import annotations

import numpy as np

from benchmarks.companion import spectral_radius
from benchmarks.harness import Row, faster, measured, value
from numerics.dynamics import threshold

_LONGEST = 64


def measure(quick: bool) -> Row:
    """Measure the row of thresholds."""
    count, sample, rounds = (2000, 20, 3) if quick else (100_000, 200, 7)
    rng = np.random.default_rng(11)
    mu, lag = rng.uniform(0, 0.99, count), rng.integers(1, _LONGEST + 1, count)
    chosen = rng.choice(count, sample, replace=False)

    def ours() -> object:
        return threshold("heavy-ball", mu=mu, stale_share=1, lag=lag)

    found = ours().value
    points = [(float(mu[i]), float(found[i]), int(lag[i])) for i in chosen]
    times = measured(
        {
            "ours": ours,
            "eigenvalues": lambda: [spectral_radius(*point) for point in points],
        },
        rounds=rounds,
    )
    off = max(abs(spectral_radius(*point) - 1) for point in points)
    return Row(
        "1e5 exact constant-lag thresholds (mu, d <= 64)",
        ">= 50x one companion `eigvals` at each answer, d uniform on 1..64",
        [
            faster(
                "over `eigvals` at the answer",
                times["ours"],
                times["eigenvalues"],
                work=count / sample,
                least=50,
            ),
            value("largest |spectral radius - 1| at the answers looked at", off, ""),
        ],
        (
            "`numerics.dynamics.threshold`, heavy ball, whole force stale, mu uniform on "
            f"[0, 0.99]. Eigenvalues were taken at {sample} of the answers and the time scaled up; "
            "to *find* a threshold with them takes dozens of such looks.",
        ),
    )
