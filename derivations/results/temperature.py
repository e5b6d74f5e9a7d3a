r"""lemma-6: group size is a noise temperature.

The oscillator pushed by gradient noise settles into a stationary variance that mass does not enter:
Var(q) = eta*S / (2*K*((1 - mu) - x*s*d)) for heavy ball and constant lag, with S the gradient-noise
variance per step. Group size enters through S alone, which is proportional to 1/G at leading order,
and so does the temperature K*Var. Source: arXiv:2606.30789, Lemma 6, in words; the formula is
reconstructed here. The map's own variance exceeds it by the fraction x/(2*(1 + mu)) + O(x**2),
whatever the lag and the stale share (extension).
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from derivations.characteristic import characteristic, characteristic_polynomial, z
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results import oscillator
from derivations.results.slow_root import rate_series
from derivations.update import Update

__all__ = ["derive", "yule_walker"]

_x, _d, _eta, _S, _K, _M, _C, _delta = (
    quantity(name) for name in ("x", "d", "eta", "S", "K", "M", "C", "delta")
)
_D = sp.Symbol("D", real=True)  # intensity of white noise: variance it brings per unit of time


@lru_cache(maxsize=64)
def yule_walker(update: Update) -> sp.Expr:
    """Return the map's exact stationary variance per unit noise, for a fixed constant lag.

    Raises
    ------
    ValueError
        If the lag is a symbol, or the lag model is not constant.
    """
    weights = [-c for c in characteristic_polynomial(update).monic().all_coeffs()[1:]]
    # r[k], the autocovariance at k steps, is sum of weights[i]*r[|k-i-1|], plus 1 at k = 0.
    size = len(weights) + 1
    system = sp.eye(size)
    for k in range(size):
        for i, weight in enumerate(weights):
            system[k, abs(k - i - 1)] -= weight
    left, right = DomainMatrix.from_Matrix(system).unify(
        DomainMatrix.from_Matrix(sp.eye(size)[:, :1])
    )
    return sp.factor(left.to_field().lu_solve(right.to_field()).to_Matrix()[0])


def _langevin(work: Workings) -> sp.Expr:
    """Derive the oscillator's stationary variance from its 2x2 Lyapunov equation."""
    a, b, c = sp.symbols("a b c", real=True)  # covariances of q with q, q with v, v with v
    drift = work.let(
        "oscillator as a system", sp.Matrix([[0, 1], [-_K / _M, -_C / _M]]),
        "d(q, v)/dt is this matrix times (q, v), and v gets white noise of intensity D/M**2",
    )
    covariance = sp.Matrix([[a, b], [b, c]])
    balance = drift * covariance + covariance * drift.T + sp.diag(0, _D / _M**2)
    solution = sp.solve([balance[0, 0], balance[0, 1], balance[1, 1]], [a, b, c], dict=True)[0]
    work.equal(
        "Lyapunov equation", balance.subs(solution), sp.zeros(2, 2),
        "in the stationary state what the drift removes the noise brings back",
    )
    return work.equal(
        "fluctuation and dissipation", solution[a], _D / (2 * _C * _K),
        "the mass drops out: K*Var is the noise over twice the damping, a temperature",
    )


def _fast_modes(work: Workings, update: Update) -> sp.Expr:
    """Derive what all modes but the slow one add to the variance at x = 0."""
    chi, memory = characteristic(update)["chi"].subs(_x, 0), update.optimizer.memory
    passed = sp.cancel(1 / (z * chi * chi.subs(z, 1 / z)))
    over, under = sp.fraction(passed)
    return work.equal(
        "fast modes", (over / sp.diff(under, z)).subs(z, memory),
        sp.factor(sp.cancel(passed * (z - memory)).subs(z, memory)),
        "inside a circle that leaves the slow root out 1/(z*chi(z)*chi(1/z)) tends to its value at "
        "x = 0, whose one pole there is the memory's",
    )


