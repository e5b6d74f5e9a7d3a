"""Many chains: bit for bit a plain loop, however they are divided, in bounded memory."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from numerics.simulation import (
    OPTIMIZERS,
    ChainRun,
    ConstantLag,
    GaussianNoise,
    GivenLags,
    Measure,
    RandomLag,
    Sawtooth,
    Schedule,
    linear_drift,
    simulate,
    simulate_chains,
    simulate_linear_chains,
)
from numerics.simulation.noise import Lane

SCHEDULES = [
    ConstantLag(0),
    ConstantLag(1),
    ConstantLag(2),
    ConstantLag(13),
    Sawtooth(1),
    Sawtooth(3),
    Sawtooth(20),
    GivenLags((0, 2, 1, 5)),
    RandomLag((0.2, 0.0, 0.5, 0.3)),
]
NOISES = [
    None,
    GaussianNoise(1, "recurrence"),
    GaussianNoise(0.3, "recurrence"),
    GaussianNoise(0.3, "gradient"),
]
every_schedule = pytest.mark.parametrize("schedule", SCHEDULES, ids=str)
every_optimizer = pytest.mark.parametrize("optimizer", OPTIMIZERS)


def numbers_of(
    lane: int, width: int, seed: int, steps: int, schedule: Schedule | RandomLag
) -> tuple[np.ndarray, np.ndarray]:
    """The normals and the lags of a lane, ``(steps, width)``, drawn all at once."""
    own = Lane(lane, width, np.random.SeedSequence(seed))
    normals = own.generator(0).standard_normal((steps, width))
    if isinstance(schedule, RandomLag):
        uniform = own.generator(1).random((steps, width))
        borders = np.cumsum(schedule.law)
        lags = np.array([[int(np.sum(u >= borders[:-1])) for u in row] for row in uniform])
    else:
        lags = np.array([[schedule.lag_at(k)] * width for k in range(steps)])
    return normals, lags


def plain_chain(
    optimizer: str,
    lags: list[int],
    normals: list[float],
    noise: GaussianNoise | None,
    *,
    mu: float,
    x: float,
    share: float,
    initial: float,
) -> list[float]:
    """One chain of the linear map in Python's own numbers."""
    force = (1 - mu) * x if optimizer == "ema" else x
    fresh, stale = (1 - share) * force, share * force
    if max(lags) == 0 or share == 0:
        fresh, stale, lags = 0.0, force, [0] * len(lags)
    enters = noise.enters if noise else "nowhere"
    std = float(noise.std) if noise else 0.0
    if optimizer == "ema" and enters == "gradient":
        std = (1 - mu) * std
    q, h = [initial], 0.0
    for k, (lag, normal) in enumerate(zip(lags, normals, strict=True)):
        old, kick = q[max(k - lag, 0)], normal * std
        if optimizer == "nesterov":
            f = -(stale * old)
            if enters == "gradient":
                f = kick + f
            f = f - fresh * q[k]
            h = mu * h + mu * f
            if enters == "recurrence":
                h = h + kick
            q.append(q[k] + (h + f))
        elif optimizer in ("heavy-ball", "ema"):
            f = kick - stale * old
            f = f - fresh * q[k]
            h = mu * h + f
            q.append(q[k] + h)
        else:
            raise KeyError(optimizer)
    return q


# ---- bit for bit -------------------------------------------------------------------------------


@every_optimizer
@every_schedule
@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_linear_chains_are_a_plain_loop_to_the_last_bit(
    optimizer: str, schedule: Schedule | RandomLag, noise: GaussianNoise | None
) -> None:
    steps, width, seed = 75, 7, 5
    normals, lags = numbers_of(0, width, seed, steps, schedule)
    for mu, x, share in ((0.9, 0.013, 1.0), (0.35, 0.21, 0.4), (0.0, 0.1, -1.3), (0.7, 0.1, 0.0)):
        given: dict[str, Any] = {
            "mu": mu,
            "x": x,
            "stale_share": share,
            "initial": 0.7,
            "steps": steps,
            "chains": width,
            "noise": noise,
            "seed": seed,
            "lane": width,
        }
        run = simulate_linear_chains(optimizer, schedule, **given, record_every=1)
        expected = [
            plain_chain(
                optimizer,
                lags[:, chain].tolist(),
                normals[:, chain].tolist(),
                noise,
                mu=mu,
                x=x,
                share=share,
                initial=0.7,
            )
            for chain in range(width)
        ]
        if noise is None and isinstance(schedule, RandomLag):
            assert share == 0 or len({tuple(path) for path in expected}) > 1
        assert_array_equal(run.path, np.transpose(expected))
        assert_array_equal(run.steps, np.arange(steps + 1))
        # Nobody looks at the steps in between, and nothing changes.
        last = simulate_linear_chains(optimizer, schedule, **given)
        assert_array_equal(last.path, run.path[-1:])
        assert_array_equal(last.steps, [steps])
        wide = simulate_linear_chains(
            optimizer, schedule, **given, measure=Measure(), record_every=9
        )
        assert_array_equal(wide.path, run.path[::9])


