"""lemma-4, lemma-5 and theorem-7 against plain arithmetic and the theory's page."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
import sympy as sp
from mpmath import mp
from plain_map import Plain

from derivations.algebra import is_zero
from derivations.claim import Rung
from derivations.derivation import StepError
from derivations.notation import quantity
from derivations.results import (
    lag,
    momentum,
    oscillator,
    refresh_rule,
    slow_root,
    temperature,
    transition,
)
from derivations.taylor import mean_age_power, taylor
from derivations.update import LAG_MODELS, OPTIMIZERS, Update

MU, X, D, N, S, DELTA = (quantity(name) for name in ("mu", "x", "d", "N", "s", "delta"))
DERIVED = (momentum, lag, oscillator, refresh_rule, transition, temperature, slow_root)
KINDS = list(product(OPTIMIZERS, LAG_MODELS))
SHARES = (sp.Rational(-1, 2), sp.Rational(3, 2))


def update(optimizer="heavy-ball", lag_model="constant", share=S, lag=None) -> Update:
    return Update.named(optimizer, lag_model, stale_share=share, lag=lag)


def number(expression: sp.Expr, **values: object) -> float:
    at = {quantity(name): sp.Rational(str(value)) for name, value in values.items()}
    return float(sp.N(expression.subs(at), 30))


@pytest.mark.parametrize("module", DERIVED, ids=lambda m: m.__name__.rpartition(".")[2])
@pytest.mark.parametrize(("optimizer", "lag_model"), KINDS)
def test_every_premise_is_derived_and_every_step_proved(module, optimizer, lag_model) -> None:
    fixed = [update(optimizer, lag_model, share, 2) for share in SHARES]
    for premise in (update(optimizer, lag_model), *fixed):
        derivation = module.derive(premise)
        assert derivation.steps
        assert derivation.rung is Rung.PROVED
        assert derivation.results
        assert derivation.use
        assert derivation.title


STATED = {
    ("heavy-ball", "constant"): {
        "mass": ((1 + MU) + S * X * D**2) / 2 * DELTA**2,
        "damping": ((1 - MU) - S * X * D) * DELTA,
        "stiffness": X,
        "cubic": -(S * X * D**3 + MU - 1) / 6 * DELTA**3,
    },
    ("ema", "constant"): {
        "mass": ((1 + MU) + (1 - MU) * S * X * D**2) / 2 * DELTA**2,
        "damping": (1 - MU) * (1 - S * X * D) * DELTA,
        "stiffness": (1 - MU) * X,
    },
    ("nesterov", "constant"): {"damping": ((1 - MU) + MU * X - S * X * D) * DELTA, "stiffness": X},
    ("heavy-ball", "sawtooth"): {
        "mass": ((1 + MU) + S * X * (N - 1) * (2 * N - 1) / 6) / 2 * DELTA**2,
        "damping": ((1 - MU) - S * X * (N - 1) / 2) * DELTA,
        "cubic": -(S * X * N * (N - 1) ** 2 / 4 + MU - 1) / 6 * DELTA**3,
    },
}


@pytest.mark.parametrize("kind", STATED, ids="-".join)
def test_theorem_7_has_the_form_the_theory_gives(kind) -> None:
    derivation = oscillator.derive(update(*kind))
    for name, stated in STATED[kind].items():
        assert is_zero(derivation[name] - stated), name


def test_lag_and_momentum_share_theorem_7_between_them() -> None:
    aged = lag.derive(update())
    assert is_zero(aged["mass_gain"] - S * X * D**2 / 2 * DELTA**2)
    assert is_zero(aged["damping_loss"] - S * X * D * DELTA)
    fresh = momentum.derive(update())
    assert is_zero(fresh["mass"] - (1 + MU) / 2 * DELTA**2)
    assert is_zero(fresh["damping"] - (1 - MU) * DELTA)
    # Nesterov: a lag shorter than twice the momentum takes inertia away.
    assert is_zero(
        lag.derive(update("nesterov"))["mass_gain"] - S * X * (D**2 / 2 - MU * D) * DELTA**2
    )


@pytest.mark.parametrize(("optimizer", "lag_model"), KINDS)
@pytest.mark.parametrize("refresh", [1, 2, 5])
@pytest.mark.parametrize("share", [1, -0.5, 1.5])
def test_coefficients_are_the_taylor_coefficients_of_plain_chi(
    optimizer, lag_model, refresh, share
) -> None:
    plain = Plain(optimizer, lag_model, 0.75, share, refresh)
    with mp.workdps(40):
        expected = mp.taylor(lambda h: plain.chi(h, mp.mpf(1) / 8), 0, 3)
    derivation = oscillator.derive(update(optimizer, lag_model))
    at = {"mu": 0.75, "x": 0.125, "s": share, "delta": 1, "d": refresh, "N": refresh}
    names = ("stiffness", "damping", "mass", "cubic")
    for name, value in zip(names, expected, strict=True):
        assert number(derivation[name], **at) == pytest.approx(float(value), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(("optimizer", "lag_model"), KINDS)
@pytest.mark.parametrize("module", [lag, oscillator, temperature, slow_root, transition])
def test_a_fixed_lag_is_the_symbolic_one_at_that_lag(module, optimizer, lag_model) -> None:
    general = module.derive(update(optimizer, lag_model, sp.S.One))
    special = module.derive(update(optimizer, lag_model, sp.S.One, 3))
    point = {D: 3, N: 3, MU: sp.Rational(3, 5), X: sp.Rational(1, 9), quantity("tau"): 7}
    assert general.results.keys() == special.results.keys()
    for name, expression in general.results.items():
        difference = expression.subs(point) - special[name].subs(point)
        assert is_zero(difference) or abs(sp.N(difference, 40)) < 1e-30, name


def test_mean_age_powers_are_sums_over_the_phases() -> None:
    for power, refresh in product(range(5), range(1, 8)):
        mean = Fraction(sum(j**power for j in range(refresh)), refresh)
        assert mean_age_power(power).subs(N, refresh) == sp.Rational(mean)


@pytest.mark.parametrize("module", DERIVED, ids=lambda m: m.__name__.rpartition(".")[2])
def test_a_changed_premise_changes_the_result(module) -> None:
    reference = module.derive(update(share=sp.S.One))
    heavy = OPTIMIZERS["heavy-ball"]
    premises = {
        "memory": replace(heavy, memory=MU / 2),
        "intake": replace(heavy, intake=sp.Integer(2)),
        "direct": replace(heavy, direct=sp.S.One),
        "passed": replace(heavy, passed=1 + MU),
    }
    # What heavy ball's lag adds does not depend on its memory; lemma-4 has no lag.
    ignored = {momentum: {"share", "lag"}, lag: {"memory"}}.get(module, set())
    changed = {
        name: Update(optimizer, LAG_MODELS["constant"]) for name, optimizer in premises.items()
    }
    changed["share"] = update(share=sp.Integer(2))
    changed["lag"] = update(share=sp.S.One, lag=3)
    for name, premise in changed.items():
        derivation = module.derive(premise)
        same = all(is_zero(derivation[key] - reference[key]) for key in reference.results)
        assert same == (name in ignored), name


def forged(wrong: int):
    """The Taylor coefficients with that of order `wrong` off by x*(1 + lag)."""

    def coefficients(premise: Update, order: int = 3) -> tuple[sp.Expr, ...]:
        off = {wrong: X * (1 + premise.lag)}
        return tuple(c + off.get(k, 0) for k, c in enumerate(taylor(premise, order)))

    return coefficients


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_wrong_coefficient_does_not_pass_lemma_4(order, monkeypatch) -> None:
    monkeypatch.setattr(momentum, "taylor", forged(order))
    with pytest.raises(StepError, match="does not vanish"):
        momentum.derive.__wrapped__(update())


@pytest.mark.parametrize(("module", "order"), [(lag, 1), (lag, 2), (oscillator, 3)])
@pytest.mark.parametrize("lag_model", LAG_MODELS)
def test_a_wrong_coefficient_does_not_pass_its_step(module, order, lag_model, monkeypatch) -> None:
    monkeypatch.setattr(module, "taylor", forged(order))
    with pytest.raises(StepError, match="does not vanish"):
        module.derive.__wrapped__(update(lag_model=lag_model))


@pytest.mark.parametrize("name", ["mass", "damping", "stiffness"])
def test_a_wrong_lemma_4_does_not_pass_theorem_7(name, monkeypatch) -> None:
    real = momentum.derive(update())
    wrong = replace(real, results={**real.results, name: real[name] * 2})
    monkeypatch.setattr(momentum, "derive", lambda _: wrong)
    with pytest.raises(StepError, match="does not vanish"):
        oscillator.derive.__wrapped__(update())
