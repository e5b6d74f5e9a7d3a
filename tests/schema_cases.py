"""Configurations of every command, to see what its JSON may hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from fake_trainer import rising
from log_files import as_csv, as_lines, as_trainer_state, as_verl_console
from run_files import ALL_CONVENTIONS, BANDIT, LINEAR, NOISE, RANDOM, TWO_ARM

__all__ = ["CASES", "Case", "files"]


@dataclass(frozen=True)
class Case:
    """A command line without its ``--json``; ``@NAME`` in it is a file of `files`."""

    line: str
    schema: str
    status: int = 0

    @property
    def arguments(self) -> list[str]:
        return self.line.split()


_HEAVY = "--optimizer heavy-ball --momentum 0.9"
_CONSTANT = "--lag-model constant --lag"
_BANDIT = "--beta 1 --staleness ratio --parameters logits"

_LINES = {
    "predict": [
        f"predict {_HEAVY} {_CONSTANT} 4 --x 0.01",
        f"predict {_HEAVY} {_CONSTANT} 0 --x 0.01 --times 0",
        f"predict {_HEAVY} {_CONSTANT} 4 --x 3",
        f"predict {_HEAVY} {_CONSTANT} 3 --x 0.01 --stale-share -1/2",
        f"predict {_HEAVY} {_CONSTANT} 2 --x 1e250 --times 1e200",
        f"predict {_HEAVY} --lag-model sawtooth --refresh 16 --x 0.01",
        "predict --optimizer ema --momentum 0 --lag-model sawtooth --refresh 2 --x 3",
        f"predict {_HEAVY} --lag-model random --lag-law 1/2,1/4,1/4 --x 0.01",
        f"predict {_HEAVY} --lag-model random --lag-law 0,1/2,1/2 --x 2",
        f"predict --optimizer nesterov --momentum 0.5 {_CONSTANT} 1 --tau 40",
        f"predict --optimizer ema --momentum 0.9 {_CONSTANT} 1 --eta 0.01 --p-star 0.6 {_BANDIT}",
        f"predict --optimizer adam --momentum 0.9 {_CONSTANT} 0 --eta 0.01 --p-ref 0.1 {_BANDIT} "
        "--second-moment 1e-4 --adam-eps 1e-8",
    ],
    "derivation": ["derive theorem-7", "derive theorem-7 --optimizer nesterov --lag-model sawtooth",
                   "derive staleness", "derive two-cycle", "derive eq-15", "derive no-kl"],
    "derivations": ["derive --list"],
    "quantities": ["quantities", "quantities advantage", "quantities threshold"],
    "lag": [
        "lag --trainer trl",
        f"lag --gradient-accumulation-steps 4 --steps-per-generation 16 {_HEAVY} --x 0.1",
        "lag --trainer trl --gradient-accumulation-steps 4 --steps-per-generation 6 "
        "--num-iterations 2",
        "lag --config @trl.yaml --trainer-version 0.16",
        "lag --trainer verl data.train_batch_size=512 --ppo-mini-batch-size 32 --ppo-epochs 2 "
        "--x 0.1",
        "lag --trainer verl --staleness-threshold 0.5 --require-batches 4 "
        "--trigger-parameter-sync-step 4 --ppo-mini-batch-size 32 --train-batch-size 128",
        "lag --trainer queue --max-staleness 3",
        "lag --lag-law 1/2,1/4,1/4 --optimizer ema --momentum 0 --stale-share 1/2",
        f"lag --trainer queue --max-staleness 200 {_HEAVY}",
    ],
    "read": ["read @state.json", "read @runs.jsonl", "read @verl.log", "read @once.csv"],
    "diagnose": ["diagnose @state.json --group-size 8 --prompts 8 --config @trl.yaml",
                 "diagnose @collapse.json --eval @eval.csv --eval-items 100",
                 "diagnose @sweep.json", "diagnose @plateau.csv", "diagnose @once.csv"],
    "fit": ["fit @plateau.csv --group-size 8 --prompts 8 --optimizer heavy-ball --momentum 0.9",
            "fit @once.csv --bounds 0,1 --origin 0",
            "fit @runs.jsonl --run b --family constant --family exponential --level 0.5"],
    "forecast": ["forecast @plateau.csv --group-size 8 --prompts 8",
                 "forecast @once.csv --share 1/2 --horizon 1000 --level 0.5"],
    "simulate": [f"simulate @{name}.toml" for name in (
        "linear", "random", "noise", "two-arm", "bandit", "conventions", "infinite")],
    "audit": ["audit @good.toml"],
}  # fmt: skip
CASES = [
    *(Case(line, f"grpo-dynamics/{name}/1") for name, lines in _LINES.items() for line in lines),
    Case("simulate @overflow.toml", "grpo-dynamics/simulate/1", status=1),
    Case("audit @unexpected.toml @good.toml", "grpo-dynamics/audit/1", status=1),
]

_GOOD = """
[[claim]]
id = "rule"
quantity = "threshold"
says = "ηKd < 1−μ"
relation = "sufficient"
model = { optimizer = "heavy-ball", lag_model = "constant", lag = 2 }
source = { paper = "a draft", version = "1", place = "equation 9" }
provenance = "stated"
meaning = "A run inside the rule is stable."
statement = "Stable if eta K d < 1 - mu."
[[claim]]
id = "slip"
quantity = "damping"
says = "1 - mu - x*d/2"
relation = "exact"
model = { optimizer = "heavy-ball", lag_model = "constant" }
expect = "refuted"
[[claim]]
id = "near"
quantity = "relaxation_time"
says = "(1 - mu)/x"
relation = "asymptotic"
order = 1
model = { optimizer = "heavy-ball", lag_model = "constant", lag = 1 }
"""
_UNEXPECTED = """
[[claim]]
id = "wrong"
quantity = "mass"
says = "mu"
relation = "exact"
model = { optimizer = "ema", lag_model = "sawtooth", refresh = 3 }
"""


def _plateau(rows: int) -> list[dict[str, Any]]:
    draw = np.random.default_rng(1)
    mean = 0.8 - 0.7 * np.exp(-np.arange(rows) / 25)
    return [
        {"step": k + 1, "reward": float(draw.binomial(64, p)) / 64, "reward_std": 0.4}
        for k, p in enumerate(mean)
    ]


def _sweep() -> Iterator[dict[str, Any]]:
    for size in (2, 4, 8, 16, 32):
        draw = np.random.default_rng(size)
        noise = draw.standard_normal(80) / size**0.5
        yield {
            "name": f"G{size}", "group_size": size, "model": "one",
            "reward_trace": (0.5 + 0.2 * noise).tolist(),
        }  # fmt: skip


@cache
def files() -> dict[str, str]:
    """Return the text of every file that a case names."""
    learning = rising(60)
    with_holes = [row for row in learning if row["step"] not in (20, 21)]
    evaluation = {"step": 50, "eval_loss": 0.1, "eval_reward": 0.5}
    state = [*with_holes[:30], *with_holes[28:], evaluation, {"step": 60, "train_runtime": 5.0}]
    several = [
        {"run": name, **row} for name, seed in (("a", 2), ("b", 3)) for row in rising(40, seed=seed)
    ]
    verl = [
        {"step": k, "critic/rewards/mean": k / 100, "actor/entropy": 0.5, "val-core/acc": 0.1}
        for k in range(1, 40)
    ]
    falling = [{"step": k, "reward": 0.6 - 0.004 * k} for k in range(5, 121, 5)]
    head, tail = BANDIT.split("[conventions]")[0], BANDIT[BANDIT.index("[lag]") :]
    update = "eta = 0.05\ngroup_size = 4\n"
    return {
        "trl.yaml": "gradient_accumulation_steps: 4\nsteps_per_generation: 16\nbeta: 0.04\n"
                    "per_device_train_batch_size: 2\nnum_generations: 8\noptim: adamw_torch\n",
        "state.json": as_trainer_state(state, logging_steps=1),
        "collapse.json": as_trainer_state(rising(120, narrows_at=30), logging_steps=1),
        "runs.jsonl": as_lines(several),
        "verl.log": as_verl_console(verl),
        "once.csv": as_csv(_plateau(12)),
        "plateau.csv": as_csv(_plateau(150)),
        "eval.csv": as_csv(falling),
        "sweep.json": json.dumps(list(_sweep())),
        "linear.toml": LINEAR,
        "random.toml": RANDOM,
        "noise.toml": LINEAR + NOISE,
        "two-arm.toml": TWO_ARM,
        "bandit.toml": BANDIT,
        "conventions.toml": f"{head}{ALL_CONVENTIONS}{update}{tail}",
        "infinite.toml": BANDIT.replace("group_size = 4", 'group_size = "infinite"'),
        "overflow.toml": LINEAR.replace("x = 0.05", "x = 50").replace("steps = 60", "steps = 900"),
        "good.toml": _GOOD,
        "unexpected.toml": _UNEXPECTED,
    }  # fmt: skip
