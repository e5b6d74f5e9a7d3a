"""``grpo-dynamics forecast``: whether a run still gains, how much and until when."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from numerics.commands.arguments import Parser, exact
from numerics.commands.curve import add_curve, curve_of, head, head_lines
from numerics.commands.output import print_json, printable, table, wrapped

if TYPE_CHECKING:
    from numerics.forecast import Estimate

__all__ = ["configure", "run"]

_SHARE = Fraction(9, 10)


def configure(parser: Parser) -> None:
    """Declare the flags."""
    add_curve(parser)
    parser.add_argument(
        "--share", metavar="SHARE", type=exact, default=_SHARE,
        help="the share of the remaining gain whose step is asked for, default 0.9",
    )  # fmt: skip
    parser.add_argument(
        "--horizon", metavar="STEPS", type=exact,
        help="steps after the last row to look at, default as many as there have been",
    )  # fmt: skip
    parser.add_argument(
        "--level", metavar="SHARE", type=exact, default=_SHARE,
        help="coverage of the intervals, default 0.9",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """Forecast and say what can be told."""
    found = _found(args)
    if args.json:
        print_json("grpo-dynamics/forecast/1", found)
    else:
        print(printable(_text(found)))
    return 0


def _found(args: argparse.Namespace) -> dict[str, Any]:
    from numerics.forecast import forecast

    curve = curve_of(args)
    given = curve.series
    found = forecast(
        given, share=float(args.share), level=float(args.level),
        horizon=None if args.horizon is None else float(args.horizon),
    )  # fmt: skip
    return {
        **head(args, curve),
        "verdict": found.verdict,
        "why": found.why,
        "level": found.level,
        "horizon": found.horizon,
        "end_step": float(given.step[-1]) + found.horizon,
        "now": _estimate(found.now),
        "end": _estimate(found.end),
        "plateau": _estimate(found.plateau),
        "remaining": _estimate(found.remaining),
        "noise": found.noise,
        "probability": found.probability,
        "probability_of_fall": found.probability_of_fall,
        "share": found.share,
        "share_step": _estimate(found.share_step),
        "drift": found.drift,
        "models": dict(found.models),
    }


def _estimate(found: Estimate) -> dict[str, float | None]:
    return {"middle": found.middle, "low": found.low, "high": found.high}


def _text(found: dict[str, Any]) -> str:
    """Return the result for people, in 80 columns."""
    weights = sorted(found["models"].items(), key=lambda pair: -pair[1])
    rows = [
        ("reward now", _range(found["now"])),
        (f"at step {found['end_step']:.6g}", _range(found["end"])),
        ("plateau", _range(found["plateau"])),
        ("remaining gain", _range(found["remaining"])),
        ("smallest visible", f"{found['noise']:.4g}, the noise of a difference of two means"),
        ("P(gain above it)", f"{found['probability']:.2f}"),
        ("P(loss above it)", f"{found['probability_of_fall']:.2f}"),
        (f"{100 * found['share']:g} % of the gain", _steps(found["share_step"])),
        ("models", ", ".join(f"{name} {weight:.2f}" for name, weight in weights)),
        ("drift", f"{found['drift']:.2f} of the change so far, when time has grown by e"),
    ]
    return "\n".join([
        *head_lines(found),
        "",
        wrapped(f"{found['verdict']}: {found['why']}", indent=0, hanging=2),
        "",
        f"means, with {100 * found['level']:g} % intervals",
        table(rows),
    ])  # fmt: skip


def _range(estimate: dict[str, float]) -> str:
    if estimate["low"] == estimate["high"]:
        return f"{estimate['middle']:.4g}"
    return f"{estimate['middle']:.4g}   {estimate['low']:.4g} .. {estimate['high']:.4g}"


def _steps(estimate: dict[str, float | None]) -> str:
    if estimate["low"] is None:
        return "no curve that still gains visibly gets there"
    middle, low, high = (
        "open" if estimate[key] is None else f"step {estimate[key]:.6g}"
        for key in ("middle", "low", "high")
    )
    ends = "" if low == high != "open" else f"   {low} .. {high}"
    return f"{middle}{ends}, if there is a visible gain at all"
