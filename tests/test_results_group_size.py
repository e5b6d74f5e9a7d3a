"""Group size: moments, mean drift, its noise, dead groups, against brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from derivations.claim import Rung
from derivations.derivation import Derivation
from derivations.notation import quantity
from derivations.results import binomial, dead_groups, group_size
from derivations.results.group_size import exact_drift, exact_drift_variance

P, G = quantity("p"), quantity("G")
CONVENTIONS = [(n, ddof) for n in ("std", "mean") for ddof in (0, 1)]

@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    """Work in 30 digits, and leave the precision of other tests alone."""
    with mp.workdps(30):
        yield


ALL: dict[str, Callable[[], Derivation]] = {
    "group-moments": binomial.derive,
    "dead-groups": dead_groups.derive,
    **{
        f"prop-10 {n} {ddof}": (lambda n=n, ddof=ddof: group_size.derive(n, ddof))
        for n, ddof in CONVENTIONS
    },
}


@pytest.mark.parametrize("name", ALL)
def test_every_step_is_proved_and_named_once(name: str) -> None:
    derivation = ALL[name]()
    assert derivation.id == name.split()[0]
    assert derivation.rung is Rung.PROVED
    names = [step.name for step in derivation.steps]
    assert 3 <= len(names) == len(set(names))
    assert sum(step.checked != "definition" for step in derivation.steps) >= 3


def exactly(expression: sp.Expr, **values: object) -> sp.Float:
    """Evaluate to 50 digits at exact rationals."""
    return sp.N(expression.subs({quantity(k): sp.Rational(str(v)) for k, v in values.items()}), 50)


@pytest.mark.parametrize(
    ("p", "factors"),
    [
        ("0.1", {4: 0.507084, 8: 0.698307, 16: 0.854344, 64: 0.976432}),
        ("0.5", {4: 0.808013, 8: 0.927828, 16: 0.967061, 64: 0.992093}),
    ],
)
def test_drift_factors_of_theory_4(p: str, factors: dict[int, float]) -> None:
    for size, factor in factors.items():
        drift = exactly(exact_drift(size, normaliser="std", ddof=0), p=p)
        assert abs(drift / sp.sqrt(sp.Rational(p) * (1 - sp.Rational(p))) - factor) <= 5e-7


def test_at_one_success_in_ten_a_group_of_4_drifts_at_0_594_of_a_group_of_16() -> None:
    small, large = (exactly(exact_drift(n, normaliser="std", ddof=0), p="0.1") for n in (4, 16))
    assert round(float(small / large), 3) == 0.594


def brute_force(size: int, p: float, normaliser: str, ddof: int) -> tuple[float, float]:
    """Mean and variance of the logit's gradient over all 2**size reward patterns."""
    moments = np.zeros(2)
    for pattern in itertools.product((0.0, 1.0), repeat=size):
        rewards = np.array(pattern)
        centred = rewards - rewards.mean()
        std = rewards.std(ddof=ddof) if normaliser == "std" else 1.0
        advantages = centred / std if std > 0 else np.zeros(size)
        scores = np.where(rewards == 1, 1 - p, -p)  # d log pi(a) / d logit
        gradient = float((advantages * scores).mean())
        chance = math.prod(p if r else 1 - p for r in pattern)
        moments += chance * np.array([gradient, gradient**2])
    return moments[0], moments[1] - moments[0] ** 2


@pytest.mark.parametrize(("normaliser", "ddof"), CONVENTIONS)
@pytest.mark.parametrize("size", [2, 3, 7])
def test_exact_sums_are_the_mean_over_all_reward_patterns(
    normaliser: str, ddof: int, size: int
) -> None:
    mean, variance = brute_force(size, 0.3, normaliser, ddof)
    drift = exactly(exact_drift(size, normaliser=normaliser, ddof=ddof), p="0.3")
    noise = exactly(exact_drift_variance(size, normaliser=normaliser, ddof=ddof), p="0.3")
    assert abs(drift - mean) < 1e-14
    assert abs(noise - variance) < 1e-14


def order(error: Callable[[int], sp.Float], sizes: tuple[int, int]) -> float:
    """Observed order in 1/G between two sizes, the second twice the first."""
    first, second = (abs(error(size)) for size in sizes)
    return math.log2(float(first / second))


@pytest.mark.parametrize(("normaliser", "ddof"), CONVENTIONS)
@pytest.mark.parametrize("p", ["0.2", "0.35", "0.5"])
def test_leading_forms_have_their_stated_order(normaliser: str, ddof: int, p: str) -> None:
    derived = group_size.derive(normaliser, ddof)

    def drift_error(size: int) -> sp.Float:
        exact = exactly(exact_drift(size, normaliser=normaliser, ddof=ddof), p=p)
        return exactly(derived["drift"], p=p, G=size) / exact - 1

    def noise_error(size: int, name: str = "drift_variance") -> sp.Float:
        exact = exactly(exact_drift_variance(size, normaliser=normaliser, ddof=ddof), p=p)
        return exactly(derived[name], p=p, G=size) - exact

    if normaliser == "mean":  # exact for every G and p
        assert abs(drift_error(5)) < 1e-45
    else:
        assert 1.9 < order(drift_error, (64, 128)) < 2.2
    assert order(noise_error, (64, 128)) > 1.9
    if p == "0.5":
        assert exactly(derived["drift_variance"], p=p, G=7) == 0
        assert order(lambda n: noise_error(n, "drift_variance_at_half"), (64, 128)) > 2.9


