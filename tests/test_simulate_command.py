"""`simulate`: a run file to rows and a figure; the same bytes again; refusals in one line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_files import ALL_CONVENTIONS, BANDIT, LINEAR, NOISE, RANDOM, TWO_ARM, rows, run

import numerics.predict
import numerics.runs
from numerics import cli
from numerics.commands import predict as predict_command
from numerics.commands import simulate as simulate_command
from numerics.simulation import (
    ConstantLag,
    Sawtooth,
    simulate,
    simulate_linear,
    success_probability,
    two_arm_drift,
)
from numerics.simulation.bandit import Bandit, preset, simulate_bandit


def test_a_linear_run_is_the_plain_map(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "rows.csv"
    status, printed, err = run(LINEAR, tmp_path, capsys, "--out", str(out))
    assert (status, err) == (0, "")
    assert "60 steps, 2 chains; 122 rows" in printed
    plain = simulate_linear(
        "heavy-ball", ConstantLag(3), mu=0.9, x=0.05, stale_share=0.5, steps=60
    )
    found = rows(out)
    assert list(found[0]) == ["step", "chain", "q"]
    assert [(row["step"], row["chain"]) for row in found] == [
        (step, chain) for step in range(61) for chain in range(2)
    ]
    np.testing.assert_allclose([row["q"] for row in found[::2]], plain.path, rtol=0, atol=1e-13)


def test_a_two_arm_run_is_the_plain_map(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "rows.jsonl"
    status, _, err = run(TWO_ARM, tmp_path, capsys, "--out", str(out))
    assert (status, err) == (0, "")
    found = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    plain = simulate(
        two_arm_drift("stale-samples", beta=2.0, theta_ref=np.log(0.1 / 0.9)), "ema", Sawtooth(4),
        eta=0.2, mu=0.5, initial=np.log(0.2 / 0.8), steps=200, record_every=50,
    )  # fmt: skip
    p, r = success_probability(plain.path), 0.1
    columns = {
        "step": plain.steps,
        "chain": np.zeros(5),
        "theta": plain.path,
        "policy_reward": p,
        "entropy": -p * np.log(p) - (1 - p) * np.log(1 - p),
        "kl": p * np.log(p / r) + (1 - p) * np.log((1 - p) / (1 - r)),
    }
    assert list(found[0]) == list(columns)
    for name, column in columns.items():
        np.testing.assert_allclose([row[name] for row in found], column, rtol=1e-12)


def test_a_bandit_run_is_the_librarys(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "rows.csv"
    status, _, err = run(BANDIT, tmp_path, capsys, "--out", str(out))
    assert (status, err) == (0, "")
    bandit = Bandit(
        rewards=[[1, 0, 0], [0, 0.5, 1]], reference_logits=[[-1, 0, 0], [0, -1, -2]],
        coordinates="free-logits",
    )  # fmt: skip
    known = preset("trl-0.16")
    plain = simulate_bandit(
        bandit, replace(known.conventions, eps=1e-6), known.optimizer, Sawtooth(2), eta=0.05,
        mu=known.mu, beta=known.beta, group_size=4, initial=bandit.reference, steps=40, chains=3,
        seed=7, record_every=2,
    )  # fmt: skip
    found = rows(out)
    assert len(found) == 20 * 3
    for name, own in {
        "reward": plain.sampled_reward,
        "reward_std": plain.group_std,
        "frac_reward_zero_std": plain.dead_fraction,
        "clip_ratio": plain.clip_fraction,
        "entropy": plain.entropy,
        "kl": plain.kl_to_reference,
        "policy_reward": plain.reward,
        "effective_arms": plain.effective_arms,
        "advantage_min": plain.advantage_min,
        "advantage_max": plain.advantage_max,
    }.items():
        assert [row[name] for row in found] == own.ravel().tolist()


def test_rows_can_be_means_over_the_chains(tmp_path: Path, capsys: Any) -> None:
    run(BANDIT, tmp_path, capsys, "--out", str(tmp_path / "each.csv"))
    run('rows = "mean"' + BANDIT, tmp_path, capsys, "--out", str(tmp_path / "mean.csv"))
    each, mean = rows(tmp_path / "each.csv"), rows(tmp_path / "mean.csv")
    assert len(mean) == 20
    for k, row in enumerate(mean):
        for name, value in row.items():
            own = [other[name] for other in each[3 * k : 3 * k + 3]]
            assert value == pytest.approx(np.mean(own), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("text", [LINEAR + NOISE, RANDOM, TWO_ARM, BANDIT])
def test_the_same_seed_gives_the_same_bytes(text: str, tmp_path: Path, capsys: Any) -> None:
    files = {}
    for time in (1, 2):
        for suffix in ("csv", "jsonl", "svg", "png"):
            flag = "--out" if suffix in ("csv", "jsonl") else "--plot"
            path = tmp_path / f"rows{time}.{suffix}"
            status, _, err = run(text, tmp_path, capsys, flag, str(path))
            assert (status, err) == (0, "")
            files[time, suffix] = path.read_bytes()
    for suffix in ("csv", "jsonl", "svg", "png"):
        assert files[1, suffix] == files[2, suffix]
    assert files[1, "svg"].lstrip().startswith(b"<?xml")
    assert files[1, "png"].startswith(b"\x89PNG")


def test_another_seed_gives_another_run(tmp_path: Path, capsys: Any) -> None:
    for seed in (1, 2):
        text = BANDIT.replace("seed = 7", f"seed = {seed}")
        run(text, tmp_path, capsys, "--out", str(tmp_path / f"{seed}.csv"))
    assert rows(tmp_path / "1.csv") != rows(tmp_path / "2.csv")


def test_the_summary_names_every_convention(tmp_path: Path, capsys: Any) -> None:
    status, out, err = run(BANDIT, tmp_path, capsys, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["preset"] == "trl-0.16"
    assert found["conventions"]["eps"] == 1e-6
    assert found["conventions"]["kl"] == "k3"
    assert found["optimizer"]["adam"]["beta2"] == 0.999
    assert (found["mu"], found["beta"], found["group_size"]) == (0.9, 0.04, 4)
    assert found["lag"] == {"model": "sawtooth", "refresh": 2}
    assert (found["rows"], found["overflows"]) == (60, [])
    assert found["last"]["step"] == 38


def test_all_conventions_can_be_spelt_out(tmp_path: Path, capsys: Any) -> None:
    head, tail = BANDIT.split("[conventions]")[0], BANDIT.split("[update]")[1]
    status, out, err = run(head + ALL_CONVENTIONS + tail, tmp_path, capsys, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["preset"] is None
    assert found["conventions"]["clip"] == [0.2, 0.28]
    assert found["conventions"]["log_ratio_clamp"] is None


def test_an_overflow_is_reported_with_its_step(tmp_path: Path, capsys: Any) -> None:
    out, figure = tmp_path / "rows.csv", tmp_path / "figure.svg"
    text = LINEAR.replace("x = 0.05", "x = 9").replace("steps = 60", "steps = 2000")
    status, printed, err = run(text, tmp_path, capsys, "--out", str(out), "--plot", str(figure))
    assert (status, err) == (1, "")
    plain = simulate_linear(
        "heavy-ball", ConstantLag(3), mu=0.9, x=9.0, stale_share=0.5, steps=2000
    )
    step = int(plain.overflow_step)
    assert step > 0
    assert f"2 of 2 chains left the floating-point range, the first (chain 0) at step {step};" in (
        " ".join(printed.split())
    )
    assert [row["step"] for row in rows(out)][-1] == step - 1
    assert "nan" not in out.read_text("utf-8")
    assert "inf" not in out.read_text("utf-8")
    status, printed, err = run('rows = "mean"' + text, tmp_path, capsys, "--json")
    assert json.loads(printed)["overflows"][1] == {"chain": 1, "step": step}


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--out", "rows.txt"], "give a name that ends in .csv or .jsonl"),
        (["--out", "rows"], "give a name that ends in .csv or .jsonl"),
        (["--plot", "figure.pdf"], "give a name that ends in .svg or .png"),
        (["--out", "nowhere/rows.csv"], "there is no directory"),
        (["--out", "folder.csv"], "not a regular file"),
        (["--out", "run.csv"], "is the run file itself"),
        (["--frobnicate"], "unknown option"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused(
    flags: list[str], words: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.csv").mkdir()
    run_file = tmp_path / ("run.csv" if "run.csv" in flags else "run.toml")
    run_file.write_text(LINEAR)
    try:
        status = cli.main(["simulate", str(run_file), *flags])
    except SystemExit as leaving:
        status = int(leaving.code or 0)
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"folder.csv", run_file.name}


def test_a_missing_file_is_refused(tmp_path: Path, capsys: Any) -> None:
    assert cli.main(["simulate", str(tmp_path / "none.toml")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_a_link_is_followed_and_stays(tmp_path: Path, capsys: Any) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    run(LINEAR, tmp_path, capsys, "--out", str(link))
    assert link.is_symlink()
    assert len(rows(real)) == 122


def test_names_are_the_same_everywhere() -> None:
    assert numerics.runs.SUFFIXES == simulate_command.SUFFIXES
    assert numerics.runs.PLOT_SUFFIXES == simulate_command.PLOT_SUFFIXES
    assert tuple(predict_command.STALENESS.values()) == numerics.predict.STALENESS
    assert numerics.simulation.STALENESS == numerics.predict.STALENESS
    assert tuple(numerics.predict.PARAMETERS) == predict_command.PARAMETERS
    assert dict(numerics.runs.scalar.PARAMETERS) == dict(numerics.predict.PARAMETERS)
