r"""Groups whose rewards are all equal: they have no advantage and teach nothing."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import QUANTITIES, quantity
from derivations.results.group_size import group_drift
from derivations.results.surd import tidy

__all__ = ["correlation", "dead_groups", "derive", "mean", "mixed_dead_groups"]

_p, _G = quantity("p"), quantity("G")
_r = sp.Symbol("rbar", real=True)
_a, _b = sp.symbols("a b", real=True)  # the Beta law's parameters
#: Mean success probability over prompts, and the correlation of two rewards of one prompt.
mean, correlation = sp.symbols("mean correlation", real=True)


def dead_groups(size: sp.Expr | int) -> sp.Expr:
    """Return the probability that a group of one prompt is dead, in p.

    Parameters
    ----------
    size
        G, an integer of at least 1 or a symbol.
    """
    return _chance(sp.S.Zero, size) + _chance(sp.sympify(size, strict=True), size)


def _chance(count: sp.Expr, size: sp.Expr | int) -> sp.Expr:
    """Probability of `count` successes in a group; the coefficients at its ends are 1."""
    missing = size - count
    ways = sp.S.One if 0 in (count, missing) else sp.binomial(size, count)
    return ways * _p**count * (1 - _p) ** missing


def mixed_dead_groups(size: int) -> sp.Expr:
    """Return the dead share when p follows a Beta law over prompts, in `mean` and `correlation`.

    Parameters
    ----------
    size
        G, an integer of at least 2.

    Raises
    ------
    ValueError
        If G is not an integer of at least 2.
    """
    size = int(QUANTITIES["G"].domain.validate("G", size))
    mixture = derive()
    step = mixture["mixed_step"].subs({_a: mixture["a"], _b: mixture["b"]})
    won = sp.Mul(*(tidy(step.subs(_G, j)) for j in range(size)))
    return won + won.subs(mean, 1 - mean)


@lru_cache(maxsize=1)
def derive() -> Derivation:
    r"""Derive the share of dead groups, for one prompt and for Beta-mixed prompts.

    One prompt: :math:`p^G + (1-p)^G`. Prompts with p ~ Beta(a, b):
    :math:`\prod_{j<G} (a+j)/(a+b+j) + \prod_{j<G} (b+j)/(a+b+j)`, with a/(a+b) the mean and
    1/(a+b+1) the correlation of two rewards of one prompt. Provenance: extension.

    Returns
    -------
    Derivation
        ``dead_groups`` in p and G; ``mixed_step``, E p**(G+1) over E p**G in a, b, G;
        ``a`` and ``b`` in ``mean`` and ``correlation``; ``mixed_pair``, the dead share at G = 2
        in the same.
    """
    work = Workings(
        "dead-groups", "Groups without a signal", Provenance.EXTENSION,
        {"rewards": "1 with probability p, else 0", "mixture": "p follows a Beta law over prompts"},
        depends=("prop-10",), use="The measured share is compared with it before blaming anything.",
    )
    count = sp.Symbol("k", real=True)
    drift = group_drift(_G, normaliser="std", ddof=0).subs(_r, count / _G)
    for name, end in (("no success", sp.S.Zero), ("no failure", _G)):
        work.solves(name, drift, count, end, "the drift of a group with k successes vanishes there")
    work.implies(
        "between them a group is alive", [sp.Gt(count, 0), sp.Lt(count, _G), sp.Gt(_G, 1)],
        sp.Gt(sp.Mul(*(drift**2).as_numer_denom()), 0), "the drift's square is positive there",
    )
    share = dead_groups(_G)
    for size in (2, 3, 4, 5):
        alive = sp.Add(*(
            _chance(sp.Integer(k), size) for k in range(1, size)
        ))
        work.equal(
            f"the rest are alive, G = {size}", share.subs(_G, size), 1 - alive,
            "the probabilities of k = 0..G add up to 1",
        )
    work.equal(
        "convex in p", sp.diff(share, _p, 2),
        _G * (_G - 1) * (_p ** (_G - 2) + (1 - _p) ** (_G - 2)),
        "positive for G > 1, so prompts of unequal p have more dead groups than their mean p says",
    )
    return work.close(dead_groups=share, **_mixture(work))


def _mixture(work: Workings) -> dict[str, sp.Basic]:
    """Integrate over Beta-distributed prompts by parts."""
    a, b = _a, _b
    density = _p ** (a - 1) * (1 - _p) ** (b - 1)
    boundary = _p ** (a + _G) * (1 - _p) ** b  # vanishes at 0 and 1, so its derivative has mean 0
    work.equal(
        "by parts", sp.diff(boundary, _p) / density,
        (a + _G) * _p**_G - (a + b + _G) * _p ** (_G + 1),
        "weighted with the Beta density the left side integrates to zero",
    )
    step = (a + _G) / (a + b + _G)
    first, second = step.subs(_G, 0), step.subs(_G, 0) * step.subs(_G, 1)
    work.argue("ratio of moments", step, "so E p**(G+1) is this times E p**G, from E p**0 = 1")
    agreement = sp.cancel((second - first**2) / (first * (1 - first)))
    (solution,) = sp.solve([first - mean, agreement - correlation], [a, b], dict=True)
    for name, equation in (("mean", first - mean), ("correlation", agreement - correlation)):
        work.equal(
            f"matches the {name}", equation.subs(solution), sp.S.Zero,
            "Var p over mean*(1-mean) is the correlation of two rewards of one prompt",
        )
    solution = {symbol: tidy(value) for symbol, value in solution.items()}
    pair = work.equal(
        "mixed, G = 2", (second + second.subs({a: b, b: a}, simultaneous=True)).subs(solution),
        1 - 2 * mean * (1 - mean) * (1 - correlation),
        "the disagreement of two rewards, lowered by their correlation",
    )
    return {"mixed_step": step, "a": solution[a], "b": solution[b], "mixed_pair": pair}
