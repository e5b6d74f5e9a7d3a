"""Fixed points with a KL anchor, the iteration that seeks them, and its 2-cycles."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from derivations.claim import Rung
from derivations.derivation import Derivation
from derivations.judge import balls
from derivations.notation import quantity
from derivations.results import cycle_border, fixed_point, two_cycle

P, P_REF, P_STAR, BETA, EPS = (quantity(n) for n in ("p", "p_ref", "p_star", "beta", "eps"))
U, A, B, N = (sp.Symbol(n, real=True) for n in "uabn")

@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    """Work in 40 digits, and leave the precision of other tests alone."""
    with mp.workdps(40):
        yield


ALL = {
    "fixed-point reverse": lambda: fixed_point.derive("reverse"),
    "fixed-point k3": lambda: fixed_point.derive("k3"),
    "two-cycle": two_cycle.derive,
    "two-cycle-border": cycle_border.derive,
}


@pytest.mark.parametrize("name", ALL)
def test_every_step_is_proved_and_named_once(name: str) -> None:
    derivation: Derivation = ALL[name]()
    assert derivation.id == name.split()[0]
    assert derivation.rung is Rung.PROVED
    names = [step.name for step in derivation.steps]
    assert 3 <= len(names) == len(set(names))
    assert all(step.because for step in derivation.steps)


def logit(p: mpf) -> mpf:
    return mp.log(p / (1 - p))


def number(expression: sp.Basic, **point: object) -> mpf:
    values = {quantity(k): sp.Float(str(v), mp.dps) for k, v in point.items()}
    return mpf(str(sp.N(expression.subs(values), mp.dps)))


def test_the_map_is_mroueh_s_and_its_fixed_points_are_the_zeros_of_the_residual() -> None:
    derived = fixed_point.derive("reverse")
    target = sp.log(P_REF / (1 - P_REF)) + 1 / (BETA * sp.sqrt(P * (1 - P) + EPS))
    printed = 1 / (1 + sp.exp(-target))
    for p, p_ref, beta, eps in (("0.3", "0.2", "1.5", "0"), ("0.9", "0.05", "0.2", "0.01")):
        point = {"p": p, "p_ref": p_ref, "beta": beta, "eps": eps}
        assert abs(number(derived["map"], **point) - number(printed, **point)) < 1e-28
    # Iterated far enough, the map stands still where the residual vanishes.
    p = mpf("0.2")
    for _ in range(200):
        p = number(derived["map"], p=p, p_ref="0.2", beta="2", eps="0")
    assert abs(number(derived["residual"], p_star=p, p_ref="0.2", beta="2", eps="0")) < 1e-25
    assert p > mpf("0.2")


@pytest.mark.parametrize(
    ("p_ref", "expected"), [("0.5", "1.5089"), ("0.1", None), ("0.9", None), ("0.004", None)]
)
def test_critical_beta_separates_two_fixed_points_from_none(
    p_ref: str, expected: str | None
) -> None:
    derived = fixed_point.derive("reverse")
    at_reference = derived["critical_condition"].subs(P_REF, sp.Rational(p_ref))
    condition = sp.lambdify(U, at_reference, "mpmath")
    start = max(logit(mpf(p_ref)) / 2, mpf(0))
    u = mp.findroot(condition, (start + mpf("1e-9"), start + 3), solver="anderson")
    beta_c = mp.sinh(u)
    assert abs(beta_c - sp.lambdify(U, derived["critical_beta"], "mpmath")(u)) < 1e-20
    if expected is not None:
        assert mp.nstr(beta_c, 5) == expected

    def crossings(beta: mpf) -> int:
        def residual(theta: mpf) -> mpf:
            return theta - logit(mpf(p_ref)) - 2 * mp.cosh(theta / 2) / beta

        grid = [logit(mpf(p_ref)) + mpf(k) / 20 for k in range(600)]
        signs = [mp.sign(residual(theta)) for theta in grid]
        return sum(a != b for a, b in itertools.pairwise(signs))

    assert crossings(beta_c * mpf("1.01")) == 2
    assert crossings(beta_c * mpf("0.99")) == 0


def test_the_lower_fixed_point_attracts_the_flow_and_the_upper_repels() -> None:
    derived = fixed_point.derive("reverse")
    beta = mpf(2)

    def residual(theta: mpf) -> mpf:
        return theta - 2 * mp.cosh(theta / 2) / beta

    lower = mp.findroot(residual, (mpf("0.5"), mpf("2.5")), solver="anderson")
    upper = mp.findroot(residual, (mpf("2.5"), mpf("6")), solver="anderson")
    for theta, attracts in ((lower, True), (upper, False)):
        p = 1 / (1 + mp.exp(-theta))
        point = {"p_star": p, "beta": beta, "eps": 0}
        assert abs(number(derived["weight"], p_ref="0.5", p_star=p, eps=0) - beta) < 1e-20
        assert (number(derived["stiffness"], **point) > 0) is attracts
        assert (number(derived["contraction"], **point) < 1) is attracts


def test_k3_has_vojnovic_and_yun_s_equation_one_root_and_its_own_stiffness() -> None:
    derived, sigma = fixed_point.derive("k3"), sp.sqrt(P_STAR * (1 - P_STAR))
    printed = P_STAR - sigma / BETA - P_REF
    for p_ref, beta in (("0.5", "0.04"), ("0.02", "3"), ("0.9", "0.7")):
        root = number(derived["p_star"], p_ref=p_ref, beta=beta)
        assert mpf(p_ref) < root < 1
        point = {"p_star": root, "p_ref": p_ref, "beta": beta, "eps": 0}
        assert abs(number(printed, **point)) < 1e-25
        assert abs(number(derived["residual"], **point)) < 1e-25
        stated = BETA * sigma**2 + (P_STAR - sp.Rational(1, 2)) * sigma
        for name in ("stiffness", "stiffness_by_reference"):
            assert abs(number(derived[name], **point) - number(stated, **point)) < 1e-25
        assert number(derived["stiffness"], **point) > 0


def test_the_two_anchors_are_never_the_same_fixed_point() -> None:
    reverse, k3 = (fixed_point.derive(kl) for kl in ("reverse", "k3"))
    for name in ("residual", "map", "contraction", "stiffness", "weight"):
        assert reverse[name] != k3[name]
    with pytest.raises(ValueError, match="unknown KL anchor 'k2'"):
        fixed_point.derive("k2")


# --- claim m3: convergence of the iteration is local, and it can end in a 2-cycle


def iterate(p: mpf, p_ref: mpf, beta: mpf, rounds: int) -> list[mpf]:
    """Mroueh's iteration at eps = 0, from its printed form."""
    path = [p]
    for _ in range(rounds):
        p = path[-1]
        path.append(1 / (1 + mp.exp(-logit(p_ref) - 1 / (beta * mp.sqrt(p * (1 - p))))))
    return path


