"""Independent jobs in processes of their own, results in the order of the jobs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

__all__ = ["in_processes"]

A = TypeVar("A")
B = TypeVar("B")

_MOST = 4  # processes; each costs a second of imports, and the work is a minute's


def in_processes(
    function: Callable[[A], B],
    jobs: Sequence[A],
    *,
    processes: int | None = None,
    worth: int = 1,
) -> Iterator[B]:
    """Apply `function` to every job.

    Parameters
    ----------
    function
        Importable by name, as are the jobs and the results picklable.
    jobs
        Its arguments.
    processes
        How many processes share the work: one per processor by default, at most four. With 1 all
        of it is done in this one; with more, a script that calls this needs the usual guard
        ``if __name__ == "__main__":``.
    worth
        How many jobs make another process worth its start.

    Yields
    ------
    B
        The results, in the order of the jobs.
    """
    processes = processes or max(1, min(os.cpu_count() or 1, _MOST, len(jobs) // worth))
    if processes == 1:
        yield from map(function, jobs)
        return
    # Spawned, not forked: a fork would copy the threads of numerical libraries half. An interrupt
    # is the parent's to handle; a worker would only print a traceback.
    with ProcessPoolExecutor(
        processes, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN)
    ) as pool:
        try:
            yield from pool.map(function, jobs)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
