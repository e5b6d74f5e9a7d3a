"""What an audit takes from the command line, start-up included."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.harness import ROOT, Figure, Row

_FORTY = ROOT / "tests" / "claims" / "forty.toml"
_ONE = """
[[claim]]
id = "draft-eq-9"
quantity = "damping"
says = "{says}"
relation = "exact"
model = {{ optimizer = "heavy-ball", lag_model = "constant", stale_share = 1 }}
"""


def hundred() -> str:
    """Return the forty claims of the tests two and a half times over, under other ids."""
    _, *claims = _FORTY.read_text(encoding="utf-8").split("[[claim]]")
    rows = [claims[k % len(claims)].replace('id = "', f'id = "{k}-') for k in range(100)]
    return "".join(f"[[claim]]{row}" for row in rows)


def _seconds(text: str, rounds: int) -> list[float]:
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "claims.toml"
        path.write_text(text, encoding="utf-8")
        for _ in range(rounds):
            start = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-m", "numerics.cli", "audit", str(path)],
                cwd=ROOT, stdout=subprocess.DEVNULL, check=False,
            )  # fmt: skip
            taken.append(time.perf_counter() - start)
            if done.returncode not in (0, 1):
                raise RuntimeError(f"audit ended with status {done.returncode}")
    return taken


def _figure(what: str, text: str, rounds: int, most: float) -> Figure:
    taken = _seconds(text, rounds)
    return Figure(what, statistics.median(taken), min(taken), max(taken), unit="s", most=most)


def measure(quick: bool) -> Row:
    """Measure the row of audits: wall time of whole commands."""
    rounds = 1 if quick else 5
    figures = [
        _figure("one polynomial claim that holds", _ONE.format(says="1 - mu - x*d"), rounds, 2),
        _figure("one that is refuted", _ONE.format(says="1 - mu - x*d**2/2"), rounds, 2),
    ]
    if not quick:
        figures.append(_figure("a hundred claims, half of them false", hundred(), 1, 30))
    return Row(
        "`audit` from the command line",
        "one polynomial claim < 2 s, a hundred claims < 30 s on 2 cores",
        figures,
        (
            "Wall time of the command, start-up and the explanation of what is refuted included: "
            "absolute, so on a busy machine it says nothing. The hundred are the forty claims of "
            "`tests/claims/forty.toml` over and over, shared by two processes.",
        ),
    )
