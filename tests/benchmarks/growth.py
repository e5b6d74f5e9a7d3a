"""How cost and memory of the scalar map grow: linearly in chains and steps, and not with steps."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence

from benchmarks.harness import Figure, Row, in_a_fresh_process, measured, slope, value
from numerics.simulation import ConstantLag, GaussianNoise, Measure, simulate_linear_chains

_CHAINS, _STEPS = 1000, 1000  # the one while the other varies
_PEAK = """
import json, resource, sys
from benchmarks.growth import run
run(chains=1000, steps=int(sys.argv[1]))
print(json.dumps(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
"""


def run(*, chains: int, steps: int) -> None:
    """Run and measure chains, keeping mean, variance and an autocovariance of each."""
    simulate_linear_chains(
        "heavy-ball",
        ConstantLag(2),
        mu=0.9,
        x=0.01,
        stale_share=1,
        initial=0,
        steps=steps,
        chains=chains,
        noise=GaussianNoise(1, "recurrence"),
        seed=7,
        measure=Measure(autocovariance_lags=(10,)),
    )


def _cost(what: str, sizes: Sequence[int], call: Callable[[int], None], rounds: int) -> Figure:
    """Return the slope of log(CPU time) against log(size), of each round and of the medians."""
    times = measured({str(size): lambda size=size: call(size) for size in sizes}, rounds=rounds)
    slopes = [slope(sizes, [times[str(s)].cpu[turn] for s in sizes]) for turn in range(rounds)]
    middle = sorted(slopes)[rounds // 2]
    return Figure(what, middle, min(slopes), max(slopes), "", least=0.9, most=1.1)


def _traced(steps: int) -> int:
    """Return the most memory that was allocated at a time, in bytes."""
    tracemalloc.start()
    try:
        run(chains=_CHAINS, steps=steps)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measure(quick: bool) -> Row:
    """Measure growth over three decades of chains and of steps."""
    top, rounds = (10, 2) if quick else (1000, 3)
    factors = [f for f in (1, 10, 100, 1000) if f <= top]
    few, many = _STEPS // 10, _STEPS // 10 * top
    peaks = [_traced(few), _traced(many)]
    resident = [in_a_fresh_process(_PEAK, steps) for steps in (few, many)]
    return Row(
        "cost and memory of the scalar map",
        "cost linear in chains and in steps over three decades, memory constant in steps",
        [
            _cost(
                f"slope of cost in chains, {_CHAINS} to {_CHAINS * top}",
                [_CHAINS * f for f in factors],
                lambda chains: run(chains=chains, steps=64),
                rounds,
            ),
            _cost(
                f"slope of cost in steps, {few} to {many}",
                [few * f for f in factors],
                lambda steps: run(chains=_CHAINS, steps=steps),
                rounds,
            ),
            value(
                f"memory allocated, {many} steps over {few}", peaks[1] / peaks[0], "x", most=1.05
            ),
            value(
                f"memory of the process, {many} steps over {few}",
                resident[1] / resident[0],
                "x",
                most=1.05,
            ),
        ],
        (
            "`simulate_linear_chains` with noise, measuring mean, variance and one autocovariance "
            "of every chain. Slopes are least-squares fits of log CPU time against log size, one a "
            "round. Memory: the peaks of `tracemalloc`, and of the resident set in fresh "
            "processes.",
        ),
    )
