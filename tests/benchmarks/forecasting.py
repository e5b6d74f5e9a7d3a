"""Forecasts of `numerics.forecast` held against what came, on real and on synthetic logs.

python tests/benchmarks/forecasting.py real DIRECTORY [--only NAME]    training logs of a directory
python tests/benchmarks/forecasting.py synthetic [--count N --first K]  logs of the simulator
Either with --write, which puts the table into docs/how-to/forecast-a-run.md.

A run of at least 60 rows is cut at 30, 50 and 70 % of its rows; from what is before the cut the
mean of the last tenth of all rows is forecast, with a 90 % interval. Errors are in units of the
range of the run's rewards. Beside it: the single exponential and the sigmoid, each fitted to the
same rows by `numerics.fit`, and the mean of the last tenth of them. "held" keeps a curve's forecast
inside the rewards seen, which a bare curve does not.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from benchmarks.coverage import COUNT, case  # noqa: E402  # needs the path
from numerics.fit import Series, curve_of_log, fit  # noqa: E402
from numerics.forecast import forecast  # noqa: E402
from numerics.inputs import InvalidInput  # noqa: E402
from numerics.logs import read_log  # noqa: E402

PAGE = ROOT / "docs" / "how-to" / "forecast-a-run.md"
ORIGINS = (0.3, 0.5, 0.7)
LEAST_ROWS = 60
LEVEL = 0.9
CURVES = ("exponential", "sigmoid")
RIVALS = (*CURVES, "last window", "exponential, held", "sigmoid, held")


@dataclass(frozen=True)
class Row:
    """One cut of one run: errors by rival, and the forecast."""

    name: str
    origin: float
    error: float
    low: float
    high: float
    covered: bool
    rivals: dict[str, float]
    verdict: str

    @property
    def lost(self) -> bool:
        """Whether a baseline (not one held) was nearer."""
        return min(abs(self.rivals[name]) for name in RIVALS[:3]) < abs(self.error)


def cut(name: str, whole: Series, origin: float) -> Row:
    """Forecast the last tenth of a run from its first rows."""
    rows, tail = round(origin * len(whole)), max(1, round(0.1 * len(whole)))
    seen, ahead = whole.head(rows), whole.step[-tail:]
    truth, size = float(whole.value[-tail:].mean()), float(np.ptp(whole.value))
    found = forecast(seen, level=LEVEL)
    said = found.window(ahead)
    rivals = {c: float(fit(seen, c).at(ahead)[0].mean()) for c in CURVES}
    for c in CURVES:
        rivals[f"{c}, held"] = float(np.clip(rivals[c], seen.value.min(), seen.value.max()))
    rivals["last window"] = float(seen.value[-max(1, round(0.1 * rows)) :].mean())
    assert said.middle is not None
    assert said.low is not None
    assert said.high is not None
    return Row(
        name, origin, (said.middle - truth) / size, (said.low - truth) / size,
        (said.high - truth) / size, said.low <= truth <= said.high,
        {rival: (rivals[rival] - truth) / size for rival in RIVALS}, found.verdict,
    )  # fmt: skip


def runs(directory: Path) -> Iterator[tuple[str, Series]]:
    """Yield every run of a directory that is long enough, each once, by name."""
    seen: set[bytes] = set()
    for path in sorted(p for p in directory.rglob("*") if p.is_file()):
        try:
            log = read_log(path)
        except InvalidInput:
            continue  # not a log: a directory may hold a README
        for run in log.runs:
            if not run.has("reward") or run.series("reward")[0].size < LEAST_ROWS:
                continue
            found = curve_of_log(log, run=run.name).series
            key = np.round(found.value, 6).tobytes()
            if key not in seen:  # two exports of one run count once
                seen.add(key)
                yield f"{path.name.split('.')[0]}{f' {run.name}' if run.name else ''}", found


def real(directory: Path, only: str | None) -> list[Row]:
    """Return all cuts of the logs of a directory."""
    chosen = [(name, found) for name, found in runs(directory) if only is None or only in name]
    return [cut(name, found, origin) for name, found in chosen for origin in ORIGINS]


def synthetic(numbers: Sequence[int]) -> list[Row]:
    """Return one cut of each configuration, the origins in turn."""
    return [cut(f"{n}", case(n).given, ORIGINS[n % len(ORIGINS)]) for n in numbers]


def table(rows: Sequence[Row], each: bool) -> list[str]:
    """Return the means, and the rows themselves."""
    lines = []
    if each:
        lines += [
            "| run | rows seen | forecast | 90 % interval |  | "
            + " | ".join(RIVALS) + " | nearest | verdict |",
            "|---" * (7 + len(RIVALS)) + "|",
        ]  # fmt: skip
        for row in rows:
            cells = " | ".join(f"{row.rivals[name]:+.3f}" for name in RIVALS)
            best = min(RIVALS[:3], key=lambda name: abs(row.rivals[name]))
            lines.append(
                f"| {row.name} | {100 * row.origin:.0f} % | {row.error:+.3f} | "
                f"{row.low:+.3f} to {row.high:+.3f} | {'' if row.covered else '**missed**'} | "
                f"{cells} | {f'**{best}**' if row.lost else 'forecast'} | {row.verdict} |"
            )
        lines.append("")
    lines += [
        "| cuts | number | forecast | covered | " + " | ".join(RIVALS) + " |",
        "|---" * (4 + len(RIVALS)) + "|",
    ]
    groups = [("all", list(rows))]
    groups += [(f"{100 * o:.0f} %", [r for r in rows if r.origin == o]) for o in ORIGINS]
    for name, some in groups:
        if not some:
            continue
        means = " | ".join(
            f"{np.mean([abs(row.rivals[rival]) for row in some]):.4f}" for rival in RIVALS
        )
        lines.append(
            f"| {name} | {len(some)} | {np.mean([abs(row.error) for row in some]):.4f} | "
            f"{100 * np.mean([row.covered for row in some]):.1f} % | {means} |"
        )
    return lines


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("real", "synthetic"))
    parser.add_argument("directory", nargs="?", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    if options.write and (options.only or options.count != COUNT or options.first):
        parser.error("--write is for all logs")
    if options.what == "real":
        if options.directory is None:
            parser.error("real needs the directory of the logs")
        rows = real(options.directory, options.only)
    else:
        rows = synthetic(range(options.first, options.first + options.count))
    lines = table(rows, each=options.what == "real")
    print(*lines, sep="\n")
    if options.write:
        begin, end = (f"<!-- {options.what}: {side} -->" for side in ("begin", "end"))
        block = "\n".join([begin, "", *lines, "", end])
        text = PAGE.read_text(encoding="utf-8")
        pattern = f"{re.escape(begin)}.*?{re.escape(end)}"
        PAGE.write_text(re.sub(pattern, lambda _: block, text, flags=re.DOTALL), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
