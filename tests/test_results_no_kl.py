"""Training without a KL anchor: closed forms against the flow itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sympy as sp
from mpmath import mp, mpf

from derivations.algebra import is_zero
from derivations.claim import Rung
from derivations.notation import quantity
from derivations.results import no_kl

P, ETA, T = (quantity(n) for n in ("p", "eta", "t"))
POWERS = {"std": sp.Rational(3, 2), "mean": sp.Integer(2)}


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    """Work in 20 digits, and leave the precision of other tests alone."""
    with mp.workdps(20):
        yield


def integrated(power: sp.Rational, p: mpf, time: mpf) -> mpf:
    """Solve dp/dt = (p(1-p))**power from `p`, eta = 1, by a Taylor-series integrator."""
    exponent = mpf(power.p) / power.q
    return mp.odefun(lambda _, y: (y * (1 - y)) ** exponent, 0, p)(time)


@pytest.mark.parametrize("normaliser", POWERS)
def test_every_step_is_proved_and_named_once(normaliser: str) -> None:
    derivation = no_kl.derive(normaliser)
    assert derivation.id == "no-kl"
    assert derivation.rung is Rung.PROVED
    names = [step.name for step in derivation.steps]
    assert 3 <= len(names) == len(set(names))


@pytest.mark.parametrize("normaliser", POWERS)
def test_rate_and_clock(normaliser: str) -> None:
    derived = no_kl.derive(normaliser)
    assert is_zero(derived["rate"] - ETA * (P * (1 - P)) ** POWERS[normaliser])
    start, time = mpf("0.1"), mpf(12)
    end = integrated(POWERS[normaliser], start, time)
    clock = sp.lambdify(P, derived["clock"], "mpmath")
    assert abs(clock(end) - clock(start) - time) < mpf("1e-12")


def test_the_path_of_the_std_normalised_flow() -> None:
    path = no_kl.derive("std")["path"]
    for start, time in (("0.02", 30), ("0.5", 4), ("0.9", 9)):
        stated = sp.N(path.subs({no_kl.p_0: sp.Rational(start), ETA: 1, T: time}), 20)
        end = integrated(POWERS["std"], mpf(start), mpf(time))
        assert abs(mpf(str(stated)) - end) < mpf("1e-12")
        assert sp.N(path.subs({no_kl.p_0: sp.Rational(start), T: 0}), 20) == sp.Float(start, 20)


@pytest.mark.parametrize("normaliser", POWERS)
def test_half_of_the_way_is_the_inflection(normaliser: str) -> None:
    derived = no_kl.derive(normaliser)
    start = "0.05"
    time = sp.N(derived["time_to_half"].subs({no_kl.p_0: sp.Rational(start), ETA: 1}), 20)
    end = integrated(POWERS[normaliser], mpf(start), mpf(str(time)))
    assert abs(end - mpf("0.5")) < mpf("1e-12")
    below, above = (
        derived["acceleration"].subs({P: sp.Rational(x), ETA: 1}) for x in ("0.4", "0.6")
    )
    assert derived["inflection"] == sp.Rational(1, 2)
    assert below > 0 > above


@pytest.mark.parametrize(
    ("normaliser", "law"), [("std", 4 / (ETA * T) ** 2), ("mean", 1 / (ETA * T))]
)
def test_saturation_is_the_power_law_of_theory_3_10(normaliser: str, law: sp.Expr) -> None:
    derived = no_kl.derive(normaliser)
    assert sp.cancel(derived["saturation"] - law) == 0
    clock = sp.lambdify(P, derived["clock"], "mpmath")
    off = []
    for distance in (mpf("1e-6"), mpf("1e-10")):
        time = clock(1 - distance) - clock(mpf("0.1"))
        predicted = sp.N(derived["saturation"].subs({ETA: 1, T: sp.Float(str(time), 30)}), 30)
        off.append(abs(mpf(str(predicted)) / distance - 1))
    assert off[1] < off[0] / 20
    assert off[1] < mpf("1e-4")
