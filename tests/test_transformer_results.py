"""The runs that are kept with the package: complete, judged as expected, drawn without torch."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from numerics.experiments.transformer import RESULTS, Findings, Found, chosen, look
from numerics.experiments.transformer.run import load

EXPERIMENTS = [experiment.id for experiment in chosen(())]


@pytest.fixture(scope="module")
def found() -> dict[str, Found]:
    return {one.id: look(one, RESULTS, quick=False) for one in chosen(())}


def test_the_findings_are_the_expected_ones(found: dict[str, Found]) -> None:
    """Each row agrees or differs as the plan lists; nothing listed is without a row."""
    findings = Findings(tuple(found.values()), quick=False)
    assert findings.surprises == ()
    assert "torch" not in sys.modules


def test_the_readme_quotes_the_runs(found: dict[str, Found]) -> None:
    """Its caption has the measured and the predicted steps at G = 2, and those without G."""
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    rows = {row.theory: row for row in found["E1"].rows if row.case == "one-token, 2 answers, G 2"}
    said = re.findall(r"runs take (\d+) steps, the finite-group drift says (\d+)", readme)
    assert said == [(f"{rows['exact'].measured:.0f}", f"{rows['exact'].predicted:.0f}")]
    assert f"without G it would be {rows['source'].predicted:.0f}" in readme


def test_enough_was_run(found: dict[str, Found]) -> None:
    """E1 and E2: eight seeds or more of every task and group size from 2 to 64."""
    for name in ("E1", "E2"):
        seeds = Counter(
            (run.setting.task, run.setting.answers, run.setting.group_size)
            for run in found[name].runs
        )
        assert {size for *_, size in seeds} == {2, 4, 8, 16, 64}
        assert min(seeds.values()) >= 8
    for one in found.values():
        assert min(row.seeds for row in one.rows) >= 5, one.experiment.id


def test_each_run_tells_what_ran_it(found: dict[str, Found]) -> None:
    """Versions, step size and gain; logits are finite, rewards are means of zeros and ones."""
    for one in found.values():
        for run in one.runs:
            assert run.versions["torch"].startswith("2.13.0")
            assert run.versions["trl"] == "1.16.0"
            assert run.facts["eta"] > 0
            assert run.facts["gain"] > 0
            assert np.isfinite(run.logit).all()
            assert ((run.reward >= 0) & (run.reward <= 1)).all()


def test_rewards_are_drawn_with_the_exact_probability(found: dict[str, Found]) -> None:
    """On-policy, reward minus p over its standard deviation; |z| < 6.11 in all of E1 together."""
    excess = variance = 0.0
    for run in found["E1"].runs:
        p = run.p[:-1, 0]
        excess += float((run.reward - p).sum())
        variance += float((p * (1 - p)).sum()) / run.setting.group_size
    assert abs(excess) < 6.11 * np.sqrt(variance)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_a_figure_and_a_headline(name: str, found: dict[str, Found]) -> None:
    """Drawn from the kept runs; the headline names one of the rows."""
    one = found[name]
    figures = one.figures()
    assert figures or name == "E5-reuse"  # two numbers are no figure
    assert all(svg.startswith("<svg style") for svg in figures.values())
    heads = [
        row
        for row in one.rows
        if f"{row.case} / {row.quantity} / {row.theory}" == one.experiment.headline
    ]
    assert len(heads) == 1


def test_the_kept_tables_are_small() -> None:
    """A megabyte and a half each at most, five together."""
    sizes = [path.stat().st_size for path in RESULTS.glob("*.csv")]
    assert len(sizes) == 2 * len(EXPERIMENTS)
    assert max(sizes) < 1_500_000
    assert sum(sizes) < 5_000_000


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_quick_plan_is_smaller(name: str) -> None:
    """Fewer steps in all, of the same experiments."""
    (experiment,) = chosen([name])
    full, quick = (
        sum(s.steps * s.group_size for s in experiment.settings(load(experiment, quick=q)))
        for q in (False, True)
    )
    assert 0 < quick < full / 4
