"""The two-arm bandit: policy, KL force, drift, stiffness and where the lag acts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
import sympy as sp
from mpmath import mp, mpf

from derivations.claim import Rung
from derivations.derivation import Derivation, StepError
from derivations.notation import quantity
from derivations.results import kl_force, no_kl, objective, softmax, staleness, stiffness
from derivations.results.objective import STALENESS, p_old
from derivations.results.surd import tidy

P, P_REF, P_STAR, BETA, EPS = (quantity(n) for n in ("p", "p_ref", "p_star", "beta", "eps"))


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    """Work in 40 digits, and leave the precision of other tests alone."""
    with mp.workdps(40):
        yield


def value(expression: sp.Basic, point: dict[sp.Symbol, object]) -> sp.Float:
    """Evaluate to 30 digits; decimals count as the decimals they are."""
    return sp.N(expression.subs({k: sp.Rational(str(v)) for k, v in point.items()}), 30)


def logistic(theta: mpf) -> mpf:
    return 1 / (1 + mp.exp(-theta))


def simulated_force(theta: mpf, old: mpf, kind: str, beta: mpf, theta_ref: mpf) -> mpf:
    """The objective of equation (2) differentiated numerically, arm by arm, in the logit."""
    if kind == "delayed-gradient":
        theta, kind = old, "stale-samples-ratio"
    q, arms = logistic(old), (1, 0)
    weights = (q, 1 - q)
    std = mp.sqrt(q * (1 - q))

    def log_policy(t: mpf, arm: int) -> mpf:
        return mp.log(logistic(t) if arm else 1 - logistic(t))

    def score(t: mpf) -> mpf:
        reward = mpf(0)
        for arm, weight in zip(arms, weights, strict=True):
            log_p = log_policy(t, arm)
            ratio = mp.exp(log_p - log_policy(old, arm)) if kind == "stale-samples-ratio" else log_p
            reward += weight * ratio * (arm - q) / std
        divergence = sum(
            mp.exp(log_policy(t, a)) * (log_policy(t, a) - log_policy(theta_ref, a)) for a in arms
        )
        return reward - beta * divergence

    return mp.diff(score, theta)


ALL: dict[str, Callable[[], Derivation]] = {
    "softmax": softmax.derive,
    "lemma-3": stiffness.derive,
    **{f"kl-force {kl}": (lambda kl=kl: kl_force.derive(kl)) for kl in kl_force.ESTIMATORS},
    **{f"staleness {s}": (lambda s=s: staleness.derive(s)) for s in STALENESS},
    **{
        f"eq-2 {s} {kl} {n}": (
            lambda s=s, kl=kl, n=n: objective.derive(staleness=s, kl=kl, normaliser=n)
        )
        for s in STALENESS
        for kl in ("reverse", "k3")
        for n in objective.NORMALISERS
    },
}


@pytest.mark.parametrize("name", ALL)
def test_every_step_is_proved_and_named_once(name: str) -> None:
    derivation = ALL[name]()
    assert derivation.id == name.split()[0]
    assert derivation.rung is Rung.PROVED
    names = [step.name for step in derivation.steps]
    assert 3 <= len(names) == len(set(names))
    assert sum(step.checked != "definition" for step in derivation.steps) >= 2
    assert all(step.because for step in derivation.steps)


@pytest.mark.parametrize(
    ("p", "kl", "expected"),
    [
        ("0.75", "reverse", 0.205990), ("0.75", "k1", 0), ("0.75", "k2", 0.205990),
        ("0.75", "k3", 0.25), ("0.75", "k3-ratio", 0.205990),
        ("0.9", "reverse", 0.197750), ("0.9", "k1", 0), ("0.9", "k2", 0.197750),
        ("0.9", "k3", 0.4), ("0.9", "k3-ratio", 0.197750),
    ],
)
def test_kl_force_cases(p: str, kl: str, expected: float) -> None:
    force = value(kl_force.derive(kl)["force"], {P: p, P_REF: "0.5"})
    assert abs(force - expected) <= 5e-7


def test_k3_and_reverse_forces_agree_only_to_first_order() -> None:
    gap = kl_force.derive("k3")["force"] - kl_force.derive("reverse")["force"]
    near, nearer = (abs(value(gap, {P: f"0.5{'0' * n}1", P_REF: "0.5"})) for n in (2, 3))
    assert 95 < near / nearer < 1005  # second order or better
    assert value(gap, {P: "0.9", P_REF: "0.5"}) > sp.Rational(1, 5)


def test_an_estimator_said_to_follow_another_divergence_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = dataclasses.replace(kl_force.ESTIMATORS["k3"], gradient_of="KL(pi || pi_ref)")
    monkeypatch.setattr(kl_force, "ESTIMATORS", {"k3": wrong})
    with pytest.raises(StepError, match="force"):
        kl_force.derive.__wrapped__("k3")


@pytest.mark.parametrize(
    ("theta", "no_ratio", "ratio"),
    [("1/2", 0.5, 0.470007), ("1", 0.5, 0.393224), ("-1/2", 0.5, 0.470007)],
)
def test_stale_bandit_cases(theta: str, no_ratio: float, ratio: float) -> None:
    expected = {"stale-samples": no_ratio, "stale-samples-ratio": ratio, "delayed-gradient": 0.5}
    p = 1 / (1 + sp.exp(-sp.Rational(theta)))
    for kind, number in expected.items():
        drift = objective.derive(staleness=kind, kl="reverse", normaliser="std")["drift"]
        force = sp.N(drift.subs({BETA: 0, EPS: 0, p_old: sp.Rational(1, 2)}).subs(P, p), 20)
        assert abs(force - number) <= 5e-7


@pytest.mark.parametrize("kind", STALENESS)
@pytest.mark.parametrize("theta", ["0.3", "-1.7"])
def test_drift_is_the_derivative_of_the_objective(kind: str, theta: str) -> None:
    old, beta, ref = mpf("-0.4"), mpf("0.7"), mpf("-1")
    drift = objective.derive(staleness=kind, kl="reverse", normaliser="std")["drift"]
    point = {P: logistic(mpf(theta)), p_old: logistic(old), P_REF: logistic(ref), BETA: beta}
    symbolic = value(drift.subs(EPS, 0), point)
    numeric = simulated_force(mpf(theta), old, kind, beta, ref)
    assert abs(mpf(str(symbolic)) - numeric) < mpf("1e-18")


def test_conventions_change_the_drift() -> None:
    drifts = {
        (s, kl, n): objective.derive(staleness=s, kl=kl, normaliser=n)["drift"]
        for s in STALENESS for kl in ("reverse", "k3") for n in objective.NORMALISERS
    }
    assert len(set(drifts.values())) == len(drifts) == 12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kl_force.derive("k3-rato"), r"'k3-rato'; did you mean 'k3-ratio'"),
        (lambda: staleness.derive("stale-sample"), r"did you mean 'stale-samples'"),
        (
            lambda: objective.derive(staleness="stale-samples", kl="reverse", normaliser="batch"),
            r"unknown normaliser 'batch'.*known: std, mean",
        ),
        (lambda: no_kl.derive("sdt"), r"unknown normaliser 'sdt'; did you mean 'std'"),
    ],
)
def test_unknown_conventions_are_refused(call: Callable[[], Derivation], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def fixed_reference(p_star: str, beta: str) -> mpf:
    """Logit of the reference whose fixed point is p_star, by Mroueh's equation."""
    p = mpf(p_star)
    return mp.log(p / (1 - p)) - 1 / (mpf(beta) * mp.sqrt(p * (1 - p)))


