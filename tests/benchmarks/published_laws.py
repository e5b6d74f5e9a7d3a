"""The laws of the record (n1, its v1, s1) against all families, on public and on synthetic logs.

python tests/benchmarks/published_laws.py                both tables at the terminal
python tests/benchmarks/published_laws.py --logs DIR     the public logs are there, not in ../shared
python tests/benchmarks/published_laws.py --write        also into docs/how-to/fit-a-curve.md
python tests/benchmarks/published_laws.py --count N      only N synthetic logs of each law

A public log is read as `fit LOG` reads it: nothing is known but what the log tells. A synthetic log
is one draw, from a seed of its own, of a law's parameters, of 40 to 600 rows, and of noise:
binomial of 8 to 256 samples a row, or Gaussian, white or a fifth of it an AR(1). A law is worse
where another family is better by 10 of AICc, preferred where it is better than all by that.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from numerics.fit import (  # noqa: E402  # needs the path
    Comparison,
    Interval,
    Series,
    ceiling,
    compare,
    curve_of_log,
    intervals,
    r_squared,
    series,
)
from numerics.logs import read_log  # noqa: E402

PAGE = ROOT / "docs" / "how-to" / "fit-a-curve.md"
LOGS = ROOT.parent / "shared" / "logs"
LAWS = {"exponential": "n1", "sigmoid": "n1, v1", "compute-law": "s1"}
COUNT = 200
SEED = 20260801
#: Public logs whose reward changes: what it is, file, run.
CASES = (
    ("Llama-3.1-8B, GSM8K, G 6", "llama31_8b_gsm8k_G6.trainer_state.json", None),
    ("Llama-3.2-3B, GSM8K, G 4", "unsloth_llama32_3b_gsm8k_G4.ipynb", None),
    ("Gemma-3, GSM8K, G 4, every 10 steps", "gemma3_gsm8k_G4_every10.trainer_state.json", None),
    ("Qwen2.5-7B, economics, G 4", "verl_qwen25_7b_econ_G4.log", None),
    ("Llama-3.2-3B, supply chain, G 8", "llama32_3b_supply_chain_G8.csv", None),
    ("Llama-3.2-1B, code, G 8, reward hacked", "llama32_1b_leetcode_G8_hacking.jsonl", "start 3"),
    ("arithmetic, G 4", "tinker_arithmetic_G4.jsonl", None),
    ("mathematics, run a", "two_runs_one_file_math.csv", "run_a_noclip"),
    ("mathematics, run b", "two_runs_one_file_math.csv", "run_b"),
    *(
        (f"tiny transformer, G {g}", f"trl_tiny_transformer/G{g}_seed0.trainer_state.json", None)
        for g in (2, 4, 16, 64)
    ),
)
_MARKS = "<!-- {}: begin -->", "<!-- {}: end -->"

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measured:
    """One log: all families, and the exponent of the compute-performance law with its interval."""

    label: str
    ranked: Comparison
    exponent: Interval

    def row(self) -> str:
        """Return its row of the table."""
        best, given = self.ranked.best, self.ranked.best.series
        top, b = ceiling(given, best), self.exponent
        low, high = ("open" if end is None else f"{end:.2g}" for end in (b.low, b.high))
        behind = (f"{self.ranked.delta(law):.1f}" for law in LAWS)
        return (
            f"| {self.label} | {len(given)} | {best.family.name} | {' | '.join(behind)} | "
            f"{b.estimate:.2g} ({low} to {high}) | {r_squared(best):.3f} of "
            f"{top.low:.2f} to {top.high:.2f} |"
        )


def on_logs(folder: Path) -> Iterator[Measured]:
    """Yield what each public log says; those that are not there are left out."""
    for label, file, run in CASES:
        if (folder / file).is_file():
            ranked = compare(curve_of_log(read_log(folder / file), run=run).series)
            yield Measured(label, ranked, intervals(ranked.fits["compute-law"], ["B"])["B"])


def log_table(found: Iterable[Measured]) -> list[str]:
    """Return the table of the public logs."""
    head = ("log", "rows", "best family", *(f"{name} ({law})" for name, law in LAWS.items()),
            "B of s1, 90 %", "R^2 of the best, ceiling")  # fmt: skip
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(one.row() for one in found)]


def synthetic(law: str, number: int) -> Series:
    """Return a log that a law has made."""
    draw = np.random.default_rng([SEED, number, sorted(LAWS).index(law)])
    rows = int(np.exp(draw.uniform(np.log(40), np.log(600))))
    low, high = draw.uniform(0.05, 0.4), draw.uniform(0.6, 0.98)
    half = rows * float(np.exp(draw.uniform(np.log(0.05), np.log(0.6))))
    t = np.arange(rows) + 0.5
    if law == "exponential":
        share = -np.expm1(-t * np.log(2) / half)
    elif law == "sigmoid":
        share = 1 / (1 + np.exp(-(t - half) / (half * draw.uniform(0.15, 0.6))))
    else:
        share = 1 / (1 + (half / t) ** np.exp(draw.uniform(np.log(0.8), np.log(6))))
    mean = low + (high - low) * share
    return series(np.arange(1, rows + 1), _noisy(mean, draw))


def _noisy(mean: FloatArray, draw: np.random.Generator) -> FloatArray:
    kind = draw.choice(["binomial", "white", "wandering"])
    if kind == "binomial":
        samples = int(draw.choice([8, 16, 64, 256]))
        return np.asarray(draw.binomial(samples, mean) / samples)
    noise = draw.standard_normal(mean.size)
    if kind == "wandering":
        wander, steps = np.zeros(mean.size), draw.standard_normal(mean.size)
        for row in range(1, mean.size):
            wander[row] = 0.9 * wander[row - 1] + 0.19**0.5 * steps[row]
        noise = 0.8**0.5 * noise + 0.2**0.5 * wander
    return mean + float(np.exp(draw.uniform(np.log(0.02), np.log(0.3)))) * noise


def trial(law: str, numbers: Iterable[int]) -> list[dict[str, str]]:
    """Return how each law stands on logs that one of them has made."""
    ranked = (compare(synthetic(law, number)) for number in numbers)
    return [{name: each.standing(name) for name in LAWS} for each in ranked]


def trial_table(found: dict[str, list[dict[str, str]]]) -> list[str]:
    """Return the table of the synthetic logs: how often each law is worse, by the law at work."""
    head = ("made by", "logs", *(f"{name} worse" for name in LAWS), "told apart from all")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for law, rows in found.items():
        worse = (f"{np.mean([row[name] == 'worse' for row in rows]):.1%}" for name in LAWS)
        alone = f"{np.mean([row[law] == 'preferred' for row in rows]):.1%}"
        lines.append(f"| {law} | {len(rows)} | {' | '.join(worse)} | {alone} |")
    return [line.replace("%", " %") for line in lines]


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--logs", type=Path, default=LOGS)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    logs = list(on_logs(options.logs))
    if options.write and (options.count != COUNT or len(logs) != len(CASES)):
        parser.error(f"--write is for all {len(CASES)} logs and {COUNT} synthetic ones of each law")
    tables = {"laws": log_table(logs)}
    print(*tables["laws"], sep="\n", flush=True)
    tables["trials"] = trial_table({law: trial(law, range(options.count)) for law in LAWS})
    print(*tables["trials"], f"{time.perf_counter() - start:.0f} s", sep="\n")
    if options.write:
        text = PAGE.read_text(encoding="utf-8")
        for name, lines in tables.items():
            begin, end = (mark.format(name) for mark in _MARKS)
            block = "\n".join([begin, "", *lines, "", end])
            pattern = f"{re.escape(begin)}.*?{re.escape(end)}"
            text = re.sub(pattern, lambda _, block=block: block, text, flags=re.DOTALL)  # type: ignore[misc]
        PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
