"""The lag of every micro-batch, against loops of the trainers themselves."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import floor, lcm

import numpy as np
import plain_trainers as plain
import pytest
from hypothesis import given
from hypothesis import strategies as st

from numerics import dynamics
from numerics.inputs import InvalidInput, UnknownName
from numerics.trainers import LagTable, border, lag_table
from numerics.trainers.border import period_radius

small = st.integers(1, 12)


def trl(accumulated: int, per_generation: int, iterations: int, **settings: object) -> LagTable:
    return lag_table("trl", {
        "gradient_accumulation_steps": accumulated, "steps_per_generation": per_generation,
        "num_iterations": iterations, **settings,
    })  # fmt: skip


def verl(**settings: object) -> LagTable:
    return lag_table("verl", settings)


def kinds(table: LagTable) -> dict[str, str]:
    return {effect.setting: effect.kind for effect in table.effects}


def codes(table: LagTable) -> set[str]:
    return {notice.code for notice in table.notices}


@pytest.mark.parametrize(
    ("counts", "lags", "mean", "ratio_is_one"),
    [
        ((4, 4, 1), [[0] * 4], 0, True),
        ((4, 4, 2), [[0] * 4, [1] * 4], 0.5, False),
        ((4, 16, 1), [[0] * 4, [1] * 4, [2] * 4, [3] * 4], 1.5, False),
        ((4, 1, 2), [[0] * 4], 0, True),
        ((4, 3, 1), [[0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0]], 0.25, False),
        ((1, 1, 3), [[0], [1], [2]], 1, False),
        ((2, 3, 1), [[0, 0], [1, 0], [1, 1]], 0.5, False),
    ],
)
def test_lags_of_trl(
    counts: tuple[int, int, int], lags: list[list[int]], mean: float, ratio_is_one: bool
) -> None:
    table = trl(*counts)
    assert [list(step) for step in table.lags] == lags
    assert (table.mean, table.max) == (mean, max(map(max, lags)))
    assert table.ratio_is_one is ratio_is_one
    assert ("clip-never-fires" in codes(table)) is ratio_is_one


@given(small, small, st.integers(1, 4))
def test_trl_is_its_loop(accumulated: int, per_generation: int, iterations: int) -> None:
    table = trl(accumulated, per_generation, iterations)
    period = len(table.lags)
    loop = plain.trl(accumulated, per_generation, iterations, 3 * period)
    assert loop.lags == [list(step) for step in table.lags] * 3
    assert [step + 1 for step in range(period) if loop.generated[step]] == list(table.reward_rows)
    assert loop.generated == loop.generated[:period] * 3
    assert set(loop.uses.values()) == {table.uses}
    assert sum(loop.uses.values()) == 3 * period * accumulated
    generations = 3 * lcm(accumulated, table.uses * per_generation) // (iterations * per_generation)
    assert Fraction(3 * period, generations) == table.updates_per_rollout
    assert table.ratio_is_one == (max(map(max, loop.lags)) == 0)
    law = Counter(lag for step in loop.lags for lag in step)
    assert table.lag_law == tuple(Fraction(law[lag], law.total()) for lag in range(max(law) + 1))


@given(small, small, st.integers(1, 4))
def test_the_period_of_trl_is_the_shortest(gas: int, per_generation: int, iterations: int) -> None:
    """Not of the lags, which may repeat sooner, but of lags and generations together."""
    period = len(trl(gas, per_generation, iterations).lags)
    loop = plain.trl(gas, per_generation, iterations, 4 * period)
    phase = [step * gas % (per_generation * iterations) for step in range(4 * period)]
    state = list(zip(loop.lags, phase, strict=True))
    repeats = [p for p in range(1, period + 1) if state == state[:p] * (4 * period // p)]
    assert repeats[0] == period


@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 4))
def test_verl_is_its_loop(train: int, mini: int, epochs: int) -> None:
    settings = {"data.train_batch_size": train, "ppo_mini_batch_size": mini, "ppo_epochs": epochs}
    if mini > train:
        with pytest.raises(InvalidInput, match="is larger than train_batch_size"):
            verl(**settings)
        return
    table = verl(**settings)
    assert plain.verl(train, mini, epochs, 3) == [list(step) for step in table.lags] * 3
    assert table.updates_per_rollout == -(-train // mini) * epochs == table.max + 1
    assert table.ratio_is_one == (table.updates_per_rollout == 1)
    assert ("mini-batch-does-not-divide" in codes(table)) == (train % mini > 0)
    assert table.lag_model == ("sawtooth" if table.max else "constant")


def test_verl_of_the_documentation() -> None:
    table = verl(train_batch_size=512, ppo_mini_batch_size=32, ppo_epochs=1)
    assert table.lags == tuple((lag,) for lag in range(16))
    assert (table.mean, table.updates_per_rollout) == (7.5, 16)


@given(
    st.integers(1, 8), st.integers(1, 3), st.integers(1, 5), st.integers(1, 3),
    st.fractions(0, 3, max_denominator=10),
)  # fmt: skip
def test_fully_asynchronous_verl_is_its_loop(
    mini: int, fetches: int, trigger: int, epochs: int, threshold: Fraction
) -> None:
    table = verl(
        ppo_mini_batch_size=mini, require_batches=fetches, ppo_epochs=epochs,
        trigger_parameter_sync_step=trigger, staleness_threshold=str(threshold),
    )  # fmt: skip
    limit = floor(mini * fetches * (1 + threshold) * trigger)
    assert table.max_samples == limit
    loop = plain.fully_async(mini, fetches, trigger, epochs, limit, intervals=9)
    for step, law in enumerate(table.step_laws):
        counts = Counter(loop[6 * len(table.lags) + step])
        assert law == {lag: Fraction(n, mini) for lag, n in counts.items()}


def test_a_staleness_threshold_is_a_fraction() -> None:
    settings = {"ppo_mini_batch_size": 32, "require_batches": 1, "trigger_parameter_sync_step": 4}
    half = verl(**settings, staleness_threshold=0.5)
    assert half.lags == ((4,), (5,), (2,), (3,))
    assert (half.mean, half.max, half.max_samples) == (3.5, 5, 192)
    assert "staleness-is-a-fraction" in codes(half)
    assert verl(**settings, staleness_threshold=0).lags == ((0,), (1,), (2,), (3,))
    tenth = verl(**settings)  # verl's default, 0.1: 12 of 128 prompts, less than a mini-batch
    assert tenth.step_laws[0] == {0: Fraction(5, 8), 4: Fraction(3, 8)}


def test_a_fetch_may_be_less_than_a_mini_batch() -> None:
    table = verl(ppo_mini_batch_size=16, require_batches=0.125, staleness_threshold=1)
    assert table.lags == ((4,), (5,), (6,), (7,))
    assert table.max_samples == 16


@given(st.integers(0, 6), st.integers(1, 5))
def test_a_full_queue_is_its_loop(depth: int, updates: int) -> None:
    table = lag_table("queue", {"max_staleness": depth, "updates_per_version": updates})
    loop = plain.full_queue(depth, updates, versions=depth + 4)
    assert loop == [step[0] for step in table.lags] * 4
    assert ("bound-is-not-the-lag" in codes(table)) == (depth > 0)


def test_a_law_of_versions_is_a_law_of_lags() -> None:
    table = lag_table("queue", {"lag_law": "1/2,0,1/2", "updates_per_version": 2})
    half = Fraction(1, 4)
    assert table.lag_law == (half, half, 0, 0, half, half)
    assert table.lag_model == "random"
    assert lag_table("queue", {"lag_law": [0, 1]}).lag_model == "constant"


@pytest.mark.parametrize(
    ("release", "ratio_is_one", "staleness"),
    [("0.17.0", True, None), ("0.18.2", True, "stale-samples"), ("0.19.1", True, "stale-samples"),
     ("0.20.0", False, "stale-samples-ratio"), ("1.16.0", False, "stale-samples-ratio")],
)  # fmt: skip
def test_the_ratio_by_release(release: str, ratio_is_one: bool, staleness: str | None) -> None:
    """0.18 and 0.19 take (4, 3, 1) for on-policy; before 0.18 it does not exist."""
    table = trl(4, 3, 1, trainer_version=release)
    assert (table.ratio_is_one, table.staleness) == (ratio_is_one, staleness)
    assert ("ratio-left-out" in codes(table)) == (staleness == "stale-samples")
    assert ("no-such-setting" in codes(table)) == (release == "0.17.0")


def test_early_releases_count_iterations_in_optimizer_steps() -> None:
    assert trl(4, 1, 2, trainer_version="0.16.1").lags == ((0,) * 4, (1,) * 4)
    assert trl(4, 1, 2, trainer_version="0.15").lags == ((0,) * 4,)


@pytest.mark.parametrize(
    ("settings", "expected", "absent"),
    [
        ({"steps_per_generation": 1, "num_iterations": 2}, "iterations-without-effect", "x"),
        ({"steps_per_generation": 3}, "fractional-lag", "sparse-reward-rows"),
        ({"steps_per_generation": 16}, "sparse-reward-rows", "fractional-lag"),
        ({"steps_per_generation": 6}, "sparse-reward-rows", "clip-never-fires"),
        ({"num_generations": 6}, "group-does-not-divide", "x"),
        ({}, "beta-default", "kl-force"),
        ({"beta": 0.04}, "kl-force", "beta-default"),
        ({"beta": 0}, "no-kl", "kl-force"),
        ({"scale_rewards": False}, "scale-rewards", "x"),
        ({"scale_rewards": True}, "beta1-has-no-gain", "scale-rewards"),
        ({"logging_steps": 10}, "rows-are-averages", "x"),
        ({"logging_steps": 1}, "learning-rate-is-not-eta", "rows-are-averages"),
        ({"trainer_version": "0.19.1"}, "rows-are-averages", "x"),
        ({"optim": "sgd"}, "beta-default", "learning-rate-is-not-eta"),
        ({"optim": "adafactor"}, "optimizer-unknown", "beta1-has-no-gain"),
        ({"use_vllm": "true"}, "sampler-mismatch", "x"),
        ({"step_per_generation": 8}, "key-not-read", "sparse-reward-rows"),
        ({"num_generations_eval": 8, "per_device_eval_batch_size": 3}, "beta-default",
         "key-not-read"),
    ],
)  # fmt: skip
def test_notices_of_trl(settings: dict[str, object], expected: str, absent: str) -> None:
    found = codes(lag_table("trl", {"gradient_accumulation_steps": 4, **settings}))
    assert expected in found
    assert absent not in found


@pytest.mark.parametrize(
    ("release", "beta", "text"),
    [("0.18.2", None, "0.04 in 0.18"), ("0.19.1", None, "0 in 0.19"),
     ("1.9.0", 0.04, "that is of KL(reference, policy)"), ("1.16.0", 0.04, "is reverse KL's")],
)  # fmt: skip
def test_the_kl_force_by_release(release: str, beta: float | None, text: str) -> None:
    table = trl(4, 4, 1, trainer_version=release, beta=beta)
    assert any(text.replace("that is", "which is that") in n.text for n in table.notices)


def test_reward_rows() -> None:
    assert trl(4, 16, 1).reward_rows == (1,)
    text = next(n.text for n in trl(4, 16, 1).notices if n.code == "sparse-reward-rows")
    assert "rows 1, 5, 9, ..." in text


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "batches-count-prompts"),
        ({}, "rows-are-not-steps"),
        ({}, "group-of-one"),
        ({}, "no-kl"),
        ({"train_batch_size": 256}, "clip-never-fires"),
        ({"algorithm.rollout_correction.bypass_mode": True}, "sampler-mismatch"),
        ({"algorithm.norm_adv_by_std_in_grpo": "False"}, "scale-rewards"),
        ({"staleness_threshold": 0.5}, "partial-rollout"),
        ({"staleness_threshold": 0.5, "train_batch_size": 512}, "not-used"),
        ({"actor_rollout_ref.actor.ppo_mini_batch_sise": 2, "ppo_epochs": 1}, "key-not-read"),
    ],
)
def test_notices_of_verl(settings: dict[str, object], expected: str) -> None:
    assert expected in codes(verl(**settings))


def test_what_re_uses_and_what_delays() -> None:
    assert kinds(trl(4, 16, 1))["steps_per_generation"] == "delays"
    assert kinds(trl(4, 16, 1))["num_iterations"] == "neither"
    assert kinds(trl(4, 4, 2))["num_iterations"] == "re-uses"
    assert kinds(trl(4, 1, 2))["num_iterations"] == "neither"
    assert kinds(verl(train_batch_size=8, ppo_mini_batch_size=4, ppo_epochs=2)) == {
        "ppo_mini_batch_size": "delays", "ppo_epochs": "re-uses"
    }  # fmt: skip


def test_the_optimizer_of_the_configuration() -> None:
    sgd = trl(4, 4, 1, optim="sgd", optim_args="momentum=0.5, nesterov=True").optimizer
    assert (sgd.name, sgd.momentum) == ("nesterov", Fraction(1, 2))
    assert trl(4, 4, 1, adam_beta1=0.8).optimizer.momentum == Fraction(4, 5)
    key = "actor_rollout_ref.actor.optim.betas"
    assert verl(**{key: "[0.95, 0.999]"}).optimizer.momentum == Fraction(19, 20)
    assert trl(4, 4, 1, optim="adafactor").optimizer is None


@pytest.mark.parametrize(
    ("counts", "optimizer", "mu", "threshold"),
    [((4, 4, 1), "adam", 0.9, 38.0), ((4, 4, 1), "heavy-ball", 0.9, 3.8),
     ((4, 4, 2), "heavy-ball", 0.9, 0.211111111111), ((4, 16, 1), "heavy-ball", 0.0, 0.5)],
)  # fmt: skip
def test_thresholds(
    counts: tuple[int, int, int], optimizer: str, mu: float, threshold: float
) -> None:
    found = border(trl(*counts), optimizer=optimizer, mu=mu, stale_share=1)
    assert found.threshold == pytest.approx(threshold, rel=1e-11)


@pytest.mark.parametrize("optimizer", dynamics.OPTIMIZERS)
@pytest.mark.parametrize("share", [-0.5, 0.5, 1.0, 1.5])
def test_the_map_over_a_period_agrees_with_the_sawtooth(optimizer: str, share: float) -> None:
    run = {"optimizer": optimizer, "mu": 0.7, "stale_share": share}
    x = float(dynamics.threshold(**run, refresh=4).value)
    laws = [{lag: Fraction(1)} for lag in range(4)]
    below, at, above = period_radius(laws, x * np.array([1 - 1e-6, 1, 1 + 1e-6]), **run)
    assert below < 1 < above
    assert at == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("table", [
    trl(4, 3, 1), trl(5, 8, 3), verl(ppo_mini_batch_size=32, staleness_threshold=0.3),
])  # fmt: skip
@pytest.mark.parametrize(("mu", "share"), [(0.0, 1.0), (0.9, 1.0), (0.5, -0.4)])
def test_a_periodic_schedule_is_lost_at_its_threshold(
    table: LagTable, mu: float, share: float
) -> None:
    """Against the recurrence itself, run for long with q_0 = 1."""
    assert table.lag_model == "periodic"
    x = border(table, optimizer="heavy-ball", mu=mu, stale_share=share).threshold

    def growth(x: float) -> float:
        q, v = [1.0] * (table.max + 1), 0.0
        for law in table.step_laws * (3000 // len(table.lags)):
            stale = sum(float(w) * q[-1 - lag] for lag, w in law.items())
            v = mu * v - x * ((1 - share) * q[-1] + share * stale)
            q.append(q[-1] + v)
        return max(map(abs, q[-300:])) / max(map(abs, q[1500:1800]))

    assert growth(0.97 * x) < 0.9
    assert growth(1.003 * x) > 1.02


def test_a_schedule_too_long_has_no_threshold() -> None:
    table = verl(ppo_mini_batch_size=8, trigger_parameter_sync_step=500, staleness_threshold=0.5)
    assert border(table, optimizer="ema", mu=0.9, stale_share=1).threshold is None
    drawn = lag_table("queue", {"lag_law": ["1/600"] * 600})
    assert border(drawn, optimizer="ema", mu=0.9, stale_share=1).threshold is None


def test_a_random_lag_is_lost_where_its_fluctuations_are() -> None:
    law = [0.5, 0.5]
    table = lag_table("queue", {"lag_law": law})
    found = border(table, optimizer="ema", mu=0.9, stale_share=1)
    expected = dynamics.mean_square_threshold("ema", mu=0.9, stale_share=1, lag_law=law)
    assert found.threshold == pytest.approx(expected, rel=1e-12)
    assert found.rule == pytest.approx(2)


@pytest.mark.parametrize(
    ("trainer", "settings", "error"),
    [
        ("trl", {"gradient_accumulation_steps": 0}, "must be from 1"),
        ("trl", {"num_iterations": -1}, "must be from 1"),
        ("trl", {"num_iterations": 1.5}, "whole number"),
        ("trl", {"num_iterations": True}, "whole number"),
        ("trl", {"num_iterations": "nan"}, "whole number"),
        ("trl", {"steps_per_generation": 4, "generation_batch_size": 8}, "leave one of them out"),
        ("trl", {"generation_batch_size": 12}, "no multiple"),
        ("trl", {"gradient_accumulation_steps": 9973, "steps_per_generation": 9967}, "repeat only"),
        ("trl", {"trainer_version": "0.13", "num_iterations": 1}, "since 0.14"),
        ("trl", {"optim": "sgd", "optim_args": "momentum=1"}, "momentum of sgd"),
        ("trl", {"actor_rollout_ref.rollout.n": 4}, "verl's, not trl's"),
        ("trl", {"lr": 1}, "no setting of trl"),
        ("trl", {"a.num_iterations": 1, "b.num_iterations": 2}, "leave one of them out"),
        ("verl", {"ppo_mini_batch_size": 2048}, "larger than train_batch_size"),
        ("verl", {"train_batch_size": 0}, "must be from 1"),
        ("verl", {"staleness_threshold": -0.1}, "must be from 0"),
        ("verl", {"require_batches": 0}, "must be above 0"),
        ("verl", {"data.train_batch_size": "${a.b}"}, "cannot be resolved"),
        ("trl", {"num_generations": 1}, "a group needs 2 completions"),
        ("queue", {"max_staleness": 10**9}, "up to 100000 are listed"),
        ("queue", {"updates_per_version": 2}, "max_staleness"),
        ("queue", {"lag_law": [0.5, 0.4]}, "exactly 1"),
        ("queue", {"lag_law": [0, 0, 1], "max_staleness": 1}, "beyond max_staleness"),
        (None, {}, "no trainer is given"),
        (None, {"lr": 1e-6}, "whose configuration"),
        (None, {"num_iterations": 1, "async_training.x": 1}, "trl and verl"),
    ],
)
def test_refusals(trainer: str | None, settings: dict[str, object], error: str) -> None:
    with pytest.raises(InvalidInput, match=error):
        lag_table(trainer, settings)


def test_an_unknown_trainer() -> None:
    with pytest.raises(UnknownName, match="'verl'"):
        lag_table("verll", {})
    with pytest.raises(UnknownName, match="openrlhf"):
        lag_table(None, {"trainer": "openrlhf", "num_iterations": 1})


def test_later_layers_go_first_and_interpolations_are_followed() -> None:
    file = {"data.train_batch_size": 512, "critic.ppo_mini_batch_size": 7, "x": 64}
    flags = {"ppo_mini_batch_size": 32}
    actor = {"actor_rollout_ref.actor.ppo_mini_batch_size": "${x}"}
    assert lag_table("verl", file, actor).updates_per_rollout == 8
    assert lag_table("verl", file, actor, flags).updates_per_rollout == 16
    assert lag_table(None, file, actor).trainer == "verl"
