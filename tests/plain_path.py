r"""The path of the linear map in five hundred digits, and step by step in fractions.

An oracle: the rules as published, and powers in integers that stand for fractions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numerics.exact import Configuration
from numerics.simulation.optimizer import optimizer_named

BITS = 1700  # of the integers that stand for fractions: 500 digits, and 1e-300 has 200 of them


class Plain:
    r"""q at any step, by ``z^t mod chi(z)`` in integers, times 2**BITS, and the rules as published.

    `kernel` holds h_j, the part of the force that sees the deviation j steps old.
    """

    def __init__(self, optimizer: str, mu: Any, kernel: list[Fraction], history: Any, memory: Any):
        self.rule, self.mu, self.kernel = optimizer_named(optimizer), Fraction(mu), kernel
        self.history = [Fraction(value) for value in history][-len(kernel) :]
        self.memory = Fraction(memory)
        if self.rule.remembers == "path":
            self.memory = self.history[-1] - self.memory

    def walk(self, steps: int) -> list[Fraction]:
        """Return q at steps 0, ..., steps."""
        history, memory = list(self.history), self.memory
        for _ in range(steps):
            force = -sum(h * q for h, q in zip(self.kernel, reversed(history), strict=False))
            q, memory = self.rule.step(history[-1], memory, force, eta=1, mu=self.mu)
            history.append(q)
        return history[len(self.history) - 1 :]

    def jump(self, t: int) -> tuple[Fraction, float]:
        """Return q at step t, and the size of what a start of size 1 has become by then."""
        longest = len(self.kernel) - 1
        monic = [Fraction(0)] * (longest + 3)  # of z, highest power first
        monic[:3] = Fraction(1), -1 - self.mu, self.mu
        now, before = {
            "heavy-ball": (Fraction(1), Fraction(0)),
            "ema": (1 - self.mu, Fraction(0)),
            "nesterov": (1 + self.mu, -self.mu),
        }[self.rule.name]
        for j, h in enumerate(self.kernel):
            monic[j + 1] += now * h
            monic[j + 2] += before * h
        power = self.power(t + longest, [scaled(-value) for value in monic[:0:-1]])
        window = [*self.history, self.walk(1)[1]]
        total = sum(c * scaled(q) for c, q in zip(power, window, strict=True)) >> BITS
        return Fraction(total, 1 << BITS), float(Fraction(sum(map(abs, power)), 1 << BITS))

    @staticmethod
    def power(t: int, highest: list[int]) -> list[int]:
        """Return z^t mod chi, where `highest` says what z^n is."""
        order = len(highest)
        terms = [(i, value) for i, value in enumerate(highest) if value]
        result = [1 << BITS] + [0] * (order - 1)
        for bit in f"{t:b}":
            product = [0] * (2 * order - 1)
            for i, a in enumerate(result):
                for j, b in enumerate(result):
                    product[i + j] += a * b
            result = [0] * int(bit) + [value >> BITS for value in product]
            while len(result) > order:
                top = result.pop()
                for i, value in terms:
                    result[len(result) - order + i] += top * value >> BITS
        return result


def scaled(value: Any) -> int:
    value = Fraction(value)
    return (value.numerator << BITS) // value.denominator


def kernel(x: Any, s: Any, law: Any) -> list[Fraction]:
    x, s = Fraction(x), Fraction(s)
    seen = [s * x * Fraction(p) for p in law]
    seen[0] += (1 - s) * x
    return seen


def certain(lag: int) -> list[int]:
    return [0] * lag + [1]


def sawtooth(c: Configuration, x: float, t: int, q: Any, v: Any) -> tuple[Fraction, float]:
    """Return q at step t under sawtooth lag, and the size of what a unit start has become."""
    rule, mu = optimizer_named(c.optimizer), Fraction(c.mu)
    fresh, stale = kernel(x, c.stale_share, [0, 1])

    def run(q: Fraction, v: Fraction, steps: int) -> tuple[Fraction, Fraction]:
        sample, path_rule = q, rule.remembers == "path"
        for _ in range(steps):
            q0 = q
            memory = q - v if path_rule else v
            q, memory = rule.step(q, memory, -(fresh * q + stale * sample), eta=1, mu=mu)
            v = q - q0 if path_rule else memory
            q, v = (Fraction(scaled(value), 1 << BITS) for value in (q, v))
        return q, v

    def times(a: Any, b: Any) -> Any:
        return [[sum(a[i][k] * b[k][j] for k in (0, 1)) >> BITS for j in (0, 1)] for i in (0, 1)]

    columns = [run(Fraction(1), Fraction(0), c.delay), run(Fraction(0), Fraction(1), c.delay)]
    matrix = [[scaled(column[i]) for column in columns] for i in (0, 1)]
    result = [[1 << BITS, 0], [0, 1 << BITS]]
    for bit in f"{t // c.delay:b}":
        result = times(result, result)
        if bit == "1":
            result = times(result, matrix)
    state = [Fraction(row[0] * scaled(q) + row[1] * scaled(v), 1 << 2 * BITS) for row in result]
    size = Fraction(sum(abs(value) for row in result for value in row), 1 << BITS)
    return run(state[0], state[1], t % c.delay)[0], float(size)
