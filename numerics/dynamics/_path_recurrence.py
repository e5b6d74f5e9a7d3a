r"""Far terms of sequences that obey a linear recurrence, many at once.

Where ``u_{k+n} + D_1 u_{k+n-1} + ... + D_n u_k = 0``, multiplication by z stands for one step, and
``chi(z) = z^n + D_1 z^(n-1) + ... + D_n`` for nothing. So with ``R(z) = z^a mod chi(z)``

    u_{a+j} = R_0 u_j + R_1 u_{j+1} + ... + R_{n-1} u_{j+n-1}

and R is found by squaring, in as many squarings as a has bits. No root is computed, so double roots
are nothing special; and chi stays what it is, so its roots stay as far apart as they are (squaring
the roots instead, after Graeffe, costs half as much but brings roots together that were not).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics._path_twofold import Factor, SumOfProducts, Twofold

__all__ = ["Terms", "evaluate"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Powers outside 2**-_SAFE .. 2**_SAFE are scaled: their squares must not leave the range.
_SAFE = 100
#: Terms taken from one power of z where the order is lower: the recurrence is cheap then.
_LEAST_STRIDE = 16
#: By how many powers of two the first terms may grow before powers of z take over.
_GROWTH = 500


@dataclass(frozen=True, eq=False)
class Terms:
    r"""Which terms of which sequences are wanted.

    Attributes
    ----------
    divisor
        Coefficients 1, D_1, ..., D_n; shape ``(n + 1, recurrences)``.
    start
        The terms u_0, ..., u_{n-1}; shape ``(n, sequences)``.
    owner
        The recurrence of each sequence.
    sequence, index
        What to return: a term of which sequence, and which term k >= 0.
    """

    divisor: Twofold
    start: Twofold
    owner: IntArray
    sequence: IntArray
    index: IntArray


def evaluate(wanted: Terms) -> tuple[FloatArray, IntArray]:
    """Return floats, and the powers of two to multiply them by: no growth or decay is too much."""
    divisor, owner, sequence = wanted.divisor, wanted.owner, wanted.sequence
    order = len(wanted.start.high)
    stride = _strides(divisor)
    member = owner[sequence]
    offset = wanted.index % stride[member]
    exponent = wanted.index - offset
    span = int(exponent.max(initial=0)) + 1
    nodes, node = np.unique(member * span + exponent, return_inverse=True)
    power, raised = _powers(divisor, nodes // span, nodes % span)

    first = _continued(wanted.start, divisor[:, owner], stride[owner])
    total = SumOfProducts.zeros(wanted.index.shape)
    weights, terms = Factor.of(power), Factor.of(first)
    for i in range(order):
        total.add(..., weights.part((i, node)), terms.part((offset + i, sequence)))
    return total.high + total.low, raised[node]


def _strides(divisor: Twofold) -> IntArray:
    """Return how many terms to take from one power of z: a power of two, about n."""
    largest = int(np.log2(max(len(divisor.high) - 1, _LEAST_STRIDE)))
    growth = np.log2(np.maximum(np.abs(divisor.high[1:]).sum(axis=0), 1.0))
    steps = np.floor(np.log2(_GROWTH / np.maximum(growth, 1.0)))
    return np.asarray(2 ** np.clip(steps, 0, largest).astype(np.int64))


def _continued(start: Twofold, divisor: Twofold, stride: IntArray) -> Twofold:
    """Return the start and the ``stride - 1`` terms after it; where that is fewer, zeros."""
    order, more = start.high.shape[0], int(stride.max(initial=1)) - 1
    backward = Factor.of(-divisor[:0:-1])
    high, low = (np.concatenate([a, np.zeros((more, a.shape[1]))]) for a in (start.high, start.low))
    for k in range(order, order + more):
        term = SumOfProducts.zeros(stride.shape)
        known = Factor.of(Twofold(high[k - order : k], low[k - order : k]))
        for j in range(order):
            term.add(..., backward.part(j), known.part(j))
        value, wanted = term.value(), k < order + stride - 1
        high[k], low[k] = np.where(wanted, value.high, 0), np.where(wanted, value.low, 0)
    return Twofold(high, low)


def _powers(divisor: Twofold, member: IntArray, exponent: IntArray) -> tuple[Twofold, IntArray]:
    r"""Return ``z^exponent mod chi``, and the powers of two taken out of it.

    The pairs of `member` and `exponent` are distinct and ascending. Shape ``(n, pairs)``.
    """
    order = len(divisor.high) - 1
    power = Twofold.of(np.zeros((order, exponent.size)))
    raised = np.zeros(exponent.size, dtype=np.int64)
    small = np.flatnonzero(exponent < order)
    power.high[exponent[small], small] = 1.0
    rest = np.flatnonzero(exponent >= order)
    if not rest.size:
        return power, raised

    owner, half = member[rest], exponent[rest] // 2
    new = np.ones(rest.size, dtype=bool)
    new[1:] = (np.diff(owner) != 0) | (np.diff(half) != 0)
    which = np.cumsum(new) - 1
    root, root_raised = _powers(divisor, owner[new], half[new])
    square = _remainder(_square(root), divisor[:, owner[new]])
    size = np.frexp(np.abs(square.high).max(axis=0))[1].astype(np.int64)
    size[np.abs(size) <= _SAFE] = 0
    square = square.times_power_of_two(-size)

    raised[rest] = (2 * root_raised + size)[which]
    power.high[:, rest], power.low[:, rest] = square.high[:, which], square.low[:, which]
    odd = rest[exponent[rest] % 2 == 1]
    shifted = Twofold(*(np.pad(a[:, odd], ((1, 0), (0, 0))) for a in (power.high, power.low)))
    shifted = _remainder(shifted, divisor[:, member[odd]])
    power.high[:, odd], power.low[:, odd] = shifted.high, shifted.low
    return power, raised


def _square(root: Twofold) -> Twofold:
    """Return the square of polynomials, lowest power first: products symmetric about a middle."""
    order = len(root.high)
    factor = Factor.of(root)
    total = SumOfProducts.zeros((2 * order - 1, root.high.shape[1]))
    for apart in range(order):
        lower, upper = factor.part(slice(0, order - apart)), factor.part(slice(apart, order))
        twice = lower.signed(2.0) if apart else lower
        total.add(slice(apart, 2 * order - 1 - apart, 2), twice, upper)
    return total.value()


def _remainder(dividend: Twofold, divisor: Twofold) -> Twofold:
    """Return the remainder of polynomials, lowest power first, by division with chi."""
    order = len(divisor.high) - 1
    backward = -divisor[:0:-1]
    used = np.flatnonzero(np.any(backward.high != 0, axis=1))  # a lag leaves a gap of zeros
    by = Factor.of(backward[used])
    total = SumOfProducts(dividend)
    for top in range(len(dividend.high) - 1, order - 1, -1):
        total.add(top - order + used, by, Factor.of(total.value(top)))
    return total.value(slice(0, order))
