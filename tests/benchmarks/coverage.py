"""Coverage of the intervals of `numerics.fit` on synthetic logs from the project's simulator.

python tests/benchmarks/coverage.py           200 configurations, the table at the terminal
python tests/benchmarks/coverage.py --write   also writes the table in docs/how-to/fit-a-curve.md
python tests/benchmarks/coverage.py --count N --first K   only N of them, from the K-th on

A configuration is one draw of optimizer, momentum, lag, damping, rise, length, group size and
prompts, from a seed of its own. The log is the exact discrete map with the noise of sampled
gradients, and binomial rewards about it. Truth is read off the same map without noise: R_inf, tau
as the sum of the deviation over the steps (C/K exactly), the inflection where a step is largest.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from numerics.fit import Interval, Series, fit, intervals, series  # noqa: E402  # needs the path
from numerics.simulation import ConstantLag, simulate_linear  # noqa: E402

PAGE = ROOT / "docs" / "how-to" / "fit-a-curve.md"
SEED = 20260701
COUNT = 200
LEVEL = 0.9
NAMES = ("R_inf", "tau", "inflection")
_MARKS = ("<!-- coverage: begin -->", "<!-- coverage: end -->")
_LONG = 20_000  # steps of the path that truth is read from

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Case:
    """A synthetic log with its truth."""

    regime: str
    noise: str
    given: Series
    truth: dict[str, float]


def case(number: int) -> Case:
    """Return one configuration."""
    draw = np.random.default_rng([SEED, number])
    while True:
        optimizer = str(draw.choice(["heavy-ball", "ema", "nesterov"]))
        mu = float(draw.choice([0.0, 0.5, 0.9, 0.95, 0.98]))
        lag = int(draw.choice([0, 0, 1, 3, 6]))
        x = float(np.exp(draw.uniform(np.log(3e-4), np.log(0.1))))
        share = 1.0
        if optimizer == "ema" and mu == 0.0:
            continue
        path = simulate_linear(
            optimizer, ConstantLag(lag), mu=mu, x=x, stale_share=share, steps=_LONG
        ).path
        # of interest: a rise over 8 to 200 steps that has settled when the path ends
        if not abs(path[-1]) < 1e-6:
            continue
        tau = float(path.sum())
        swing = float(-path.min())
        if 8 < tau < 200 and swing < 0.6:
            break
    settled = int(np.flatnonzero(np.abs(path) > 0.05)[-1])
    rows = int(np.clip(settled * draw.uniform(0.7, 4.0), 60, 600))
    group_size = int(draw.choice([4, 8, 16, 64]))
    prompts = int(draw.choice([2, 8, 32]))
    low, high = draw.uniform(0.05, 0.35), draw.uniform(0.5, 0.9)
    high = min(high, (0.97 + swing * low) / (1 + swing))  # what overshoots is still a probability
    jitter = float(draw.choice([0.0, 1.0, 2.0]))
    kicks = jitter * x / np.sqrt(group_size * prompts) * draw.standard_normal(rows)
    noisy = simulate_linear(
        optimizer, ConstantLag(min(lag, rows)), mu=mu, x=x, stale_share=share, steps=rows,
        noise=kicks, noise_enters="gradient",
    ).path[:rows]  # fmt: skip
    mean = np.clip(high - (high - low) * noisy, 0.0, 1.0)
    samples = group_size * prompts
    value = draw.binomial(samples, mean) / samples
    given = series(
        np.arange(rows), value, group_size=group_size, prompts=prompts, bounds=(0.0, 1.0)
    )
    truth = {"R_inf": high, "tau": tau, "inflection": _steepest(path)}
    regime = "swings" if swing > 1e-3 else "no swing"
    size = float(np.sqrt(0.25 / samples) / (high - low))
    noise = "below 0.1" if size < 0.1 else "0.1 to 0.3" if size < 0.3 else "above 0.3"
    return Case(regime, noise, given, truth)


def _steepest(path: FloatArray) -> float:
    """Return the step, half steps being between two rows, at which the path falls fastest."""
    fall = -np.diff(path)
    top = int(fall.argmax())
    if top == 0:
        return 0.5
    left, middle, right = fall[top - 1 : top + 2]
    return top + 0.5 + 0.5 * float((left - right) / (left - 2 * middle + right))


def covers(interval: Interval, truth: float) -> bool:
    """Whether the truth is inside; an open end is one where the profile is flat to its bound."""
    return (interval.low is None or interval.low <= truth) and (
        interval.high is None or truth <= interval.high
    )


def measure(numbers: Sequence[int]) -> Iterator[tuple[Case, dict[str, Interval]]]:
    """Yield every case with its intervals."""
    for number in numbers:
        made = case(number)
        yield made, intervals(fit(made.given, "three-phase"), NAMES, level=LEVEL)


def table(found: Sequence[tuple[Case, dict[str, Interval]]]) -> list[str]:
    """Return the table, over all and by regime and noise."""
    lines = [
        "| logs | number | " + " | ".join(f"`{n}` | undetermined" for n in NAMES) + " |",
        "|---" * (2 + 2 * len(NAMES)) + "|",
    ]
    groups = [("all", found)]
    for key in ("regime", "noise"):
        kinds = sorted({getattr(made, key) for made, _ in found})
        groups += [
            (k if key == "regime" else f"noise {k} of the rise",
             [pair for pair in found if getattr(pair[0], key) == k])
            for k in kinds
        ]  # fmt: skip
    for name, pairs in groups:
        cells = []
        for quantity in NAMES:
            inside = np.mean([covers(i[quantity], made.truth[quantity]) for made, i in pairs])
            unknown = np.mean([not i[quantity].determined for _, i in pairs])
            cells += [f"{100 * inside:.1f} %", f"{100 * unknown:.1f} %"]
        lines.append(f"| {name} | {len(pairs)} | " + " | ".join(cells) + " |")
    return lines


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--missed", action="store_true", help="print every miss")
    options = parser.parse_args(arguments)
    if options.write and (options.count != COUNT or options.first):
        parser.error("--write is for all configurations")
    start = time.perf_counter()
    found = list(measure(range(options.first, options.first + options.count)))
    lines = table(found)
    if options.missed:
        for number, (made, got) in enumerate(found, start=options.first):
            for name in NAMES:
                if not covers(got[name], made.truth[name]):
                    i = got[name]
                    print(f"{number} {made.regime}, noise {made.noise}, {len(made.given)} rows: "
                          f"{name} {made.truth[name]:.4g} not in {i.low} .. {i.high}")
    print(*lines, f"{time.perf_counter() - start:.0f} s", sep="\n")
    if options.write:
        text = PAGE.read_text(encoding="utf-8")
        begin, end = map(re.escape, _MARKS)
        block = "\n".join([_MARKS[0], "", *lines, "", _MARKS[1]])
        PAGE.write_text(re.sub(f"{begin}.*?{end}", lambda _: block, text, flags=re.DOTALL), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