@settings(deadline=None, max_examples=40)
@given(
    st.fractions("1/1000", "999/1000", max_denominator=1000), st.integers(2, 40),
    st.sampled_from(CONVENTIONS),
)
def test_the_bounds_hold_for_every_group_size(
    p: object, size: int, convention: tuple[str, int]
) -> None:
    normaliser, ddof = convention
    derived = group_size.derive(normaliser, ddof)
    exact = exactly(exact_drift(size, normaliser=normaliser, ddof=ddof), p=p)
    assert exactly(derived["drift_lower"], p=p, G=size) <= exact + sp.Float("1e-40")
    assert exact <= exactly(derived["drift_upper"], p=p, G=size) + sp.Float("1e-40")


def test_conventions_change_the_result_as_the_theory_says() -> None:
    plain, trainers, bare = (
        group_size.derive(*c) for c in (("std", 0), ("std", 1), ("mean", 0))
    )
    shrink = 1 - 1 / G
    assert sp.cancel(trainers["drift"] ** 2 / plain["drift"] ** 2 - shrink) == 0
    assert sp.cancel(trainers["drift_variance"] / plain["drift_variance"] - shrink) == 0
    assert sp.cancel(plain["drift_variance"] - (1 - 2 * P) ** 2 / (4 * G)) == 0
    assert sp.cancel(plain["drift"] / sp.sqrt(P * (1 - P)) - 1 + 1 / (8 * G * P * (1 - P))) == 0
    assert sp.cancel(bare["drift"] - P * (1 - P) * (G - 1) / G) == 0
    assert bare["drift"] == group_size.derive("mean", 1)["drift"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: group_size.derive("std", 2), "ddof = 2 is unknown; give 0"),
        (lambda: group_size.derive("sd", 0), "unknown normaliser 'sd'; did you mean 'std'"),
        (lambda: exact_drift(1, normaliser="std", ddof=0), "G = 1 is outside its domain"),
        (lambda: exact_drift(2.5, normaliser="std", ddof=0), "G = 2.5 is outside its domain"),
        (lambda: dead_groups.mixed_dead_groups(0), "G = 0 is outside its domain"),
    ],
)
def test_bad_input_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("size", "single", "mixed"),
    [(2, 0.7024, 0.767), (4, 0.4490, 0.575), (8, 0.2007, 0.415), (16, 0.0403, 0.287)],
)
def test_dead_groups_of_theory_4(size: int, single: float, mixed: float) -> None:
    at = {dead_groups.mean: sp.Rational("0.1819"), dead_groups.correlation: sp.Rational("0.217")}
    one = exactly(dead_groups.dead_groups(size), p="0.1819")
    many = sp.N(dead_groups.mixed_dead_groups(size).subs(at), 30)
    assert abs(one - single) <= 5e-5
    assert abs(many - mixed) <= 5e-4
    assert one < many  # one prompt of the mean difficulty is a lower bound
    assert dead_groups.derive()["dead_groups"].subs(G, size) == dead_groups.dead_groups(size)


def test_mixed_dead_groups_are_the_integral_over_the_beta_law() -> None:
    mean, correlation = mpf("0.3"), mpf("0.4")
    a, b = (share * (1 / correlation - 1) for share in (mean, 1 - mean))
    for size in (2, 5):
        def dead(p: mpf, size: int = size) -> mpf:
            return p ** (a - 1) * (1 - p) ** (b - 1) * (p**size + (1 - p) ** size)

        at = {dead_groups.mean: sp.Rational("0.3"), dead_groups.correlation: sp.Rational("0.4")}
        exact = mpf(str(sp.N(dead_groups.mixed_dead_groups(size).subs(at), 30)))
        # The density is singular at 0; the substitution p = v**4 makes it smooth.
        integral = mp.quad(lambda v: dead(v**4) * 4 * v**3, [0, 0.5, 1]) / mp.beta(a, b)
        assert abs(integral - exact) < mpf("1e-6")
    pair = dead_groups.derive()["mixed_pair"] - dead_groups.mixed_dead_groups(2)
    assert sp.cancel(pair) == 0


def test_moments_are_the_central_moments_of_the_binomial() -> None:
    derived = binomial.derive()
    for size in (6, 11):  # sizes the derivation does not use
        for n in range(2, binomial.HIGHEST + 1):
            direct = sum(
                sp.binomial(size, k) * sp.Rational(2, 7) ** k * sp.Rational(5, 7) ** (size - k)
                * (sp.Rational(k, size) - sp.Rational(2, 7)) ** n
                for k in range(size + 1)
            )
            assert derived[f"moment_{n}"].subs({P: sp.Rational(2, 7), G: size}) == direct
