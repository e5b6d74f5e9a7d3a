"""The transformer lab without training: settings, tasks, the store, intervals, predictions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from numerics.dynamics import no_kl_path
from numerics.experiments.transformer import Findings, Found, chosen, look, markdown, render, table
from numerics.experiments.transformer.comparison import compare, mean_interval
from numerics.experiments.transformer.prompts import dead_fraction, one_coordinate
from numerics.experiments.transformer.run import load
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.store import Store
from numerics.experiments.transformer.tasks import TASKS, task
from numerics.experiments.transformer.theory.scalar import crossing, drift, mean_path
from numerics.inputs import InvalidInput


def made(setting: Setting, logit: list[float], **facts: object) -> Run:
    """Return a run as if it had been done."""
    path = np.array(logit)[:, None] * np.ones(setting.prompts)
    return Run(
        setting, path, np.full(len(logit) - 1, 0.5), np.zeros(len(logit) - 1),
        {"gain": 1.0, "eta": setting.pace, **facts}, {"torch": "none"},
    )  # fmt: skip


def test_a_setting_is_read_as_it_was_written() -> None:
    """Two settings share a name exactly when they are equal."""
    one = Setting(p_ref=(0.1, 0.2), prompts=2, trl=(("num_iterations", 2),), measures=("a",))
    assert Setting.read(one.text) == one
    assert Setting.read(one.text).name == one.name
    assert one.name != replace(one, seed=1).name
    with pytest.raises(ValueError, match="no setting colour"):
        Setting.read(json.dumps({"colour": "red"}))


def test_tasks_are_right_where_they_say() -> None:
    """Every completion of every task, against the rule in words."""
    for name in TASKS:
        work = task(name, answers=8, prompts=4)
        for n, prompt in enumerate(work.prompts):
            for completion in work.completions:
                words = " ".join(work.answers[place] for place in completion)
                want = n.bit_count() % 2 if name == "parity" else n % 4
                got = sum(completion) % (2 if name == "parity" else 4)
                assert work.reward(prompt, words) == float(got == want)
    assert task("one-token", answers=2, prompts=1).right.tolist() == [[True, False]]


@pytest.mark.parametrize(
    ("name", "answers", "prompts", "says"),
    [
        ("one-tokn", 2, 1, "one-token"),
        ("one-token", 3, 1, "multiple of 4"),
        ("one-token", 2, 0, "1 or more"),
        ("parity", 2, 3, "power of two"),
    ],
)
def test_tasks_refuse_by_name(name: str, answers: int, prompts: int, says: str) -> None:
    """What is not a task is refused, and what would be is said."""
    with pytest.raises(InvalidInput, match=says):
        task(name, answers=answers, prompts=prompts)


def test_runs_survive_an_interruption(tmp_path: Path) -> None:
    """What is kept before the end is found again, and the tables hold the same."""
    settings = [Setting(seed=seed, steps=2) for seed in range(3)]
    runs = [made(setting, [0.0, 0.25, -1.5]) for setting in settings]
    store = Store(tmp_path / "runs", "E0")
    store.keep(runs[0])
    store.keep(runs[2])
    assert set(Store(tmp_path / "runs", "E0").runs(settings)) == {settings[0], settings[2]}
    assert Store(tmp_path / "runs", "E1").runs(settings) == {}
    store.keep(runs[1])
    store.close(store.runs(settings).values())
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "E0.paths.csv",
        "E0.runs.csv",
    ]
    again = Store(tmp_path / "runs", "E0").runs(settings)
    for run in runs:
        found = again[run.setting]
        np.testing.assert_allclose(found.logit, run.logit, rtol=1e-4)
        assert (found.facts, found.versions) == (run.facts, run.versions)
    other = replace(settings[0], pace=0.2)
    assert Store(tmp_path / "runs", "E0").runs([other]) == {}


def test_a_table_of_other_columns_is_refused(tmp_path: Path) -> None:
    """Not read as if it were one."""
    (tmp_path / "E0.runs.csv").write_text("run,what\na,b\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"has columns run, what; give run, setting"):
        Store(tmp_path, "E0").runs([Setting()])


def test_intervals_hold_as_often_as_they_say() -> None:
    """Student's t on 5 values: 2000 intervals at 90 %, misses binomial, |z| < 6.11."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(2000):
        _, low, high = mean_interval(rng.normal(3.0, 2.0, 5), confidence=0.9)
        held += low <= 3.0 <= high
    assert abs(held - 1800) / math.sqrt(2000 * 0.9 * 0.1) < 6.11
    with pytest.raises(InvalidInput, match="at least 2 seeds"):
        mean_interval([1.0], confidence=0.9)


def test_rows_share_the_confidence_and_tell_a_miss() -> None:
    """Theories of one measurement share an interval; more intervals make each wider."""
    values = [1.0, 1.1, 0.9, 1.05]
    rows = compare("E0", [("a", "q", "exact", 1.0, values), ("a", "q", "rival", 2.0, values)])
    assert [row.agrees for row in rows] == [True, False]
    assert rows[1].off == pytest.approx(1.0125 / 2 - 1)
    alone = rows[0].high - rows[0].low
    more = compare("E0", [(case, "q", "exact", 1.0, values) for case in "abcd"])
    assert more[0].high - more[0].low > 1.3 * alone


