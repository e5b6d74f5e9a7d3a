"""A log and its diagnoses as one HTML page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from pathlib import PurePath

from numerics.diagnose import Context, Diagnosis, context_of, noise_of_sweep
from numerics.log_page.account import account
from numerics.log_page.course import courses
from numerics.log_page.curve import figure, learn, said
from numerics.log_page.dials import card
from numerics.log_page.lag import lag_section
from numerics.log_page.marks import sign
from numerics.log_page.parts import breakable, ranged
from numerics.logs import Log, Run
from numerics.pages import document, number, text
from numerics.trainers import LagTable

__all__ = ["MOST_RUNS", "log_page"]

#: Runs of one log that get a section of their own.
MOST_RUNS = 24
_LEGEND = (
    "Above, what a diagnostic reads; below, its value with its 95 % interval as the log grew, "
    "marked by the verdict it had by then: ● healthy, ▲ warning, ✖ fault, – not observable (on "
    "the axis where it was about another number). "
    "Shaded: the onset with its interval. Dotted: where it could be called."
)


def log_page(
    log: Log,
    found: Sequence[Diagnosis],
    *,
    evaluation: Log | None = None,
    group_size: int | None = None,
    prompts: int | None = None,
    evaluation_items: int | None = None,
    lag: LagTable | None = None,
) -> str:
    """Return the page: the curve and the four dials of every run, the lag, and what was read.

    Parameters
    ----------
    log
        As `numerics.logs.read_log` gives it.
    found
        What `numerics.diagnose.diagnose` says of it, told the same.
    evaluation, group_size, prompts, evaluation_items
        As `diagnose` takes them.
    lag
        The trainer's, as `numerics.trainers.lag_table` gives it.

    Raises
    ------
    InvalidInput
        A group size or a number of prompts out of range.
    """
    limits = Context(
        lag=None if lag is None else (float(lag.mean), float(lag.max)),
        evaluation_items=evaluation_items,
    )
    runs = {run.name: run for run in log.runs}
    shown = found[:MOST_RUNS]
    sections = []
    for place, diagnosis in enumerate(shown):
        run = runs[diagnosis.run]
        context = context_of(log, run, evaluation, limits, group_size, prompts)
        sections.append((
            f"run-{place}", run.name or "The run",
            _run(place, log, run, diagnosis, context, group_size, prompts),
        ))  # fmt: skip
    if lag is not None:
        sections.append(("lag", "Lag", lag_section(lag)))
    sections.append(("read", "What was read", account(log)))
    places = "".join(f'<li><a href="#{id}">{text(_cut(name))}</a></li>' for id, name, _ in sections)
    body = "".join(
        f'<section id="{id}">\n<h2>{text(name)}</h2>\n{inner}\n</section>\n'
        for id, name, inner in sections
    )
    name = PurePath(log.path).name
    return document(
        f"{name}: what the log says",
        f"{_head(name, log, found)}\n<nav><ul>{places}</ul></nav>\n<main>\n{body}</main>",
        styles=[resources.files(__package__).joinpath("page.css").read_text(encoding="utf-8")],
    )


def _head(name: str, log: Log, found: Sequence[Diagnosis]) -> str:
    items = "".join(
        f"<li>{sign(each.verdict)} "
        + (f"<b>{_link(place, each.run)}</b> " if each.run else "")
        + f"{text(each.summary)}</li>"
        for place, each in enumerate(found)
    )
    judged = {each.run for each in found}
    short = [run.name for run in log.runs if run.name not in judged]
    left = (
        f"<p><small>Too few reward rows to be judged: {text(', '.join(short))}.</small></p>"
        if short
        else ""
    )
    more = len(found) - MOST_RUNS
    rest = (
        f"<p><small>No section here for {more} of the runs; --json has all.</small></p>"
        if more > 0
        else ""
    )
    exponent = noise_of_sweep(log)
    sweep = (
        ""
        if exponent is None
        else "<p>Over the runs of one model the noise goes as G<sup>a</sup>, a = "
        f"{number(exponent.value)} {ranged(exponent)}; sampling the groups alone gives −0.5.</p>"
    )
    return (
        f'<header>\n<h1>{breakable(name)}</h1>\n<p class="lede">{text(log.format)}; version: '
        f'{text(log.version)}.</p>\n<ul class="runs">{items}</ul>{left}{rest}{sweep}</header>'
    )


def _run(
    place: int, log: Log, run: Run, diagnosis: Diagnosis, context: Context,
    group_size: int | None, prompts: int | None,
) -> str:  # fmt: skip
    learned = learn(log, run, group_size=group_size, prompts=prompts)
    said_of = courses(run, context, diagnosis.findings)
    cards = "".join(
        card(f"run-{place}-{number_}", run, context.evaluation, learned, finding, course)
        for number_, (finding, course) in enumerate(zip(diagnosis.findings, said_of, strict=True))
    )
    verdict = f'<p class="lede">{sign(diagnosis.verdict)} {text(diagnosis.summary)}.</p>'
    legend = "" if place else f"<p><small>{_LEGEND}</small></p>"
    return (
        f"{verdict if run.name else ''}"
        f"<p><small>{number(diagnosis.rows, 12)} reward rows; best checkpoint by "
        f"<code>{text(diagnosis.best_by)}</code> at step {number(diagnosis.best_step, 6)}."
        "</small></p>"
        f'<div class="curve"><figure role="img" aria-label="reward by step and the fitted curve">'
        f"{figure(f'run-{place}-curve', run, learned)}</figure>"
        f"<div>{said(run, learned, diagnosis)}</div></div>"
        f'<h3>Four dials</h3>{legend}<div class="dials">{cards}</div>'
    )


def _link(place: int, name: str) -> str:
    if place >= MOST_RUNS:
        return text(name)
    return f'<a href="#run-{place}">{text(name)}</a>'


def _cut(name: str) -> str:
    return name if len(name) <= 24 else f"{name[:20]} ..."
