r"""The loop under every run of many chains: lane by lane, a block of steps at a time.

Noise is drawn, turned into coordinates, looked at and forgotten, so the working set of a run is a
few rows of one lane, however many steps and chains it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, Values, floats, whole_number
from numerics.simulation.noise import Lane, Seed, chain_range, lanes, seed_sequence
from numerics.simulation.schedule import RandomLag, Schedule, check_schedule
from numerics.simulation.statistics import Accumulator, ChainStatistics, Measure, check_measure
from numerics.simulation.steppers import (
    Fill,
    FloatArray,
    IntArray,
    Lags,
    Ring,
    Stepper,
    new_rows,
)

#: Purposes of a lane's generators.
NOISE, LAGS, SAMPLES = range(3)

#: Builds what takes the steps of a lane, in a ring that holds the coordinates at the start.
MakeStepper: TypeAlias = Callable[[Lane, Ring], Stepper]

#: Steps in a block that is looked at: few enough for the cache, and enough that what is done once
#: a block does not count.
_BLOCK = 24
#: Numbers drawn at a time where nobody looks: what takes much longer to draw than to ask for.
_DRAWN = 12_000
#: Chains taken together, more than one and not too many, where nothing is drawn.
_FEWEST, _MOST = 8, 10_000


@dataclass(frozen=True, eq=False)
class ChainRun:
    r"""What is kept of many chains.

    Attributes
    ----------
    chains
        The numbers of the chains, along the last axis of every array below.
    steps
        The recorded steps, shape ``(records,)``; without `record_every` only the last one.
    path
        The coordinate at those steps, ``(records, chains)``; infinite from the step at which a
        chain overflowed.
    overflow_step
        The step at which each chain left the floating-point range, -1 where it never did.
    statistics
        `ChainStatistics`, None if nothing was to be measured.
    """

    chains: range
    steps: IntArray
    path: FloatArray
    overflow_step: IntArray
    statistics: ChainStatistics | None

    @property
    def overflowed(self) -> bool:
        """Whether any chain left the floating-point range."""
        return bool(np.any(self.overflow_step >= 0))


@dataclass(frozen=True, eq=False)
class Plan:
    """A checked request for chains, without the map they follow.

    `numbers` are the chains' numbers in the lanes, `period` is that of the phases measured.
    """

    schedule: Schedule | RandomLag
    steps: int
    chains: range
    numbers: range
    seed: np.random.SeedSequence | None
    width: int
    measure: Measure | None
    record_every: int | None
    initial: FloatArray
    std: FloatArray | None
    period: int

    def in_lanes_of_all(self) -> Plan:
        """Return the plan with the chains in as few lanes as is best, where nothing is drawn."""
        count = len(self.chains)
        return replace(self, numbers=range(count), width=min(_MOST, max(_FEWEST, count)))

    @property
    def watched(self) -> bool:
        """Whether every block has to be looked at, or to be prepared."""
        wanted = self.measure is not None or self.record_every is not None
        return wanted or isinstance(self.schedule, RandomLag)

    @property
    def recorded(self) -> IntArray:
        """The steps to be recorded."""
        if self.record_every is None:
            return np.array([self.steps])
        return np.arange(0, self.steps + 1, self.record_every)

    def ring(self) -> Ring:
        """Return a ring of rows for a lane, of whole periods unless they are long."""
        block = _BLOCK
        if not self.watched:
            block = 1 if self.std is None else min(2 * _BLOCK, max(1, _DRAWN // self.width))
        least = block + self.schedule.longest + 1
        whole = math.lcm(block, self.period)
        multiple = whole if whole <= 4 * least else block
        return Ring(new_rows(least + -least % multiple, self.width), block)


def checked_plan(
    schedule: Schedule | RandomLag,
    *,
    initial: Values,
    std: Values | None,
    steps: int,
    chains: int | range,
    seed: Seed | None,
    random: bool,
    lane: int,
    measure: Measure | None,
    record_every: int | None,
) -> Plan:
    """Check what every run of chains is given; `random` says whether it needs a seed."""
    if not isinstance(schedule, RandomLag):
        check_schedule(schedule)
    steps = whole_number("steps", steps, least=0)
    if schedule.longest > steps:
        raise InvalidInput(f"a lag of {schedule.longest} is longer than the run of {steps} steps")
    random = random or isinstance(schedule, RandomLag)
    if seed is None and random:
        raise InvalidInput("a random run needs a seed: give a whole number >= 0")
    if measure is not None:
        check_measure(measure, schedule.period, steps)
    if record_every is not None:
        record_every = whole_number("record_every", record_every, least=1)
    chains = chain_range(chains)
    values = per_chain(chains, initial=initial, **({} if std is None else {"std": std}))
    return Plan(
        schedule=schedule,
        steps=steps,
        chains=chains,
        numbers=chains,
        seed=None if seed is None else seed_sequence(seed),
        width=whole_number("lane", lane, least=1),
        measure=measure,
        record_every=record_every,
        initial=values["initial"],
        std=values.get("std"),
        period=schedule.period,
    )


def per_chain(chains: range, **named: Values) -> dict[str, FloatArray]:
    """Return each value as a scalar array or an array over the chains; refuse other shapes."""
    values = floats(**named)
    for name, value in values.items():
        if value.shape not in ((), (len(chains),)):
            raise InvalidInput(
                f"{name} has shape {value.shape}: give a scalar or one number for each of the "
                f"{len(chains)} chains"
            )
    return values


def run(plan: Plan, make_stepper: MakeStepper) -> ChainRun:
    """Run all lanes and put their chains together."""
    count, recorded = len(plan.chains), plan.recorded
    path = np.empty((recorded.size, count))
    overflow_step = np.full(count, -1)
    ring = plan.ring()
    measured = []
    for lane in lanes(plan.numbers, plan.width, plan.seed):
        within, among = lane.overlap(plan.numbers)
        with np.errstate(all="ignore"):  # leaving the range is looked for, and reported
            lane_run = _LaneRun(plan, lane, ring, make_stepper)
            lane_run.go(recorded.tolist(), path[:, among], within)
        overflow_step[among] = lane_run.overflow_step[within]
        if lane_run.accumulator:
            measured.append([part[..., within] for part in lane_run.accumulator.results()])
    gone = overflow_step >= 0
    path[gone & (recorded[:, None] >= overflow_step)] = np.inf
    return ChainRun(plan.chains, recorded, path, overflow_step, _statistics(plan, measured, gone))


class _LaneRun:
    """One lane on its way through all the steps."""

    def __init__(self, plan: Plan, lane: Lane, ring: Ring, make_stepper: MakeStepper) -> None:
        self.plan, self.ring = plan, ring
        ring.data[:] = lane.spread(plan.initial, plan.numbers)
        self.stepper = make_stepper(lane, ring)
        self.overflow_step, self.all_gone = np.full(plan.width, -1), False
        self.accumulator = (
            Accumulator(plan.measure, plan.period, plan.width, ring.block) if plan.measure else None
        )
        self.fill = None if plan.std is None else self._noise(lane, plan.std)
        random = isinstance(plan.schedule, RandomLag)
        self.lag_numbers = lane.generator(LAGS) if random else None

    def go(self, records: list[int], path: FloatArray, within: slice) -> None:
        """Take all the steps, or as many as leave a chain finite; record the path's rows."""
        plan, ring, first, done = self.plan, self.ring, 0, 0
        if records[0] == 0:
            path[0] = ring.row(0)[within]
            done = 1
        while first < plan.steps and not self.all_gone:
            safe = 0 if plan.watched else self.stepper.safe_steps() // ring.block * ring.block
            count = min(max(safe, ring.block), plan.steps - first)
            self.stepper.take(first, count, self._lags(count), self.fill)
            if count <= ring.block:
                rows = ring.rows(first, count)
                # What is not finite stays so, and the sum of a row shows it.
                if not math.isfinite(np.add.reduce(rows[-1])):
                    self._note_overflow(rows, first)
                if self.accumulator:
                    self.accumulator.add(rows, first)
            first += count
            while done < len(records) and records[done] <= first:
                path[done] = ring.row(records[done])[within]
                done += 1

    def _noise(self, lane: Lane, std: FloatArray) -> Fill:
        draw, scale = lane.generator(NOISE).standard_normal, lane.spread(std, self.plan.numbers)
        # Scaling by 1 would be one more pass over every number.
        scaled = bool(np.any(scale != 1))

        def fill(rows: FloatArray) -> None:
            draw(out=rows)
            if scaled:
                np.multiply(rows, scale, rows)

        return fill

    def _lags(self, count: int) -> Lags:
        schedule = self.plan.schedule
        if isinstance(schedule, RandomLag):
            assert self.lag_numbers is not None
            return schedule.lags(self.lag_numbers.random((count, self.plan.width)))
        return schedule

    def _note_overflow(self, rows: FloatArray, first: int) -> None:
        finite = np.isfinite(rows)
        left = ~finite[-1] & (self.overflow_step < 0)
        self.overflow_step[left] = first + 1 + np.argmin(finite[:, left], axis=0)
        self.all_gone = bool(np.all(self.overflow_step >= 0))


def _statistics(
    plan: Plan, measured: list[list[FloatArray]], gone: NDArray[np.bool_]
) -> ChainStatistics | None:
    if plan.measure is None:
        return None
    mean, variance, autocovariance = (
        np.concatenate(parts, axis=-1) for parts in zip(*measured, strict=True)
    )
    for part in (mean, variance, autocovariance):
        part[gone | ~np.isfinite(part)] = np.inf
    phases = np.arange(plan.measure.phases(plan.period))
    samples = (plan.steps - phases) // phases.size - (plan.measure.burn_in - phases) // phases.size
    chosen = slice(None) if plan.measure.by_phase else 0
    return ChainStatistics(
        samples=np.asarray(samples[chosen]),
        mean=mean[chosen],
        variance=variance[chosen],
        autocovariance_lags=plan.measure.autocovariance_lags,
        autocovariance=autocovariance[:, chosen],
    )
