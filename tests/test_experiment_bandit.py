"""The bandit experiment: what it finds, what it would refuse to find, and what it writes."""

from __future__ import annotations

import csv
import math
import re
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from schema_check import check

from numerics.commands import experiment as command
from numerics.commands.arguments import Parser
from numerics.exact import Configuration, onset, threshold
from numerics.experiments import bandit
from numerics.experiments.bandit import figure
from numerics.experiments.bandit.locate import climb, locate
from numerics.experiments.bandit.plan import Search, load
from numerics.experiments.bandit.run import Experiment
from numerics.experiments.bandit.systems import _by_mode
from numerics.experiments.bandit.verdicts import CLAIMS, judge
from numerics.inputs import InvalidInput
from numerics.kernels import staleness as slopes
from numerics.report import OutputError
from numerics.simulation import ConstantLag
from numerics.simulation.bandit import Bandit, Conventions, mean_gradient
from numerics.simulation.response import linear_response


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Experiment, Path, int]:
    """One quick run of the command: what it made, where it wrote it, its exit status."""
    out = tmp_path_factory.mktemp("experiment") / "bandit"
    made: list[Experiment] = []
    make = bandit.make
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bandit, "make", lambda **given: made.append(make(**given)) or made[0])
        status = command.run(arguments("bandit", "--quick", "--out", str(out)))
    return made[0], out, status


def arguments(*given: str) -> Namespace:
    parser = Parser(prog="grpo-dynamics")
    parser.add_commands({"experiment": ("experiments", command.configure)})
    return parser.parse_args(["experiment", *given])


def test_every_verdict_is_the_expected_one_and_every_expected_one_is_given(
    done: tuple[Experiment, Path, int],
) -> None:
    experiment, _, status = done
    found = {verdict.id: verdict.word for verdict in experiment.verdicts}
    assert len(found) == len(experiment.verdicts)
    assert found == dict(experiment.plan.expected) == dict(load(quick=False).expected)
    assert {verdict.claim for verdict in experiment.verdicts} == set(CLAIMS) == {"p14", "p15"}
    assert set(found.values()) == {"holds", "refuted"}
    assert status == 0


def test_borders_agree_with_the_exact_map_at_slopes_that_were_not_measured(
    done: tuple[Experiment, Path, int],
) -> None:
    experiment, _, _ = done
    search = experiment.plan.search
    missing = 0
    for case in experiment.cases:
        kernel = getattr(slopes, case.staleness.replace("-", "_"))
        fresh, stale, stiffness, share = map(float, kernel(beta=case.beta, p_star=case.p_star))
        assert math.isclose(case.stiffness, stiffness, rel_tol=1e-11)
        assert abs(case.fresh - fresh) < 1e-12
        assert abs(case.stale - stale) < 1e-12
        schedule = vars(case.schedule)
        model = "constant" if "lag" in schedule else "sawtooth"
        run = Configuration("heavy-ball", model, case.mu, share, **schedule)
        exact = threshold(run).value  # the quick lags have no window too narrow to be seen
        assert abs(case.run.threshold / exact - 1) <= search.width / 2
        assert abs(case.tangent.threshold / exact - 1) <= 1e-7
        begins = onset(run)
        if begins is None:
            missing += 1
            assert case.run.onset is case.tangent.onset is None
            continue
        early, late = case.sight
        assert abs(case.tangent.onset / begins - 1) <= 1e-7
        assert early - search.width / 2 <= case.run.onset / begins - 1 <= late + search.width / 2
        assert abs(case.run.onset / begins - 1) <= search.onset_tolerance
    assert missing == 4  # p_star on the side where the lag adds damping, sawtooth, no momentum


def test_theorem_7_is_off_by_what_the_theory_says(done: tuple[Experiment, Path, int]) -> None:
    experiment, _, _ = done
    ranges = {verdict.id: verdict.ranges for verdict in experiment.verdicts}
    width = experiment.plan.search.width
    # mu = 0: Levin-May's 2 sin(pi/18) against 1/4 at lag 4, the rule exact at lag 1.
    low, high = ranges["p15/theorem-7/delayed-gradient/constant"]["threshold"]
    assert abs(low - 1) <= width
    assert abs(high / (8 * math.sin(math.pi / 18)) - 1) <= width
    # Sawtooth: at least twice the rule, exactly twice without momentum.
    low, high = ranges["p15/theorem-7/delayed-gradient/sawtooth"]["threshold"]
    assert abs(low / 2 - 1) <= width
    assert high > 4
    # Where the lag adds damping theorem 7 has no threshold, and the map has one.
    verdicts = {verdict.id: verdict for verdict in experiment.verdicts}
    assert verdicts["p15/theorem-7/stale-samples-ratio/constant"].unforeseen >= 4


