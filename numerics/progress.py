"""Progress of long work, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["progress"]

T = TypeVar("T")


def progress(iterable: Iterable[T], description: str, total: int | None = None) -> Iterator[T]:
    """Iterate over `iterable`, showing a bar on standard error once it has taken two seconds.

    Parameters
    ----------
    iterable
        The work, one item a piece.
    description
        What is being done, shown beside the bar.
    total
        Number of items, where `iterable` does not know its length.

    Yields
    ------
    T
        The items. Nothing is ever printed when standard error is not a terminal.
    """
    from tqdm import tqdm

    # disable=None is tqdm's "unless standard error is a terminal".
    yield from tqdm(iterable, description, total, delay=2, disable=None, leave=False)
