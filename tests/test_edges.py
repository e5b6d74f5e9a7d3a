"""What people get wrong, and the ends of the domain, outside `numerics.dynamics`.

Ordinary mistakes end in one line of `InvalidInput`, whichever function they are made in.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numerics import cli, dynamics
from numerics.commands import predict as predict_command
from numerics.inputs import InvalidInput, exact_number
from numerics.predict import predict, random_lag
from numerics.publish import OutputError, staged
from numerics.simulation import (
    STALENESS,
    ConstantLag,
    GaussianNoise,
    GivenLags,
    Measure,
    simulate_chains,
    simulate_linear_chains,
    two_arm_drift,
)
from numerics.simulation.bandit import (
    AdvantageConventions,
    Bandit,
    Conventions,
    advantages,
    preset,
    simulate_bandit,
)
from numerics.simulation.response import linear_response
from numerics.sweep import product, sweep, zipped

RUN: dict[str, Any] = {"mu": 0.5, "x": 0.1, "stale_share": 1}
RAGGED = [[1.0, 2.0], [3.0]]
BANDIT = Bandit(rewards=[[1, 0]], reference_logits=-2.0, coordinates="one-logit")


def paper(staleness: str) -> Conventions:
    return preset("paper", staleness=staleness).conventions


def chains(**changed: Any) -> Any:
    common: dict[str, Any] = {**RUN, "initial": 0, "steps": 9, "chains": 2, "seed": 1}
    return simulate_linear_chains("ema", ConstantLag(1), **{**common, **changed})


def bandits(conventions: Conventions = paper("stale-samples"), **changed: Any) -> Any:  # noqa: B008
    common: dict[str, Any] = {
        "eta": 0.1, "mu": 0.9, "beta": 1.0, "group_size": 4, "initial": [-2.0], "steps": 9,
        "chains": 1, "seed": 1, "record_every": 1,
    }  # fmt: skip
    return simulate_bandit(
        BANDIT, conventions, "heavy-ball", ConstantLag(1), **{**common, **changed}
    )


def predicted(**changed: Any) -> dict[str, Any]:
    common: dict[str, Any] = {
        "optimizer": "ema", "lag_model": "constant", "lag": 2, "momentum": Fraction(1, 2),
    }  # fmt: skip
    return predict(**{**common, **changed})


ETA = {"eta": 0.1, "beta": 2, "p_star": 0.5, "staleness": "stale-samples", "parameters": "logit"}
RANDOM = {"lag_model": "random", "lag": None, "x": 0.1}

MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: dynamics.stable("ema", mu=0.5, x=RAGGED, stale_share=1, lag=1), "x has rows of diff"),
    (lambda: dynamics.stable("ema", **RUN, lag=[[1, 2], [3]]), "lag has rows of different"),
    (lambda: dynamics.path("ema", **RUN, lag=1, times=[[1, 2], [3]]), "times has rows"),
    (lambda: dynamics.logged_oscillation(period=3, every=[[1, 2], [3]], logged="sampled"),
     "every has rows"),
    (lambda: dynamics.path("ema", **RUN, lag=1, times=3, initial=([1, 1], 0)), "give a State"),
    (lambda: dynamics.RandomLag("ema", 0.5, 1, None), "lag_law is None: give prob"),
    (lambda: dynamics.RandomLag("ema", 0.5, 1, "ab"), "lag_law is 'ab': give prob"),
    (lambda: dynamics.RandomLag("ema", 0.5, 1, (None, 1)), "lag_law is None: give a real"),
    (lambda: dynamics.RandomLag("ema", 0.5, 1, (True,)), "lag_law is True: give a real"),
    (lambda: dynamics.RandomLag("ema", 0.5, 1, (np.nan, 1)), "lag_law is nan: give a finite"),
    (lambda: Bandit(rewards=[[1, 0], [1]], reference_logits=0, coordinates="free-logits"),
     "rewards has rows of different lengths"),
    (lambda: advantages(RAGGED, paper("stale-samples")), "rewards has rows of different"),
    (lambda: advantages([1.0, 0.0], preset("trl-1.16")), "or the conventions of a preset"),
    (lambda: bandits(group_size=2**63), "give up to 1000000000, or None for G to infinity"),
    (lambda: bandits(keep=None), "keep is None: give names of"),
    (lambda: chains(noise=1.0), r"noise is 1.0: give a GaussianNoise\(std"),
    (lambda: chains(measure="x"), "measure is 'x': give a Measure, or None"),
    (lambda: simulate_chains(lambda a, b: -a, "ema", ConstantLag(1), eta=1, mu=0, initial=0,
                             steps=2, chains=1, noise="x"), "noise is 'x'"),
    (lambda: GivenLags(3), "lags is 3: give a sequence of whole numbers >= 0"),
    (lambda: Measure(autocovariance_lags=5), "autocovariance_lags is 5: give a sequence"),
    (lambda: sweep(dict, 3), "parameters is 3: give parameter sets"),
    (lambda: sweep(3, [{}]), "function is 3: give what each parameter set"),
    (lambda: product(a=1), "a is 1: give the values of that axis"),
    (lambda: zipped(a=1), "a is 1: give the values of that axis"),
    (lambda: predicted(tau=np.inf), "tau is inf: give a finite"),
    (lambda: predicted(tau="10"), "tau is '10': give a real number"),
    (lambda: predicted(**{**ETA, "p_star": "0.5"}), "p_star is '0.5': give a real number"),
    (lambda: predicted(x=0.1, times="10"), "times is '10': give a sequence of times"),
    (lambda: predicted(x=0.1, times=[-1]), "times holds -1: the start from rest is at 0"),
    (lambda: predicted(x=0.1, times=["1"]), "times is '1': give a real number"),
    (lambda: predicted(x=0.1, foo=1), "setting 'foo' is unknown"),
    (lambda: predicted(x=0.1, p_stra=1), r"did you mean 'p_star'\?"),
    (lambda: predicted(**RANDOM, lag_law=["a"]), "lag_law is 'a': give a real number"),
    (lambda: exact_number("n", True), "n is True: give a real number"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "words"), MISTAKES)
def test_an_ordinary_mistake_is_refused_in_one_line(
    mistake: Callable[[], Any], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        mistake()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("law", ["ab", 1, [], None])
def test_a_lag_law_that_is_none_is_asked_for(law: Any) -> None:
    with pytest.raises(ValueError, match="the random lag model needs lag_law"):
        predicted(**RANDOM, lag_law=law)


def test_floats_do_as_well_as_fractions() -> None:
    exact = {name: value if isinstance(value, str) else Fraction(value) for name, value in
             {**ETA, "eta": 0.125, "beta": 2.0}.items()}  # fmt: skip
    assert predicted(**{**ETA, "eta": 0.125}, times=[1.0]) == predicted(**exact, times=[1])
    assert predicted(**RANDOM, lag_law=np.array([0.5, 0.5])) == predicted(
        **RANDOM, lag_law=[Fraction(1, 2)] * 2
    )


# the mean field where a policy is certain


@pytest.mark.parametrize("staleness", STALENESS)
def test_a_policy_that_is_certain_has_no_advantage(staleness: str) -> None:
    drift = two_arm_drift(staleness, beta=2, theta_ref=-2.0)
    ends = np.array([-800.0, 800.0])
    assert drift(800.0, 800.0) == 0
    assert drift(ends, ends).tolist() == [0, 0]
    pulled = drift(np.ones(2), ends)  # nothing but the KL gradient, at theta or at theta_old
    p = 1 / (1 + np.exp(-1.0))
    wanted = 0.0 if staleness == "delayed-gradient" else -2 * p * (1 - p) * 3
    assert pulled.tolist() == pytest.approx([wanted, wanted], rel=1e-14)


@pytest.mark.parametrize("staleness", STALENESS)
def test_the_mean_field_goes_where_the_bandit_of_infinite_groups_does(staleness: str) -> None:
    """Both leave |theta| = 700 behind after a step, and neither overflows."""
    found = simulate_chains(
        two_arm_drift(staleness, beta=2, theta_ref=-2.0), "heavy-ball", ConstantLag(1),
        eta=5e3, mu=0.9, initial=-2.0, steps=9, chains=1, record_every=1,
    )  # fmt: skip
    bandit = bandits(paper(staleness), eta=5e3, beta=2.0, group_size=None, keep=["parameters"])
    assert not found.overflowed
    assert found.path[-1, 0] > 1e3
    assert found.path[:-1, 0] == pytest.approx(bandit.parameters[:, 0, 0], rel=1e-12)


def test_raw_groups_of_one_have_no_std_of_the_batch() -> None:
    how = {"baseline": "group-mean", "eps": 1e-4, "eps_in": "std", "ddof": 0}
    raw = AdvantageConventions(**how, normaliser="none", group_of_one="raw")
    assert advantages([[1.0], [1.0]], raw).tolist() == [[1], [1]]
    batch = AdvantageConventions(**how, normaliser="batch-std", group_of_one="raw")
    with pytest.raises(InvalidInput, match="group_size is 1 and normaliser 'batch-std'"):
        advantages([[1.0], [1.0]], batch)
    assert advantages([[1.0, 1.0], [1.0, 0.0]], batch).shape == (2, 2)


def test_a_constant_drift_is_not_said_to_die_out() -> None:
    with pytest.raises(InvalidInput, match="the drift flattens out instead of") as refused:
        linear_response(lambda a, b: np.ones_like(a), 0.0)
    assert "dies out" not in str(refused.value)


# files


def test_nothing_is_published_where_a_directory_stands_in_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "b.json").mkdir()

    def publish() -> None:
        with staged(tmp_path) as scratch:
            for name in ("a.csv", "b.json"):
                (scratch / name).write_text("new")

    with pytest.raises(OutputError, match=r"b\.json is a directory"):
        publish()
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]


def test_the_experiment_is_not_begun_where_it_cannot_be_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("numerics.experiments.bandit.make", lambda **_: pytest.fail("begun"))
    (tmp_path / "bandit.json").mkdir()
    assert cli.main(["experiment", "bandit", "--quick", "--out", str(tmp_path)]) == 2
    assert "bandit.json is a directory where a file" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["bandit.json"]


# words of the command line


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    try:
        status = cli.main(list(arguments))
    except SystemExit as left:
        status = int(left.code or 0)
    printed = capsys.readouterr()
    assert status == (0 if "--help" in arguments else 2)
    return printed.out if "--help" in arguments else printed.err


def test_eta_asks_for_flags_with_their_values(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["--optimizer", "ema", "--momentum", "0.9", "--lag-model", "constant", "--lag", "1"]
    found = said(capsys, "predict", *run, "--eta", "0.1", "--beta", "2", "--p-ref", "0.1")
    assert "--eta needs --staleness delayed, samples or ratio and --parameters logit or" in found


def test_how_long_a_lag_law_may_be_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert predict_command.LONGEST_LAW == random_lag.LONGEST_LAW
    assert "A --lag-law reaches to lag 128 at most." in said(capsys, "predict", "--help")


def test_noise_is_taken_where_it_is_noise() -> None:
    assert chains(noise=GaussianNoise(std=1.0, enters="gradient")).path.shape == (1, 2)
