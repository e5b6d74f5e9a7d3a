r"""prop-10: how far the mean path is independent of group size, and how its noise falls with it.

The drift of one group depends on its success rate alone. Its mean over groups is bounded on both
sides for every G by a Taylor polynomial that cannot be crossed; in 1/G the two bounds agree, which
is the leading form with a proof of its order.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import QUANTITIES, quantity
from derivations.results.binomial import HIGHEST, mean_over_groups
from derivations.results.binomial import derive as binomial
from derivations.results.objective import NORMALISERS, advantage, checked
from derivations.results.softmax import ARMS, spread
from derivations.results.softmax import derive as softmax
from derivations.results.surd import tidy

__all__ = ["DDOF", "derive", "exact_drift", "exact_drift_variance", "group_drift"]

_p, _G = quantity("p"), quantity("G")
_r = sp.Symbol("rbar", real=True)
_y, _w = sp.symbols("y w", real=True)

#: Divisors of the group's variance: G - ddof.
DDOF: Mapping[int, str] = MappingProxyType(
    {0: "G (equation 1)", 1: "G - 1 (trl, verl and most trainers)"}
)


def _conventions(normaliser: str, ddof: int) -> None:
    checked("normaliser", normaliser, NORMALISERS)
    if ddof not in DDOF:
        raise ValueError(f"ddof = {ddof!r} is unknown; give 0 (equation 1) or 1 (trainers)")


def group_drift(size: sp.Expr, *, normaliser: str, ddof: int) -> sp.Expr:
    """Return the on-policy drift of one group with success rate ``rbar``; dead groups give zero.

    The scores of both arms weigh the advantages; p drops out. Parameters as for :func:`derive`.
    """
    _conventions(normaliser, ddof)
    bessel = sp.sqrt(1 - sp.Rational(ddof) / size)
    return spread(_r) * bessel if normaliser == "std" else _r * (1 - _r)


@lru_cache(maxsize=64)
def exact_drift(size: int, *, normaliser: str, ddof: int) -> sp.Expr:
    """Return the mean drift for a fixed group size, exactly, as a Bernstein sum in p.

    Parameters
    ----------
    size
        G, an integer of at least 2.
    normaliser, ddof
        As for :func:`derive`.

    Raises
    ------
    ValueError
        If a convention is unknown or G is not an integer of at least 2.
    """
    return _mean(size, group_drift(_size(size), normaliser=normaliser, ddof=ddof))


@lru_cache(maxsize=64)
def exact_drift_variance(size: int, *, normaliser: str, ddof: int) -> sp.Expr:
    """Return the variance of one group's drift for a fixed group size; see :func:`exact_drift`."""
    drift = group_drift(_size(size), normaliser=normaliser, ddof=ddof)
    return _mean(size, drift**2) - _mean(size, drift) ** 2


def _size(size: int) -> sp.Integer:
    return sp.Integer(int(QUANTITIES["G"].domain.validate("G", size)))


def _mean(size: int, drift: sp.Expr) -> sp.Expr:
    count = sp.Symbol("k", integer=True)
    return mean_over_groups(size, drift.subs(_r, count / sp.Integer(size)), count)


@lru_cache(maxsize=8)
def derive(normaliser: str, ddof: int) -> Derivation:
    r"""Derive mean and variance of the drift over groups, at leading order in 1/G.

    For ``std``: :math:`E = \sigma\,(1 - 1/(8 G\sigma^2) + O(G^{-2}))` and variance
    :math:`(1-2p)^2/(4G) + O(G^{-2})`, times :math:`\sqrt{(G-1)/G}` and (G-1)/G for ddof = 1. For
    ``mean``: :math:`E = \sigma^2 (G-1)/G` exactly. On-policy, two arms, one prompt. Source:
    arXiv:2606.30789, Proposition 10, in words. Provenance: reconstructed.

    Parameters
    ----------
    normaliser
        ``std`` (equation 1) or ``mean`` (the mean is subtracted and that is all).
    ddof
        0 or 1; no effect on ``mean``.

    Returns
    -------
    Derivation
        Results in p and G: ``drift`` (leading form, relative error O(G**-2)), ``drift_lower`` and
        ``drift_upper`` (true for every G), ``drift_factor`` (leading form over its limit),
        ``drift_variance`` (leading form, error O(G**-2)), ``drift_variance_at_half`` (leading
        form at p = 1/2, error O(G**-3)) and ``large_group_drift``.

    Raises
    ------
    ValueError
        If a convention is unknown.
    """
    _conventions(normaliser, ddof)
    work = Workings(
        "prop-10", "Group size and the mean path", Provenance.RECONSTRUCTED,
        {"normaliser": normaliser, "ddof": str(ddof), "samples": "on-policy, one prompt",
         "dead groups": "advantage 0", "eps": "0"},
        depends=("softmax", "group-moments"),
        use="Curves for different G lie on one another only while 1/(8*G*p*(1-p)) is small.",
    )
    drift = _one_group(work, normaliser, ddof)
    half = sp.Rational(1, 2)
    bessel = drift.subs(_r, half) / (half if normaliser == "std" else half**2)
    scale = drift.subs(_r, _p) / bessel
    first, second, upper, slack = _bounds(work, normaliser)
    means = _means(work)
    shift = tidy(first * means[1] + second * means[2])  # of the mean drift, over scale
    leading = 1 + _start(shift, 1)
    work.expands(
        "mean drift", _in_w(1 + shift), _in_w(leading), _w, 2,
        "over its large-group value, w = 1/G; the means of y**3 and y**4, which the bounds leave "
        "open, are O(w**2) because q**n is on average O(w**(n/2))",
    )
    square = _shape(normaliser) ** 2
    noise = [sp.expand(square).coeff(_y, n) - 2 * c for n, c in ((1, first), (2, second))]
    variance = noise[0] * means[1] + noise[1] * means[2]  # and minus shift**2, of second order
    relative = work.expands(
        "variance of the drift", _in_w(variance), _in_w(_start(variance, 1)), _w, 2,
        "mean square less squared mean, over scale squared; shift squared is of second order",
    ).subs(_w, 1 / _G)
    at_half = (variance - shift**2).subs(_p, half)
    leading_at_half = work.expands(
        "variance at one half", _in_w(at_half), _in_w(_start(at_half, 2)), _w, 3,
        "there the leading noise vanishes, and the bounds leave O(w**3) open",
    ).subs(_w, 1 / _G)
    top = 1 + shift + upper * means[3]
    return work.close(
        drift=scale * bessel * leading, drift_factor=bessel * leading,
        drift_lower=scale * bessel * (top - slack * means[4]), drift_upper=scale * bessel * top,
        drift_variance=tidy(scale**2 * relative) * bessel**2,
        drift_variance_at_half=(scale**2).subs(_p, half) * leading_at_half * bessel**2,
        large_group_drift=scale,
    )


