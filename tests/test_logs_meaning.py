"""What a column means: by name, trainer, version and, where that leaves it open, numbers."""

from __future__ import annotations

import random
import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from log_files import as_csv, as_html, as_lines, as_trainer_state, as_trl_console, write

from numerics.inputs import InvalidInput
from numerics.logs import QUANTITIES, read_log
from numerics.logs.vocabulary import find, find_evaluation, is_evaluation, step_rank

NAMES = {
    "reward": "reward critic/score/mean critic/rewards/mean env/all/reward/total reward/mean "
    "train/reward mean_reward avg_reward rewards/mean rollout/raw_reward Reward train_reward "
    "reward_mean episode_reward score mean_score return",
    "true_reward": "rewards/correctness_reward_func rewards/accuracy_reward/mean mean_correct "
    "env/all/correct reward/correctness_f mean_accuracy_reward accuracy solve_rate "
    "rewards/check_answer",
    "reward_component": "rewards/format_reward/mean rewards/xmlcount_reward_func format_rate "
    "env/all/format reward/compilable_g mean_format_reward mean_length_penalty format_reward",
    "reward_std": "reward_std train/reward_std reward/std",
    "dead_fraction": "frac_reward_zero_std zero_variance_fraction train/frac_reward_zero_std "
    "frac_zero_std_groups dead_groups_fraction",
    "live_fraction": "env/all/by_group/frac_mixed baseline_reward/pct_mixed",
    "all_good_fraction": "env/all/by_group/frac_all_good baseline_reward/pct_1",
    "all_bad_fraction": "env/all/by_group/frac_all_bad baseline_reward/pct_0",
    "kl": "kl train/kl actor/kl_loss mean_kl objective/kl actor/ppo_kl optim/kl_sample_train_v1",
    "entropy": "entropy actor/entropy actor/entropy_loss policy/entropy optim/entropy",
    "clip_fraction": "clip_ratio clip_ratio/region_mean actor/pg_clipfrac ppo_clip_ratio",
    "truncated_fraction": "completions/clipped_ratio response_length/clip_ratio truncated_fraction",
    "loss": "loss Training_Loss actor/pg_loss policy_loss loss:sum train/loss",
    "gradient_norm": "grad_norm actor/grad_norm optim/grad_norm",
    "learning_rate": "learning_rate lr actor/lr optim/lr actor_lr",
    "length": "completion_length completions/mean_length response_length/mean response_length "
    "mean_completion_length env/all/ac_tokens_per_turn",
    "advantage_max": "critic/advantages/max",
    "lag": "staleness fully_async/staleness/mean off_policy_steps",
    "time": "step_time time/total timing_s/gen perf/time_per_step _runtime _timestamp",
    "epoch": "epoch training/epoch progress/epoch",
    "other": "critic/returns/mean critic/advantages/mean "
    "rewards/f/std clip_ratio/high_max critic/score/max num_tokens final_train_accuracy "
    "best_reward final_reward completions/max_length",
}


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_spellings(quantity: str) -> None:
    found = {name: find(name, "").quantity for name in NAMES.get(quantity, "").split()}
    assert set(found.values()) <= {quantity}, found


def test_spellings_of_evaluations() -> None:
    scores = [
        "eval_reward", "eval/reward", "eval/pass_at_1", "val-core/openai/gsm8k/reward/mean@1",
        "val-core/math/acc/mean@8", "val/test_score/openai/gsm8k", "test/env/all/reward/total",
        "eval/default_pass1", "validation/accuracy", "eval_rewards/accuracy_reward/mean",
        "test/env/all/correct",
    ]  # fmt: skip
    assert all(is_evaluation(name) for name in scores)
    assert {find_evaluation(name, "").quantity for name in scores} == {"eval_reward"}
    assert find_evaluation("eval/format_rate", "").quantity == "reward_component"
    assert find_evaluation("Validation Loss", "").quantity == "loss"
    assert not any(is_evaluation(name) for name in ("value_loss", "train/reward", "evaluated"))


def test_steps_best_first() -> None:
    assert step_rank("train/global_step") == step_rank("global_step") == 0
    ranks = [step_rank(name) for name in ("global_step", "progress/step", "step", "_step")]
    assert ranks == sorted(ranks, key=lambda rank: rank or 0)
    assert step_rank("reward") is None


def test_the_table_of_names_is_well_formed() -> None:
    table = tomllib.loads((files("numerics.logs") / "names.toml").read_text(encoding="utf-8"))
    for row in [*table["names"], *table["evaluations"]]:
        assert row["quantity"] in QUANTITIES
        assert row["meaning"].strip()
        re.compile(row["match"].replace("<right>", table["right"]))


def test_the_total_reward_comes_before_its_parts(tmp_path: Path) -> None:
    rows = [
        {"step": n, "rewards/correctness_reward_func": 1.0, "rewards/b": 0.25, "reward": 1.25}
        for n in range(1, 9)
    ]
    [run] = read_log(write(tmp_path, as_lines(rows))).runs
    assert run.series("reward")[1].tolist() == [1.25] * 8
    assert run.series("true_reward")[1].tolist() == [1.0] * 8
    assert run.series("reward_component")[1].tolist() == [0.25] * 8


