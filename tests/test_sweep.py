"""Sweeps give the same list on every executor, and name the parameter set that fails."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import distributed
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from numerics.inputs import InvalidInput
from numerics.simulation import ConstantLag, GaussianNoise, simulate_linear_chains
from numerics.sweep import SweepError, product, sweep, zipped


def scaled(a: int, b: int = 1) -> int:
    """A function that processes can be sent."""
    return 10 * a + b


def fails_from_3(a: int) -> int:
    if a >= 3:
        raise ZeroDivisionError(f"no {a}")
    return a


def last_coordinates(x: float, chains: range, seed: np.random.SeedSequence | int) -> np.ndarray:
    """A noisy run, as someone would sweep it."""
    run = simulate_linear_chains(
        "heavy-ball",
        ConstantLag(2),
        mu=0.5,
        x=x,
        stale_share=1,
        initial=0,
        steps=30,
        chains=chains,
        noise=GaussianNoise(1, "recurrence"),
        seed=seed,
        lane=4,
    )
    return run.path[0]


@contextmanager
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


@contextmanager
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@contextmanager
def dask() -> Iterator[Executor]:
    """A cluster of two workers in this process."""
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        yield client.get_executor()


EXECUTORS = [threads, processes, dask]
every_executor = pytest.mark.parametrize("executors", EXECUTORS, ids=lambda each: each.__name__)
Executors = Callable[[], AbstractContextManager[Executor]]


# ---- results -----------------------------------------------------------------------------------


@every_executor
def test_every_executor_gives_what_a_loop_gives(executors: Executors) -> None:
    sets = product(a=range(7), b=[3, 1])
    expected = [10 * a + b for a in range(7) for b in (3, 1)]
    assert sweep(scaled, sets) == expected
    with executors() as executor:
        for chunk in (1, 3, 100):
            assert sweep(scaled, sets, executor=executor, chunk=chunk) == expected


@every_executor
def test_random_runs_are_the_same_on_every_executor(executors: Executors) -> None:
    sets = product(x=[0.1, 0.2, 0.2], chains=[range(5)])
    alone = sweep(last_coordinates, sets, seed=11)
    assert len({tuple(path) for path in alone}) == 3  # equal sets, different seeds
    with executors() as executor:
        for chunk in (1, 2):
            found = sweep(last_coordinates, sets, executor=executor, seed=11, chunk=chunk)
            assert_array_equal(found, alone)


@every_executor
def test_one_run_divided_among_workers_is_that_run(executors: Executors) -> None:
    whole = last_coordinates(0.1, range(11), 5)
    parts = [range(3), range(3, 4), range(4, 11)]
    sets = product(x=[0.1], chains=parts, seed=[5])
    with executors() as executor:
        assert_array_equal(np.concatenate(sweep(last_coordinates, sets, executor=executor)), whole)


def test_a_seed_belongs_to_the_number_of_its_set() -> None:
    few, more = product(a=range(2)), product(a=range(5))

    def state(a: int, seed: np.random.SeedSequence) -> tuple[int, ...]:
        return tuple(seed.generate_state(4).tolist())

    longer = sweep(state, more, seed=3)
    assert sweep(state, few, seed=3) == longer[:2]
    assert len(set(longer)) == 5
    assert sweep(state, few, seed=4) != longer[:2]


def test_sets_are_products_or_go_together() -> None:
    assert product(a=[1, 2], b="xy") == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]
    assert zipped(a=[1, 2], b="xy") == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    assert product() == [{}]
    assert product(a=[]) == zipped() == []
    assert sweep(scaled, []) == []
    with pytest.raises(InvalidInput, match=r"axes have lengths {'a': 2, 'b': 3}"):
        zipped(a=[1, 2], b=[1, 2, 3])


# ---- errors ------------------------------------------------------------------------------------


@every_executor
def test_the_first_set_that_fails_is_named(executors: Executors) -> None:
    with executors() as executor:
        for chunk in (1, 2, 9):
            with pytest.raises(SweepError) as caught:
                sweep(fails_from_3, product(a=range(6)), executor=executor, chunk=chunk)
            assert str(caught.value) == "parameter set 3, {'a': 3}: ZeroDivisionError: no 3"
            assert (caught.value.index, caught.value.parameters) == (3, {"a": 3})


def test_the_error_itself_is_the_cause() -> None:
    with pytest.raises(SweepError) as caught:
        sweep(fails_from_3, product(a=[5]))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_seeds_are_not_spelt_out_in_an_error() -> None:
    def fails(a: int, seed: np.random.SeedSequence) -> None:
        raise KeyError(a)

    with pytest.raises(SweepError) as caught:
        sweep(fails, product(a=[1]), seed=1)
    assert str(caught.value) == "parameter set 0, {'a': 1}: KeyError: 1"


def test_tasks_behind_a_failure_are_cancelled() -> None:
    release, begun = threading.Event(), []

    def first_fails(a: int) -> None:
        begun.append(a)
        if a == 0:
            raise ValueError
        release.wait(30)

    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(SweepError):
            sweep(first_fails, product(a=range(100)), executor=pool)
        release.set()
    assert len(begun) < 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parameters": [{"a": 1}, {"c": 1}]}, "parameter set 1, {'c': 1}: missing a required"),
        ({"parameters": [{"a": 1, "c": 1}]}, "parameter set 0, .*unexpected keyword argument 'c'"),
        ({"parameters": [{"a": 1}, 3]}, "parameter set 1 is 3: give a mapping"),
        ({"seed": 1}, "parameter set 0, .*unexpected keyword argument 'seed'"),
        ({"seed": -1}, "seed is -1: it must be >= 0"),
        ({"chunk": 0}, "chunk is 0: it must be >= 1"),
        ({"executor": 4}, "executor is 4: give a concurrent.futures.Executor or None"),
    ],
)
def test_bad_arguments_are_named_before_any_call(arguments: dict[str, Any], message: str) -> None:
    calls = []

    def counted(a: int, b: int = 1) -> None:
        calls.append(a)

    with pytest.raises(InvalidInput, match=message) as caught:
        sweep(counted, **{"parameters": [{"a": 1}], **arguments})
    assert "\n" not in str(caught.value)
    assert calls == []


def test_a_seed_is_given_once() -> None:
    with pytest.raises(InvalidInput, match="parameter set 0 has a seed of its own"):
        sweep(last_coordinates, [{"x": 1, "chains": range(1), "seed": 3}], seed=1)


# ---- the cluster -------------------------------------------------------------------------------


def test_nothing_is_left_of_a_cluster() -> None:
    before = set(threading.enumerate())
    with dask() as executor:
        assert sweep(scaled, product(a=[1]), executor=executor) == [11]
    # One idle thread belongs to dask as a module, not to the cluster.
    left = [each for each in set(threading.enumerate()) - before if "Offload" not in each.name]
    assert left == []


def test_an_executor_is_left_open() -> None:
    with threads() as executor:
        sweep(scaled, product(a=[1]), executor=executor)
        assert executor.submit(scaled, 1).result() == 11
