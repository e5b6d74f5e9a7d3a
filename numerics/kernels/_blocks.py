r"""Evaluate a formula on many points, a block at a time and in place (hand-written).

Whole arrays of a million points would pass through memory at every operation. The formula is
therefore run once on stand-ins that record its operations, and the record is replayed on blocks
that stay in the cache: a result that is no longer needed gives its room to the next, and the last
operation writes into the output itself. They are the same operations in the same order, so every
bit is what the formula gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

__all__ = ["BLOCK", "in_blocks"]

BLOCK = 32768  # points: 256 kB a result; half and twice as many are hardly slower

_Block = tuple[int | slice, ...]


class _Operation(NamedTuple):
    call: Callable[..., Any]
    operands: tuple[int, ...]


@dataclass
class _Record:
    """Values by number, and the operations that make one of others."""

    known: list[Any] = field(default_factory=list)  # constants as they are, arrays, else None
    varies: list[tuple[bool, ...] | None] = field(default_factory=list)  # None for a constant
    made: dict[int, _Operation] = field(default_factory=dict)

    def add(self, known: Any, varies: tuple[bool, ...] | None) -> int:
        self.known.append(known)
        self.varies.append(varies)
        return len(self.known) - 1

    def number(self, value: Any) -> int:
        return value.number if isinstance(value, _Value) else self.add(value, None)


@dataclass(eq=False)
class _Value(NDArrayOperatorsMixin):
    """Stands for an argument or a result while the formula is recorded."""

    record: _Record
    number: int

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any) -> _Value:
        record = self.record
        numbers = tuple(record.number(operand) for operand in operands)
        axes = zip(*(v for n in numbers if (v := record.varies[n]) is not None), strict=True)
        result = record.add(None, tuple(any(axis) for axis in axes))
        record.made[result] = _Operation(_power if ufunc is np.power else ufunc, numbers)
        return _Value(record, result)


def _power(base: Any, exponent: Any, into: None) -> Any:
    """Arrays know shortcuts for some exponents, which the ufunc does not."""
    return base**exponent


def in_blocks(
    formula: Callable[..., Any], values: Mapping[str, Any], shape: tuple[int, ...]
) -> Any:
    """Return `formula(**values)`, every output an array of its own with the full shape.

    Parameters
    ----------
    values
        float64 scalars and arrays that broadcast to `shape`. An array that does not vary along an
        axis is not expanded, nor is what is computed from such arrays alone.
    """
    record = _Record()
    outputs = formula(**{name: _argument(record, v, len(shape)) for name, v in values.items()})
    single = not isinstance(outputs, tuple)
    wanted = [record.number(output) for output in ((outputs,) if single else outputs)]
    filled = [np.empty(shape) for _ in wanted]
    rooms, count = _rooms(record, wanted, tuple(length > 1 for length in shape))
    scratch = np.empty((count, BLOCK))
    arrays = [n for n, v in enumerate(record.varies) if v is not None and n not in record.made]
    steps = [(n, op.call, op.operands, rooms.get(n)) for n, op in record.made.items()]
    for block in _blocks(shape):
        targets = [target[block] for target in filled]
        size = targets[0].shape
        room = [*targets, *(s.reshape(size) for s in scratch[:, : math.prod(size)])]
        known = record.known.copy()
        for n in arrays:
            known[n] = known[n][_within(block, known[n].shape)]
        for n, call, operands, at in steps:
            into = None if at is None else room[at]
            known[n] = call(*[known[o] for o in operands], into)
        for n, target in zip(wanted, targets, strict=True):
            if known[n] is not target:
                target[...] = known[n]
    return filled[0] if single else tuple(filled)


def _argument(record: _Record, value: Any, axes: int) -> Any:
    if np.size(value) == 1:
        return np.float64(np.reshape(value, ()))
    array = value.reshape((1,) * (axes - value.ndim) + value.shape)
    return _Value(record, record.add(array, tuple(length > 1 for length in array.shape)))


def _rooms(
    record: _Record, wanted: list[int], full: tuple[bool, ...]
) -> tuple[dict[int, int], int]:
    """Return where each result is written, and how much scratch that takes.

    The outputs have the first rooms. A result that does not vary along all axes, and a power, is
    made anew each time instead.
    """
    last = {n: result for result, op in record.made.items() for n in op.operands}
    rooms: dict[int, int] = {}
    free: list[int] = []
    count = 0
    for result, op in record.made.items():
        for n in {n for n in op.operands if last[n] == result and n not in wanted}:
            if n in rooms:
                free.append(rooms[n])  # an elementwise operation may write over its operand
        if op.call is _power or record.varies[result] != full:
            continue
        if result in wanted:
            rooms[result] = wanted.index(result)
        elif free:
            rooms[result] = free.pop()
        else:
            rooms[result] = len(wanted) + count
            count += 1
    return rooms, count


def _blocks(shape: tuple[int, ...]) -> Iterator[_Block]:
    """Cut an array of this shape, along its leading axes, into pieces of at most `BLOCK` points."""
    axis = len(shape) - 1
    while math.prod(shape[axis:]) <= BLOCK:
        axis -= 1
    pieces = math.ceil(shape[axis] / (BLOCK // math.prod(shape[axis + 1 :])))
    rows = math.ceil(shape[axis] / pieces)  # evenly, so that no small rest is left
    for leading in np.ndindex(shape[:axis]):
        for start in range(0, shape[axis], rows):
            yield (*leading, slice(start, start + rows))


def _within(block: _Block, shape: tuple[int, ...]) -> _Block:
    """Return the place of a block in an argument, whose axes of length one do not vary."""
    return tuple(
        place if length > 1 else (0 if isinstance(place, int) else slice(None))
        for place, length in zip(block, shape, strict=False)
    )