def _one_group(work: Workings, normaliser: str, ddof: int) -> sp.Expr:
    """Derive the drift of a group from advantages and scores."""
    deviation = spread(_r) / sp.sqrt(1 - sp.Rational(ddof) / _G)
    shares = list(zip(ARMS, (_r, 1 - _r), strict=True))
    work.equal(
        "group variance",
        sum((_G * share * (reward - _r) ** 2 for reward, share in shares), sp.S.Zero) / (_G - ddof),
        deviation**2, f"sum of squares over {DDOF[ddof]}",
    )
    scores = (softmax()["score_success"], softmax()["score_failure"])
    pull = sum((
        share * score * advantage(reward, _r, deviation, normaliser)
        for (reward, share), score in zip(shares, scores, strict=True)
    ), sp.S.Zero)
    return work.equal(
        "drift of one group", pull, group_drift(_G, normaliser=normaliser, ddof=ddof),
        "scores times advantages, averaged over the group; p drops out",
    )


def _bounds(work: Workings, normaliser: str) -> tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr]:
    """Bound the drift, over its value at p, by polynomials in y = rbar(1-rbar)/sigma**2 - 1.

    Returns the coefficients of y, y**2 and y**3 of the upper bound, and of y**4 to take off.
    """
    shape = _shape(normaliser)
    first, second, third = (sp.diff(shape, _y, n).subs(_y, 0) / sp.factorial(n) for n in (1, 2, 3))
    taylor = 1 + first * _y + second * _y**2 + third * _y**3
    slack = taylor.subs(_y, -1)  # what brings it to zero for the dead groups, at y = -1
    if shape == taylor:
        work.equal("shape", _r * (1 - _r), (shape * _p * (1 - _p)).subs(
            _y, _r * (1 - _r) / (_p * (1 - _p)) - 1), "linear in y, so its own bound")
        return first, second, third, slack
    alive = sp.Ge(_y, -1)
    work.implies("bound from above", [alive], sp.Le(shape, taylor), "the cubic Taylor polynomial")
    work.implies(
        "bound from below", [alive], sp.Ge(shape, taylor - slack * _y**4),
        "the same less the quartic that brings it to zero for dead groups",
    )
    return first, second, third, slack


def _means(work: Workings) -> list[sp.Expr]:
    """Return the means of y**0 .. y**4 over groups."""
    q = sp.Symbol("q", real=True)
    rate = ((1 - 2 * _p) * q - q**2) / (_p * (1 - _p))
    work.equal(
        "relative spread of a group", (_p + q) * (1 - _p - q), _p * (1 - _p) * (1 + rate),
        "y in terms of q = rbar - p: y**n begins with q**n, at p = 1/2 with q**(2*n)",
    )
    known = [sp.S.One, sp.S.Zero, *(binomial()[f"moment_{n}"] for n in range(2, HIGHEST + 1))]
    means = []
    for n in range(HIGHEST // 2 + 1):
        powers = sp.Poly(sp.expand(((1 - 2 * _p) * q - q**2) ** n), q).terms()
        total = sum((c * known[k] for (k,), c in powers), sp.S.Zero)
        means.append(tidy(total / (_p * (1 - _p)) ** n))
    work.equal(
        "mean of y", means[1], -1 / _G, "a group's variance is on average (G-1)/G of sigma**2"
    )
    return means


def _shape(normaliser: str) -> sp.Expr:
    """Return the drift of a group over its value at rbar = p, in y."""
    return sp.sqrt(1 + _y) if normaliser == "std" else 1 + _y


def _in_w(expression: sp.Expr) -> sp.Expr:
    """Write a polynomial in 1/G in w = 1/G."""
    return sp.collect(sp.expand(expression.subs(_G, 1 / _w)), _w, tidy)


def _start(expression: sp.Expr, order: int) -> sp.Expr:
    """Return the term of the given order in 1/G of a polynomial in 1/G."""
    return tidy(_in_w(expression).coeff(_w, order)) / _G**order