def test_the_exact_cycle_is_where_the_iteration_from_the_reference_ends() -> None:
    cycle = two_cycle.derive()
    low, high, beta, p_ref = (
        mpf(str(sp.N(cycle[f"example_{n}"], 40))) for n in ("low", "high", "beta", "p_ref")
    )
    *_, last, end = iterate(p_ref, p_ref, beta, 60)
    assert max(abs(min(last, end) - low), abs(max(last, end) - high)) < mpf("1e-30")


def test_between_the_points_of_the_exact_cycle_lies_a_certified_repelling_fixed_point() -> None:
    cycle, reverse = two_cycle.derive(), fixed_point.derive("reverse")
    at = {BETA: cycle["example_beta"], P_REF: cycle["example_p_ref"], EPS: 0}
    residual = reverse["residual"].subs(at)
    left, right = sp.Rational(1, 20), sp.Rational(1, 15)
    assert cycle["example_low"] < left < right < cycle["example_high"]
    assert balls.sign(residual.subs(P_STAR, left), {}) == 1
    assert balls.sign(residual.subs(P_STAR, right), {}) == -1
    # h' grows with p on (0, 1/2), so its value at the right end bounds it from above.
    slope = reverse["contraction"].subs(at)
    assert balls.sign(slope.subs(P_STAR, right) + 1, {}) == -1
    # The flow is attracted to the same point.
    assert balls.sign(reverse["stiffness"].subs(at).subs(P_STAR, right), {}) == 1


def test_the_iteration_leaves_the_repelling_fixed_point_and_the_flow_does_not() -> None:
    cycle = two_cycle.derive()
    start, beta, p_ref = (
        mpf(str(sp.N(cycle[f"repelling_{n}"], 40))) for n in ("p_star", "beta", "p_ref")
    )
    assert cycle["repelling_contraction"] == sp.Rational(-4, 3)
    path = iterate(start + mpf("1e-9"), p_ref, beta, 20)
    growth = [abs(path[k + 1] - start) / abs(path[k] - start) for k in range(20)]
    assert all(abs(g - mpf(4) / 3) < mpf("1e-4") for g in growth)
    theta = logit(start) + mpf("0.01")
    for _ in range(2000):  # gradient steps on the same drift
        p = 1 / (1 + mp.exp(-theta))
        theta += mpf("0.1") * (mp.sqrt(p * (1 - p)) - beta * p * (1 - p) * (theta - logit(p_ref)))
    assert abs(theta - logit(start)) < mpf("1e-9")


