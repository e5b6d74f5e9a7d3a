r"""Every quantity of the theory: symbol, meaning, unit, legal domain and typical range.

The names are the ones the theory uses; they are spelt the same in formulas, on the command line,
in JSON and in the documents. A quantity's domain is declared here once and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import sympy as sp

from derivations.domain import Domain

__all__ = ["QUANTITIES", "Quantity", "inverse", "quantity"]


@dataclass(frozen=True)
class Quantity:
    """A named quantity of the theory.

    Attributes
    ----------
    name
        How formulas, files and flags spell it.
    symbol
        The SymPy symbol; one object per name in the whole project.
    latex, meaning, unit
        For readers. Unit ``"1"`` is dimensionless, ``"step"`` counts optimizer steps.
    domain
        Where it is legal.
    typical
        The range met in practice, for charts and prose.
    """

    name: str
    symbol: sp.Symbol
    latex: str
    meaning: str
    unit: str
    domain: Domain
    typical: tuple[float, float]


_POSITIVE = Domain(low=Fraction(0), low_open=True)
_NON_NEGATIVE = Domain(low=Fraction(0))
_UNIT_OPEN = Domain(low=Fraction(0), high=Fraction(1), low_open=True, high_open=True)
_ANY = Domain()


def _integers(low: int) -> Domain:
    return Domain(low=Fraction(low), integer=True)


def _table() -> Mapping[str, Quantity]:
    # name, latex, meaning, unit, domain, typical range
    rows: list[tuple[str, str, str, str, Domain, tuple[float, float]]] = [
        ("mu", r"\mu", "momentum", "1", Domain(low=Fraction(0), high=Fraction(1), high_open=True), (0, 0.99)),
        ("x", "x", "dimensionless stiffness per step, x = eta*K", "1", _POSITIVE, (1e-6, 1)),
        ("d", "d", "lag: age in steps of the policy the stale force is computed on", "step", _integers(0), (0, 64)),
        ("N", "N", "refresh: steps between refreshes of the sampling policy", "step", _integers(1), (1, 64)),
        ("s", "s", "stale share K_s/K of the stiffness", "1", _ANY, (-1, 2)),
        ("x_f", "x_f", "fresh part (1-s)*x of x", "1", _ANY, (-1, 1)),
        ("x_s", "x_s", "stale part s*x of x", "1", _ANY, (-1, 1)),
        ("delta", r"\delta", "duration of a step", "time", _POSITIVE, (1, 1)),
        ("lambda", r"\lambda", "continuous-time rate of a mode", "1/time", _ANY, (-1, 0)),
        ("eta", r"\eta", "step size (learning rate)", "1", _POSITIVE, (1e-7, 1e-2)),
        ("K", "K", "stiffness: slope of the restoring mean drift", "1", _POSITIVE, (1e-3, 1)),
        ("S", "S", "gradient-noise variance per step", "1", _POSITIVE, (1e-3, 1)),
        ("beta", r"\beta", "weight of the KL anchor", "1", _POSITIVE, (1e-3, 2)),
        ("p", "p", "success probability", "1", _UNIT_OPEN, (0.01, 0.99)),
        ("p_ref", r"p_{\mathrm{ref}}", "success probability of the reference policy", "1", _UNIT_OPEN, (0.01, 0.99)),
        ("p_star", r"p_{\star}", "success probability at the fixed point", "1", _UNIT_OPEN, (0.01, 0.99)),
        ("G", "G", "group_size: completions per prompt", "1", _integers(2), (2, 64)),
        ("c", "c", "successes in a group", "1", _integers(0), (0, 64)),
        ("M", "M", "mass of the oscillator", "time^2", _POSITIVE, (0.5, 100)),
        ("C", "C", "damping of the oscillator", "time", _POSITIVE, (1e-3, 1)),
        ("t", "t", "time in steps", "step", _NON_NEGATIVE, (0, 1e4)),
        ("k", "k", "shift: steps between two deviations", "step", _integers(0), (0, 64)),
        ("r_p", "r_+", "faster rate of the overdamped oscillator", "1/step", _POSITIVE, (1e-3, 1)),
        ("r_m", "r_-", "slower rate of the overdamped oscillator", "1/step", _POSITIVE, (1e-4, 1)),
        ("eps", r"\varepsilon", "added to the variance (or the std) of rewards", "reward^2", _NON_NEGATIVE, (0, 1e-4)),
        ("w", r"\omega", "angle of a root on the unit circle", "rad/step", _POSITIVE, (0, 3.14)),
        ("tau", r"\tau", "relaxation time", "step", _POSITIVE, (1, 1e4)),
        ("R_0", "R_0", "reward at the start", "reward", _ANY, (0, 1)),
        ("R_inf", r"R_{\infty}", "reward at the plateau", "reward", _ANY, (0, 1)),
        ("p_0", "p_{0}", "success probability at the start", "1", _UNIT_OPEN, (0.01, 0.99)),
        ("sigma", r"\sigma", "standard deviation of a reward, sqrt(p*(1 - p))", "1", Domain(low=Fraction(0), high=Fraction(1, 2), low_open=True), (0.01, 0.5)),
        ("B", "B", "exponent of a compute-performance law", "1", _POSITIVE, (0.5, 5)),
        ("C_mid", r"C_{\mathrm{mid}}", "compute, in steps, at half of the rise", "step", _POSITIVE, (10, 1e4)),
        ("u", "u", "how many new units of time make an old one", "1", _POSITIVE, (1e-3, 1e3)),
        ("v", "v", "how many new units of size make an old one", "1", _POSITIVE, (1e-9, 1e9)),
        ("size", r"\mathrm{size}", "model size", "parameters", _POSITIVE, (1e8, 1e11)),
    ]
    return MappingProxyType(
        {row[0]: Quantity(row[0], sp.Symbol(row[0], real=True), *row[1:]) for row in rows}
    )


#: Name -> quantity of the theory.
QUANTITIES: Mapping[str, Quantity] = _table()


def quantity(name: str) -> sp.Symbol:
    """Return the symbol of the quantity called `name`.

    Raises
    ------
    KeyError
        If the theory has no such quantity.
    """
    return QUANTITIES[name].symbol


def inverse(name: str) -> sp.Symbol:
    """Return the symbol of 1/NAME, for expansions at large NAME."""
    return sp.Symbol(f"1/{name}", positive=True)
