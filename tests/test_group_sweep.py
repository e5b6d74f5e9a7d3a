"""Group size changes the speed of the mean path, and the finite-group law says by how much.

One step size must explain runs of every group size; with the infinite-group law it cannot. The last
test reads `../shared` and checks nothing without it.
"""

from __future__ import annotations

from pathlib import Path

from numerics.cli import main
from numerics.fit import Interval, curve_of_log, fit, intervals
from numerics.logs import read_log

SWEEP = Path(__file__).resolve().parents[2] / "shared" / "logs" / "trl_tiny_transformer"
RUN = """
kind = "bandit"
steps = 300
rows = "mean"
seed = {group_size}
[bandit]
rewards = [[1, 0], [1, 0], [1, 0], [1, 0]]
reference_logits = [-1.4, 0]
coordinates = "free-logits"
[conventions]
preset = "trl-1.16"
[update]
optimizer = "heavy-ball"
mu = 0
beta = 0
eta = 0.2
group_size = {group_size}
[lag]
model = "constant"
lag = 0
"""
#: Two free logits move their difference twice, the loss is a mean over four prompts.
ETA = 0.2 * 2 / 4


def step_size(path: Path, group_size: int, law: str) -> Interval:
    given = curve_of_log(read_log(path), group_size=group_size, prompts=4).series
    return intervals(fit(given, law), ["eta"], level=0.99)["eta"]


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def test_one_step_size_explains_every_group_size(tmp_path: Path) -> None:
    found = {}
    for size in (2, 4, 64):
        run, log = tmp_path / f"{size}.toml", tmp_path / f"{size}.csv"
        run.write_text(RUN.format(group_size=size))
        assert main(["simulate", str(run), "--out", str(log)]) == 0
        low, high = ends(step_size(log, size, "finite-group"))
        assert low < ETA < high
        found[size] = ends(step_size(log, size, "no-kl-std"))
    assert found[2][1] < found[64][0]  # without G in the law the small group looks slower


def test_so_do_logs_of_a_trained_transformer() -> None:
    logs = {
        size: SWEEP / f"G{size}_seed0.trainer_state.json"
        for size in (2, 4, 16, 64)
        if SWEEP.exists()
    }
    finite = {size: ends(step_size(path, size, "finite-group")) for size, path in logs.items()}
    if finite:
        assert max(low for low, _ in finite.values()) < min(high for _, high in finite.values())
        infinite = {s: ends(step_size(logs[s], s, "no-kl-std")) for s in (2, 64)}
        assert infinite[2][1] < infinite[64][0]
