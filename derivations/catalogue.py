r"""Every result of the theory: its id, where it is derived, and which premises it takes.

A result is one row. Rows stand in the theory's reading order. Importing this module derives
nothing and imports no result.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import sympy as sp

from derivations.derivation import Derivation, StepError
from derivations.notation import quantity
from derivations.update import LAG_MODELS, OPTIMIZERS, Update, nearest

__all__ = ["CATALOGUE", "PARTS", "CatalogueError", "Entry", "derivation", "entry"]

#: Longest lag or refresh a result is written out for, and the shorter limit of a costly one.
LONGEST_LAG = 64
LONGEST = {"stationary-variance": 6}


class CatalogueError(ValueError):
    """An id or a premise that the catalogue does not have."""


@dataclass(frozen=True)
class Entry:
    """One row of the catalogue.

    Attributes
    ----------
    id
        Permanent name; the id of the derivation.
    module, function
        Where it is derived, under ``derivations``.
    lags
        For a result about an update rule: the lag models it is derived for, each with the lags it
        is shown at, the one shown first in front. None is the symbol: every lag at once.
    fixed
        Whether a fixed lag may be asked for.
    share
        The stale share it is shown at; the symbol ``s`` where it is derived for every share.
    choices
        For other results: premises by name with their values, the one shown first in front.
    """

    id: str
    module: str
    function: str = "derive"
    lags: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict)
    fixed: bool = True
    share: sp.Expr = field(default_factory=lambda: quantity("s"))
    choices: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)

    @property
    def derive(self) -> Callable[..., Derivation]:
        """The function that derives it, imported when first asked for."""
        module = importlib.import_module(f"derivations.{self.module}")
        function: Callable[..., Derivation] = getattr(module, self.function)
        return function

    @property
    def title(self) -> str:
        """Its title; derives it under the premises shown first."""
        return derivation(self.id).title

    def shown(self) -> list[dict[str, Any]]:
        """Return the premises it is shown under, as arguments of `derivation`, the default first.

        Every lag model and fixed lag with every optimizer; otherwise one choice changed at a time.
        """
        if self.lags:
            return [
                {"optimizer": optimizer, "lag_model": model} | ({} if lag is None else {"lag": lag})
                for model, lags in self.lags.items()
                for lag in lags
                for optimizer in OPTIMIZERS
            ]
        default = {name: values[0] for name, values in self.choices.items()}
        others = ((name, v) for name, values in self.choices.items() for v in values[1:])
        return [default, *(default | {name: value} for name, value in others)]


_EVERY_LAG = MappingProxyType({"constant": (None,), "sawtooth": (None,)})
_STALENESS = ("delayed-gradient", "stale-samples", "stale-samples-ratio")
_KL = ("reverse", "k1", "k2", "k3", "k3-ratio")

#: Title of a part of the derivation book -> its results, in order.
PARTS: Mapping[str, tuple[Entry, ...]] = MappingProxyType(
    {
        "The premises worked out": (
            Entry("softmax", "results.softmax"),
            Entry(
                "eq-1", "results.advantage",
                choices={"normaliser": ("std", "mean"), "ddof": (0, 1)},
            ),
            Entry("kl-force", "results.kl_force", choices={"kl": _KL}),
            Entry(
                "eq-2", "results.objective",
                choices={"staleness": _STALENESS, "kl": _KL, "normaliser": ("std", "mean")},
            ),
            Entry("characteristic", "characteristic", "characteristic", _EVERY_LAG),
            Entry(
                "monodromy", "characteristic", "closed_monodromy", {"sawtooth": (None,)},
                fixed=False, share=sp.S.One,
            ),
        ),
        "Results that the source names": (
            Entry("lemma-3", "results.stiffness"),
            Entry("lemma-4", "results.momentum", lags={"constant": (None,)}),
            Entry("lemma-5", "results.lag", lags=_EVERY_LAG),
            Entry("lemma-6", "results.temperature", lags=_EVERY_LAG),
            Entry("theorem-7", "results.oscillator", lags=_EVERY_LAG),
            Entry("prop-9", "results.refresh_rule", lags=_EVERY_LAG),
            Entry("sec-3.5", "results.transition", lags=_EVERY_LAG),
            Entry(
                "prop-10", "results.group_size",
                choices={"normaliser": ("std", "mean"), "ddof": (0, 1)},
            ),
            Entry("cor-13", "results.overdamped"),
            Entry("eq-15", "results.exponent"),
            Entry("prop-14", "results.slow_start"),
        ),
        "Extensions": (
            Entry("lag-rule", "results.lag_rule", lags={"constant": (None,)}),
            Entry(
                "constant-lag-threshold", "results.stability", lags={"constant": (None, 1, 2)},
                share=sp.S.One,
            ),
            Entry(
                "rule-conservatism", "results.conservatism", lags={"constant": (None,)},
                share=sp.S.One,
            ),
            Entry(
                "sawtooth-threshold", "results.sawtooth", lags={"sawtooth": (None, 2)},
                share=sp.S.One,
            ),
            Entry(
                "oscillation-onset", "results.onset",
                lags={"constant": (None, 0), "sawtooth": (None,)}, share=sp.S.One,
            ),
            Entry("oscillation-period", "results.period", lags=_EVERY_LAG),
            Entry(
                "stationary-variance", "results.variance",
                lags={"constant": (1, 0), "sawtooth": (1, 2)}, share=sp.S.One,
            ),
            Entry("staleness", "results.staleness", choices={"staleness": _STALENESS}),
            Entry("fixed-point", "results.fixed_point", choices={"kl": ("reverse", "k3")}),
            Entry("attracting-fixed-point", "results.lower_root"),
            Entry("two-cycle", "results.two_cycle"),
            Entry("two-cycle-border", "results.cycle_border"),
            Entry("group-moments", "results.binomial"),
            Entry("dead-groups", "results.dead_groups"),
            Entry("no-kl", "results.no_kl", choices={"normaliser": ("std", "mean")}),
            Entry("saturation-law", "results.saturation_law"),
            Entry(
                "compute-exponent", "results.compute_exponent",
                choices={"curve": ("no-kl-std", "no-kl-mean", "exponential", "from-rest")},
            ),
            Entry("slow-start-attribution", "results.attribution", lags={"constant": (None,)}),
            Entry("slow-root", "results.slow_root", lags=_EVERY_LAG),
        ),
    }
)  # fmt: skip

#: Id -> result, of all parts.
CATALOGUE: Mapping[str, Entry] = MappingProxyType(
    {row.id: row for rows in PARTS.values() for row in rows}
)


def entry(id: str) -> Entry:
    """Return the row of a result.

    Raises
    ------
    CatalogueError
        If there is none; the message names the nearest.
    """
    if id not in CATALOGUE:
        raise CatalogueError(
            f"unknown derivation {id!r}{nearest(id, CATALOGUE)} (known: {', '.join(CATALOGUE)})"
        )
    return CATALOGUE[id]


def derivation(
    id: str,
    *,
    optimizer: str = "heavy-ball",
    lag_model: str | None = None,
    stale_share: object = None,
    lag: int | None = None,
    **choices: str | int,
) -> Derivation:
    """Derive a result under the premises asked for; what is left out is as the catalogue shows it.

    Parameters
    ----------
    id
        A key of `CATALOGUE`.
    optimizer, lag_model, stale_share, lag
        Of the update rule; `lag` is the refresh under ``sawtooth``.
    **choices
        Other premises of this result, as its row lists them.

    Raises
    ------
    CatalogueError
        If the id, a premise or its value is unknown, or the result does not depend on it.
    """
    row = entry(id)
    chosen = _chosen(row, choices)
    if not row.lags:
        given = {"lag_model": lag_model, "stale_share": stale_share, "lag": lag}
        given["optimizer"] = None if optimizer == "heavy-ball" else optimizer
        for name, value in given.items():
            if value is not None:
                raise CatalogueError(f"{id} does not depend on {name}; leave {value!r} out")
        return _refusing(lambda: row.derive(**chosen))
    model = next(iter(row.lags)) if lag_model is None else lag_model
    if model in LAG_MODELS and model not in row.lags:
        raise CatalogueError(
            f"{id} is not derived for lag_model {model!r} (allowed: {', '.join(row.lags)})"
        )
    if lag is not None and not row.fixed:
        raise CatalogueError(f"{id} is derived for every lag at once; leave lag {lag} out")
    longest = LONGEST.get(id, LONGEST_LAG)
    if lag is not None and lag > longest:
        raise CatalogueError(f"{id} is written out for lags up to {longest}; {lag} was given")
    update = Update.named(
        optimizer, model,
        stale_share=row.share if stale_share is None else stale_share,
        lag=row.lags[model][0] if lag is None and model in row.lags else lag,
    )  # fmt: skip
    return _refusing(lambda: row.derive(update, **chosen))


def _refusing(derive: Callable[[], Derivation]) -> Derivation:
    """Derive, and word what the premises do not allow as an error of the catalogue."""
    try:
        return derive()
    except StepError:
        raise  # a step that does not check is a bug, not bad input
    except ValueError as error:
        raise CatalogueError(str(error)) from error


def _chosen(row: Entry, choices: Mapping[str, str | int]) -> dict[str, str | int]:
    for name, value in choices.items():
        if name not in row.choices:
            allowed = f"it takes {', '.join(row.choices)}" if row.choices else "leave it out"
            raise CatalogueError(
                f"{row.id} takes no premise {name!r}{nearest(name, row.choices)}; {allowed}"
            )
        allowed_values = {str(known): known for known in row.choices[name]}
        if value not in row.choices[name]:
            raise CatalogueError(
                f"{row.id}: unknown {name} {value!r}{nearest(str(value), allowed_values)}"
                f" (allowed: {', '.join(allowed_values)})"
            )
    return {name: values[0] for name, values in row.choices.items()} | dict(choices)
