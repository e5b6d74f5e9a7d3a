r"""The onset of oscillation: the first x at which the slowest mode is no longer real and positive.

Constant lag: chi is linear in x, so a real root z belongs to exactly one x(z), for heavy ball
(1 - z)(z - mu) z**(d-1), and the slow root is lost where x(z) is largest:

.. math:: z_o = \frac{d(1+\mu) + \sqrt{d^2 (1+\mu)^2 - 4 (d^2-1)\mu}}{2(d+1)}, \qquad
          x_o = (1-z_o)(z_o-\mu) z_o^{d-1}.

Sawtooth: where the two eigenvalues of the map over one refresh meet; for heavy ball, with
r = (1 - mu**N)/(1 - mu), x_o = (1-mu)**2 r/(sqrt(N) + sqrt(mu r))**2. Source: the theory's point
3.4 (its sawtooth case and Nesterov's at d >= 1 are not there); extension.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.algebra import canonical, is_zero
from derivations.characteristic import characteristic, closed_monodromy, monodromy, z
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.gain import gain, is_ordinary
from derivations.judge import smt
from derivations.notation import QUANTITIES, quantity
from derivations.update import LAG_MODELS, Update

__all__ = ["derive"]

_mu, _x, _d, _N = (quantity(name) for name in ("mu", "x", "d", "N"))
_BOX = smt.box(_mu, QUANTITIES["mu"].domain)


@lru_cache(maxsize=64)
def derive(update: Update) -> Derivation:
    r"""Derive the onset of oscillation.

    Parameters
    ----------
    update
        Constant lag or sawtooth, fixed or symbolic; any stale share (under a sawtooth a share
        other than 1 needs a fixed refresh).

    Returns
    -------
    Derivation
        Constant lag: ``x_of_z``, the x of which z is a root, and ``critical``, a factor of its
        derivative, whose zero next to z = 1 is where the slow root is lost. At stale share 1,
        where that zero has a closed form (heavy ball and EMA at every lag, Nesterov at d = 0):
        ``root``, and ``onset``, the x there; at d = 0 also ``alternation``, from which on both
        roots are real and negative.
        Sawtooth: ``trace`` and ``discriminant`` of the map over one refresh; at stale share 1
        ``onset``, in mu and N.

    Raises
    ------
    ValueError
        If the refresh is a symbol at a stale share other than 1.
    """
    work = Workings(
        "oscillation-onset", "The exact onset of oscillation", Provenance.EXTENSION,
        update.conventions(), ("characteristic", "monodromy"),
        use="Tells a swing that the dynamics make from one that noise makes, below the threshold.",
    )
    constant = update.lag_model.name == "constant"
    return work.close(**(_constant(work, update) if constant else _sawtooth(work, update)))


def _constant(work: Workings, update: Update) -> dict[str, sp.Basic]:
    lag = update.lag
    share = sp.S.One if lag == 0 else update.stale_share  # at lag 0 all samples are fresh
    of_z, critical = _extremum(work, Update(update.optimizer, update.lag_model, share, _d))
    found: dict[str, sp.Basic] = {"x_of_z": of_z, "critical": critical}
    if is_zero(share - 1):
        if is_ordinary(update):
            _slow_branch(work, update, critical)
        if is_zero(update.optimizer.memory.subs(_mu, 0)):
            free = work.solves(
                "without momentum", critical.subs(_mu, 0), z, _d / (_d + 1), "mu = 0"
            )
            alone = sp.cancel(of_z.subs(_mu, 0).subs(_d, lag))  # at d = 0 z drops out, not 0/0
            found["momentum_free"] = canonical(alone.subs(z, free.subs(_d, lag)))
    found = {name: result.subs(_d, lag) for name, result in found.items()}
    found["critical"] = sp.collect(sp.expand(found["critical"]), z)
    if is_zero(share - 1):
        found |= _closed(work, update, found["x_of_z"], found["critical"])
    return found


def _extremum(work: Workings, update: Update) -> tuple[sp.Expr, sp.Expr]:
    """Return x(z) and the factor of its derivative that vanishes where x is largest."""
    a, b = gain(update)
    m, share = update.optimizer.memory, update.stale_share
    of_z = work.solves(
        "x of a real root", characteristic(update)["chi"], _x,
        (1 - z) * (z - m) / ((a * z + b) * (1 - share + share * z**-_d)), "chi is linear in x",
    )
    critical, below = sp.fraction(sp.cancel(sp.together(sp.diff(of_z, z) / of_z)))
    sign = sp.sign(critical.subs({z: 1, _mu: sp.Rational(1, 2)}))
    critical, below = sp.collect(sp.expand(sign * critical), z), sp.factor(sign * below)
    work.equal(
        "where x is largest", sp.diff(of_z, z), of_z * critical / below,
        "as x grows from 0 the slow root falls from 1, until x(z) reaches a maximum",
    )
    return of_z, critical


def _slow_branch(work: Workings, update: Update, critical: sp.Expr) -> None:
    """Prove that the slow root dominates up to the only maximum of x(z) between mu and 1."""
    a, b = gain(update)
    m = update.optimizer.memory
    p, rho, near, far = sp.symbols("p rho z_1 z_2", real=True)
    work.implies(
        "one maximum", [*_BOX, _d >= 0, near > m, far > near, far < 1,
                        sp.Eq(critical.subs(z, near), 0)],
        critical.subs(z, far) > 0,
        "past a zero x(z) only falls; beyond the maximum no real root is left between mu and 1, "
        "and chi is positive for z > 1",
    )
    work.implies(
        "the slow root dominates",
        [*_BOX, rho > m, rho < 1, p <= rho, p >= -rho],
        sp.And(rho**2 - 2 * p + 1 >= (1 - rho) ** 2,
               (rho**2 - 2 * m * p + m**2) * (a * rho + b) ** 2
               >= (rho - m) ** 2 * (a**2 * rho**2 + 2 * a * b * p + b**2)),
        "p is the real part of z on the circle |z| = rho: there |(z-1)(z-mu) z^d/(a z+b)| is least "
        "at z = rho, so by Rouche for x < x(rho) all modes but the slow one have modulus below rho",
    )


def _closed(
    work: Workings, update: Update, of_z: sp.Expr, critical: sp.Expr
) -> dict[str, sp.Basic]:
    """Solve for the maximum where that is linear or quadratic, zeros at z = 0 aside."""
    polynomial = sp.Poly(critical, z)
    while is_zero(polynomial.coeff_monomial(1)):
        polynomial = sp.quo(polynomial, sp.Poly(z, z))
    if polynomial.degree() > 2:
        return {}
    quadratic, linear, rest = (polynomial.coeff_monomial(z**k) for k in (2, 1, 0))
    spread = sp.sqrt(sp.expand(linear**2 - 4 * quadratic * rest))
    root = -rest / linear if quadratic == 0 else (spread - linear) / (2 * quadratic)
    root = work.solves(
        "the slow root at the onset", critical, z, sp.factor_terms(root),
        "the larger zero: the other is not above mu",
    )

    def at(value: sp.Expr) -> sp.Expr:
        there = of_z.subs(z, value)
        if there.is_rational_function():
            return canonical(there)
        return _with_root_of_mu(there) if update.lag == 0 else there

    results: dict[str, sp.Basic] = {"root": root, "onset": at(root)}
    if update.lag == 0 and quadratic != 0:
        results["alternation"] = at(work.solves(
            "the roots real again", critical, z, (-spread - linear) / (2 * quadratic),
            "from the smallest x of a negative real root on, both roots are real and negative",
        ))
    return results


def _with_root_of_mu(e: sp.Expr) -> sp.Expr:
    """Lowest terms, factored, in the square root of mu."""
    g = sp.Dummy("g", positive=True)
    return canonical(e.subs(_mu, g**2)).subs(g, sp.sqrt(_mu))


def _sawtooth(work: Workings, update: Update) -> dict[str, sp.Basic]:
    T, D = sp.symbols("T D", real=True)
    work.let(
        "discriminant", T**2 - 4 * D,
        "of the eigenvalues of the map over one refresh, trace T and determinant D: real while it "
        "is not negative",
    )
    work.implies(
        "positive up to the onset", [T**2 - 4 * D > 0, D >= 0], sp.Ne(T, 0),
        "the trace starts positive and cannot pass 0 while the eigenvalues differ",
    )
    if is_zero(update.stale_share - 1):
        return _meeting(work, update)
    matrix = monodromy(update)
    trace, determinant = matrix.trace(), sp.expand(matrix.det())
    return {"trace": trace, "discriminant": sp.expand(trace**2 - 4 * determinant)}


def _meeting(work: Workings, update: Update) -> dict[str, sp.Basic]:
    """Find the first of the two x at which the eigenvalues meet, for every N."""
    o, matrix = update.optimizer, closed_monodromy(update)
    u = matrix["u"]
    trace = matrix["a11"] + matrix["a22"]
    determinant = matrix["a11"] * matrix["a22"] - matrix["a12"] * matrix["a21"]
    push = o.passed * o.intake + o.direct * (1 - _mu)
    scale = sp.cancel((1 - _mu) / push) * (1 - u)
    bend = sp.cancel(o.passed * o.intake * _mu / push)
    bent = bend * (1 - u) / (1 - _mu)

    def paired(p: sp.Expr, q: sp.Expr, y: sp.Expr) -> sp.Expr:
        return 1 - 2 * (p + q) * y + (p - q) ** 2 * y**2

    discriminant = work.equal(
        "discriminant in x", trace**2 - 4 * determinant,
        (1 - u) ** 2 * paired(_N, bent, _x / scale),
        "a quadratic; the determinant is linear in x, not negative at 0 and a square at the onset",
    )
    root, other, y = sp.symbols("root_N root_b y", real=True)
    meeting = work.solves(
        "the eigenvalues meet", paired(root**2, other**2, y), y, 1 / (root + other) ** 2,
        "with y for x over its scale, and the square roots of N and of the other term",
    )
    work.solves(
        "and part again", paired(root**2, other**2, y), y, 1 / (root - other) ** 2,
        "at the other zero, which is larger; in between they are a complex pair",
    )
    results: dict[str, sp.Basic] = {"trace": trace, "discriminant": discriminant}
    written = {name: e.subs(u, _mu**_N).subs(_N, update.lag) for name, e in results.items()}
    if is_ordinary(Update(o, LAG_MODELS["constant"])):
        scale, r = (e.subs(u, _mu**_N).subs(_N, update.lag) for e in (scale, (1 - u) / (1 - _mu)))
        g = sp.Dummy("g", positive=True)  # mu is not negative: the root of mu**2 is mu
        written["onset"] = scale * meeting.subs(
            {root: sp.sqrt(update.lag),
             other: sp.sqrt(bend.subs(_mu, g)).subs(g, _mu) * sp.sqrt(sp.cancel(r))}
        )
    return written
