"""``grpo-dynamics fit``: learning curves fitted to the reward of a log."""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from numerics.commands.arguments import (
    OPTIMIZERS,
    Parser,
    UsageError,
    choice,
    exact,
    or_list,
    whole,
)
from numerics.commands.curve import add_curve, curve_of, head, head_lines
from numerics.commands.output import print_json, printable, table, wrapped

if TYPE_CHECKING:
    from numerics.fit import Comparison, Fit, Interval, TailScore

__all__ = ["configure", "run"]

_LEVEL = Fraction(9, 10)
_LAW, _RIVAL = "three-phase", "exponential"
#: Families that are laws of the record: the entry, and what it is called.
_LAWS = {
    "exponential": ("n1", "n1, single exponential"),
    "sigmoid": ("n1", "n1 (v1), sigmoid"),
    "compute-law": ("s1", "s1, compute-performance law"),
}
#: Readings whose intervals are shown, in this order.
_SHOWN = (
    "R_0", "first_plateau", "R_inf", "tau", "x_over_damping", "relaxation_time", "damping_ratio",
    "inflection", "second_start", "second_tau", "eta", "p_0", "C_mid", "B",
)  # fmt: skip


def configure(parser: Parser) -> None:
    """Declare the flags."""
    add_curve(parser)
    parser.add_argument(
        "--family", metavar="NAME", action="append",
        help="fit only this family of curves (may be repeated); default all",
    )  # fmt: skip
    parser.add_argument(
        "--level", metavar="SHARE", type=exact, default=_LEVEL,
        help="coverage of the intervals, default 0.9",
    )  # fmt: skip
    parser.add_argument(
        "--optimizer", metavar="NAME", type=choice("optimizer", OPTIMIZERS),
        help=f"{or_list(OPTIMIZERS)}: with --momentum, says how much of a slow start is inertia",
    )  # fmt: skip
    parser.add_argument("--momentum", metavar="MU", type=exact, help="momentum, from 0, below 1")
    parser.add_argument("--lag", metavar="D", type=whole, help="constant lag in steps, default 0")
    parser.add_argument(
        "--stale-share", metavar="S", type=exact, help="stale share of the stiffness, default 1"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """Fit, rank and say what the log determines."""
    update = (args.momentum, args.lag, args.stale_share)
    if args.optimizer is None and any(given is not None for given in update):
        raise UsageError("--momentum, --lag and --stale-share go with --optimizer: give it")
    if args.optimizer is not None and args.momentum is None:
        raise UsageError("--optimizer needs --momentum")
    found = _found(args)
    if args.json:
        print_json("grpo-dynamics/fit/1", found)
    else:
        print(printable(_text(found)))
    return 0


def _found(args: argparse.Namespace) -> dict[str, Any]:
    from numerics.fit import ceiling, claimed_r_squared, compare, held_out, intervals, r_squared

    curve = curve_of(args)
    given, level = curve.series, float(args.level)
    ranked = compare(given, args.family)
    tails = held_out(given, list(ranked.fits)) if len(given) >= 20 else {}
    told = [ranked.best] + [f for name, f in ranked.fits.items() if name == _LAW]
    told = list({f.family.name: f for f in told}.values())
    ranges = {f.family.name: intervals(f, [n for n in _SHOWN if n in f.readings], level=level)
              for f in told}  # fmt: skip
    top = ceiling(given, ranked.best)
    summary: dict[str, Any] = {
        **head(
            args, curve, origin=given.origin, group_size=given.group_size, prompts=given.prompts,
            bounds=None if given.bounds is None else list(given.bounds),
            averaged_over=given.averaged_over,
        ),
        "best": ranked.best.family.name,
        "level": level,
        "models": [_model(ranked, name, tails) for name in ranked.fits],
        "left_out": dict(ranked.left_out),
        "intervals": {name: {q: _interval(q, i) for q, i in got.items()}
                      for name, got in ranges.items()},
        "noise": _noise(ranked.best),
        "r_squared": {
            "best": r_squared(ranked.best), "ceiling": top.value, "ceiling_low": top.low,
            "ceiling_high": top.high, "binomial_ceiling": top.binomial,
        },
        "laws": [] if args.family else [
            {"id": id, "family": name, "standing": ranked.standing(name),
             "delta_aicc": ranked.delta(name)}
            for name, (id, _) in _LAWS.items() if name in ranked.fits
        ],
        "claim": None,
        "slow_start": None,
    }  # fmt: skip
    if _LAW in ranked.fits and _RIVAL in ranked.fits:
        claim = claimed_r_squared(ranked.fits[_LAW], ranked.fits[_RIVAL])
        summary["claim"] = {
            "id": "p16", "verdict": claim.verdict, "threshold": claim.threshold,
            "r_squared": claim.raw, "rival_r_squared": claim.rival, "window": claim.window,
            "smoothed_rival_r_squared": claim.smoothed_rival,
            "beyond_exponential": claim.beyond_exponential,
        }  # fmt: skip
    if args.optimizer is not None:
        summary["slow_start"] = _slow_start(args, ranked, level)
    return summary


def _model(ranked: Comparison, name: str, tails: dict[str, TailScore]) -> dict[str, Any]:
    from numerics.fit import r_squared

    found, tail = ranked.fits[name], tails.get(name)
    return {
        "name": name,
        "law": found.family.law,
        "source": found.family.source,
        "parameters": found.parameters,
        "log_likelihood": found.log_likelihood,
        "aicc": found.aicc,
        "delta_aicc": ranked.delta(name),
        "weight": ranked.weights[name],
        "bic": found.bic,
        "delta_bic": found.bic - min(each.bic for each in ranked.fits.values()),
        "r_squared": r_squared(found),
        "tail_error": None if tail is None else tail.error,
        "tail_rmse": None if tail is None else tail.rmse,
        "held": list(found.held),
        "readings": dict(found.readings),
    }


def _interval(name: str, interval: Interval) -> dict[str, Any]:
    from numerics.fit import QUANTITIES

    return {
        "estimate": interval.estimate, "low": interval.low, "high": interval.high,
        "determined": interval.determined, "why": interval.why,
        "meaning": QUANTITIES[name].meaning, "kind": QUANTITIES[name].kind,
    }  # fmt: skip


def _noise(found: Fit) -> dict[str, Any]:
    noise = found.noise
    return {
        "std": noise.variance**0.5,
        "binomial_std": None if noise.binomial is None else noise.binomial**0.5,
        "wandering_share": noise.share,
        "memory": noise.memory,
        "spikes": [float(step) for step in found.series.step[found.spikes]],
    }


def _slow_start(args: argparse.Namespace, ranked: Comparison, level: float) -> dict[str, Any]:
    from dataclasses import asdict

    from numerics.fit import attribute_slow_start, fit

    law = ranked.fits.get(_LAW) or fit(ranked.best.series, _LAW)
    one_rise = {"inflection", "second_inflection"} & ranked.best.readings.keys() == {"inflection"}
    shown = ranked.best if one_rise else law
    found = attribute_slow_start(
        shown, tau=law.readings["tau"], optimizer=args.optimizer, mu=float(args.momentum),
        lag=args.lag or 0, stale_share=1.0 if args.stale_share is None else float(args.stale_share),
        level=level,
    )  # fmt: skip
    return {"family": shown.family.name, **asdict(found)}


def _text(found: dict[str, Any]) -> str:
    """Return the result for people, in 80 columns."""
    lines = [
        *head_lines(found),
        "",
        "families, best first (AICc; the tail is the last quarter, fitted without it)",
        f"  {'':<20}{'dAICc':>8}{'weight':>8}{'dBIC':>8}{'R^2':>8}{'tail rmse':>11}{'R_inf':>10}",
        *map(_row, found["models"]),
        *(wrapped(f"{name}: left out, {why}", indent=2, hanging=2)
          for name, why in found["left_out"].items()),
    ]  # fmt: skip
    percent = f"{100 * found['level']:g} %"
    for name, got in found["intervals"].items():
        model = next(each for each in found["models"] if each["name"] == name)
        lines += [
            "", wrapped(f"{name}, {percent} intervals: {model['law']}", indent=0, hanging=2),
            *(f"  {quantity:<18}{_range(i)}" for quantity, i in got.items()),
            *(wrapped(i["why"], indent=2, hanging=2) for i in got.values() if i["why"]),
            *(wrapped(f"held: {what}", indent=2, hanging=2) for what in model["held"]),
        ]  # fmt: skip
    lines += ["", "noise", table(_noise_rows(found))]
    if found["laws"]:
        lines += [
            "", "laws of the record against all families (AICc tells apart from 10 on)",
            table((_LAWS[law["family"]][1], _standing(found, law)) for law in found["laws"]),
        ]  # fmt: skip
    for key, words in (("claim", _claim), ("slow_start", _inertia)):
        if found[key] is not None:
            lines += ["", wrapped(words(found[key]), indent=0, hanging=2)]
    return "\n".join(lines)


def _row(model: dict[str, Any]) -> str:
    tail = "-" if model["tail_rmse"] is None else f"{model['tail_rmse']:.3g}"
    plateau = f"{model['readings']['R_inf']:.4g}"
    return (
        f"  {model['name']:<20}{model['delta_aicc']:>8.1f}{model['weight']:>8.2f}"
        f"{model['delta_bic']:>8.1f}{model['r_squared']:>8.3f}{tail:>11}{plateau:>10}"
    )


def _range(interval: dict[str, Any]) -> str:
    low, high = (
        "open" if interval[end] is None else f"{interval[end]:.4g}" for end in ("low", "high")
    )
    said = "" if interval["determined"] else "   not determined"
    return f"{interval['estimate']:>10.4g}   {low} .. {high}{said}"


def _noise_rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    noise, fit = found["noise"], found["r_squared"]
    rows = [("std of a row", f"{noise['std']:.4g}")]
    if noise["binomial_std"] is not None:
        rows.append(("binomial part", f"{noise['binomial_std']:.4g}"))
    if noise["memory"]:
        rows.append((
            "wanders", f"{100 * noise['wandering_share']:.0f} % of the variance, "
            f"memory {noise['memory']:.2f} from row to row",
        ))  # fmt: skip
    rows.append(("spikes", f"{len(noise['spikes'])} rows"))
    rows.append((
        "R^2 ceiling", f"{fit['ceiling']:.3f} ({fit['ceiling_low']:.3f} to "
        f"{fit['ceiling_high']:.3f}): a perfect curve; the best one has {fit['best']:.3f}",
    ))  # fmt: skip
    return rows


def _standing(found: dict[str, Any], law: dict[str, Any]) -> str:
    behind = f" than {found['best']} by {law['delta_aicc']:.1f}"
    return f"{law['standing']}{behind if law['standing'] == 'worse' else ''}"


def _claim(claim: dict[str, Any]) -> str:
    reading = {
        "reached": "is reached on raw rows",
        "out of reach": "is out of reach on raw rows: not even a perfect curve would have it",
        "missed": "is missed, though the noise allows it",
        "undecided": "is not reached on raw rows, and whether the noise allows it is open",
    }[claim["verdict"]]
    text = (
        f"p16, three-phase law with R^2 >= {claim['threshold']:g}: {reading} "
        f"({claim['r_squared']:.3f}; single exponential {claim['rival_r_squared']:.3f})"
    )
    if claim["window"] is not None and claim["window"] > 1:
        text += (
            f". Means over {claim['window']} rows reach it; the single exponential then has "
            f"{claim['smoothed_rival_r_squared']:.3f}"
        )
    if claim["window"] is not None and not claim["beyond_exponential"]:
        text += ". The figure does not tell the two apart"
    return text


def _inertia(found: dict[str, Any]) -> str:
    return (
        f"slow start: {found['family']} is steepest {found['shown']:.4g} steps after the start; "
        f"momentum and lag put it at {found['inertial_inflection']:.4g} (delay M/C "
        f"{found['inertial_delay']:.4g}): {found['verdict']}"
    )
