r"""Exact stationary variance and autocovariance of the deviation, for a fixed lag or refresh.

White noise of unit variance is added to the right side of the recurrence of q, so both are rational
functions of mu, x and s. Their smallest positive pole in x is the stability border.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp
from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyElement

from derivations.characteristic import characteristic_polynomial
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.rings import in_one_ring, solve
from derivations.update import Update

__all__ = ["autocovariance", "derive"]


@lru_cache(maxsize=64)
def derive(update: Update) -> Derivation:
    r"""Derive the stationary variance of q per unit noise variance.

    Constant lag: the mean map with noise is an autoregression whose coefficients are those of the
    characteristic polynomial, so its autocovariances solve the Yule-Walker equations. Sawtooth: the
    covariance at a refresh is a fixed point of one period; the variance is averaged over phases.

    .. math:: d = 0: \frac{1+\mu}{(1-\mu)\,x\,(2(1+\mu)-x)}, \qquad
              d = 1: \frac{1+\mu+x}{(1-\mu-x)\,x\,(2(1+\mu)+x)} \quad (s = 1).

    Provenance: extension (theory: exact stationary variance).

    Parameters
    ----------
    update
        With a fixed lag or refresh; any optimizer, any stale share (a symbol included).

    Returns
    -------
    Derivation
        Result ``variance``, valid where the map is stable. Under constant lag also
        ``autocovariance_1`` and on, as many as the equations determine; see `autocovariance`.

    Raises
    ------
    ValueError
        If the lag is a symbol: the order of the autoregression must be a number.
    """
    if update.steps is None:
        symbol = update.lag_model.parameter
        raise ValueError(f"the exact variance needs a fixed lag; give {symbol} a number")
    work = Workings(
        "stationary-variance", "The exact stationary variance", Provenance.EXTENSION,
        update.conventions(), ("characteristic",),
        use="The swing that noise alone explains; it diverges at the stability border.",
    )
    constant = update.lag_model.name == "constant"
    if not constant:
        return work.close(variance=_over_one_period(work, update))
    variance, *shifted = _autoregression(work, update)
    named = {f"autocovariance_{shift}": e for shift, e in enumerate(shifted, 1)}
    return work.close(variance=variance, **named)


@lru_cache(maxsize=256)
def autocovariance(update: Update, shift: int) -> sp.Expr:
    r"""Return the mean of q_k*q_{k+shift} per unit noise variance, from the derived ones.

    Beyond those the same equations go on: :math:`\sum_j a_j \gamma_{k-j} = 0` for k >= 1, with
    a_j the coefficients of the characteristic polynomial. Provenance: extension.

    Parameters
    ----------
    update
        Constant lag, fixed; any optimizer and stale share.
    shift
        Steps between the two deviations, from 0.

    Raises
    ------
    ValueError
        If the lag is a symbol, or the lag model is not constant.
    """
    if update.lag_model.name != "constant":
        raise ValueError("the autocovariance is derived for a constant lag")
    derived = derive(update)
    if shift == 0:
        return derived["variance"]
    if f"autocovariance_{shift}" in derived.results:
        return derived[f"autocovariance_{shift}"]
    first, *rest = characteristic_polynomial(update).all_coeffs()
    before = (autocovariance(update, shift - j) for j in range(1, len(rest) + 1))
    total = sum((a * gamma for a, gamma in zip(rest, before, strict=True)), sp.S.Zero)
    return sp.factor(sp.cancel(sp.together(-total / first)))


def _readable(quotient: PolyElement, divisor: PolyElement) -> sp.Expr:
    """Lowest terms, factored, every factor written so that it is positive for small x."""
    above, below = quotient.cancel(divisor)
    inside = {s: sp.Rational(1, 997) for s in above.ring.symbols}  # no factor vanishes here

    number, product = sp.S.One, sp.S.One
    for element, side in ((above, 1), (below, -1)):
        content, factors = element.factor_list()
        number *= sp.Rational(content) ** side
        for factor, power in factors:
            base = factor.as_expr()
            sign = sp.sign(base.subs(inside))
            number *= sign**power
            product *= (sign * base) ** (side * power)
    return number * product


def _autoregression(work: Workings, update: Update) -> list[sp.Expr]:
    """Return the autocovariances at shifts 0, 1, ... that the equations determine."""
    c = in_one_ring(characteristic_polynomial(update).all_coeffs())
    size, ring = len(c), c[0].ring
    rows = [[ring.zero] * size for _ in range(size)]
    for i in range(size):
        for j in range(size):
            rows[i][abs(i - j)] += c[j]
    gamma = sp.symbols(f"gamma_0:{size}")
    balance = [
        sum((e.as_expr() * g for e, g in zip(row, gamma, strict=True)), -sp.Integer(i == 0))
        for i, row in enumerate(rows)
    ]
    over, under = solve(rows, [ring.one] + [ring.zero] * (size - 1))
    _solved(
        work, "Yule-Walker equations", balance, dict(zip(gamma, over, strict=True)), under,
        "P(shift) q = noise, multiplied by the q of 0, 1, 2, ... steps before and averaged; "
        "the noise meets only the newest q",
    )
    found = [
        work.solves(
            "variance", under.as_expr() * gamma[0] - over[0].as_expr(), gamma[0],
            _readable(over[0], under), "the variance is the autocovariance at shift zero",
        )
    ]
    for shift, element in enumerate(over[1:], 1):
        reduced = _readable(element, under)
        above, below = sp.fraction(reduced)
        work.equal(
            f"autocovariance at shift {shift}", element.as_expr() * below, above * under.as_expr(),
            "the covariance of q with the q of that many steps before, in lowest terms",
        )
        found.append(reduced)
    return found


def _solved(
    work: Workings, name: str, balance: list[sp.Expr], over: dict[sp.Symbol, PolyElement],
    under: PolyElement, because: str,
) -> None:
    """Record linear equations balance = 0 and check their solution over/under by substitution."""
    work.let(name, sp.Tuple(*(sp.Eq(e, 0, evaluate=False) for e in balance)), because)
    constant = dict.fromkeys(over, sp.S.Zero)
    put_back = [
        e.subs(constant) * under.as_expr()
        + sum(sp.diff(e, unknown) * value.as_expr() for unknown, value in over.items())
        for e in balance
    ]
    work.equal(
        f"{name}, solved", sp.Matrix(put_back), sp.zeros(len(balance), 1),
        "the solution put back, its common denominator cleared: every equation holds",
    )


def _noisy_step(work: Workings, update: Update) -> tuple[sp.Matrix, sp.Matrix]:
    """One step of (q, w, a) and where the noise enters; w is the move made by the buffer."""
    o = update.optimizer
    q, w, a, xi, before, anchor = sp.symbols("q w a xi q_before a_before")
    g = -(update.fresh * q + update.stale * a)
    last = g.subs({q: before, a: anchor}, simultaneous=True)
    moved = o.memory * w + o.passed * o.intake * g + xi
    stepped = sp.Matrix([q + o.direct * g + moved, moved, a])
    work.equal(
        "the noise's place", stepped[0].subs(w, q - before - o.direct * last),
        (1 + o.memory) * q - o.memory * before
        + o.direct * (g - o.memory * last) + o.passed * o.intake * g + xi,
        "eliminating w gives the recurrence of q with the noise added to its right side",
    )
    return stepped.jacobian([q, w, a]), stepped.diff(xi)


def _over_one_period(work: Workings, update: Update) -> sp.Expr:
    unknowns = sp.symbols("v c m")
    step, entry = _noisy_step(work, update)
    *flat, v, c, m = in_one_ring([*step, *entry, *unknowns])
    ring = v.ring
    domain = ring.to_domain()

    def matrix(rows: int, columns: int, entries: list[PolyElement]) -> DomainMatrix:
        return DomainMatrix.from_list_flat(entries, (rows, columns), domain)

    zero, one = ring.zero, ring.one
    advance, kick = matrix(3, 3, flat[:9]), matrix(3, 1, flat[9:])
    # At a refresh the anchor a is q itself.
    start = matrix(3, 2, [one, zero, zero, one, one, zero])
    covariance = start * matrix(2, 2, [v, c, c, m]) * start.transpose()
    swing = []
    for _ in range(update.steps or 0):
        swing.append(covariance[0, 0].element)
        covariance = advance * covariance * advance.transpose() + kick * kick.transpose()
    after = [covariance[i, j].element for i, j in ((0, 0), (0, 1), (1, 1))]
    balance = [end - begin for end, begin in zip(after, (v, c, m), strict=True)]
    rest = dict.fromkeys((v, c, m), 0)
    over, under = solve(
        [[e.diff(name) for name in rest] for e in balance],
        [-e.compose(list(rest.items())) for e in balance],
    )
    _solved(
        work, "one period", [e.as_expr() for e in balance],
        dict(zip(unknowns, over, strict=True)), under,
        "the covariance (v, c, m) of (q, w) at a refresh returns after N steps",
    )
    total = sum(swing, zero)
    summed = total.compose(list(rest.items())) * under + sum(
        (total.diff(name) * value for name, value in zip(rest, over, strict=True)), zero
    )
    mean = sp.Symbol("mean")
    return work.solves(
        "variance", update.steps * under.as_expr() * mean - summed.as_expr(), mean,
        _readable(summed, under * update.steps),
        "the variance of q averaged over the phases 0, ..., N-1",
    )