def _relative_error(
    work: Workings, update: Update, mass: sp.Expr, damping: sp.Expr, stiffness: sp.Expr
) -> sp.Expr:
    """Derive the first-order relative error of the leading variance, for any lag and share."""
    h, r = sp.Symbol("h"), sp.Symbol("r")
    work.argue(
        "slow mode", sp.Eq(sp.Symbol("V_slow"), sp.Subs(1 / (
            sp.Function("chi")(sp.exp(r)) * sp.Derivative(sp.Function("chi")(sp.exp(h)), h)
        ), h, -r), evaluate=False),
        "the residue of 1/(z*chi(z)*chi(1/z)) at the slow root z = exp(-r)",
    )
    fast = _fast_modes(work, update)
    rate = rate_series(update)[0] + rate_series(update)[1] * _x  # over x
    # chi(e^r) = chi(e^r) - chi(e^-r) = 2*C*r + O(x**3), and the slope at -r is C - 2*M*r + O(x**2).
    slow = sp.cancel(stiffness / _x) / (rate * (damping - 2 * mass * rate * _x))
    error = sp.factor(sp.diff(slow + 2 * damping * stiffness * fast, _x).subs(_x, 0))
    work.expands(
        "variance over its leading form", slow + 2 * damping * stiffness * fast, 1 + error * _x,
        _x, 2, "slow mode and fast modes together, in units of 1/(2*C*K)",
    )
    return error * _x


@lru_cache(maxsize=256)
def derive(update: Update) -> Derivation:
    r"""Derive the stationary variance at leading order, with its relative error.

    Parameters
    ----------
    update
        Any optimizer, lag model and stale share; lag or refresh fixed or symbolic. Under a sawtooth
        both use the phase-averaged chi; the periodic map has the same first order in the tests.

    Returns
    -------
    Derivation
        Results ``variance_per_noise`` (of q, for unit white noise added to the right side of the
        recurrence at every step), ``variance`` (for gradient noise of variance S: eta**2*S times
        it, in eta, S and K), ``temperature`` (K times ``variance``) and ``relative_error`` (exact
        over leading variance minus 1, at first order in x). Provenance: reconstructed; the relative
        error is an extension.
    """
    work = Workings(
        "lemma-6", "Group size is a noise temperature", Provenance.RECONSTRUCTED,
        update.conventions() | {
            "S": "gradient-noise variance per step, proportional to 1/G at leading order",
            "noise": "white, added to the right side of the recurrence at every step",
        },
        ("characteristic", "theorem-7", "slow-root"),
        use="Tells a swing from noise, and what a larger group buys.",
    )
    oscillating = oscillator.derive(update)
    mass, damping, stiffness = (
        oscillating[name].subs(_delta, 1) for name in ("mass", "damping", "stiffness")
    )
    fluctuation = _langevin(work)
    leading = work.equal(
        "unit noise at every step", fluctuation.subs(
            {_D: _delta, _C: oscillating["damping"], _K: stiffness}, simultaneous=True
        ), 1 / (2 * stiffness * damping),
        "noise of variance 1 every delta has intensity delta; the step's duration cancels",
    )
    variance = work.equal(
        "gradient noise", (_eta**2 * _S * leading).subs(_x, _eta * _K),
        sp.factor(_eta**2 / stiffness.subs(_x, _eta * _K)) * _S / 2 / damping.subs(_x, _eta * _K),
        "the step size multiplies noise of variance S, and x = eta*K",
    )
    error = _relative_error(work, update, mass, damping, stiffness)
    if update.lag_model.name == "constant":
        for lag in (0, 1, 2) if update.steps is None else {update.steps} & {0, 1, 2}:
            measured = sp.cancel(yule_walker(update.at(lag)) / leading.subs(_d, lag))
            work.expands(
                f"against Yule-Walker at lag {lag}", measured, 1 + error, _x, 2,
                "the exact variance of the map, solved without any contour",
            )
    return work.close(
        variance_per_noise=leading, variance=variance, temperature=_K * variance,
        relative_error=error,
    )