def test_two_arms_are_one_scalar_and_more_are_not(done: tuple[Experiment, Path, int]) -> None:
    experiment, _, _ = done
    for row in experiment.systems:
        if row.system == "two arms, two free logits":
            assert len(row.rates) == 1
            assert math.isclose(row.rates[0], row.stiffness, rel_tol=1e-10)
            assert row.commutator < 1e-12
            assert math.isclose(row.relaxation, row.scalar_relaxation, rel_tol=1e-5)
        else:
            assert len(row.rates) == 3
            assert row.rates[0] < row.stiffness < row.rates[-1]
            assert row.relaxation > 3 * row.scalar_relaxation
    worst = min(row.run.threshold / row.scalar.threshold for row in experiment.systems)
    assert worst < 0.05  # shares of opposite sign cancel in the mean, and only there


def test_beyond_the_threshold_runs_swing_or_escape(done: tuple[Experiment, Path, int]) -> None:
    experiment, _, _ = done
    kinds = {fate.kind for case in experiment.cases for fate in case.beyond}
    assert {"swings", "escapes"} <= kinds
    for case in experiment.cases:
        for fate in case.beyond:
            assert 0 <= fate.lowest <= fate.highest <= 1
            if fate.kind == "escapes":
                assert fate.lowest > 0.9 or fate.highest < 0.1


@pytest.mark.parametrize("border", ["threshold", "onset"])
def test_a_border_that_is_off_is_refuted(
    done: tuple[Experiment, Path, int], border: str
) -> None:
    experiment, _, _ = done
    first = experiment.cases[0]
    off = replace(first.run, **{border: getattr(first.run, border) * 1.03})
    cases = [replace(first, run=off), *experiment.cases[1:]]
    verdicts = judge(experiment.plan, cases, experiment.systems)
    changed = [
        verdict.id
        for verdict, before in zip(verdicts, experiment.verdicts, strict=True)
        if verdict.word != before.word
    ]
    assert changed == [f"p15/exact/{first.staleness}/constant"]
    missing = replace(first, run=replace(first.run, **{border: None}))
    again = judge(experiment.plan, [missing, *experiment.cases[1:]], experiment.systems)
    assert {v.id: v.word for v in again}[changed[0]] == "refuted"