def test_the_scalar_theory_of_constant_gain_is_the_closed_form() -> None:
    """Large groups, a small pace: p follows theory section 3, point 10."""
    pace, steps = 0.01, 2000
    run = made(
        Setting(pace=pace, steps=steps), [math.log(0.05 / 0.95)],
        gain_at=[-8.0, 8.0], gain_along=[1.0, 1.0],
    )  # fmt: skip
    times = np.arange(steps + 1)
    for normaliser in ("group-std", "none"):
        path = mean_path(run, drift(None, normaliser))
        name = {"group-std": "std", "none": "mean"}[normaliser]
        closed = no_kl_path(name, eta=pace, p=0.05, t=times).success
        np.testing.assert_allclose(1 / (1 + np.exp(-path)), closed, atol=2e-3)
    large = mean_path(run, drift(4096, "group-std"))
    np.testing.assert_allclose(large, mean_path(run, drift(None, "group-std")), atol=0.02)


def test_momentum_and_gain_enter_the_scalar_theory() -> None:
    """A constant drift: heavy ball is 1/(1 - mu) faster and mu/(1 - mu) steps behind."""
    for gain in (1.0, 4.0):
        run = made(
            Setting(pace=0.01 / gain, mu=0.9, steps=400), [0.0],
            gain_at=[-1.0, 1e4], gain_along=[gain, gain],
        )  # fmt: skip
        path = mean_path(run, lambda logit: 1.0)
        speed = path[-1] - path[-2]
        assert speed == pytest.approx(0.01 / (1 - 0.9))
        assert 400 - path[-1] / speed == pytest.approx(0.9 / (1 - 0.9), rel=1e-6)
    with pytest.raises(InvalidInput, match="gain-along"):
        mean_path(made(Setting(), [0.0]), lambda logit: 1.0)


def test_a_crossing_lies_between_steps() -> None:
    """By a straight line; at once, or never."""
    path = np.array([0.0, 1.0, 3.0])
    assert crossing(path, 2.0) == 1.5
    assert crossing(path, -1.0) == 0.0
    assert math.isnan(crossing(path, 4.0))


def test_dead_groups_of_unequal_prompts_are_more_than_of_the_mean_prompt() -> None:
    """Jensen: p**G + (1 - p)**G is convex."""
    p = np.array([[0.05, 0.5, 0.95]])
    assert dead_fraction(p, 4).mean() > dead_fraction(p.mean(1), 4)[0]
    assert dead_fraction(np.array([0.5]), 2) == 0.5


def test_one_coordinate_is_the_scalar_theory_of_the_mean_prompt() -> None:
    """With equal prompts and constant gain it is the mean path of each."""
    setting = Setting(prompts=2, pace=0.2, steps=50, group_size=8)
    run = made(setting, [-1.0, -0.9], gain_at=[-8.0, 8.0], gain_along=[1.0, 1.0])
    one = made(replace(setting, prompts=1, pace=0.1), [-1.0], gain_at=[-8.0, 8.0],
               gain_along=[1.0, 1.0])  # fmt: skip
    path = mean_path(one, drift(8, "group-std"))
    np.testing.assert_allclose(one_coordinate(run), 1 / (1 + np.exp(-path)), rtol=1e-9)


def _as_theory_says(experiment_id: str, factor: float = 1.0) -> Found:
    """Return the quick experiment with runs that follow the mean path at `factor` of its pace."""
    (experiment,) = chosen([experiment_id])
    runs = []
    for setting in experiment.settings(load(experiment, quick=True)):
        plain = made(setting, [math.log(0.1 / 0.9)], gain_at=[-8.0, 8.0], gain_along=[1.0, 1.0])
        moved = replace(plain, facts=plain.facts | {"eta": setting.pace * factor})
        wobble = 1e-3 * math.sin(7 * setting.seed + setting.group_size)
        path = mean_path(moved, drift(setting.group_size, setting.normaliser)) + wobble
        runs.append(replace(plain, logit=path[:, None]))
    return Found(experiment, tuple(runs), tuple(experiment.rows(runs)))


@pytest.mark.parametrize("experiment", ["E1", "E2"])
def test_group_sizes_agree_with_their_own_theory_only(experiment: str) -> None:
    """Runs made by the finite-group drift agree with it; the others and other runs do not."""
    exact = {row.agrees for row in _as_theory_says(experiment).rows if row.theory == "exact"}
    assert exact == {True}
    small = [row for row in _as_theory_says(experiment).rows if row.case.endswith("G 2")]
    assert {row.agrees for row in small if row.theory != "exact"} == {False}
    assert not any(row.agrees for row in _as_theory_says(experiment, 1.2).rows
                   if row.theory == "exact")  # fmt: skip


def test_findings_are_told_in_every_form() -> None:
    """Text, CSV, Markdown and JSON hold the same rows; a surprise is told."""
    found = _as_theory_says("E2")
    findings = Findings((found,), quick=False)
    assert findings.as_expected == (not findings.surprises)
    text = render(findings)
    assert "E2  group size and the mean path, mean only" in text
    assert len(table(findings).splitlines()) == 1 + len(found.rows)
    assert markdown(findings).count("\n") == 3
    assert json.loads(json.dumps(findings.json()))["experiments"][0]["runs"] == len(found.runs)
    off = Findings((_as_theory_says("E2", 1.2),), quick=True)
    assert not off.as_expected
    assert "not as expected: E2 / one-token, 2 answers, G 2" in render(off)


def test_missing_runs_are_counted(tmp_path: Path) -> None:
    """A directory without the runs of the plan is refused."""
    (experiment,) = chosen(["E2"])
    with pytest.raises(InvalidInput, match="6 of the 6 runs of E2 are not there"):
        look(experiment, tmp_path, quick=True)


def test_figures_are_drawn_the_same_twice() -> None:
    """SVG with a ground of its own."""
    found = _as_theory_says("E1")
    one, two = found.figures(), found.figures()
    assert one == two
    assert one["transformer_group_size.svg"].startswith("<svg style")
