"""The border of stability under constant lag, the rule that is safe, and what it gives away."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import mpmath as mp
import pytest
import reference
import sympy as sp
from printed import agrees

from derivations.algebra import is_zero
from derivations.claim import Rung
from derivations.judge.smt import Answer, entails
from derivations.notation import quantity
from derivations.results import conservatism, lag_rule, stability
from derivations.results.stability_conditions import conditions, is_stable_at
from derivations.update import OPTIMIZERS, Update

MU, X, D, S, W = (quantity(name) for name in ("mu", "x", "d", "s", "w"))
SHARES = (sp.S.One, S, sp.Rational(-1, 2))


def update(optimizer="heavy-ball", share=S, lag=None) -> Update:
    return Update.named(optimizer, "constant", stale_share=share, lag=lag)


def pairs(*axes: object) -> list[tuple[object, ...]]:
    return list(product(*axes))


def exact(value: F) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def angle(premise: Update, mu: F) -> mp.mpf:
    """The border's angle, from the derived phase condition."""
    condition = stability.derive(premise)["boundary_phase"].subs(MU, exact(mu))
    phase = sp.lambdify(W, condition, "mpmath")
    return mp.findroot(phase, (mp.mpf(10) ** -10, mp.pi - mp.mpf(10) ** -10), solver="anderson")


def border(premise: Update, mu: F) -> mp.mpf:
    """The border's x: in closed form, or from the derived pair of equations."""
    derived = stability.derive(premise)
    if "threshold" in derived.results:
        return mp.mpf(sp.N(derived["threshold"].subs(MU, exact(mu)), 40))
    of_w = derived["boundary_x"].subs(MU, exact(mu))
    return mp.mpf(sp.N(of_w.subs(W, sp.Float(angle(premise, mu), 40)), 40))


TABLE = [  # the theory's reference numbers
    ("0", 0, "2"),
    ("0", 1, "1"),
    ("0", 4, "0.347296355334"),
    ("1/2", 2, "0.280776406404"),
    ("9/10", 0, "3.8"),
    ("9/10", 1, "0.1"),
    ("9/10", 8, "0.01394199458"),
]


@pytest.mark.parametrize(("mu", "lag", "printed"), TABLE)
def test_thresholds_of_the_theory(mu, lag, printed) -> None:
    with mp.workdps(30):
        assert agrees(border(update(share=1, lag=lag), F(mu)), printed)


@pytest.mark.parametrize(
    ("optimizer", "lag", "mu"), pairs(OPTIMIZERS, (0, 1, 2, 5), ("0", "1/2", "9/10"))
)
def test_the_border_is_the_first_loss_of_stability(optimizer, lag, mu) -> None:
    premise = update(optimizer, share=1, lag=lag)
    with mp.workdps(30):
        found = F(str(border(premise, F(mu))))
    for tenth in (1, 5, 9):
        assert is_stable_at(premise, {MU: F(mu), X: found * tenth / 10})
    assert is_stable_at(premise, {MU: F(mu), X: found * (1 - F(1, 10**20))})
    for more in (F(1, 10**20), F(1, 10), F(1), F(10)):
        assert not is_stable_at(premise, {MU: F(mu), X: found * (1 + more)})


@pytest.mark.parametrize(("optimizer", "lag"), pairs(OPTIMIZERS, (0, 1, 2, 7)))
def test_levin_and_may(optimizer, lag) -> None:
    expected = 2 * sp.sin(sp.pi / (2 * (2 * lag + 1)))
    for derived in (stability.derive(update(optimizer, share=1, lag=lag)),
                    stability.derive(update(optimizer, share=1))):
        assert abs(sp.N(derived["levin_may"].subs(D, lag) - expected, 30)) < 1e-25


CLOSED = [
    ("heavy-ball", 0, 2 * (1 + MU)),
    ("heavy-ball", 1, 1 - MU),
    ("ema", 0, 2 * (1 + MU) / (1 - MU)),
    ("ema", 1, sp.S.One),
    ("nesterov", 0, 2 * (1 + MU) / (1 + 2 * MU)),
]


@pytest.mark.parametrize(("optimizer", "lag", "form"), CLOSED)
def test_closed_thresholds(optimizer, lag, form) -> None:
    derived = stability.derive(update(optimizer, share=1, lag=lag))
    assert is_zero(derived["threshold"] - form)


