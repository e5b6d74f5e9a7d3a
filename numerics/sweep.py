r"""A function over many parameter sets, on any executor, with one and the same result.

Sets keep their order, and a random function gets a seed made from the number of its set, so neither
the executor, nor the number of its workers, nor the chunking can change a result.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from typing import Any, TypeAlias, TypeVar

import numpy as np

from numerics.inputs import InvalidInput, check_type, whole_number

__all__ = ["ParameterSet", "SweepError", "product", "sweep", "zipped"]

Result = TypeVar("Result")

#: The keyword arguments of one call.
ParameterSet: TypeAlias = Mapping[str, Any]


class SweepError(Exception):
    r"""The function failed on one parameter set.

    Attributes
    ----------
    index, parameters
        Which set it was: its number in the sweep, and the set.
    reason
        The error's type and message; the error itself is the cause of this one where it was raised
        in this process.
    """

    def __init__(self, index: int, parameters: ParameterSet, reason: str) -> None:
        super().__init__(index, parameters, reason)
        self.index, self.parameters, self.reason = index, parameters, reason

    def __str__(self) -> str:
        return f"parameter set {self.index}, {_shown(self.parameters)}: {self.reason}"


def product(**axes: Iterable[Any]) -> list[dict[str, Any]]:
    """Return every combination of the axes' values, the last axis running fastest.

    Raises
    ------
    InvalidInput
        An axis is no sequence of values.
    """
    names, values = list(axes), _values(axes)
    return [dict(zip(names, each, strict=True)) for each in itertools.product(*values)]


def zipped(**axes: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the axes' first values, their second values, ...: axes of equal length.

    Raises
    ------
    InvalidInput
        The axes differ in length, or one is no sequence of values.
    """
    names, values = list(axes), _values(axes)
    lengths = {name: len(axis) for name, axis in zip(names, values, strict=True)}
    if len(set(lengths.values())) > 1:
        raise InvalidInput(f"axes have lengths {lengths}: give as many values on each")
    return [dict(zip(names, each, strict=True)) for each in zip(*values, strict=True)]


def _values(axes: Mapping[str, Iterable[Any]]) -> list[list[Any]]:
    for name, axis in axes.items():
        check_type(name, axis, Iterable, "the values of that axis, [value] for a single one")
    return [list(axis) for axis in axes.values()]


def sweep(
    function: Callable[..., Result],
    parameters: Iterable[ParameterSet],
    *,
    executor: Executor | None = None,
    seed: int | None = None,
    chunk: int = 1,
) -> list[Result]:
    r"""Return ``function(**set)`` for each parameter set, in their order.

    Parameters
    ----------
    function
        Called with each set as keyword arguments. A pool of processes needs it importable, and its
        arguments and result picklable.
    parameters
        Parameter sets, such as `product` and `zipped` make; later sets can be added without
        changing the results of earlier ones.
    executor
        Any `concurrent.futures.Executor`: threads, processes, or ``client.get_executor()`` of
        `dask.distributed`; it is left open. None to call one after the other in this thread.
    seed
        Whole number >= 0. The function then also gets ``seed``, a `numpy.random.SeedSequence` of
        its own, made of this number and the number of the set.
    chunk
        Parameter sets in a task: more where a call takes less time than sending it.

    Returns
    -------
    list

    Raises
    ------
    InvalidInput
        A parameter set the function cannot be called with, or another argument outside its domain;
        before any call.
    SweepError
        The function raised an error: which, and on which set. Tasks not yet begun are cancelled.
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InvalidInput(f"executor is {executor!r}: give a concurrent.futures.Executor or None")
    chunk = whole_number("chunk", chunk, least=1)
    if not callable(function):
        raise InvalidInput(f"function is {function!r}: give what each parameter set is to call")
    check_type("parameters", parameters, Iterable, "parameter sets, as product and zipped make")
    sets = list(_complete(function, parameters, seed))
    if executor is None:
        return _call(function, 0, sets)
    starts = range(0, len(sets), chunk)
    tasks = [executor.submit(_call, function, at, sets[at : at + chunk]) for at in starts]
    return list(itertools.chain.from_iterable(_gather(tasks)))


def _complete(
    function: Callable[..., Any], parameters: Iterable[ParameterSet], seed: int | None
) -> Iterator[dict[str, Any]]:
    """Yield the sets with their seeds, each checked against what the function takes."""
    try:
        signature = inspect.signature(function)
    except ValueError:  # some built-in functions have none
        signature = None
    entropy = None if seed is None else whole_number("seed", seed, least=0)
    for index, given in enumerate(parameters):
        if not isinstance(given, Mapping):
            raise InvalidInput(
                f"parameter set {index} is {given!r}: give a mapping of argument names to values"
            )
        arguments = dict(given)
        if entropy is not None:
            if "seed" in arguments:
                raise InvalidInput(f"parameter set {index} has a seed of its own: give only one")
            arguments["seed"] = np.random.SeedSequence(entropy, spawn_key=(index,))
        if signature is not None:
            try:
                signature.bind(**arguments)
            except TypeError as error:
                raise InvalidInput(f"parameter set {index}, {_shown(given)}: {error}") from None
        yield arguments


def _call(
    function: Callable[..., Result], first: int, sets: Sequence[ParameterSet]
) -> list[Result]:
    """Call the function on some sets; this is what an executor is given to do."""
    results = []
    for index, arguments in enumerate(sets, first):
        try:
            results.append(function(**arguments))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise SweepError(index, arguments, reason) from error
    return results


def _shown(parameters: ParameterSet) -> dict[str, Any]:
    """Return the set without the seed that was made for it: a seed sequence fills many lines."""
    is_seed = np.random.SeedSequence
    return {name: value for name, value in parameters.items() if not isinstance(value, is_seed)}


def _gather(futures: Sequence[Future[list[Result]]]) -> list[list[Result]]:
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()