def test_the_only_reward_of_a_log_is_its_total_reward(tmp_path: Path) -> None:
    text = as_csv([{"step": n, "accuracy": n / 9} for n in range(1, 9)])
    [run] = read_log(write(tmp_path, text)).runs
    assert "stands for it" in run.column("reward").meaning
    parts = as_csv([{"step": 1, "rewards/a": 0.5, "rewards/b": 0.25}])
    with pytest.raises(InvalidInput, match="their weights are not in the log"):
        read_log(write(tmp_path, parts))


# ------------------------------------------------------------------------- versions of trl

OLD = {"completion_length": 9.0, "rewards/f": 0.5}
NEW = {"completions/mean_length": 9.0, "rewards/f/mean": 0.5}
V18 = {**NEW, "frac_reward_zero_std": 0.5}
V26 = {**V18, "entropy": 0.5, "step_time": 1.0}


@pytest.mark.parametrize(
    ("keys", "version"),
    [
        (OLD, "trl before 0.17"), (NEW, "trl 0.17 or later"), (V18, "trl 0.18 or later"),
        ({**V18, "entropy": 1.0}, "trl 0.19 or later"),
        ({**V18, "entropy": 1.0, "sampling/importance_sampling_ratio/mean": 1.0},
         "trl 0.22 or later"),
        (V26, "trl 0.26 or later"),
    ],
)  # fmt: skip
def test_version_of_trl_by_its_keys(keys: dict[str, float], version: str, tmp_path: Path) -> None:
    rows = [{"step": n, "reward": 0.5, **keys} for n in range(1, 9)]
    for text in (as_trainer_state(rows), as_csv(rows), as_html(rows)):
        assert read_log(write(tmp_path, text)).version == version


def test_version_of_trl_by_its_messages(tmp_path: Path) -> None:
    rows = [{"loss": 0.1, "reward": 0.5, "reward_std": 0.1, **V18} for _ in range(8)]
    text = "/venv/lib/python3.11/site-packages/trl/generation/vllm.py:4: UserWarning\n"
    log = read_log(write(tmp_path, text + as_trl_console(rows, 1)))
    assert log.version == "trl 0.28 or later"
    assert "all rewards" in log.runs[0].column("reward_std").meaning


def batches(group: int, seed: int = 3) -> list[dict[str, Any]]:
    """Rewards of 4 groups a step, with the statistics that trl logs of them."""
    rng = random.Random(seed)
    rows = []
    for step in range(1, 31):
        success = [rng.choice([0, 0.5, 1]) for _ in range(4)]
        drawn = np.array([[float(rng.random() < p) for _ in range(group)] for p in success])
        rows.append({
            "step": step, "reward": drawn.mean(), "rewards/f/mean": drawn.mean(),
            "rewards/f/std": drawn.std(ddof=1), "group": drawn.std(axis=1, ddof=1).mean(),
            "frac_reward_zero_std": float(np.mean(drawn.std(axis=1) < 1e-8)),
            "completions/mean_length": 9.0,
        })  # fmt: skip
    return rows


@pytest.mark.parametrize("digits", [17, 4])
def test_the_numbers_tell_what_reward_std_is(digits: int, tmp_path: Path) -> None:
    for key, meaning in (("rewards/f/std", "all rewards"), ("group", "mean over the groups")):
        rows = [
            {**{k: float(f"{v:.{digits}g}") for k, v in row.items() if k != "group"},
             "reward_std": float(f"{row[key]:.{digits}g}")}
            for row in batches(4)
        ]  # fmt: skip
        log = read_log(write(tmp_path, as_trainer_state(rows)))
        assert meaning in log.runs[0].column("reward_std").meaning
        assert "reward_std shows" in log.version


def test_a_std_where_all_groups_are_dead_is_of_all_rewards(tmp_path: Path) -> None:
    """Half the prompts always 0, half always 1: 0.0 before trl 0.27, 0.501 at 256 rewards after."""
    rows = [
        {"step": n, "reward": 0.5, "frac_reward_zero_std": 1.0, "reward_std": 0.501,
         "rewards/a/mean": 0.25, "rewards/b/mean": 0.25}
        for n in range(1, 9)
    ]  # fmt: skip
    [run] = read_log(write(tmp_path, as_trainer_state(rows))).runs
    assert "all rewards" in run.column("reward_std").meaning


def test_what_the_log_does_not_tell_is_left_open(tmp_path: Path) -> None:
    rows = [{"step": n, "reward": 0.5, "reward_std": 0.1, **V18} for n in range(1, 9)]
    log = read_log(write(tmp_path, as_trainer_state(rows)))
    assert "this log does not tell" in log.runs[0].column("reward_std").meaning
    rows = [{"step": n, "reward": 0.5, "reward_std": 0.1, **OLD} for n in range(1, 9)]
    log = read_log(write(tmp_path, as_trainer_state(rows)))
    assert "mean over the groups" in log.runs[0].column("reward_std").meaning


def test_skipped_groups_are_the_dead_ones(tmp_path: Path) -> None:
    rows = [
        {"step": n, "mean_reward": 0.5, "groups_skipped": n % 8, "groups_total": 8}
        for n in range(16)
    ]
    log = read_log(write(tmp_path, as_lines(rows)))
    assert log.runs[0].series("dead_fraction")[1].tolist() == [n % 8 / 8 for n in range(16)]
    assert log.configuration["prompts_per_step"] == 8