def test_polynomial_form_at_lag_2() -> None:
    derived = stability.derive(update(share=1, lag=2))
    assert derived["stable"] == sp.And(X > 0, -MU * X - MU - X**2 - X + 1 > 0)
    root = (-(1 + MU) + sp.sqrt((1 + MU) ** 2 + 4 * (1 - MU))) / 2
    assert abs(sp.N((derived["threshold"] - root).subs(MU, sp.Rational(2, 7)), 30)) < 1e-25


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("optimizer", "lag"), pairs(OPTIMIZERS, (0, 1, 2)))
def test_the_reduced_region_is_the_whole_region(optimizer, lag, share) -> None:
    premise = update(optimizer, share, lag)
    stable = stability.derive(premise)["stable"]
    assert len(stable.args) <= len(conditions(premise)) + 1
    box = [MU >= 0, MU < 1, X > 0]
    kept = entails([*box, stable], [c > 0 for c in conditions(premise)])
    assert kept.answer is Answer.YES


@pytest.mark.parametrize(("optimizer", "lag"), pairs(OPTIMIZERS, (1, 3, 4)))
@pytest.mark.parametrize("place", ["0.4", "1.3", "2.5"])
def test_the_two_equations_vanish_at_a_mode_on_the_circle(optimizer, lag, place) -> None:
    with mp.workdps(40):
        # The fresh and stale force that put a mode at angle w: two linear equations.
        mu, w = F(3, 5), mp.mpf(place)
        g0, g1 = reference.gain(reference.Run(optimizer, "constant", mu, F(1), lag))
        turn = mp.expj(w)
        force = -(turn - 1) * (1 - reference.number(mu) / turn) / (g0 + g1 / turn)
        stale = -force.imag / mp.sin(lag * w)
        fresh = force.real - stale * mp.cos(lag * w)
        x, share = fresh + stale, stale / (fresh + stale)
    derived = stability.derive(update(optimizer, S, lag))
    at = {MU: exact(mu), X: sp.Float(x, 40), S: sp.Float(share, 40), W: sp.Float(w, 40)}
    for name in ("boundary_real", "boundary_imag", "boundary_angle"):
        assert abs(sp.N(derived[name].subs(at), 40)) < 1e-30
        elsewhere = at | {S: sp.Float(share, 40) + 1} if name != "boundary_real" else at | {X: 9}
        assert abs(sp.N(derived[name].subs(elsewhere), 40)) > 1e-3
    assert abs(sp.N(derived["boundary_x"].subs(at), 40) / at[X] - 1) < 1e-30


@pytest.mark.parametrize(("optimizer", "lag"), pairs(OPTIMIZERS, (0, 1, 2, 3, 6)))
def test_the_sufficient_rule_never_lets_an_unstable_point_in(optimizer, lag) -> None:
    source = random.Random(f"{optimizer} {lag}")
    rule = stability.derive(update(optimizer))["sufficient"].subs(D, lag)
    inside = 0
    while inside < 25:
        point = {
            MU: F(source.randint(0, 19), 20), S: F(source.randint(-24, 36), 12),
            X: F(source.randint(1, 400), 100 * source.choice((1, 10))),
        }
        if rule.subs({k: exact(v) for k, v in point.items()}):
            inside += 1
            assert is_stable_at(update(optimizer, lag=lag), point)


@pytest.mark.parametrize(("optimizer", "lag"), pairs(OPTIMIZERS, range(1, 5)))
def test_the_sufficient_rule_against_the_conditions_by_the_solver(optimizer, lag) -> None:
    # An independent proof, lag by lag, of what lag-rule proves for all lags at once.
    rule = stability.derive(update(optimizer, 1, lag))["rule_sufficient"]
    found = entails(
        [MU >= 0, MU < 1, rule], [c > 0 for c in conditions(update(optimizer, 1, lag))]
    )
    assert found.answer is Answer.YES


