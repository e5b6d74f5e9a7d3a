"""Compiled kernels: against 50 digits, against the discrete map, in shape, in their imports."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from numerics import kernel_table, kernels
from numerics.compile import Kernel, kernel_source
from numerics.kernels._blocks import BLOCK
from numerics.simulation import ConstantLag, Sawtooth, growth_rate, simulate_linear
from numerics.straight_line import straight_line

#: Rational grid of every argument a kernel can have; away from 0/0, near the ends that matter.
GRID = {
    "mu": ("0", "1/10", "9/10", "999/1000"),
    "x": ("1/1000000", "1/100", "3/4"),
    "d": ("1", "3", "16"),
    "N": ("1", "4", "16"),
    "s": ("-1/2", "1/3", "1"),
    "beta": ("1/100", "1", "5/2"),
    "p_star": ("1/10", "3/5", "49/50"),
    "p": ("1/50", "2/5", "9/10"),
    "p_ref": ("1/20", "1/2"),
    "eps": ("0", "1/10000"),
    "G": ("2", "16", "64"),
    "eta": ("1/1000", "1"),
}
#: Rounding a kernel may show: a few operations, each within an ulp of the largest term it meets.
ULPS = 64 * np.finfo(float).eps

ALL = [
    pytest.param(module, kernel, id=f"{module}.{kernel.name}")
    for module, (_, made) in kernel_table.MODULES.items()
    for kernel in made()
]


Terms = tuple[sp.Expr, tuple[sp.Expr, ...], tuple[sp.Expr, ...]]


def _terms(e: sp.Expr) -> Terms:
    """Return the denominator of `e`, and the terms added up above and below."""
    above, below = sp.fraction(sp.together(e))
    return below, sp.Add.make_args(sp.expand(above)), sp.Add.make_args(sp.expand(below))


def _scale(terms: Terms, value: sp.Expr, at: dict[sp.Symbol, sp.Rational]) -> sp.Expr:
    """Return the size of the terms that are added up: what rounding is relative to."""
    under, above, below = terms
    top, bottom = (sum(abs(sp.N(t.subs(at), 50)) for t in ts) for ts in (above, below))
    return (top + abs(value) * bottom) / abs(sp.N(under.subs(at), 50))


@pytest.mark.parametrize(("module", "kernel"), ALL)
def test_a_kernel_agrees_with_fifty_digits(module: str, kernel: Kernel) -> None:
    function = getattr(getattr(kernels, module), kernel.name)
    points = list(product(*(GRID[a] for a in kernel.arguments)))
    terms = [_terms(e) for e in kernel.outputs.values()]
    tried = 0
    for point in points[:: max(1, len(points) // 24)]:
        exact = dict(zip(kernel.arguments, map(sp.Rational, point), strict=True))
        at = {s: exact[s.name] for e in kernel.outputs.values() for s in e.free_symbols}
        wanted = [sp.N(e.subs(at), 50) for e in kernel.outputs.values()]
        if not all(w.is_real and w.is_finite for w in wanted):
            continue  # a border that does not exist for this configuration
        found = function(
            **{a: float(Fraction(v)) for a, v in zip(kernel.arguments, point, strict=True)}
        )
        found = found if isinstance(found, tuple) else (found,)
        for name, f, w, e in zip(kernel.outputs, found, wanted, terms, strict=True):
            allowed = ULPS * float(max(abs(w), _scale(e, w, at)))
            assert abs(float(sp.Float(float(f), 50) - w)) <= allowed, (name, point, f, w)
        tried += 1
    assert tried >= 3


@pytest.mark.parametrize(("module", "kernel"), ALL)
def test_a_kernel_keeps_the_shape_of_its_arguments(module: str, kernel: Kernel) -> None:
    function = getattr(getattr(kernels, module), kernel.name)
    middle = {a: float(Fraction(GRID[a][1])) for a in kernel.arguments}
    first = kernel.arguments[0]
    grown = {**middle, first: np.full((3, 1), middle[first])}
    if len(kernel.arguments) > 1:
        last = kernel.arguments[-1]
        grown[last] = np.full((1, 4), middle[last])
        shape: tuple[int, ...] = (3, 4)
    else:
        shape = (3, 1)
    scalar, array = function(**middle), function(**grown)
    for one, many in zip(
        scalar if isinstance(scalar, tuple) else (scalar,),
        array if isinstance(array, tuple) else (array,),
        strict=True,
    ):
        assert np.shape(one) == ()
        assert np.shape(many) == shape
        np.testing.assert_array_equal(many, np.broadcast_to(one, shape))


def _bits_of_blocks_and_pieces_agree(
    function: Callable[..., object], arguments: dict[str, NDArray[np.float64]]
) -> None:
    """Compare one call, in blocks, with calls so small that the formula itself is run."""
    shape = np.broadcast_shapes(*(value.shape for value in arguments.values()))
    flat = {a: np.broadcast_to(value, shape).reshape(-1) for a, value in arguments.items()}
    size = math.prod(shape)
    assert size > BLOCK
    whole = function(**arguments)
    pieces = [
        function(**{a: value[start : start + 1000] for a, value in flat.items()})
        for start in range(0, size, 1000)
    ]
    if not isinstance(whole, tuple):
        whole, pieces = (whole,), [(piece,) for piece in pieces]
    for found, parts in zip(whole, zip(*pieces, strict=True), strict=True):
        assert found.shape == shape
        np.testing.assert_array_equal(found.reshape(-1), np.concatenate(parts))


@pytest.mark.parametrize(("module", "kernel"), ALL)
def test_blocks_change_no_bit(module: str, kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    arguments = {
        a: rng.choice([float(Fraction(v)) for v in GRID[a]], BLOCK + 5001) for a in kernel.arguments
    }
    with np.errstate(all="ignore"):  # borders that do not exist
        _bits_of_blocks_and_pieces_agree(getattr(getattr(kernels, module), kernel.name), arguments)


@pytest.mark.parametrize(
    "shapes",
    [
        ((BLOCK + 1,), (), (1,)),
        ((1 + BLOCK // 2, 1), (3,), ()),
        ((3, 1), (BLOCK,), (1, 1)),
        ((2, 3, 1), (1, 3, 9000), (2, 1, 1)),
        ((1, 1, 17_000, 2), (5, 1, 1, 1), (2,)),
        ((300, 200), (200,), (300, 1)),
        ((), (), (BLOCK + 1,)),
    ],
)
def test_blocks_broadcast_as_numpy_does(shapes: tuple[tuple[int, ...], ...]) -> None:
    rng = np.random.default_rng(0)
    mu, x, s = (rng.uniform(0.01, 0.1, shape) for shape in shapes)
    _bits_of_blocks_and_pieces_agree(kernels.variance.nesterov_lag_2, {"mu": mu, "x": x, "s": s})
    lag = np.array(3.0)
    oscillator = kernels.oscillator.heavy_ball_constant
    _bits_of_blocks_and_pieces_agree(oscillator, {"mu": mu, "x": x, "d": lag, "s": s})


def test_arguments_of_any_layout_are_read_right() -> None:
    rng = np.random.default_rng(0)
    mu = np.asfortranarray(rng.uniform(0, 0.9, (300, 200)))
    x = rng.uniform(0.01, 0.1, (400, 600))[::-2, ::3]
    found = kernels.variance.ema_lag_1(mu=mu[:200], x=x, s=1)
    expected = kernels.variance.ema_lag_1(mu=mu[:200].copy("C"), x=x.copy(), s=1)
    assert found.size > BLOCK
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("points", [1, 7, BLOCK + 1])
def test_an_output_never_shares_memory_with_an_argument(points: int) -> None:
    x = np.full(points, 0.25)
    *_, stiffness = kernels.oscillator.heavy_ball_constant(mu=0.5, x=x, d=1, s=1)
    assert not np.shares_memory(stiffness, x)
    np.testing.assert_array_equal(stiffness, x)


def test_no_points_are_no_points() -> None:
    assert kernels.variance.ema_lag_1(mu=np.zeros((0, 3)), x=0.1, s=1).shape == (0, 3)


def test_rational_arguments_give_exact_values() -> None:
    mu, x = Fraction(9, 10), Fraction(1, 100)
    found = kernels.variance.heavy_ball_lag_1(mu=mu, x=x, s=1)
    assert found == (1 + mu + x) / ((1 - mu - x) * x * (2 * (1 + mu) + x))
    assert isinstance(found, Fraction)


def test_a_straight_line_has_no_powers_and_the_same_value() -> None:
    a, b = sp.symbols("a b", positive=True)
    outputs = [a**7 + a**5 * b, (1 + b) ** sp.Rational(5, 2), (a - b) ** -3, a**b]
    lines, values = straight_line(outputs)
    powers = {
        p
        for e in [*(e for _, e in lines), *values]
        for p in e.atoms(sp.Pow)
        if p.exp not in (-1, b)
    }
    assert all(p.exp in (2, sp.Rational(1, 2)) for p in powers)
    for symbol, e in reversed(lines):
        values = [v.subs(symbol, e) for v in values]
    assert all(sp.simplify(v - o) == 0 for v, o in zip(values, outputs, strict=True))


def test_a_polynomial_is_nested_in_the_cheapest_order() -> None:
    a, b = sp.symbols("a b")
    lines, (value,) = straight_line([sp.expand((1 + b * (2 + b * (3 + a * b))) * a)])
    assert len(lines) <= 1
    assert sp.count_ops(value) <= 8


def test_a_leading_minus_moves_into_a_sum() -> None:
    p = sp.Symbol("p", real=True)
    source = kernel_source(Kernel("turned", {"out": -(p + 1) / (p * (p - 1))}, "test"))
    assert "(p + 1)/(p*(1 - p))" in source


def test_constants_are_quotients_of_integers() -> None:
    third = kernel_source(Kernel("third", {"out": sp.Symbol("mu", real=True) / 3}, "test"))
    assert "(1/3)*mu" in third or "mu/3" in third
    assert "0.333" not in third


def test_shared_subexpressions_are_computed_once() -> None:
    mu = sp.Symbol("mu", real=True)
    source = kernel_source(Kernel("two", {"a": sp.exp(mu**2), "b": sp.exp(mu**2) + 1}, "test"))
    assert source.count("np.exp(") == 1


def test_an_unknown_symbol_is_refused() -> None:
    with pytest.raises(ValueError, match="not in the notation"):
        _ = Kernel("bad", {"a": sp.Symbol("nobody")}, "test").arguments


def test_the_committed_kernels_are_what_the_derivations_give() -> None:
    assert kernel_table.drift() == []


def test_using_kernels_and_predictions_imports_no_sympy() -> None:
    code = "import sys, numerics.kernels, numerics.predict; print('sympy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


momenta = st.floats(0, 0.95)


@settings(deadline=None, max_examples=30)
@given(mu=momenta, d=st.integers(0, 6), s=st.floats(-0.5, 1.5), x=st.floats(1e-6, 1e-4))
def test_the_slow_mode_of_the_map_relaxes_as_the_kernel_says(
    mu: float, d: int, s: float, x: float
) -> None:
    x *= (1 - mu) ** 2  # where the expansion in x is an expansion
    said = float(kernels.slow_root.heavy_ball_constant(mu=mu, x=x, d=d, s=s))
    rate = growth_rate("heavy-ball", ConstantLag(d), mu=mu, x=x, stale_share=s)
    measured = -1 / np.log(float(rate))
    # The rate's own rounding, eps/(1 - rate), and the next term of the expansion, O(x).
    allowed = said * (1e-15 * said * 8 + 20 * x * (1 + d) ** 2 / (1 - mu) ** 3 * x / (1 - mu)) + 1
    assert abs(said - measured) <= allowed


@settings(deadline=None, max_examples=30)
@given(mu=momenta, d=st.integers(1, 8))
def test_the_map_oscillates_on_one_side_of_the_onset_kernel_only(mu: float, d: int) -> None:
    onset = float(kernels.onset.heavy_ball_constant(mu=mu, d=d))
    steps = 4000
    for factor, crosses in ((0.8, False), (1.6, True)):
        run = simulate_linear(
            "heavy-ball", ConstantLag(d), mu=mu, x=factor * onset, stale_share=1, steps=steps
        )
        path = run.path[np.abs(run.path) > 1e-200]
        assert bool((path < 0).any()) == crosses


@settings(deadline=None, max_examples=30)
@given(mu=st.floats(0.05, 0.95), refresh=st.integers(1, 12))
def test_the_map_changes_sides_at_the_sawtooth_kernel(mu: float, refresh: int) -> None:
    flip, pair = (
        (float(v) for v in kernels.sawtooth.heavy_ball_sawtooth(mu=mu, N=refresh))
        if (refresh > 1)
        else (2 * (1 + mu), np.inf)
    )
    border = min(v for v in (flip, pair) if v > 0)
    for factor, grows in ((1 - 1e-6, False), (1 + 1e-6, True)):
        rate = growth_rate("heavy-ball", Sawtooth(refresh), mu=mu, x=factor * border, stale_share=1)
        assert (float(rate) > 1) == grows


@settings(deadline=None, max_examples=20)
@given(mu=momenta, x=st.floats(1e-3, 0.02), d=st.integers(0, 2), s=st.floats(0, 1))
def test_the_variance_kernel_sums_the_maps_own_response(
    mu: float, x: float, d: int, s: float
) -> None:
    x *= 1 - mu
    said = float(getattr(kernels.variance, f"heavy_ball_lag_{d}")(mu=mu, x=x, s=s))
    steps = int(60 / x)
    kick = np.zeros(steps)
    kick[0] = 1.0
    run = simulate_linear(
        "heavy-ball",
        ConstantLag(d),
        mu=mu,
        x=x,
        stale_share=s,
        steps=steps,
        initial=0.0,
        noise=kick,
        noise_enters="recurrence",
    )
    np.testing.assert_allclose(np.sum(run.path**2), said, rtol=1e-9)
