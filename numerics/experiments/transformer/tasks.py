r"""Verifiable tasks small enough that every completion can be enumerated."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, known_name

__all__ = ["TASKS", "Task", "task"]

#: The tasks, and when a completion is right.
TASKS = {
    "one-token": "one answer, equal to the prompt's number modulo the classes",
    "several-token": "two answers whose sum equals the prompt's number modulo the classes",
    "parity": "one answer, odd where the prompt's bits have odd sum",
}


@dataclass(frozen=True)
class Task:
    r"""Prompts, completions and which of them are right.

    Attributes
    ----------
    name
        One of `TASKS`.
    prompts
        The prompts, as words.
    answers
        The words a completion is made of.
    length
        Words in a completion.
    right
        Which completion is right for which prompt, (prompts, answers**length) of bool; completions
        in the order of `completions`.
    """

    name: str
    prompts: tuple[str, ...]
    answers: tuple[str, ...]
    length: int
    right: NDArray[np.bool_]

    @property
    def completions(self) -> list[tuple[int, ...]]:
        """Every completion as places in `answers`, the last word running fastest."""
        return list(product(range(len(self.answers)), repeat=self.length))

    def reward(self, prompt: str, completion: str) -> float:
        """Return 1 if `completion` is right for `prompt`, else 0."""
        place = 0
        for word in completion.split():
            place = place * len(self.answers) + self.answers.index(word)
        return float(self.right[self.prompts.index(prompt), place])


def task(name: str, *, answers: int, prompts: int) -> Task:
    r"""Return a task.

    Parameters
    ----------
    name
        One of `TASKS`.
    answers
        How many answer words there are: 2, or a multiple of 4.
    prompts
        How many prompts; for ``parity`` a power of two.

    Raises
    ------
    InvalidInput
        If there is no such task.
    """
    known_name("task", name, TASKS)
    if answers != 2 and (answers < 4 or answers % 4):
        raise InvalidInput(f"answers = {answers}: give 2 or a multiple of 4")
    classes = 2 if name == "parity" or answers == 2 else 4
    length = 2 if name == "several-token" else 1
    if prompts < 1 or (name == "parity" and prompts & (prompts - 1)):
        raise InvalidInput(f"prompts = {prompts}: give 1 or more, for parity a power of two")
    if name == "parity":
        bits = max(1, (prompts - 1).bit_length())
        texts = tuple(" ".join(f"b{n >> k & 1}" for k in range(bits)) for n in range(prompts))
        wanted = [n.bit_count() % 2 for n in range(prompts)]
    else:
        texts = tuple(f"q{n}" for n in range(prompts))
        wanted = [n % classes for n in range(prompts)]
    sums = [sum(c) % classes for c in product(range(answers), repeat=length)]
    right = np.array([[total == want for total in sums] for want in wanted])
    return Task(name, texts, tuple(f"a{n}" for n in range(answers)), length, right)