def test_the_sufficient_rule_is_sharp_where_it_can_be() -> None:
    # d = 0: exact. d = 1, share 1: the rule is the exact threshold.
    at_once = stability.derive(update(share=1, lag=0))
    assert at_once["sufficient"] == sp.And(X > 0, sp.Lt(X, at_once["threshold"]))
    one_late = stability.derive(update(share=1, lag=1))
    assert one_late["rule_sufficient"] == sp.And(X > 0, sp.Lt(X, one_late["threshold"]))


def test_the_published_rule_is_not_safe_for_nesterov() -> None:
    # x (d - mu) < 1 - mu lets an unstable point in; what lag-rule derives does not.
    point = {MU: F(1, 2), X: F(9, 10)}
    assert point[X] * (1 - point[MU]) < 1 - point[MU]
    assert not is_stable_at(update("nesterov", 1, 1), point)
    rule = stability.derive(update("nesterov", 1, 1))["rule_sufficient"]
    assert rule.subs({k: exact(v) for k, v in point.items()}) == sp.false


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema"])
def test_what_the_rule_gives_away(optimizer) -> None:
    derived = conservatism.derive(update(optimizer, 1))
    ratio = derived["conservatism"]
    with mp.workdps(30):
        for mu, lag in product((F(0), F(1, 2), F(9, 10)), (1, 2, 5, 40)):
            premise = update(optimizer, 1, lag)
            found = angle(premise, mu)
            exact_ratio = border(premise, mu) * lag
            if optimizer == "heavy-ball":
                exact_ratio /= reference.number(1 - mu)
            at = {D: lag, W: sp.Float(found, 30), MU: exact(mu)}
            assert abs(sp.N(ratio.subs(at), 30) - exact_ratio) < 1e-20
            assert (lag == 1) == (abs(exact_ratio - 1) < 1e-20)
            assert exact_ratio < sp.N(derived["conservatism_high"], 30)
            assert found >= sp.N(derived["angle_low"].subs(at), 30) - mp.mpf(10) ** -25
    assert derived["conservatism_low"] == 1
    assert derived["conservatism_limit"] == sp.pi / 2
    alone = derived["conservatism_without_momentum"]
    assert sp.limit(alone, D, sp.oo) == sp.pi / 2


@pytest.mark.parametrize(("optimizer", "share", "lag"), pairs(OPTIMIZERS, SHARES, (None, 0, 1, 3)))
def test_every_step_is_proved(optimizer, share, lag) -> None:
    premise = update(optimizer, share, lag)
    for module in (stability, lag_rule):
        derived = module.derive(premise)
        assert derived.rung is Rung.PROVED
        assert derived.steps
        unknown = {MU, X, D, S, W}
        assert all(result.free_symbols <= unknown for result in derived.results.values())
    if share == 1 and lag != 0:
        assert conservatism.derive(premise).rung is Rung.PROVED


def test_a_changed_premise_changes_the_results() -> None:
    plain = update(share=1)
    before = stability.derive(plain).results
    for change in ({"intake": sp.Integer(2)}, {"passed": 1 + MU}, {"memory": MU / 2}):
        other = replace(plain, optimizer=replace(plain.optimizer, **change))
        after = stability.derive(other).results
        assert set(after) == set(before)
        for name in ("boundary_x", "sufficient", "rule_sufficient"):
            assert after[name] != before[name]
    assert stability.derive(update(share=sp.Rational(1, 2)))["sufficient"] != before["sufficient"]


@pytest.mark.parametrize("change", [{"passed": -1}, {"direct": -1}, {"memory": 1 + MU}])
def test_an_optimizer_that_opposes_the_force_has_no_threshold(change) -> None:
    plain = OPTIMIZERS["heavy-ball"]
    against = replace(plain, **{name: sp.sympify(value) for name, value in change.items()})
    premise = replace(update(share=1), optimizer=against)
    assert set(stability.derive(premise).results) == {"boundary_real", "boundary_imag"}
    with pytest.raises(ValueError, match="opposes the force"):
        lag_rule.derive(premise)


def test_premises_without_a_border_are_refused() -> None:
    for module in (stability, lag_rule, conservatism):
        with pytest.raises(ValueError, match="constant lag"):
            module.derive(Update.named("heavy-ball", "sawtooth"))
    for premise in (update(), update(share=1, lag=0)):
        with pytest.raises(ValueError, match="stale share 1"):
            conservatism.derive(premise)