def test_an_unexpected_verdict_fails_the_command_and_is_shown(
    done: tuple[Experiment, Path, int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    experiment, _, _ = done
    first, *rest = experiment.verdicts
    other = replace(experiment, verdicts=(replace(first, expected="refuted"), *rest))
    monkeypatch.setattr(bandit, "make", lambda **given: other)
    monkeypatch.setattr(figure, "figures", lambda experiment: {})
    assert command.run(arguments("bandit", "--quick", "--out", str(tmp_path / "there"))) == 1
    shown = capsys.readouterr().out
    assert "! expected: refuted" in shown
    assert "34 readings, 1 NOT as expected" in shown
    assert max(map(len, shown.splitlines()[:-1])) <= 80


def test_files_are_whole_and_say_the_same(
    done: tuple[Experiment, Path, int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    experiment, out, _ = done
    text = (out / "bandit.json").read_text("utf-8")
    data = check(text)
    assert data["as_expected"] is True
    assert [row["id"] for row in data["verdicts"]] == list(experiment.plan.expected)
    assert {row["rung"] for row in data["verdicts"]} == {"tested"}
    with (out / "bandit.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(data["cases"]) == len(experiment.cases)
    for row, case in zip(rows, experiment.cases, strict=True):
        assert float(row["threshold_run"]) == case.run.threshold
        assert (row["onset_run"] or None) == (case.run.onset and repr(case.run.onset))
    svgs = sorted(path.name for path in out.glob("*.svg"))
    assert len(svgs) == 13
    for name in svgs:
        assert ElementTree.parse(out / name).getroot().tag.endswith("svg")
    monkeypatch.setattr(bandit, "make", lambda **given: experiment)
    monkeypatch.setattr(figure, "figures", lambda experiment: {})
    command.run(arguments("bandit", "--json", "--out", str(tmp_path / "again")))
    assert capsys.readouterr().out == text


def test_the_page_of_findings_shows_figures_of_the_experiment(
    done: tuple[Experiment, Path, int],
) -> None:
    _, out, _ = done
    docs = Path(__file__).resolve().parent.parent / "docs"
    page = (docs / "findings.md").read_text("utf-8")
    shown = re.findall(r"\]\((figures/bandit_[^)]*\.svg)\)", page)
    assert len(shown) == 3
    for name in shown:
        assert (docs / name).is_file()
        assert (out / Path(name).name).is_file()


def test_nothing_half_done_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(**given: object) -> Experiment:
        raise KeyboardInterrupt

    monkeypatch.setattr(bandit, "make", interrupted)
    with pytest.raises(KeyboardInterrupt):
        command.run(arguments("bandit", "--out", str(tmp_path / "new")))
    assert list(tmp_path.iterdir()) == []
    taken = tmp_path / "file"
    taken.write_text("kept", encoding="utf-8")
    with pytest.raises(OutputError, match="is a file"):
        command.run(arguments("bandit", "--out", str(taken)))
    assert taken.read_text("utf-8") == "kept"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["bandi"], "unknown experiment 'bandi'; did you mean 'bandit'?"),
        (["bandit", "--quik"], "unknown option '--quik'; did you mean '--quick'?"),
        ([], "required: NAME"),
        (["bandit", "--out"], "--out: expected one argument"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(
    given: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        arguments(*given)
    error = capsys.readouterr().err
    assert left.value.code == 2
    assert error.count("\n") == 1
    assert message in error


SEARCH = Search(
    lowest=1e-3, highest=10.0, per_decade=20, sections=30, run_length=1, onset_tolerance=0.0
)


@pytest.mark.parametrize(("begins", "ends"), [(0.02, 0.5), (0.02, None), (None, 0.5), (0.49, 0.5)])
def test_the_search_finds_what_is_there(begins: float | None, ends: float | None) -> None:
    def probe(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return x > (ends or math.inf), (x > (begins or math.inf)) & (x <= (ends or math.inf))

    found = locate(probe, (2,), SEARCH).borders(1)
    for border, true in ((found.threshold, ends), (found.onset, begins)):
        if true is None:
            assert border is None
        else:
            assert abs(border / true - 1) <= SEARCH.width / 2
    finer = locate(probe, (2,), SEARCH, rounds=4).borders(0)
    assert finer.threshold is None or abs(finer.threshold / ends - 1) < 1e-7


def test_the_search_says_when_it_begins_too_late() -> None:
    def always(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(x.shape, bool), np.ones(x.shape, bool)

    with pytest.raises(InvalidInput, match=r"already at x = 0\.001: start lower"):
        locate(always, (1,), SEARCH)


def test_a_window_narrower_than_a_step_is_stepped_over() -> None:
    """The resolution is what it is said to be, and no better."""
    first, second = climb(SEARCH)[40:42]
    window = (first * 1.01, first * 1.02)
    assert window[1] < second

    def probe(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return ((x > window[0]) & (x < window[1])) | (x > 1), np.zeros(x.shape, bool)

    assert abs(locate(probe, (1,), SEARCH).borders(0).threshold - 1) <= SEARCH.width / 2
    assert SEARCH.step > window[1] / window[0] - 1


def test_a_mode_that_turns_is_no_scalar_theorys() -> None:
    """Real rewards over their deviation: K_f, K_s are not symmetric, a pair of modes is complex."""
    conventions = Conventions(
        baseline="group-mean", normaliser="group-std", ddof=0, eps=0.0, eps_in="std",
        group_of_one="refuse", staleness="delayed-gradient", clip=None, dual_clip=None,
        log_ratio_clamp=None, kl="reverse", over_prompts="sum",
    )  # fmt: skip
    arms = Bandit(
        rewards=np.array([[0.846, -0.223, -1.422]]),
        reference_logits=np.array([[-0.297, 2.047, 3.195]]),
        coordinates="free-logits",
    )

    def drift(theta: Any, theta_old: Any) -> Any:
        theta, theta_old = np.broadcast_arrays(theta, theta_old)
        shaped = (*theta.shape[:-1], 1, 3)
        return mean_gradient(
            arms, conventions, theta.reshape(shaped), theta_old.reshape(shaped),
            beta=1.094671018424243,
        ).reshape(theta.shape)  # fmt: skip

    response = linear_response(drift, np.ravel(arms.reference))
    assert max(abs(mode.rate.imag) for mode in response.modes) > 0.03
    with pytest.raises(ValueError, match="no scalar theory's"):
        _by_mode(load(quick=True), ConstantLag(1), 0.0, response, 1.0)
