"""What was read and what was refused: where every row went, and what every column means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from numerics.log_page.parts import breakable, listed
from numerics.logs import QUANTITIES, Column, Log, Run
from numerics.pages import number, terms, text

__all__ = ["account"]

#: Kind of a row -> what became of it.
_BECAME = {
    "reward": "a point of a curve",
    "evaluation": "a point of an evaluation",
    "summary": "totals of the whole run, so no step of it",
    "duplicate": "says again what another row says",
    "superseded": "replaced by a later row of the same step",
    "without reward": "holds no reward",
    "refused": "could not be read",
}
_SHOWN = 12
#: Quantities whose columns are listed by name only.
_BY_NAME = {"time": "more: times", "other": "more: not known, and not used"}


def account(log: Log) -> str:
    """Return the section that accounts for the file."""
    gaps = [
        f"{gap.missing} missing between step {gap.after:g} and {gap.before:g}"
        + (f" of {gap.run}" if gap.run else "")
        for gap in log.gaps
    ]
    settings = {
        name: str(value) for name, value in log.configuration.items()
        if not isinstance(value, Mapping)
    }  # fmt: skip
    parts = [
        terms({"file": log.path, "format": log.format, "version": log.version}),
        _rows(log),
        *(
            f"<h3>{title}</h3>{body}"
            for title, body in (
                ("Refused", _first(log.refused)),
                ("Missing steps", _first(gaps)),
                ("Choices of the reader", listed(log.notes)),
                ("What the log tells of the run", terms(settings) if settings else ""),
                ("Columns", _columns(log.runs)),
                ("Columns of the evaluation", _columns(log.evaluations)),
            )
            if body
        ),
    ]
    return "".join(parts)


def _rows(log: Log) -> str:
    body = "".join(
        f'<tr><td class="number">{number(count, 12)}</td><td><b>{text(kind)}</b> '
        f"<small>{text(_BECAME.get(kind, ''))}</small></td></tr>"
        for kind, count in sorted(log.rows.items(), key=lambda item: -item[1])
    )
    total = number(sum(log.rows.values()), 12)
    return (
        f'<h3>Rows</h3><table class="account"><tbody>{body}<tr><td class="number"><b>{total}</b>'
        "</td><td><b>seen</b></td></tr></tbody></table>"
    )


def _columns(runs: Iterable[Run]) -> str:
    """Return the columns of all runs, those that no verdict reads folded away."""
    columns = {column.name: column for run in runs for column in run.columns}.values()
    order = list(QUANTITIES)
    used = [column for column in columns if column.quantity not in _BY_NAME]
    used.sort(key=lambda column: order.index(column.quantity))
    folded = [
        f"<details><summary>{len(named)} {what}</summary><p>"
        + ", ".join(f"<code>{breakable(column.name)}</code>" for column in named)
        + "</p></details>"
        for quantity, what in _BY_NAME.items()
        if (named := [column for column in columns if column.quantity == quantity])
    ]
    return "".join([_table(used) if used else "", *folded])


def _table(columns: Iterable[Column]) -> str:
    body = "".join(
        f"<tr><td><code>{breakable(column.name)}</code></td>"
        f'<td data-label="quantity">{text(column.quantity.replace("_", " "))}</td>'
        f'<td data-label="meaning">{text(column.meaning)}</td></tr>'
        for column in columns
    )
    return (
        '<table class="columns"><thead><tr><th>column</th><th>quantity</th><th>meaning</th></tr>'
        f"</thead><tbody>{body}</tbody></table>"
    )


def _first(sentences: Iterable[str]) -> str:
    sentences = list(sentences)
    if len(sentences) <= _SHOWN:
        return listed(sentences)
    rest = listed(sentences[_SHOWN:])
    return (
        f"{listed(sentences[:_SHOWN])}<details><summary>{len(sentences) - _SHOWN} more</summary>"
        f"{rest}</details>"
    )