probabilities = st.fractions("1/100", "49/100", max_denominator=200)


@settings(deadline=None, max_examples=60)
@given(probabilities, st.fractions("1/50", "1", max_denominator=50), st.sampled_from(["0", "0.01"]))
def test_every_admissible_pair_is_a_cycle_and_needs_a_reference_below_one_percent(
    low: Fraction, fraction: Fraction, eps: str
) -> None:
    a = mpf(low.numerator) / low.denominator
    b = a + (1 - 2 * a) * mpf(fraction.numerator) / fraction.denominator * mpf("0.999")
    cycle = two_cycle.derive()
    values = {A: sp.Float(str(a), 30), B: sp.Float(str(b), 30), EPS: sp.Float(eps, 30)}
    beta, reference = (
        mpf(str(sp.N(cycle[n].subs(values), 30))) for n in ("beta", "logit_ref")
    )
    assert beta > 0
    for here, there in ((a, b), (b, a)):
        target = reference + 1 / (beta * mp.sqrt(here * (1 - here) + mpf(eps)))
        assert abs(target - logit(there)) < mpf("1e-20")
    limit = mpf(str(sp.N(cycle_border.derive()["p_ref"], 30)))
    assert 1 / (1 + mp.exp(-reference)) <= limit * (1 + mpf("1e-9"))


def test_the_multiplier_is_the_slope_of_two_rounds() -> None:
    cycle = two_cycle.derive()
    a, b = sp.Rational(1, 65), sp.Rational(1, 5)
    at = {A: a, B: b, EPS: 0}
    beta, reference = (mpf(str(sp.N(cycle[n].subs(at), 40))) for n in ("beta", "logit_ref"))
    p_ref = 1 / (1 + mp.exp(-reference))
    slope = mp.diff(lambda p: iterate(p, p_ref, beta, 2)[-1], mpf(1) / 65)
    symbolic = cycle["multiplier"].subs(at).subs(BETA, sp.Float(str(beta), 40))
    assert abs(slope - mpf(str(sp.N(symbolic, 40)))) < mpf("1e-15")
    assert 0 < slope < 1
    *_, last, end = iterate(p_ref, p_ref, beta, 400)
    assert abs(min(last, end) - mpf(1) / 65) < mpf("1e-12")


def test_the_border_is_one_percent_and_every_reference_below_it_has_a_cycle() -> None:
    derived = cycle_border.derive()
    peak = mpf(str(sp.N(derived["p_ref"], 30)))
    assert mp.nstr(peak, 6) == "0.0100391"
    width = sp.Symbol("d", real=True)
    for n, d in (("0.9", "0.01"), ("1.5", "0.4"), ("3", "2")):
        at = {N: sp.Rational(n), width: sp.Rational(d)}
        beta, reference = (mpf(str(sp.N(derived[k].subs(at), 30))) for k in ("beta", "logit_ref"))
        a, b = (1 / (1 + mp.exp(2 * (mpf(n) + sign * mpf(d)))) for sign in (1, -1))
        p_ref = 1 / (1 + mp.exp(-reference))
        assert p_ref < peak
        assert all(
            abs(found - stated) < 1e-25
            for found, stated in zip(iterate(a, p_ref, beta, 2), (a, b, a), strict=True)
        )


def test_the_flip_is_where_the_contraction_is_minus_one() -> None:
    derived, reverse = cycle_border.derive(), fixed_point.derive("reverse")
    for n in ("0.3", "0.9", "2"):
        beta, reference = (
            mpf(str(sp.N(derived[k].subs(N, sp.Rational(n)), 30)))
            for k in ("flip_beta", "flip_logit_ref")
        )
        p = 1 / (1 + mp.exp(2 * mpf(n)))
        assert abs(number(reverse["contraction"], p_star=p, beta=beta, eps=0) + 1) < 1e-25
        point = {"p_star": p, "p_ref": 1 / (1 + mp.exp(-reference)), "beta": beta, "eps": 0}
        assert abs(number(reverse["residual"], **point)) < 1e-22
