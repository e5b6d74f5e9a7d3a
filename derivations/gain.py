r"""What an optimizer does to the force: its gain G(z) in chi(z) = (z-1)(1 - mu/z) + G(z)(...)."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.characteristic import characteristic, z
from derivations.judge import smt, trial
from derivations.notation import QUANTITIES, quantity
from derivations.update import Update

__all__ = ["gain", "is_ordinary", "on_circle"]

_mu, _d = quantity("mu"), quantity("d")


@lru_cache(maxsize=256)
def gain(update: Update) -> tuple[sp.Expr, sp.Expr]:
    r"""Return (a, b) with :math:`G(z) = a + b/z`, read off the derived characteristic function.

    Heavy ball (1, 0), EMA (1 - mu, 0), Nesterov (1 + mu, -mu).

    Raises
    ------
    ValueError
        If the lag model is not constant.
    """
    if update.lag_model.name != "constant":
        raise ValueError("the gain is read off the characteristic function of a constant lag")
    every = Update(update.optimizer, update.lag_model, update.stale_share, _d)
    quotient = sp.cancel(characteristic(every)["force"] / (every.fresh + every.stale * z**-_d))
    line = sp.Poly(sp.expand(quotient * z), z)
    return sp.factor(line.coeff_monomial(z)), sp.factor(line.coeff_monomial(1))


def on_circle(update: Update, cosine: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    r"""Return friction and power at z = exp(i w), given cos(w).

    Power is :math:`|G|^2`; friction times sin(w) is the imaginary part of
    :math:`(z-1)(1-\mu/z)\,\overline{G}`, which the stale force must balance on the unit circle.
    """
    a, b = gain(update)
    m = update.optimizer.memory
    friction = sp.expand(a * (1 - m) - b * (1 + m)) + 2 * b * cosine
    return sp.factor(friction), sp.factor(a**2 + b**2 + 2 * a * b * cosine)


def is_ordinary(update: Update) -> bool:
    """Whether the buffer forgets, and neither of the optimizer's two paths opposes the force.

    That is memory in [0, 1), direct >= 0, passed * intake >= 0 and not both zero, put in terms of
    the gain. It holds for every optimizer of the table: the map is then stable for small x. A
    premise changed by hand may break it, and with it every result that starts from there.
    """
    a, b = gain(update)
    memory = update.optimizer.memory
    box = smt.box(_mu, QUANTITIES["mu"].domain)
    wanted: list[sp.Basic] = [memory >= 0, memory < 1, b <= 0, b + a * memory >= 0, a + b > 0]
    outcome = smt.entails(box, wanted)
    if outcome.answer is smt.Answer.MISSING:
        outcome = trial.entails(box, wanted)
    return outcome.answer is smt.Answer.YES
