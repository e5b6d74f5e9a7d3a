"""The progress bar: for a person, on long work, and for nobody else."""

from __future__ import annotations

import io
import sys
import time

import pytest

from numerics.progress import progress


class Screen(io.StringIO):
    """A standard error that is, or is not, a terminal."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


@pytest.mark.parametrize(
    ("terminal", "pause", "shown"), [(True, 0.8, True), (True, 0, False), (False, 0.8, False)]
)
def test_a_bar_appears_after_two_seconds_on_a_terminal_only(
    terminal: bool, pause: float, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    for item in progress(iter(range(4)), "working", total=4):
        if item:
            time.sleep(pause)
    text = screen.getvalue()
    assert ("working" in text and "/4" in text) == shown
    assert bool(text) == shown


def test_the_items_pass_through_lazily() -> None:
    source = iter(range(5))
    items = progress(source, "working")
    assert [next(items), next(items)] == [0, 1]
    assert next(source) == 2
