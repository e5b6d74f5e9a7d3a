r"""The linear map as sequences that obey a linear recurrence, and their first terms.

Constant and random lag: one sequence a run, q itself from the oldest step that matters. Sawtooth:
one for each phase of the period, the deviations at that phase of successive periods.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.dynamics._path_recurrence import Terms
from numerics.dynamics._path_twofold import Factor, SumOfProducts, Twofold
from numerics.dynamics.model import FloatArray, IntArray, Model

__all__ = ["Start", "constant_sequences", "sawtooth_sequences"]


@dataclass(frozen=True, eq=False)
class Start:
    r"""Stiffness and start of each run of a flat family.

    Attributes
    ----------
    x, memory
        Shape ``(runs,)``.
    history
        Deviations up to step 0, the newest last; shape ``(steps, runs)``.
    """

    x: FloatArray
    history: FloatArray
    memory: FloatArray

    def take(self, chosen: IntArray, steps: int) -> tuple[Start, IntArray]:
        """Return the chosen runs with the newest `steps`, scaled, and the powers of two taken out.

        The map is linear, and what it makes of a start of any size must stay in range.
        """
        history, memory = self.history[-steps:, chosen], self.memory[chosen]
        size = np.maximum(np.abs(history).max(axis=0), np.abs(memory))
        power = np.frexp(size)[1]
        scaled = Start(self.x[chosen], np.ldexp(history, -power), np.ldexp(memory, -power))
        return scaled, power.astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Step:
    """One step of the optimizer and the two parts of the stiffness, with twice the digits."""

    memory: Twofold
    intake: Twofold
    direct: Twofold
    passed: Twofold
    fresh: Twofold
    stale: Twofold

    @classmethod
    def of(cls, family: Model, x: FloatArray) -> _Step:
        memory, intake, direct, passed = map(Twofold.of, family.recurrence)
        one, share, whole = Twofold.of(1.0), Twofold.of(family.stale_share), Twofold.of(x)
        if family.optimizer == "ema":
            intake = one - memory  # which a float holds to 53 bits only
        return cls(memory, intake, direct, passed, (one - share) * whole, share * whole)

    def __call__(self, q: Twofold, v: Twofold, force: Twofold) -> tuple[Twofold, Twofold]:
        """Return the next deviation and memory."""
        v = self.memory * v + self.intake * force
        return q + self.direct * force + self.passed * v, v


def constant_sequences(family: Model, start: Start, member: IntArray, times: IntArray) -> Terms:
    r"""Return the terms that are q at `times` of the runs `member`, under constant or random lag.

    With h_j the part of the force that sees the deviation j steps old, chi(z) in powers of y = 1/z
    is ``(1 - y)(1 - memory y) + y (g0 + g1 y) h(y)``. The first terms of the sequence are the
    history and one step by the rule itself, because the memory at the start need not be the one
    the history would have left.
    """
    step = _Step.of(family, start.x)
    if family.law is None:
        longest = family.longest
        law = np.zeros((longest + 1, family.mu.size))
        law[longest] = 1.0
    else:
        law = family.law.T
        longest = len(law) - 1
    now = np.zeros_like(law)
    now[0] = 1.0
    seen = step.fresh * Twofold.of(now) + step.stale * Twofold.of(law)

    one, none = Twofold.of(1.0), Twofold.of(np.zeros(family.mu.shape))
    g0, g1 = step.direct + step.passed * step.intake, -(step.memory * step.direct)
    free = Twofold.rows([one, -(one + step.memory), step.memory] + [none] * longest)
    divisor = free + _padded(g0 * seen, 1, 1) + _padded(g1 * seen, 2, 0)

    newest_first = Factor.of(Twofold.of(start.history[::-1]))
    weights = Factor.of(-seen)
    pulled = SumOfProducts(none)
    for j in range(longest + 1):
        pulled.add(..., weights.part(j), newest_first.part(j))
    history = [Twofold.of(row) for row in start.history]
    following, _ = step(history[-1], Twofold.of(start.memory), pulled.value())
    # The oldest step is seen by g_(k-1) alone, which only a direct force brings in.
    unseen = int(longest > 0 and not family.recurrence.direct.any())
    divisor = divisor[: longest + 3 - unseen]
    first = Twofold.rows([*history, following][unseen:])
    return Terms(divisor, first, np.arange(family.mu.size), member, times + longest - unseen)


def sawtooth_sequences(family: Model, start: Start, member: IntArray, times: IntArray) -> Terms:
    r"""Return the terms that are q at `times` of the runs `member`, under sawtooth lag.

    ``q_{kN+r}`` is a combination of the state ``(q, v)`` at step kN, which the monodromy matrix
    takes to the next period, so for every phase r it obeys
    ``u_{k+2} = trace u_{k+1} - determinant u_k``.
    """
    step, refresh = _Step.of(family, start.x), family.longest
    unit = np.zeros((2, 2, family.mu.size))
    unit[0, 0] = unit[1, 1] = 1.0
    sample = q = Twofold.of(unit[0])  # (start of q or of v, run)
    v = Twofold.of(unit[1])
    phases = []
    for _ in range(refresh):
        phases.append(q)
        q, v = step(q, v, -(step.fresh * q + step.stale * sample))
    trace, determinant = q[0] + v[1], q[0] * v[1] - q[1] * v[0]
    divisor = Twofold.rows([Twofold.of(1.0), -trace, determinant])

    position, memory = Twofold.of(start.history[-1]), Twofold.of(start.memory)
    later = q[0] * position + q[1] * memory, v[0] * position + v[1] * memory
    phase_of_value = times % refresh
    pairs, sequence = np.unique(member * refresh + phase_of_value, return_inverse=True)
    owner, phase = pairs // refresh, pairs % refresh
    path = Twofold.rows(phases)
    by_q, by_v = path[phase, 0, owner], path[phase, 1, owner]
    first = Twofold.rows(
        [
            by_q * position[owner] + by_v * memory[owner],
            by_q * later[0][owner] + by_v * later[1][owner],
        ]
    )
    return Terms(divisor, first, owner, sequence, times // refresh)


def _padded(rows: Twofold, before: int, after: int) -> Twofold:
    """Return the rows with rows of zeros before and after."""
    width = ((before, after), (0, 0))
    return Twofold(np.pad(rows.high, width), np.pad(rows.low, width))