@pytest.mark.parametrize("p_star", ["0.1", "0.4", "0.5", "0.8"])
@pytest.mark.parametrize("kind", STALENESS)
def test_slopes_are_the_simulated_drifts(kind: str, p_star: str) -> None:
    beta = "0.9"
    theta, ref = mp.log(mpf(p_star) / (1 - mpf(p_star))), fixed_reference(p_star, beta)

    def g(now: mpf, old: mpf) -> mpf:
        return simulated_force(now, old, kind, mpf(beta), ref)

    step = mpf("1e-6")
    assert abs(g(theta, theta)) < mpf("1e-12")
    fresh = -(g(theta + step, theta) - g(theta - step, theta)) / (2 * step)
    stale = -(g(theta, theta + step) - g(theta, theta - step)) / (2 * step)
    derived = staleness.derive(kind)
    point = {P_STAR: p_star, BETA: beta}
    for name, number in (
        ("fresh_slope", fresh), ("stale_slope", stale), ("stiffness", fresh + stale),
        ("stale_share", stale / (fresh + stale)), ("rule_lag_force", stale),
    ):
        assert abs(mpf(str(value(derived[name], point))) - number) < mpf("1e-9"), name


def test_table_of_theory_3_7() -> None:
    sigma, h = sp.sqrt(P_STAR * (1 - P_STAR)), stiffness.derive()["contraction"]
    whole = BETA * sigma**2 * (1 - h)
    table = {
        "delayed-gradient": (sp.S.Zero, whole, sp.S.One),
        "stale-samples": (
            BETA * sigma**2 - (2 * P_STAR - 1) * sigma, (P_STAR - sp.Rational(1, 2)) * sigma,
            h / (1 - h),
        ),
        "stale-samples-ratio": (
            BETA * sigma**2, -(P_STAR - sp.Rational(1, 2)) * sigma, -h / (1 - h)
        ),
    }
    assert tidy(h - (P_STAR - sp.Rational(1, 2)) / (BETA * sigma)) == 0
    for kind, expected in table.items():
        derived = staleness.derive(kind)
        for name, statement in zip(
            ("fresh_slope", "stale_slope", "stale_share"), expected, strict=True
        ):
            assert tidy(derived[name] - statement) == 0
        assert tidy(derived["stiffness"] - whole) == 0


