"""The lags of a trainer's configuration, as a table."""

from __future__ import annotations

from itertools import groupby

from numerics.log_page.parts import facts
from numerics.pages import number, text
from numerics.trainers import LagTable

__all__ = ["lag_section"]

_MOST_STEPS = 12
_MOST_LAGS = 16
_EFFECTS = {
    "re-uses": "re-uses data", "delays": "delays data", "neither": "changes neither use nor lag",
}  # fmt: skip


def lag_section(table: LagTable) -> str:
    """Return the section of the lag: every micro-batch of one period, and what follows from it."""
    settings = ", ".join(
        f"{text(name)} <b>{text(_plain(value))}</b>"
        + (" <small>(default)</small>" if name in table.defaults else "")
        for name, value in table.settings.items()
    )
    ratio = (
        "identically 1: clipping never fires" if table.ratio_is_one
        else "not known" if table.importance_ratio is None
        else "differs from 1 where the lag is not 0: clipping can fire"
    )  # fmt: skip
    law = [(lag, float(share)) for lag, share in enumerate(table.lag_law) if share]
    shares = ", ".join(f"{number(lag)} ({number(share, 3)})" for lag, share in law[:_MOST_LAGS])
    more = f" and {len(law) - _MOST_LAGS} more" if len(law) > _MOST_LAGS else ""
    rows = [
        ("trainer", f"{text(table.trainer)}: {settings}"),
        ("lag", f"mean {number(float(table.mean))}, largest {number(table.max)} steps"),
        ("share of each lag", shares + more),
        ("schedule", text(table.lag_model)),
        ("ratio", ratio),
        (
            "updates",
            f"{number(float(table.updates_per_rollout))} for each generation; every completion is "
            + ("used once" if table.uses == 1 else f"used {number(table.uses)} times"),
        ),
        *((_EFFECTS[effect.kind], f"<code>{text(effect.setting)}</code>: {text(effect.text)}")
          for effect in table.effects),
    ]  # fmt: skip
    warnings = "".join(
        f"<li><code>{text(notice.setting)}</code>: {text(notice.text)}</li>"
        for notice in table.notices
    )
    meant = f"<h3>What the settings do not mean</h3><ul>{warnings}</ul>" if warnings else ""
    return f"{_period(table)}{facts(rows)}{meant}"


def _period(table: LagTable) -> str:
    shown = table.lags[:_MOST_STEPS]
    body = "".join(
        f'<tr><th scope="row">{step}</th>{_cells(lags)}</tr>'
        for step, lags in enumerate(shown, start=1)
    )
    after = (
        "The lag is drawn afresh at every step." if table.drawn
        else "and so on from step 1" if len(shown) == len(table.lags)
        else f"{len(table.lags)} steps in all, to lag {table.max}; then from step 1 again"
    )  # fmt: skip
    return (
        '<div class="wide"><table class="lags"><thead><tr><th scope="col">step</th>'
        '<th scope="col" colspan="99">lag of each micro-batch</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div><p><small>{after}</small></p>"
    )


def _cells(lags: tuple[int, ...]) -> str:
    if len(lags) <= _MOST_LAGS:
        return "".join(f"<td>{number(lag)}</td>" for lag in lags)
    alike = [(lag, sum(1 for _ in same)) for lag, same in groupby(lags)]
    cells = "".join(f"<td>{number(lag)} ×{count}</td>" for lag, count in alike[:_MOST_LAGS])
    return cells + ("<td>…</td>" if len(alike) > _MOST_LAGS else "")


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
