"""Run files, and the command run on them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from numerics import cli

LINEAR = """
kind = "scalar"
steps = 60
chains = 2
seed = 1

[drift]
form = "linear"
x = 0.05
stale_share = 0.5
initial = 1

[update]
optimizer = "heavy-ball"
mu = 0.9

[lag]
model = "constant"
lag = 3
"""
RANDOM = LINEAR.replace('''"constant"
lag = 3''', '''"random"
lag_law = [0.5, 0.5]''')
NOISE = """
[noise]
std = 0.1
enters = "gradient"
"""
TWO_ARM = """
kind = "scalar"
steps = 200
record_every = 50

[drift]
form = "two-arm"
beta = 2
p_ref = 0.1
p_initial = 0.2
staleness = "stale-samples"
parameters = "logits"

[update]
optimizer = "ema"
mu = 0.5
eta = 0.1

[lag]
model = "sawtooth"
refresh = 4
"""
BANDIT = """
kind = "bandit"
steps = 40
chains = 3
seed = 7
record_every = 2

[bandit]
rewards = [[1, 0, 0], [0, 0.5, 1]]
reference_logits = [[-1, 0, 0], [0, -1, -2]]
coordinates = "free-logits"

[conventions]
preset = "trl-0.16"
eps = 1e-6

[update]
eta = 0.05
group_size = 4

[lag]
model = "sawtooth"
refresh = 2
"""
ALL_CONVENTIONS = """
[conventions]
baseline = "leave-one-out"
normaliser = "none"
ddof = 0
eps = 0
eps_in = "std"
group_of_one = "refuse"
staleness = "stale-samples-ratio"
clip = [0.2, 0.28]
dual_clip = 3
log_ratio_clamp = "none"
kl = "k3"
over_prompts = "mean"

[update]
optimizer = "adam"
mu = 0.9
beta = 0.1
beta2 = 0.99
adam_eps = 1e-8
weight_decay = 0
bias_correction = true
"""


def run(text: str, folder: Path, capture: Any, *flags: str) -> tuple[int, str, str]:
    """Run the command in `folder` on a file of this text."""
    path = folder / "run.toml"
    path.write_text(text, encoding="utf-8")
    try:
        status = cli.main(["simulate", str(path), *flags])
    except SystemExit as leaving:
        status = int(leaving.code or 0)
    return status, *capture.readouterr()


def rows(path: Path) -> list[dict[str, float]]:
    """Read a CSV file as numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: float(text) for name, text in row.items()} for row in csv.DictReader(file)]
