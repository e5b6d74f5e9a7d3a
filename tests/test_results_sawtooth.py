"""The border of stability under a refresh every N steps."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import pytest
import sympy as sp
from printed import agrees

from derivations.algebra import is_zero
from derivations.claim import Rung
from derivations.judge.smt import Answer, entails
from derivations.notation import quantity
from derivations.results import sawtooth
from derivations.results.stability_conditions import conditions, is_stable_at
from derivations.update import OPTIMIZERS, Update

MU, X, N, S = (quantity(name) for name in ("mu", "x", "N", "s"))


def update(optimizer="heavy-ball", share: object = 1, refresh=None) -> Update:
    return Update.named(optimizer, "sawtooth", stale_share=share, lag=refresh)


def pairs(*axes: object) -> list[tuple[object, ...]]:
    return list(product(*axes))


def threshold(optimizer: str, mu: sp.Rational, refresh: int) -> tuple[sp.Rational, str]:
    """The smaller border of the derivation for every N."""
    derived = sawtooth.derive(update(optimizer))
    at = {MU: mu, N: sp.Integer(refresh)}
    if mu == 0:
        return derived["momentum_free"].subs(at), "flip"
    found = [(derived["flip"].subs(at), "flip")]
    if derived["ns_denominator"].subs(at) > 0:
        found.append((derived["neimark_sacker"].subs(at), "neimark-sacker"))
    return min(found)


TABLE = [  # the theory's reference numbers, refresh N = d + 1
    ("0", 1, "2", "flip"),
    ("0", 2, "1", "flip"),
    ("0", 5, "0.4", "flip"),
    ("1/2", 3, "0.692307692308", "flip"),
    ("9/10", 1, "3.8", "flip"),
    ("9/10", 2, "0.211111111111", "neimark-sacker"),
    ("9/10", 9, "0.0302294749313", "neimark-sacker"),
]


@pytest.mark.parametrize(("mu", "refresh", "printed", "kind"), TABLE)
def test_thresholds_of_the_theory(mu, refresh, printed, kind) -> None:
    found, which = threshold("heavy-ball", sp.Rational(mu), refresh)
    assert agrees(found, printed)
    assert which == kind


@pytest.mark.parametrize(
    ("optimizer", "mu", "refresh"), pairs(OPTIMIZERS, ("0", "1/5", "9/10"), (1, 2, 3, 7, 20))
)
def test_the_smaller_border_is_the_first_loss_of_stability(optimizer, mu, refresh) -> None:
    found, _ = threshold(optimizer, sp.Rational(mu), refresh)
    edge, premise = F(int(found.p), int(found.q)), update(optimizer, 1, refresh)
    for factor in (F(1, 10), F(1, 2), F(9, 10), 1 - F(1, 10**20)):
        assert is_stable_at(premise, {MU: F(mu), X: edge * factor})
    for factor in (F(1), 1 + F(1, 10**20), F(3, 2), F(10)):
        assert not is_stable_at(premise, {MU: F(mu), X: edge * factor})


@pytest.mark.parametrize(("optimizer", "refresh"), pairs(OPTIMIZERS, (1, 2, 5)))
def test_a_fixed_refresh_is_the_case_of_every_refresh(optimizer, refresh) -> None:
    every, one = sawtooth.derive(update(optimizer)), sawtooth.derive(update(optimizer, 1, refresh))
    assert "stable" in one.results
    for name in set(one.results) & {"flip", "neimark_sacker", "ns_denominator", "momentum_free"}:
        assert is_zero(sp.cancel(every[name].subs(N, refresh) - one[name]))


def test_heavy_ball_formulas_of_the_theory() -> None:
    derived = sawtooth.derive(update())
    u = MU**N
    r = (1 - u) / (1 - MU)
    s = (N - MU * r) / (1 - MU)
    assert is_zero(derived["flip"] - 2 * (1 + u) / (s * (1 + u) - MU * r**2))
    assert is_zero(derived["neimark_sacker"] - (1 - u) / (MU * r**2 - u * s))
    assert is_zero(derived["ns_denominator"] - (MU * r**2 - u * s))
    for refresh in (1, 2, 6):
        total = sum(j * MU**j for j in range(refresh))
        assert is_zero(sp.cancel(derived["ns_denominator"].subs(N, refresh)) - total)
    assert derived["momentum_free"] == 2 / N
    assert is_zero(sawtooth.derive(update(refresh=1))["flip"] - 2 * (1 + MU))


@pytest.mark.parametrize(
    ("optimizer", "bound"),
    [("heavy-ball", 2 * (1 - MU) / N), ("ema", 2 / N), ("nesterov", 2 * (1 - MU) / N)],
)
def test_at_least_twice_the_published_rule(optimizer, bound) -> None:
    derived = sawtooth.derive(update(optimizer))
    assert is_zero(derived["sufficient"].rhs - bound)
    for mu, refresh in product(("0", "1/10", "1/2", "99/100"), (1, 2, 3, 8, 30)):
        found, _ = threshold(optimizer, sp.Rational(mu), refresh)
        least = bound.subs({MU: sp.Rational(mu), N: refresh})
        assert found >= least
        assert (found == least) == (mu == "0")
    for refresh in (1, 2, 3, 4):  # the solver says the same, refresh by refresh
        at = derived["sufficient"].subs(N, refresh)
        stable = [c > 0 for c in conditions(update(optimizer, 1, refresh))]
        assert entails([MU >= 0, MU < 1, X > 0, at], stable).answer is Answer.YES


@pytest.mark.parametrize(("optimizer", "refresh"), pairs(OPTIMIZERS, (1, 2, 3)))
@pytest.mark.parametrize("share", [S, sp.Rational(-1, 2), sp.Integer(2), sp.S.One])
def test_the_stable_region_at_any_share(optimizer, share, refresh) -> None:
    premise = update(optimizer, share, refresh)
    stable = sawtooth.derive(premise)["stable"]
    for mu, x in product((F(0), F(1, 2), F(9, 10)), (F(1, 20), F(1, 2), F(3, 2), F(5))):
        point = {MU: mu, X: x, S: F(-1, 3)}
        at = {k: sp.Rational(v.numerator, v.denominator) for k, v in point.items()}
        assert bool(stable.subs(at)) is is_stable_at(premise, point)


@pytest.mark.parametrize(("optimizer", "refresh"), pairs(OPTIMIZERS, (None, 1, 4)))
def test_every_step_is_proved(optimizer, refresh) -> None:
    derived = sawtooth.derive(update(optimizer, 1, refresh))
    assert derived.rung is Rung.PROVED
    assert all(result.free_symbols <= {MU, X, N} for result in derived.results.values())


def test_a_changed_premise_changes_the_results() -> None:
    plain = update()
    before = sawtooth.derive(plain).results
    for change in ({"intake": sp.Integer(2)}, {"direct": sp.Rational(1, 2)}):
        other = replace(plain, optimizer=replace(plain.optimizer, **change))
        after = sawtooth.derive(other).results
        assert not is_zero(after["flip"] - before["flip"])
        assert not is_zero(after["neimark_sacker"] - before["neimark_sacker"])
        assert after["sufficient"] != before["sufficient"]
    against = replace(plain, optimizer=replace(plain.optimizer, passed=sp.Integer(-1)))
    assert "sufficient" not in sawtooth.derive(against).results


def test_premises_without_a_closed_form_are_refused() -> None:
    with pytest.raises(ValueError, match="no closed form for every N"):
        sawtooth.derive(update(share=S))
    with pytest.raises(ValueError, match="sawtooth"):
        sawtooth.derive(Update.named("heavy-ball", "constant"))
