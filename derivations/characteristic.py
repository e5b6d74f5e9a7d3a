r"""The characteristic function and the monodromy matrix, derived from an update rule.

Every linear result of the theory follows from one of these two objects. Both are obtained by
eliminating the optimizer's buffer from its recurrence, for any optimizer of four coefficients.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.algebra import is_zero
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.update import Update

__all__ = ["characteristic", "characteristic_polynomial", "closed_monodromy", "monodromy", "z"]

#: The multiplier of one step: modes of the map go as ``z**k``.
z = sp.Symbol("z")
_mu, _x, _d, _N = (quantity(n) for n in ("mu", "x", "d", "N"))


def _phase_average(refresh: sp.Expr) -> sp.Expr:
    """Mean of z**-j over the phases j = 0..N-1 of a sawtooth."""
    if refresh.is_Integer:
        return sum((z**-j for j in range(int(refresh))), sp.S.Zero) / refresh
    return (1 - z**-refresh) / (refresh * (1 - 1 / z))


@lru_cache(maxsize=256)
def characteristic(update: Update) -> Derivation:
    r"""Derive chi(z) of the linear mean map by the mode ansatz q_k = z**k.

    Under constant lag this is exact. Under a sawtooth, whose map is periodic and has no
    characteristic function, z**-d is replaced by its phase average: a model, not the monodromy.

    Returns
    -------
    Derivation
        Result ``chi``, normalised as (z - 1)(1 - mu/z) + force; ``force`` its second part.
    """
    o, constant = update.optimizer, update.lag_model.name == "constant"
    work = Workings(
        "characteristic",
        "The characteristic function of the mean map",
        Provenance.EXTENSION,
        update.conventions(),
        use="Its zeros are the modes of training; its Taylor polynomial at z = 1, the oscillator.",
    )
    q, v, g = sp.symbols("q v g")  # amplitudes of the mode: q_k = q z^k, v_k = v z^k, g_k = g z^k
    aged = z ** (-update.age) if constant else _phase_average(update.age)
    force = work.let(
        "force of a mode",
        sp.Eq(g, -(update.fresh + update.stale * aged) * q, evaluate=False),
        "linearised drift: the fresh part sees q_k, the stale part "
        + ("q_{k-d}" if constant else "the policy of the last refresh, averaged over the phases"),
    ).rhs
    work.let(
        "buffer",
        sp.Eq(v, o.memory * v / z + o.intake * g, evaluate=False),
        f"{o.name}: v_k = memory v_(k-1) + intake g_k",
    )
    work.let(
        "step",
        sp.Eq(z * q, q + o.direct * g + o.passed * v, evaluate=False),
        f"{o.name}: q_(k+1) = q_k + direct g_k + passed v_k",
    )
    buffer = work.solves(
        "eliminate the buffer",
        v - o.memory * v / z - o.intake * g,
        v,
        sp.cancel(sp.solve(v - o.memory * v / z - o.intake * g, v)[0]),
        "linear in v",
    )
    residual = (z * q - q - o.direct * g - o.passed * buffer).subs(g, force) / q
    chi = sp.Add(
        (z - 1) * (1 - o.memory / z),
        sp.factor(sp.cancel((o.direct + o.passed * buffer / g) * (1 - o.memory / z)))
        * (update.fresh + update.stale * aged),
    )
    work.equal(
        "clear the buffer's pole",
        residual * (1 - o.memory / z),
        chi,
        "a mode exists where this vanishes; times 1 - memory/z it is a Laurent polynomial",
    )
    return work.close(chi=chi, force=chi - (z - 1) * (1 - o.memory / z))


@lru_cache(maxsize=256)
def characteristic_polynomial(update: Update) -> sp.Poly:
    """Return the characteristic polynomial in z for a fixed constant lag, without zero roots.

    Raises
    ------
    ValueError
        If the lag is a symbol, or the lag model is not constant.
    """
    if update.steps is None or update.lag_model.name != "constant":
        raise ValueError("a characteristic polynomial needs a fixed constant lag")
    power = z ** (update.steps + 1)
    polynomial = sp.Poly(sp.expand(characteristic(update)["chi"] * power), z)
    coefficients = polynomial.all_coeffs()
    while is_zero(coefficients[-1]):
        coefficients.pop()
    return sp.Poly(coefficients, z)


def _step_matrix(update: Update) -> sp.Matrix:
    """One step of (q, w, a): deviation, last move made by the buffer, deviation at the refresh."""
    o = update.optimizer
    q, w, a = sp.symbols("q w a")
    g = -(update.fresh * q + update.stale * a)
    moved = o.memory * w + o.passed * o.intake * g
    return sp.Matrix([q + o.direct * g + moved, moved, a]).jacobian([q, w, a])


@lru_cache(maxsize=256)
def monodromy(update: Update) -> sp.Matrix:
    """Return the 2x2 matrix that carries (q, w) over one refresh of a fixed N.

    ``w`` is the part of the last move that the buffer made; for heavy ball it is the velocity.

    Raises
    ------
    ValueError
        If the refresh is a symbol, or the lag model is not the sawtooth.
    """
    if update.steps is None or update.lag_model.name != "sawtooth":
        raise ValueError("a monodromy matrix needs a fixed sawtooth refresh")
    anchored = sp.Matrix([[1, 0], [0, 1], [1, 0]])  # at a refresh the anchor a is q itself
    step = _step_matrix(update)
    state = anchored
    for _ in range(update.steps):
        state = (step * state).applyfunc(sp.expand)
    return state[:2, :]


@lru_cache(maxsize=16)
def closed_monodromy(update: Update) -> Derivation:
    r"""Derive the monodromy for every N at stale share 1, proved by induction on N.

    With u = mu**N the candidate is summed from the geometric response to a constant force, then
    checked at N = 1 and under one more step. Provenance: extension.

    Returns
    -------
    Derivation
        Results ``a11``, ``a12``, ``a21``, ``a22`` in mu, x, N and ``u`` = mu**N.
    """
    if not is_zero(update.stale_share - 1):
        raise ValueError("the monodromy has this closed form only for stale share 1")
    o = update.optimizer
    u = sp.Symbol("u", real=True)
    work = Workings(
        "monodromy",
        "The map over one refresh, for every N",
        Provenance.EXTENSION,
        update.conventions(),
        use="Its Jury conditions are the exact sawtooth threshold.",
    )
    r = (1 - u) / (1 - _mu)
    moved = o.passed * o.intake  # what a unit force adds to w
    total = sp.factor((moved * (_N - _mu * r) / (1 - _mu)) + o.direct * _N)
    closed = sp.Matrix([[1 - _x * total, _mu * r], [-_x * sp.factor(moved * r), u]])
    work.let(
        "geometric sum", sp.Eq(sp.Symbol("r_N"), r, evaluate=False), "1 + mu + ... + mu**(N-1)"
    )
    first = monodromy(Update(o, update.lag_model, sp.S.One, sp.Integer(1)))
    step = _step_matrix(update)
    work.equal(
        "N = 1",
        closed.subs({u: _mu, _N: 1}, simultaneous=True),
        first,
        "the closed form starts right",
    )
    work.equal(
        "N to N + 1",
        (step * closed.col_join(sp.Matrix([[1, 0]])))[:2, :],
        closed.subs({u: _mu * u, _N: _N + 1}, simultaneous=True),
        "one more step with the anchor kept carries the form for N into the form for N + 1",
    )
    return work.close(a11=closed[0, 0], a12=closed[0, 1], a21=closed[1, 0], a22=closed[1, 1], u=u)
