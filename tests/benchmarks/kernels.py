"""Compiled kernels of the derivations' full outputs, on a million points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from benchmarks.harness import Figure, Row, faster, measured
from numerics import kernel_table, kernels

Array = NDArray[np.float64]

#: Module and kernel: the one that is also written by hand below, others as long, and short ones.
BY_HAND = ("variance", "heavy_ball_lag_3")
LONG = (("variance", "ema_lag_3"), ("variance", "nesterov_lag_3"))
SHORT = (
    ("variance", "heavy_ball_lag_2"),
    ("variance", "nesterov_lag_2"),
    ("onset", "heavy_ball_constant"),
    ("sawtooth", "heavy_ball_sawtooth"),
    ("oscillator", "heavy_ball_constant"),
    ("staleness", "stale_samples"),
)
_BLOCK = 32768


def variance_by_hand(mu: Array, x: Array, s: Array) -> Array:
    """Variance at lag 3, factored on paper: w = 1 + mu - x, y = s x."""
    m, y, u = 1 + mu, s * x, mu - x
    w = 1 + u
    above = m + y * (w * w + 1 + y * (w - x))
    below = 1 - mu - y * (u * u + 2 - 2 * x + y * (3 * m - 2 * x))
    return above / (x * (w + m + 2 * y) * below)


def variance_by_hand_in_blocks(mu: Array, x: Array, s: Array) -> Array:
    """The same, a block at a time, for whoever knows that memory is the limit."""
    out = np.empty_like(x)
    for start in range(0, len(x), _BLOCK):
        part = slice(start, start + _BLOCK)
        out[part] = variance_by_hand(mu[part], x[part], s[part])
    return out


def variance_by_hand_in_place(mu: Array, x: Array, s: Array) -> Array:
    """The same in blocks, with every intermediate result in scratch that is made once."""
    out, scratch = np.empty_like(x), np.empty((6, _BLOCK))
    for start in range(0, len(x), _BLOCK):
        part = slice(start, start + _BLOCK)
        _variance_into(out[part], mu[part], x[part], s[part], scratch)
    return out


def _variance_into(out: Array, mu: Array, x: Array, s: Array, scratch: Array) -> None:
    m, y, u, w, a, b = scratch[:, : len(x)]
    np.add(mu, 1, m)
    np.multiply(s, x, y)
    np.subtract(mu, x, u)
    np.add(u, 1, w)
    np.subtract(w, x, a)  # a: the numerator
    np.multiply(a, y, a)
    np.multiply(w, w, b)
    np.add(a, b, a)
    np.add(a, 1, a)
    np.multiply(a, y, a)
    np.add(a, m, a)
    np.add(w, m, w)  # w: the first factor below
    np.add(w, y, w)
    np.add(w, y, w)
    np.multiply(w, x, w)
    np.multiply(m, 3, m)  # m: the second
    np.multiply(x, 2, b)
    np.subtract(m, b, m)
    np.multiply(m, y, m)
    np.multiply(u, u, u)
    np.add(m, u, m)
    np.add(m, 2, m)
    np.subtract(m, b, m)
    np.multiply(m, y, m)
    np.subtract(1, m, m)
    np.subtract(m, mu, m)
    np.multiply(m, w, m)
    np.divide(a, m, out)


def _points(count: int) -> dict[str, Array]:
    rng = np.random.default_rng(20260630)
    lags = rng.integers(1, 65, count).astype(np.float64)
    return {
        "mu": rng.uniform(0.05, 0.95, count),
        "x": rng.uniform(1e-4, 1e-2, count),
        "s": rng.uniform(0, 1, count),
        "d": lags,
        "N": lags,
        "beta": rng.uniform(1, 3, count),
        "p_star": rng.uniform(0.1, 0.9, count),
    }


def _pair(module: str, name: str, points: dict[str, Array]) -> tuple[Callable[[], Any], ...]:
    """Return our kernel and SymPy's `lambdify` of the same expressions, on the same points."""
    made = next(k for k in kernel_table.MODULES[module][1]() if k.name == name)
    function = getattr(getattr(kernels, module), name)
    arguments = {a: points[a] for a in made.arguments}
    free = {s.name: s for e in made.outputs.values() for s in e.free_symbols}
    plain = sp.lambdify(
        [free.get(a, sp.Symbol(a)) for a in made.arguments],
        list(made.outputs.values()),
        modules="numpy",
        cse=False,
    )
    return lambda: function(**arguments), lambda: plain(*arguments.values())


def measure(quick: bool) -> Row:
    """Measure the kernels' row."""
    count, rounds = (20_000, 3) if quick else (1_000_000, 7)
    points = _points(count)
    ours, plain = _pair(*BY_HAND, points)
    three = points["mu"], points["x"], points["s"]
    forms = {
        "whole arrays": variance_by_hand,
        "in blocks": variance_by_hand_in_blocks,
        "in blocks and in place": variance_by_hand_in_place,
    }
    for form in forms.values():
        np.testing.assert_allclose(ours(), form(*three), rtol=1e-12)
    contestants: dict[str, Callable[[], object]] = {"ours": ours, "lambdify": plain}
    contestants |= {name: lambda form=form: form(*three) for name, form in forms.items()}
    times = measured(contestants, rounds=rounds)
    figures = [
        faster(
            "variance, heavy ball, lag 3: over lambdify", times["ours"], times["lambdify"], least=5
        ),
        *(
            faster(f"the same: over NumPy by hand, {name}", times["ours"], times[name], least=least)
            for name, least in zip(forms, (0.9, 0.9, None), strict=True)
        ),
    ]
    for group, least in ((LONG, 5.0), (SHORT[:2] if quick else SHORT, None)):
        figures += [_other(*kernel, points, rounds, least) for kernel in group]
    return Row(
        "compiled kernel of a derivation's full output on 1e6 points",
        ">= 5x plain lambdify, >= 0.9 of hand-written NumPy",
        figures,
        (
            "lambdify: `sympy.lambdify(symbols, expressions, 'numpy', cse=False)` of the derived "
            "expressions, called on the same arrays; both return new arrays.",
            "By hand: the formula factored on paper, 28 operations, in the three forms named. Only "
            "the first two are judged: nobody writes the third for a formula that still changes.",
            "Kernels whose formula is short or holds one power with a variable exponent are shown, "
            "not judged: writing the results to fresh memory, or that one power, is most of their "
            "time, and both sides pay for it.",
        ),
        "How fast lambdify is depends on whether its temporaries, 8 MB each, find memory that the "
        "process has used before or pay for fresh pages, and on whether they fit the last cache; "
        "with a large cache and warm memory the factor is that of the operations, about three for "
        "this formula, and what the blocks save. Tried: blocks from 2048 to 131072 points, with "
        "and without reusing scratch, other orders of evaluation.",
    )


def _other(
    module: str, name: str, points: dict[str, Array], rounds: int, least: float | None
) -> Figure:
    ours, plain = _pair(module, name, points)
    with np.errstate(all="ignore"):  # a threshold that does not exist is infinite on both sides
        times = measured({"ours": ours, "plain": plain}, rounds=rounds)
    return faster(f"{module}.{name}: over lambdify", times["ours"], times["plain"], least=least)
