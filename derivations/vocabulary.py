r"""The names a formula may use: the theory's, the common other ones, and those of the file's table.

The linear theory knows eta and K only through x = eta*K, so a formula printed in eta and K is
brought to x; one that cannot be is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import sympy as sp

from derivations.formula import Formula, FormulaError
from derivations.formula.language import CONSTANTS, FUNCTIONS
from derivations.notation import QUANTITIES, quantity
from derivations.update import nearest

__all__ = ["in_x", "legal_name", "vocabulary"]

#: Common spellings of the theory's names. One that the theory itself uses is not here.
ALIASES = {
    "alpha": "eta", "lr": "eta", "momentum": "mu", "beta_1": "mu", "beta1": "mu",
    "lag": "d", "refresh": "N", "stale_share": "s", "group_size": "G", "epsilon": "eps",
    "omega": "w", "beta_KL": "beta", "beta_kl": "beta", "pi_ref": "p_ref", "R_infty": "R_inf",
    "k": "K", "h": "delta", "Delta": "delta",
}  # fmt: skip
#: What the source calls both the lag and the refresh interval; the claim's lag model says which.
_EITHER = "K_ref"


def legal_name(printed: str, meant: object) -> str:
    """Return the theory's name that a file's ``symbols`` table gives to a printed one.

    Raises
    ------
    FormulaError
        If the printed name cannot stand in a formula or is a word of the language, or the meant
        one is not the theory's.
    """
    if not printed.isidentifier() or not printed.isascii() or len(printed) > 40:
        raise FormulaError(f"symbols: {printed[:40]!r} is no name; use letters, digits and _")
    if printed in (*CONSTANTS, *FUNCTIONS, "and"):
        raise FormulaError(
            f"symbols: {printed} is a word of every formula and cannot be renamed; "
            "print the quantity by another name"
        )
    if not isinstance(meant, str) or meant not in QUANTITIES:
        raise FormulaError(
            f"symbols: {printed} = {meant!r} is no quantity{nearest(str(meant), QUANTITIES)} "
            f"(known: {', '.join(QUANTITIES)})"
        )
    return meant


def vocabulary(
    known: Sequence[str], table: Mapping[str, str], model: Mapping[str, object]
) -> dict[str, sp.Symbol]:
    """Return printed name to symbol for a claim about a target with the symbols `known`.

    Parameters
    ----------
    known
        The theory's names that the target's formulas may use.
    table
        The file's own names, to the theory's; they win over everything.
    model
        The claim's conventions; its lag model gives K_ref its meaning.
    """
    own = [*known, *(("eta", "K") if _by_x(known) else ())]
    lag = {"constant": "d", "sawtooth": "N"}.get(str(model.get("lag_model")))
    either = {_EITHER: lag} if lag is not None and {"d", "N"} <= set(known) else {}
    names = {name: name for name in own}
    for printed, meant in {**ALIASES, **either}.items():
        if meant in own:
            names.setdefault(printed, meant)
    for printed, meant in table.items():
        if meant in own:
            names[printed] = meant
    return {printed: quantity(meant) for printed, meant in names.items()}


def in_x(formula: Formula, known: Sequence[str]) -> Formula:
    """Return a formula about the linear map with eta*K written as x.

    Raises
    ------
    FormulaError
        If eta or K occurs other than in the product.
    """
    eta, curvature, x = quantity("eta"), quantity("K"), quantity("x")
    if not _by_x(known) or not {"eta", "K"} & formula.symbols:
        return formula

    def brought(e: sp.Expr) -> sp.Expr:
        e = e.xreplace({curvature: x / eta})
        if eta in e.free_symbols:
            e = sp.cancel(e) if e.is_rational_function() else sp.simplify(e)
        if eta in e.free_symbols:
            raise FormulaError(
                "the linear theory has eta and K only as the product x = eta*K, but this formula "
                "has them otherwise; give a symbols table if they mean something else",
                formula.text,
            )
        return e

    if formula.expression is not None:
        return replace(formula, expression=brought(formula.expression))
    relations = tuple(
        relation.func(brought(relation.lhs), brought(relation.rhs), evaluate=False)
        for relation in formula.relations
    )
    return replace(formula, relations=relations)


def _by_x(known: Sequence[str]) -> bool:
    return "x" in known and not {"eta", "K"} & set(known)
