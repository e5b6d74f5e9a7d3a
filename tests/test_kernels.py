"""Compiled kernels: against 50 digits, against the discrete map, in shape, in their imports."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics import kernel_table, kernels
from numerics.compile import Kernel, kernel_source
from numerics.simulation import ConstantLag, Sawtooth, growth_rate, simulate_linear

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


def _scale(e: sp.Expr, at: dict[str, sp.Rational]) -> sp.Expr:
    """Return the size of the terms that are added up: what rounding is relative to."""
    top = [abs(t.subs(at)) for t in sp.Add.make_args(sp.expand(sp.fraction(sp.together(e))[0]))]
    bottom = [abs(t.subs(at)) for t in sp.Add.make_args(sp.expand(sp.fraction(sp.together(e))[1]))]
    under = abs(sp.fraction(sp.together(e))[1].subs(at))
    value = abs(e.subs(at))
    return sp.N((sum(top) + value * sum(bottom)) / under, 50)


@pytest.mark.parametrize(("module", "kernel"), ALL)
def test_a_kernel_agrees_with_fifty_digits(module: str, kernel: Kernel) -> None:
    function = getattr(getattr(kernels, module), kernel.name)
    points = list(product(*(GRID[a] for a in kernel.arguments)))
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
        for name, f, w, e in zip(
            kernel.outputs, found, wanted, kernel.outputs.values(), strict=True
        ):
            allowed = ULPS * float(max(abs(w), _scale(e, at)))
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
