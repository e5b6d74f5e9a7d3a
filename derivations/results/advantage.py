r"""eq-1: the advantage of a success, by what is subtracted and what is divided by.

Equation (1) subtracts the group's mean and divides by the group's standard deviation. Trainers
divide the squares by G - 1, and some subtract the mean of the other completions. With rewards 1 and
0 a group is its number of successes c, so each convention is one formula in c and G.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results.group_size import DDOF
from derivations.results.objective import NORMALISERS, advantage, checked
from derivations.results.softmax import ARMS

__all__ = ["BASELINES", "derive", "positive_root"]

_c, _G = quantity("c"), quantity("G")

#: What is subtracted from the reward, and the name of the result.
BASELINES: Mapping[str, str] = MappingProxyType(
    {"group-mean": "group_mean", "leave-one-out": "leave_one_out"}
)


def positive_root(square: sp.Expr) -> sp.Expr:
    """Return the root of a product of positive factors, the squares among them taken out of it."""
    outside, inside = sp.S.One, sp.S.One
    for factor in sp.Mul.make_args(sp.factor(square)):
        base, power = factor.as_base_exp()
        whole, odd = divmod(int(power), 2) if power.is_Integer else (0, power)
        outside, inside = outside * base**whole, inside * base**odd
    over, under = sp.fraction(inside)
    return outside * (1 / sp.sqrt(under) if over == 1 else sp.sqrt(inside))


@lru_cache(maxsize=4)
def derive(normaliser: str, ddof: int) -> Derivation:
    r"""Derive the advantage of a success in a group of G with c successes, 0 < c < G.

    .. math:: \sqrt{\frac{(G-c)(G-\mathrm{ddof})}{G c}} \text{ for std}, \qquad
              \frac{G-c}{G} \text{ for mean},

    times G/(G - 1) for the leave-one-out baseline. Source: arXiv:2606.30789, equation (1), with
    ddof 0 and the group's mean. Provenance: stated; other conventions are an extension.

    Parameters
    ----------
    normaliser
        ``std`` (equation 1) or ``mean`` (the baseline is subtracted and that is all).
    ddof
        0 (equation 1) or 1 (trainers); no effect on ``mean``.

    Returns
    -------
    Derivation
        Results ``group_mean`` and ``leave_one_out``, by what is subtracted, and ``largest``: the
        first at c = 1, no success is rewarded more.

    Raises
    ------
    ValueError
        If a convention is unknown.
    """
    checked("normaliser", normaliser, NORMALISERS)
    if ddof not in DDOF:
        raise ValueError(f"ddof = {ddof!r} is unknown; give 0 (equation 1) or 1 (trainers)")
    work = Workings(
        "eq-1", "The advantage of a success", Provenance.STATED,
        {"normaliser": normaliser, "ddof": str(ddof), "rewards": "1 or 0", "eps": "0"},
        use="A rare success is weighted by about the root of its rarity: sqrt(G) at one in G.",
    )
    success, failure = ARMS
    mean = work.equal(
        "mean of the group", (_c * success + (_G - _c) * failure) / _G, _c / _G, "c rewards of 1"
    )
    deviation = sp.sqrt(_c * (_G - _c) / (_G * (_G - ddof)))
    work.equal(
        "variance of the group",
        (_c * (success - mean) ** 2 + (_G - _c) * (failure - mean) ** 2) / (_G - ddof),
        deviation**2, f"sum of squares over {DDOF[ddof]}; zero at c = 0 and at c = G",
    )
    own = advantage(success, mean, deviation, normaliser)
    square = work.equal(
        "its square", own**2,
        (_G - _c) * (_G - ddof) / (_G * _c) if normaliser == "std" else ((_G - _c) / _G) ** 2,
        "with the group's mean subtracted",
    )
    alive = [sp.Ge(_c, 1), sp.Gt(_G, _c)]
    work.implies(
        "a success is above the mean", alive, sp.Gt(success - mean, 0), "so the root is positive"
    )
    group_mean = sp.sqrt(square) if normaliser == "std" else (_G - _c) / _G
    work.equal(
        "the group's advantages cancel",
        _c * own + (_G - _c) * advantage(failure, mean, deviation, normaliser), sp.S.Zero,
        "one prompt moves no weight on balance",
    )
    others = (_c * success + (_G - _c) * failure - success) / (_G - 1)
    work.equal(
        "without itself", advantage(success, others, deviation, normaliser), own * _G / (_G - 1),
        "a completion left out of its own baseline stands out by G/(G - 1) more",
    )
    one, two = sp.symbols("c1 c2", real=True)
    bounds = [sp.Ge(one, 1), sp.Gt(two, one), sp.Gt(_G, two)]
    work.implies(
        "it falls with c", bounds, sp.Gt(square.subs(_c, one), square.subs(_c, two)),
        "the more successes, the less each is worth",
    )
    largest = positive_root(square.subs(_c, 1))
    work.equal("one success", largest**2, square.subs(_c, 1), "the largest there is")
    return work.close(
        group_mean=group_mean, leave_one_out=group_mean * _G / (_G - 1), largest=largest
    )
