r"""A counterexample drawn: printed against derived through the point, or the map's path there."""

from __future__ import annotations

from fractions import Fraction
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from derivations.audit import read_formula
from derivations.explain.twin import Twin, twin
from derivations.judge import balls
from derivations.notation import QUANTITIES, quantity
from derivations.targets import TARGETS
from numerics.plots import COLOURS, panel
from numerics.report.witness import run_at
from numerics.simulation import simulate_linear

if TYPE_CHECKING:
    from derivations.audit import Audited

__all__ = ["counterexample"]

_POINTS = 61
_STEPS = 60
_TITLE = 52  # characters across a panel


def counterexample(audited: Audited) -> str:
    """Return an SVG panel of where a refuted claim fails; empty where there is nothing to draw.

    For a formula, printed and derived against one quantity, the others as in the counterexample;
    for a condition of stability, the simulated path of the map at the counterexample.
    """
    if audited.verdict.word.value != "refuted" or not audited.verdict.counterexample:
        return ""
    if audited.claim.quantity == "threshold":
        return _path(audited)
    return _curves(audited)


def _path(audited: Audited) -> str:
    run = run_at(audited)
    if run is None:
        return ""
    steps = max(_STEPS, 4 * run.schedule.longest)
    path = simulate_linear(
        run.optimizer, run.schedule, mu=float(run.mu), x=float(run.x),
        stale_share=float(run.stale_share), steps=steps,
    ).path  # fmt: skip

    def draw(axes: Any) -> None:
        finite = np.isfinite(path)
        axes.plot(np.arange(steps + 1)[finite], path[finite], ".-", color=COLOURS["blue"])
        axes.axhline(0, color=COLOURS["faint"], linewidth=0.8)
        axes.set_title(_lines("The map, run at the counterexample:", audited))
        axes.set_xlabel("step")
        axes.set_ylabel("deviation q")

    return panel(audited.claim.id, draw)


def _curves(audited: Audited) -> str:
    """Draw printed and derived against the first quantity along which both can be evaluated."""
    claim = audited.claim
    target = TARGETS[claim.quantity]
    formula = read_formula(claim)
    printed = formula.expression if formula.expression is not None else formula.relations[0]
    setting = target.read(claim.model, frozenset(s.name for s in printed.free_symbols))
    at = {quantity(name): Fraction(value) for name, value in audited.verdict.counterexample.items()}
    steps = setting.update.lag_model.parameter if setting.update is not None else None
    if steps in at and setting.update is not None and target.by_lag(setting):
        setting = setting.at(int(at[steps]))
    pair = twin(target, setting, printed)
    if pair is None:
        return ""
    dense = [s for s in pair.symbols if s in at and not QUANTITIES[s.name].domain.integer]
    along = dense[0] if dense else None
    if along is None:
        return ""
    middle = float(at[along])
    domain = QUANTITIES[along.name].domain
    low = float(domain.low) if domain.low is not None else middle - 1
    high = float(domain.high) if domain.high is not None else max(2 * middle, low + 1e-3)
    grid = np.linspace(low, high, _POINTS + 2)[1:-1]
    return _drawn(audited, pair, along, at, grid)


def _lines(head: str, audited: Audited) -> str:
    """Return a title with the counterexample, in lines that fit a panel."""
    point = audited.verdict.counterexample.items()
    unbroken = (f"{name} = {value}".replace(" ", "\N{NO-BREAK SPACE}") for name, value in point)
    return fill(f"{head} {', '.join(unbroken)}", _TITLE)


def _drawn(audited: Audited, pair: Twin, along: Any, at: Any, grid: Any) -> str:
    def values(e: Any) -> list[float]:
        return [_value(e, {**at, along: Fraction(float(g))}) for g in grid]

    def draw(axes: Any) -> None:
        axes.plot(grid, values(pair.derived), color=COLOURS["blue"], label="derived")
        axes.plot(grid, values(pair.printed), "--", color=COLOURS["orange"], label="printed")
        here = float(at[along])
        axes.axvline(here, color=COLOURS["faint"], linewidth=0.8)
        there = [_value(pair.derived, at), _value(pair.printed, at)]
        axes.plot([here, here], there, "o", color=COLOURS["ink"], label="counterexample")
        axes.set_title(_lines("The counterexample:", audited))
        axes.set_xlabel(along.name)
        axes.legend()

    return panel(audited.claim.id, draw)


def _value(e: Any, point: Any) -> float:
    """Return a number to draw; where the formula has none, a gap."""
    try:
        ball = balls.evaluate(e, point)
    except balls.Undefined:
        return float("nan")
    return float(ball.mid() if hasattr(ball, "mid") else ball)