def test_the_stale_share_is_1_only_without_the_ratio_at_contraction_one_half() -> None:
    steps = {step.name: step for step in staleness.derive("stale-samples").steps}
    assert steps["when the whole force is stale"].states.rhs == sp.Rational(1, 2)
    assert all(
        step.name != "when the whole force is stale"
        for step in staleness.derive("stale-samples-ratio").steps
    )
    # h' = 1/2 at p = 4/5, sigma = 2/5 needs beta = 3/2
    share = staleness.derive("stale-samples")["stale_share"]
    assert share.subs({P_STAR: sp.Rational(4, 5), BETA: sp.Rational(3, 2)}) == 1


def test_lemma_3_is_one_number_by_three_roads() -> None:
    lemma = stiffness.derive()
    point = {P_STAR: "0.2", BETA: "0.5"}  # sigma = 0.4, h' = -1.5, K = 0.08*2.5
    assert value(lemma["contraction"], point) == sp.Float("-1.5", 30)
    for name in ("stiffness", "stiffness_by_contraction"):
        assert abs(value(lemma[name], point) - sp.Rational(1, 5)) < 1e-28


@pytest.mark.parametrize(
    "expression",
    [
        1 / sp.sqrt(P * (1 - P)) - P / (P * (1 - P)) ** sp.Rational(3, 2),
        (P - P**2 + EPS) ** sp.Rational(-3, 2) * (P - 1) + sp.sqrt(EPS + P * (1 - P)),
        sp.log(P_REF) - sp.log(P) + sp.sqrt(P - P**2) / (1 + sp.sqrt(P - P**2)),
        sp.sqrt(P) + sp.sqrt(1 - P),
    ],
)
def test_tidying_keeps_the_value(expression: sp.Expr) -> None:
    point = {P: Fraction(3, 7), P_REF: Fraction(1, 5), EPS: Fraction(1, 11)}
    assert abs(value(tidy(expression), point) - value(expression, point)) < 1e-25