@every_optimizer
@every_schedule
@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_chains_of_any_drift_are_the_recorded_map_to_the_last_bit(
    optimizer: str, schedule: Schedule | RandomLag, noise: GaussianNoise | None
) -> None:
    steps, width, seed = 60, 5, 8
    normals, lags = numbers_of(0, width, seed, steps, schedule)
    std = 0 if noise is None else noise.std
    given: dict[str, Any] = {"eta": 0.1, "mu": 0.8, "initial": 0.3, "steps": steps}

    def drift(theta: np.ndarray, theta_old: np.ndarray) -> np.ndarray:
        return -theta * abs(theta_old) - 0.5 * theta_old

    run = simulate_chains(
        drift,
        optimizer,
        schedule,
        **given,
        chains=width,
        noise=noise,
        seed=seed,
        lane=width,
        record_every=1,
    )
    for chain in range(width):
        own = schedule
        if isinstance(schedule, RandomLag):
            own = GivenLags(tuple(lags[:, chain].tolist()))
        alone = simulate(
            drift,
            optimizer,
            own,
            **given,
            noise=None if noise is None else std * normals[:, chain],
            noise_enters=noise.enters if noise else None,
        )
        assert_array_equal(run.path[:, chain], alone.path)


@every_optimizer
def test_refresh_1_and_lag_0_are_no_lag_at_any_share(optimizer: str) -> None:
    runs = [
        simulate_linear_chains(
            optimizer,
            schedule,
            mu=0.7,
            x=0.3,
            stale_share=share,
            initial=0.1,
            steps=99,
            chains=6,
            noise=GaussianNoise(1, "recurrence"),
            seed=1,
        ).path
        for schedule, share in (
            (ConstantLag(0), 1.0),
            (ConstantLag(0), 0.3),
            (Sawtooth(1), -2.0),
            (RandomLag((1.0,)), 0.3),
            (ConstantLag(7), 0.0),
            (RandomLag((0.5, 0.5)), 0.0),
        )
    ]
    for path in runs[1:]:
        assert_array_equal(path, runs[0])


@every_optimizer
@every_schedule
def test_step_size_and_stiffness_count_only_as_a_product(
    optimizer: str, schedule: Schedule | RandomLag
) -> None:
    def path(eta: float, slope: float) -> np.ndarray:
        drift = linear_drift(x=slope, stale_share=0.75)
        return simulate_chains(
            drift,
            optimizer,
            schedule,
            eta=eta,
            mu=0.6,
            initial=1.0,
            steps=80,
            chains=3,
            noise=GaussianNoise(1, "recurrence"),
            seed=2,
        ).path

    expected = path(0.1, 1.0)
    for power in (0.25, 2.0, 64.0):  # exactly, because nothing is rounded by a power of two
        assert_array_equal(path(0.1 * power, 1.0 / power), expected)


# ---- however divided ---------------------------------------------------------------------------


def mixed(chains: int | range, schedule: Schedule | RandomLag, **changes: Any) -> ChainRun:
    """A run in lanes of 8 in which every chain has its own parameters, measured and recorded."""
    own = np.array(range(chains) if isinstance(chains, int) else chains, dtype=float)
    given: dict[str, Any] = {
        "mu": own / 150,
        "x": 0.01 + own / 1000,
        "stale_share": 0.8,
        "initial": own,
        "steps": 130,
        "noise": GaussianNoise(0.1 + own, "recurrence"),
        "seed": 3,
        "lane": 8,
        "measure": Measure(burn_in=20, autocovariance_lags=(1, 30), by_phase=True),
        "record_every": 7,
        **changes,
    }
    return simulate_linear_chains("ema", schedule, chains=chains, **given)


