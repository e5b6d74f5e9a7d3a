r"""The stationary moments of the deviation at one rational point, exactly: equations in numbers."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from derivations.characteristic import characteristic_polynomial
from derivations.judge import balls
from derivations.judge.search import Point
from derivations.update import Update

__all__ = ["moment_at"]

Row = list[Fraction]


def moment_at(update: Update, shift: int, point: Point) -> Fraction:
    r"""Return the mean of q_n*q_{n+shift} per unit noise variance, at a stable point.

    Constant lag: Yule and Walker's equations for the characteristic polynomial's autoregression.
    Sawtooth, shift 0 only: the covariance at a refresh returns after one period; averaged over its
    phases.

    Raises
    ------
    Undefined
        If the point leaves a symbol open, or the equations have no one solution.
    """
    if update.lag_model.name == "constant":
        return _autocovariance(update, shift, point)
    if shift:
        raise balls.Undefined("the autocovariance is derived for a constant lag")
    return _over_one_period(update, point)


def _exact(e: sp.Expr, point: Point) -> Fraction:
    value = balls.rational_value(e, point)
    if value is None:
        raise balls.Undefined(f"{e} has no value at the point")
    return value


def _autocovariance(update: Update, shift: int, point: Point) -> Fraction:
    a = [_exact(c, point) for c in characteristic_polynomial(update).all_coeffs()]
    size = len(a)
    rows = [[Fraction(0)] * size for _ in a]
    for i in range(size):
        for j, coefficient in enumerate(a):
            rows[i][abs(i - j)] += coefficient
    gamma = _solved(rows, [Fraction(i == 0) for i in range(size)])
    while len(gamma) <= shift:  # the same equations go on, without the noise
        before = reversed(gamma[1 - size :])
        gamma.append(-sum((c * g for c, g in zip(a[1:], before, strict=True)), Fraction(0)) / a[0])
    return gamma[shift]


def _over_one_period(update: Update, point: Point) -> Fraction:
    """Follow (q, w, a) with unit noise in q and in w, w the part of the move the buffer made."""
    o = update.optimizer
    memory, intake, direct, passed, fresh, stale = (
        _exact(e, point)
        for e in (o.memory, o.intake, o.direct, o.passed, update.fresh, update.stale)
    )
    pull = passed * intake
    move = [-pull * fresh, memory, -pull * stale]
    step = [
        [1 + move[0] - direct * fresh, memory, move[2] - direct * stale],
        move,
        [Fraction(0), Fraction(0), Fraction(1)],
    ]
    # Variance of q, covariance, variance of w at a refresh: unit starts, and the noise alone.
    starts = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)]
    ends, swings = [], []
    for v, c, m in starts:
        covariance = [[Fraction(e) for e in row] for row in ((v, c, v), (c, m, c), (v, c, v))]
        kick = Fraction((v, c, m) == (0, 0, 0))
        swing = Fraction(0)
        for _ in range(update.steps or 0):
            swing += covariance[0][0]
            covariance = _carried(step, covariance)
            for i in (0, 1):
                for j in (0, 1):
                    covariance[i][j] += kick
        ends.append([covariance[0][0], covariance[0][1], covariance[1][1]])
        swings.append(swing)
    *units, noise = ends
    rows = [[Fraction(i == j) - units[j][i] for j in range(3)] for i in range(3)]
    at_refresh = _solved(rows, noise)
    total = sum((s * u for s, u in zip(swings, at_refresh, strict=False)), swings[-1])
    return total / (update.steps or 1)


def _carried(step: list[Row], covariance: list[Row]) -> list[Row]:
    """Return step * covariance * step transposed."""
    half = [_times(row, covariance) for row in step]
    return [[sum(map(_product, row, other), Fraction(0)) for other in step] for row in half]


def _times(row: Row, matrix: list[Row]) -> Row:
    return [sum(map(_product, row, column), Fraction(0)) for column in zip(*matrix, strict=True)]


def _product(a: Fraction, b: Fraction) -> Fraction:
    return a * b


def _solved(rows: list[Row], right: Row) -> Row:
    """Solve linear equations by elimination.

    Raises
    ------
    Undefined
        If they have no one solution.
    """
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for k in range(len(table)):
        pivot = next((i for i in range(k, len(table)) if table[i][k]), None)
        if pivot is None:
            raise balls.Undefined("the stationary moments are not determined")
        table[k], table[pivot] = table[pivot], table[k]
        table[k] = [entry / table[k][k] for entry in table[k]]
        for i, row in enumerate(table):
            if i != k and row[k]:
                table[i] = [e - row[k] * p for e, p in zip(row, table[k], strict=True)]
    return [row[-1] for row in table]
