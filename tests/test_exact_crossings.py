"""Zeros, touches and near misses of a function on a grid; real roots of few-term polynomials."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.exact.arithmetic import Complex, power, working
from numerics.exact.crossings import zeros
from numerics.exact.polynomial import complex_value, positive_roots, reflections, value

GRID = [Decimal(step) / 10 for step in range(31)]


def factor(*roots: str) -> Callable[[Decimal], Decimal]:
    def product(x: Decimal) -> Decimal:
        result = Decimal(1)
        for root in roots:
            result *= x - Decimal(root)
        return result

    return product


@pytest.mark.parametrize("grid", [GRID, GRID[::-1]])
def test_crossings_and_touches_in_the_order_of_the_grid(grid: list[Decimal]) -> None:
    roots = ("0.123", "1.234", "1.234", "2.0499", "2.0501", "2.7", "2.7", "2.9")
    with working(50):
        found = zeros(factor(*roots), grid)
    at = [0.123, 1.234, 2.0499, 2.0501, 2.7, 2.9]
    kinds = [(1, -1), (-1, -1), (-1, 1), (1, -1), (-1, -1), (-1, 1)]
    if grid is not GRID:
        at, kinds = at[::-1], [kind[::-1] for kind in kinds[::-1]]
    assert [float(zero.at) for zero in found] == pytest.approx(at, rel=1e-15)
    assert [(zero.before, zero.after) for zero in found] == kinds


@pytest.mark.parametrize(("depth", "count"), [("1e-24", 0), ("0", 1), ("-1e-24", 2)])
def test_a_touch_a_miss_and_two_crossings(depth: str, count: int) -> None:
    with working(50):
        found = zeros(lambda x: (x - Decimal("1.43")) ** 2 + Decimal(depth), GRID)
    assert len(found) == count
    assert all(abs(zero.at - Decimal("1.43")) <= Decimal("1.1e-12") for zero in found)
    assert (count == 1) is any(zero.before == zero.after for zero in found)


def test_a_zero_of_high_order_is_found_where_it_is() -> None:
    with working(50):
        (zero,) = zeros(lambda x: (x - 1) ** 101, [Decimal(0), Decimal("0.3"), Decimal(3)])
    assert abs(zero.at - 1) < Decimal("1e-30")


@settings(deadline=None, max_examples=100)
@given(st.dictionaries(st.integers(0, 30), st.integers(-9, 9).filter(bool), min_size=2, max_size=5))
def test_real_roots_of_few_term_polynomials(terms: dict[int, int]) -> None:
    with working(60):
        poly = {place: Decimal(c) for place, c in terms.items()}
        found = positive_roots(poly)
        assert found == sorted(found)
        # Descartes: as many as the changes of sign, or an even number fewer.
        signs = [terms[place] > 0 for place in sorted(terms)]
        changes = sum(one != other for one, other in pairwise(signs))
        assert len(found) <= changes
        assert (changes - len(found)) % 2 == 0
        for root in found:
            size = max(abs(c) * root**place for place, c in poly.items())
            assert abs(value(poly, root)) <= size * Decimal("1e-40")


def test_a_double_root_is_listed_twice_and_a_near_miss_not_at_all() -> None:
    with working(60):
        for shift, count in ((Decimal(0), 2), (Decimal("1e-40"), 0), (Decimal("-1e-40"), 2)):
            poly = {2: Decimal(1), 1: Decimal("-1.9"), 0: Decimal("0.9025") + shift}
            assert len(positive_roots(poly)) == count


@settings(deadline=None, max_examples=50)
@given(st.fractions(-2, 2, max_denominator=8), st.fractions(-1, 1, max_denominator=8),
       st.integers(0, 40))  # fmt: skip
def test_powers_by_cayley_and_hamilton(trace: Fraction, det: Fraction, n: int) -> None:
    with working(80):
        t, m = (Decimal(v.numerator) / v.denominator for v in (trace, det))
        alpha, beta = power(t, m, n)
        a, b, c, d = Decimal(1), Decimal(0), Decimal(0), Decimal(1)
        for _ in range(n):  # times the companion matrix [[t, -m], [1, 0]]
            a, b, c, d = t * a - m * c, t * b - m * d, a, b
        expected = [a, b, c, d]
        found = [alpha * t + beta, -alpha * m, alpha, beta]
        size = max(1, *map(abs, expected))
        differences = [abs(x - y) for x, y in zip(found, expected, strict=True)]
        assert max(differences) <= size * Decimal("1e-60")


def test_decimal_complex_numbers() -> None:
    one, other = Complex(Decimal("0.5"), Decimal(-2)), Complex(Decimal(3), Decimal("0.25"))
    p, q = complex(one), complex(other)
    assert complex(one + other) == p + q
    assert complex(one - other) == p - q
    assert complex(one * other) == p * q
    assert complex(one / other) == pytest.approx(p / q)
    assert complex(one**5) == pytest.approx(p**5)
    assert complex(one**0) == 1
    poly = {7: Decimal(1), 3: Decimal(-2), 0: Decimal("0.5")}
    assert complex(complex_value(poly, one)) == pytest.approx(p**7 - 2 * p**3 + 0.5)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-0.95, 0.95), min_size=1, max_size=6), st.booleans())
def test_reflection_coefficients_tell_roots_outside(roots: list[float], spoil: bool) -> None:
    poly = np.poly([*roots, 1.05] if spoil else roots)
    with working(80):
        terms = {len(poly) - 1 - i: Decimal(c) for i, c in enumerate(poly) if c}
        assert all(abs(k) < 1 for k in reflections(terms)) is not spoil
