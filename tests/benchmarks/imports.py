"""What `import numerics` costs, in fresh interpreters."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from benchmarks.harness import ROOT, Figure, Row

_BASE = "import numpy, scipy.linalg"
_OURS = {
    "import numerics": "import numerics",
    "every room a computation needs": (
        "import numerics.dynamics, numerics.exact, numerics.kernels, numerics.simulation"
    ),
}


def _seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
    return time.perf_counter() - start


def measure(quick: bool) -> Row:
    """Measure the row of imports: wall time of whole interpreters, taking turns."""
    rounds = 2 if quick else 15
    codes = {"base": _BASE, **_OURS}
    for code in codes.values():
        _seconds(code)  # compiles and reads the files once
    seconds: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(rounds):
        for name, code in codes.items():
            seconds[name].append(_seconds(code))
    figures = []
    for name, most in zip(_OURS, (1.3, None), strict=True):
        ratios = [o / b for o, b in zip(seconds[name], seconds["base"], strict=True)]
        figures.append(Figure(name, statistics.median(ratios), min(ratios), max(ratios), most=most))
    return Row(
        "import numerics",
        "<= 1.3x `import numpy, scipy.linalg`",
        figures,
        (
            "Wall time of `python -c ...` in fresh interpreters, taking turns; files in the cache. "
            f"The second figure imports everything that computes: `{_OURS[list(_OURS)[1]]}`.",
        ),
    )