def assert_is_part(part: ChainRun, whole: ChainRun) -> None:
    cut = slice(part.chains.start, part.chains.stop)
    assert_array_equal(part.path, whole.path[:, cut])
    assert_array_equal(part.overflow_step, whole.overflow_step[cut])
    assert part.statistics is not None
    assert whole.statistics is not None
    for name in ("mean", "variance", "autocovariance"):
        assert_array_equal(
            getattr(part.statistics, name), getattr(whole.statistics, name)[..., cut], name
        )


@pytest.mark.parametrize(
    "schedule", [ConstantLag(2), Sawtooth(3), RandomLag((0.3, 0.3, 0.4))], ids=str
)
@pytest.mark.parametrize("noisy", [True, False])
def test_a_chain_is_the_same_however_the_chains_are_divided(
    schedule: Schedule | RandomLag, noisy: bool
) -> None:
    changes: dict[str, Any] = {} if noisy else {"noise": None}
    whole = mixed(37, schedule, **changes)
    for start, stop in ((0, 37), (0, 1), (36, 37), (17, 18), (5, 12), (8, 16), (12, 31)):
        assert_is_part(mixed(range(start, stop), schedule, **changes), whole)
    for start in range(0, 37, 7):
        assert_is_part(mixed(range(start, min(start + 7, 37)), schedule, **changes), whole)


def test_a_chain_is_the_same_among_ten_thousand_others() -> None:
    def run(chains: int | range) -> np.ndarray:
        return simulate_linear_chains(
            "heavy-ball",
            ConstantLag(2),
            mu=0.9,
            x=0.01,
            stale_share=1,
            initial=0,
            steps=40,
            chains=chains,
            noise=GaussianNoise(1, "recurrence"),
            seed=1,
        ).path[0]

    whole = run(10_000)
    assert len(set(whole.tolist())) == 10_000
    for chain in (0, 999, 1000, 7321, 9999):
        assert_array_equal(run(range(chain, chain + 1)), whole[chain : chain + 1])
    assert_array_equal(run(range(993, 1000)), whole[993:1000])


def test_a_parameter_set_is_the_same_among_twelve_thousand_others() -> None:
    mu, x = np.linspace(0, 0.9, 12_000), np.linspace(0.01, 0.05, 12_000)

    def run(cut: slice) -> ChainRun:
        return simulate_linear_chains(
            "nesterov",
            ConstantLag(1),
            mu=mu[cut],
            x=x[cut],
            stale_share=0.7,
            initial=1,
            steps=60,
            chains=range(*cut.indices(12_000)),
            measure=Measure(10, (1,)),
        )

    whole = run(slice(None))
    for cut in (slice(0, 1), slice(9_990, 10_010), slice(11_999, 12_000)):
        assert_is_part(run(cut), whole)


def test_other_seeds_and_lane_widths_are_other_numbers() -> None:
    def path(**changes: Any) -> np.ndarray:
        return mixed(8, ConstantLag(1), **changes).path

    assert not np.any(path()[1:] == path(seed=4)[1:])
    assert not np.any(path()[1:] == path(lane=9)[1:])
    assert_array_equal(path(seed=np.random.SeedSequence(3)), path())
    child = np.random.SeedSequence(3, spawn_key=(0,))
    assert not np.any(path(seed=child)[1:] == path()[1:])


def test_long_runs_continue_short_ones() -> None:
    long = mixed(9, Sawtooth(3), steps=300, record_every=1, measure=None).path
    for steps in (24, 25, 131, 299):
        short = mixed(9, Sawtooth(3), steps=steps, record_every=1, measure=None).path
        assert_array_equal(short, long[: steps + 1])


# ---- memory ------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", [ConstantLag(2), RandomLag((0.5, 0.5))], ids=str)
@pytest.mark.parametrize("measure", [None, Measure(10, (1, 20))], ids=str)
def test_memory_does_not_grow_with_the_steps(
    schedule: Schedule | RandomLag, measure: Measure | None
) -> None:
    def peak(steps: int) -> int:
        tracemalloc.start()
        simulate_linear_chains(
            "heavy-ball",
            schedule,
            mu=0.9,
            x=0.01,
            stale_share=1,
            initial=0,
            steps=steps,
            chains=1000,
            noise=GaussianNoise(1, "recurrence"),
            seed=1,
            measure=measure,
        )
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(100)
    short, long = peak(200), peak(2000)
    # A hundred bytes a step would be 180 000 more; a row of all chains a step, 14 million.
    assert abs(long - short) < 20_000
