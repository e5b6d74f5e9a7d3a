"""Run files: what is not legal is refused in one line with its key, before any work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from run_files import BANDIT, LINEAR, NOISE, RANDOM, TWO_ARM, run

from numerics.runs import RunFileError, read_run

#: A legal file, what is replaced in it, by what, and words of the refusal.
REFUSED = [
    (LINEAR, LINEAR, "", "kind: it is missing, and has no default"),
    (LINEAR, LINEAR, "kind =", "not valid TOML"),
    (LINEAR, LINEAR, "a = " + "[" * 5000, "not valid TOML"),
    (LINEAR, LINEAR, "a = " + "1" * 5000, "not valid TOML"),
    (LINEAR, '"scalar"', '"scaler"', "kind: kind 'scaler' is unknown (did you mean 'scalar'?)"),
    (LINEAR, '"scalar"', "3", "kind: 3 is not text"),
    (LINEAR, "steps", "step", "key 'step' is unknown (did you mean 'steps'?)"),
    (LINEAR, "steps = 60", "steps = 0", "steps: 0 is not a whole number from 1"),
    (LINEAR, "steps = 60", "steps = 60.0", "steps: 60.0 is not a whole number"),
    (LINEAR, "steps = 60", "steps = true", "steps: True is not a whole number"),
    (LINEAR, "steps = 60", "steps = 2", "[lag]: a lag of 3 is longer than the run of 2 steps"),
    (LINEAR, "chains = 2", "chains = 1000000", "record_every: 61000000 records; 2000000 are"),
    (LINEAR, "seed = 1", "seed = -1", "seed: -1 is not a whole number from 0"),
    (LINEAR, "[lag]", "[bandit]\n[lag]", "key 'bandit' is unknown"),
    (LINEAR, "x = 0.05", "x = nan", "[drift] x: nan is not finite"),
    (LINEAR, "x = 0.05", "x = " + "9" * 400, "[drift] x: 9999"),
    (LINEAR, "x = 0.05", "x = 0", "x is 0.0: it must be positive"),
    (LINEAR, "x = 0.05", 'x = "1"', "[drift] x: '1' is not a number"),
    (LINEAR, "x = 0.05", "X = 0.05", "[drift]: key 'X' is unknown (did you mean 'x'?)"),
    (LINEAR, "initial = 1", "", "[drift] initial: it is missing"),
    (LINEAR, "initial = 1", "beta = 1", "[drift] beta: form 'linear' takes x, stale_share, init"),
    (LINEAR, "mu = 0.9", "mu = 1", "mu is 1.0: momentum must lie in [0, 1)"),
    (LINEAR, "mu = 0.9", "mu = 0.9\neta = 1", "[update]: key 'eta' is unknown"),
    (LINEAR, '"heavy-ball"', '"adam"', "[update] optimizer: optimizer 'adam' is unknown"),
    (LINEAR, "lag = 3", "refresh = 3", "[lag] refresh: model 'constant' takes lag instead"),
    (LINEAR, "lag = 3", "lag = -1", "[lag] lag: -1 is not a whole number from 0"),
    (LINEAR, "[lag]", "[[lag]]", "[lag] is [{'model': 'constant', 'lag': 3}]; it must be a table"),
    (LINEAR, LINEAR.partition("[lag]")[2], "", "[lag] model: it is missing"),
    (LINEAR, "".join(LINEAR.partition("[lag]")[1:]), "", "lag: it is missing"),
    (RANDOM, "0.5, 0.5", "0.5, 0.4", "[lag] lag_law: law sums to 0.9"),
    (RANDOM, "0.5, 0.5", "", "[lag] lag_law: [] is not an array [...] of numbers"),
    (RANDOM, "0.5, 0.5", "1.5, -0.5", "[lag] lag_law: law holds -0.5"),
    (RANDOM, "seed = 1", "", "seed: a run with noise or a random lag needs one"),
    (LINEAR + NOISE, "seed = 1", "", "seed: a run with noise or a random lag needs one"),
    (LINEAR + NOISE, "std = 0.1", "std = -0.1", "[noise] std is -0.1"),
    (LINEAR + NOISE, "gradient", "gradients", "[noise] enters: noise_enters 'gradients' is"),
    (TWO_ARM, "p_ref = 0.1", "p_ref = 1", "[drift] p_ref: 1.0 is not a probability in (0, 1)"),
    (TWO_ARM, "beta = 2", "beta = -2", "beta is -2.0: the KL weight must be >= 0"),
    (TWO_ARM, "eta = 0.1", "", "[update] eta: it is missing"),
    (TWO_ARM, '"logits"', '"logitz"', "[drift] parameters: parameters 'logitz' is unknown"),
    (BANDIT, "seed = 7", "", "seed: it is missing"),
    (BANDIT, "[[1, 0, 0]", "[[1, 0]", "[bandit] rewards: its rows have different lengths"),
    (BANDIT, "[[1, 0, 0]", "[[1, 0, nan]", "[bandit] rewards: nan is not finite"),
    (BANDIT, "[[1, 0, 0], [0, 0.5, 1]]", "[]",
     "[bandit] rewards: [] is not an array [[...], ...] of rows of numbers"),
    (BANDIT, "[[1, 0, 0], [0, 0.5, 1]]", "[[1], [0]]", "[bandit] rewards has shape (2, 1)"),
    (BANDIT, "[[-1, 0, 0]", "[[-1, 0, 0], [1, 1, 1]", "[bandit] shapes do not broadcast"),
    (BANDIT, "coordinates", "initial = [1, 2]\ncoordinates", "[bandit] initial has shape (2,)"),
    (BANDIT, "free-logits", "free-logit", "[bandit] coordinates: coordinates 'free-logit' is"),
    (BANDIT, "trl-0.16", "trl-0.17", "[conventions] preset: preset 'trl-0.17' is unknown"),
    (BANDIT, "eps = 1e-6", "eps = -1", "[conventions] eps is -1.0: it must be >= 0"),
    (BANDIT, "eps = 1e-6", "epsilon = 1", "[conventions]: key 'epsilon' is unknown"),
    (BANDIT, "eps = 1e-6", "clip = 0.2",
     "[conventions] clip: 0.2 is not an array [...] of numbers; or give 'none'"),
    (BANDIT, '[conventions]\npreset = "trl-0.16"\neps = 1e-6', 'conventions = "trl-0.16"',
     "conventions: it is missing, and has no default; the one in [bandit] belongs above the first"),
    (BANDIT, "eps = 1e-6", "dual_clip = 1", "must be > 1; None, in a run file 'none', is none"),
    (BANDIT, "eps = 1e-6", "clip = [0, 0.2]", "[conventions] clip low is 0.0"),
    (BANDIT, 'preset = "trl-0.16"', "", "[conventions] baseline: it is missing"),
    (BANDIT, '"trl-0.16"', '"paper"', "[conventions] preset 'paper' leaves the staleness open"),
    (BANDIT, "group_size = 4", "group_size = 1", "[update] group_size is 1"),
    (BANDIT, "group_size = 4", 'group_size = "inf"', "'inf' is not a whole number from 1"),
    (BANDIT, "group_size = 4", "", "[update] group_size: it is missing"),
    (BANDIT, "eta = 0.05", "eta = 0", "eta is 0.0: it must be positive"),
    (BANDIT, "eta = 0.05", 'eta = 1\noptimizer = "adm"', "[update] optimizer: optimizer 'adm'"),
    (BANDIT, "eta = 0.05", "eta = 1\nbeta2 = 2", "[update] beta2 is 2.0"),
    (BANDIT, "eta = 0.05", 'eta = 1\nbeta2 = 0\noptimizer = "ema"', "of adam, not of ema"),
]


@pytest.mark.parametrize(("text", "old", "new", "words"), REFUSED)
def test_a_run_file_is_refused_in_one_line(
    text: str, old: str, new: str, words: str, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "rows.csv"
    out.write_text("kept")
    assert old in text
    status, printed, err = run(text.replace(old, new), tmp_path, capsys, "--out", str(out))
    assert (status, printed) == (2, "")
    assert err.startswith(f"grpo-dynamics: error: {tmp_path / 'run.toml'}")
    assert err.count("\n") == 1
    assert words in err
    assert out.read_text() == "kept"
    assert {path.name for path in tmp_path.iterdir()} == {"run.toml", "rows.csv"}


def test_a_run_is_read_before_it_is_run(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(LINEAR.replace("x = 0.05", "x = 0"))
    asked = read_run(path)
    with pytest.raises(RunFileError, match=re.escape(f"{path}: x is 0.0")):
        asked.execute()
