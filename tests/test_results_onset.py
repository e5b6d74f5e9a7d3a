"""The onset of oscillation against the theory's page and against the modes themselves."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import mpmath as mp
import pytest
import reference
import sympy as sp
from printed import agrees

from derivations.algebra import is_zero
from derivations.characteristic import z
from derivations.claim import Rung
from derivations.notation import quantity
from derivations.results import onset
from derivations.update import LAG_MODELS, OPTIMIZERS, Update

MU, X, D, N, S = (quantity(name) for name in ("mu", "x", "d", "N", "s"))


def update(optimizer="heavy-ball", lag_model="constant", share: object = 1, lag=None) -> Update:
    return Update.named(optimizer, lag_model, stale_share=share, lag=lag)


def pairs(*axes: object) -> list[tuple[object, ...]]:
    return list(product(*axes))


TABLE = [  # the theory's reference numbers
    ("0", 0, "1"),
    ("0", 1, "0.25"),
    ("0", 4, "0.08192"),
    ("1/2", 2, "0.0481125224325"),
    ("9/10", 0, "0.00263340389897"),
    ("9/10", 1, "0.0025"),
    ("9/10", 8, "0.00180455877953"),
]


@pytest.mark.parametrize(("mu", "lag", "printed"), TABLE)
def test_onsets_of_the_theory(mu, lag, printed) -> None:
    at = {MU: sp.Rational(mu), D: lag}
    forms = [onset.derive(update(lag=lag))["onset"]]
    if (mu, lag) != ("0", 0):  # there the general form is 0/0
        forms.append(onset.derive(update())["onset"])
    for form in forms:
        assert agrees(form.subs(at), printed)


def test_forms_of_the_theory() -> None:
    at_once = onset.derive(update(lag=0))
    assert is_zero(at_once["onset"] - (1 - sp.sqrt(MU)) ** 2)
    assert is_zero(at_once["alternation"] - (1 + sp.sqrt(MU)) ** 2)
    assert is_zero(onset.derive(update(lag=1))["onset"] - ((1 - MU) / 2) ** 2)
    every = onset.derive(update())
    for lag in range(1, 30):
        assert every["momentum_free"].subs(D, lag) == sp.Rational(lag**lag, (lag + 1) ** (lag + 1))
    spread = sp.sqrt(D**2 * (1 + MU) ** 2 - 4 * (D**2 - 1) * MU)
    assert is_zero(every["root"] - (D * (1 + MU) + spread) / (2 * (D + 1)))
    nesterov = onset.derive(update("nesterov", lag=0))
    assert is_zero(nesterov["onset"] - ((1 - MU) / (1 + MU)) ** 2)
    r = (1 - MU**N) / (1 - MU)
    refreshed = onset.derive(update(lag_model="sawtooth"))
    assert is_zero(
        refreshed["onset"] - (1 - MU) ** 2 * r / (sp.sqrt(N) + sp.sqrt(MU) * sp.sqrt(r)) ** 2
    )


def real_and_positive(run: reference.Run, x: mp.mpf) -> bool:
    if run.lag_model == "constant":
        found = reference.dominant_root(run, x)
    else:
        found = reference.monodromy_eigenvalues(run, x)[0]
    return bool(abs(mp.im(found)) < mp.mpf(10) ** -20 and mp.re(found) > 0)


def largest(premise: Update, mu: sp.Rational) -> sp.Expr:
    """The onset: in closed form, or the derived x(z) at the derived critical point."""
    derived = onset.derive(premise)
    if "onset" in derived.results:
        return sp.N(derived["onset"].subs(MU, mu), 40)
    roots = sp.Poly(derived["critical"].subs(MU, mu), z).nroots(n=40, maxsteps=200)
    inside = [root for root in roots if root.is_real and mu < root < 1]
    assert len(inside) == 1
    return sp.N(derived["x_of_z"].subs(MU, mu).subs(z, inside[0]), 40)


@pytest.mark.parametrize(
    ("optimizer", "lag_model", "lag"), pairs(OPTIMIZERS, LAG_MODELS, (0, 1, 2, 4))
)
def test_the_slowest_mode_is_real_and_positive_up_to_the_onset(optimizer, lag_model, lag) -> None:
    lag += lag_model == "sawtooth"
    for mu in ("1/10", "9/10"):
        run = reference.Run(optimizer, lag_model, F(mu), F(1), lag)
        edge = F(str(largest(update(optimizer, lag_model, 1, lag), sp.Rational(mu))))
        for factor in (F(1, 10), F(3, 5), F(99, 100), 1 - F(1, 10**9)):
            assert real_and_positive(run, edge * factor)
        for factor in (1 + F(1, 10**9), F(101, 100), F(6, 5)):
            assert not real_and_positive(run, edge * factor)


@pytest.mark.parametrize("lag_model", LAG_MODELS)
def test_without_momentum(lag_model) -> None:
    for lag in (1, 2, 5):
        run = reference.Run("heavy-ball", lag_model, F(0), F(1), lag)
        derived = onset.derive(update(lag_model=lag_model, lag=lag))
        edge = F(str(sp.N(derived["onset"].subs(MU, 0), 40)))
        assert real_and_positive(run, edge * (1 - F(1, 10**9)))
        assert not real_and_positive(run, edge * (1 + F(1, 10**9)))


def test_from_the_alternation_on_both_roots_are_negative() -> None:
    edge = F(str(sp.N(onset.derive(update(lag=0))["alternation"].subs(MU, sp.Rational(1, 5)), 40)))
    run = reference.Run("heavy-ball", "constant", F(1, 5), F(1), 0)
    before = reference.roots(run, edge * F(999, 1000))
    after = reference.roots(run, edge * F(1001, 1000))
    assert all(abs(root.imag) > 1e-6 for root in before)
    assert all(abs(root.imag) < 1e-20 and root.real < 0 for root in after)


@pytest.mark.parametrize("share", [S, sp.Rational(-1, 2), sp.Integer(3)])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_x_of_a_real_root_at_any_share(optimizer, share) -> None:
    derived = onset.derive(update(optimizer, share=share, lag=3))
    assert "onset" not in derived.results
    at = {MU: sp.Rational(1, 3), S: sp.Rational(-1, 4)}
    x = derived["x_of_z"].subs(at).subs(z, sp.Rational(5, 6))
    run = reference.Run(optimizer, "constant", F(1, 3), F(str(share.subs(at))), 3)
    with mp.workdps(40):
        roots = reference.roots(run, F(int(x.p), int(x.q)))
        assert min(abs(root - reference.number(F(5, 6))) for root in roots) < mp.mpf(10) ** -30
    # The critical polynomial vanishes exactly where x(z) is flat, z = 0 aside.
    slope = sp.together(sp.diff(derived["x_of_z"].subs(at), z))
    flat, critical = (
        {factor.monic() for factor, _ in sp.Poly(e, z, domain="QQ").factor_list()[1]}
        for e in (sp.fraction(slope)[0], derived["critical"].subs(at))
    )
    assert flat ^ critical <= {sp.Poly(z, z, domain="QQ")}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_sawtooth_discriminant_at_any_share(optimizer) -> None:
    derived = onset.derive(update(optimizer, "sawtooth", S, 3))
    mu, x, share = F(1, 3), F(1, 5), F(-1, 4)
    run = reference.Run(optimizer, "sawtooth", mu, share, 3)
    at = {k: sp.Rational(v.numerator, v.denominator) for k, v in ((MU, mu), (X, x), (S, share))}
    with mp.workdps(40):
        one, other = reference.monodromy_eigenvalues(run, x)
        for name, plain in (("trace", one + other), ("discriminant", (one - other) ** 2)):
            value = derived[name].subs(at)
            assert abs(mp.mpf(value.p) / value.q - plain) < mp.mpf(10) ** -30


@pytest.mark.parametrize(
    ("optimizer", "lag_model", "lag"), pairs(OPTIMIZERS, LAG_MODELS, (None, 1, 3))
)
def test_every_step_is_proved(optimizer, lag_model, lag) -> None:
    derived = onset.derive(update(optimizer, lag_model, 1, lag))
    assert derived.rung is Rung.PROVED
    assert 3 <= len(derived.steps) <= 10
    assert all(e.free_symbols <= {MU, X, D, N, z} for e in derived.results.values())


@pytest.mark.parametrize("lag_model", LAG_MODELS)
def test_a_changed_premise_changes_the_onset(lag_model) -> None:
    plain = update(lag_model=lag_model)
    at = {MU: sp.Rational(1, 3), D: 3, N: 3}
    before = sp.N(onset.derive(plain)["onset"].subs(at))
    for change in ({"intake": sp.Integer(2)}, {"passed": 1 + MU}):
        other = replace(plain, optimizer=replace(plain.optimizer, **change))
        assert abs(sp.N(onset.derive(other)["onset"].subs(at)) / before - 1) > 0.1


def test_a_symbolic_refresh_needs_share_1() -> None:
    with pytest.raises(ValueError, match="fixed sawtooth refresh"):
        onset.derive(update(lag_model="sawtooth", share=S))
