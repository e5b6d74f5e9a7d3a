"""The figures of the explanation: committed as the code draws them, shown, and true."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from numerics.dynamics import no_kl_path
from numerics.explanation import FIGURES, figures, group_size, story
from numerics.plots import panel
from numerics.report import generated
from numerics.simulation import ConstantLag, Measure, simulate_two_arm_chains

DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    return figures()


def outlines(svg: str) -> np.ndarray:
    """Return ends and extent of every curve, as fractions of the axes it is drawn in.

    Where the axes lie depends on the version of the plotting library; where a curve lies in them
    does not.
    """
    box = re.search(r'-patch_2">\s*<path d="([^"]*)"', svg)
    assert box
    corners = vertices(box[1])
    low, size = corners.min(axis=0), np.ptp(corners, axis=0)
    curves = [vertices(d) for d in re.findall(r'<path d="([^"]*)" clip-path', svg)]
    assert curves
    return np.array([
        (np.array([c[0], c[-1], c.min(axis=0), c.max(axis=0)]) - low) / size for c in curves
    ])  # fmt: skip


def vertices(path: str) -> np.ndarray:
    return np.array(re.findall(r"-?[\d.]+", path), dtype=float).reshape(-1, 2)


@pytest.mark.parametrize("name", FIGURES)
def test_the_committed_figure_is_what_the_code_draws(name: str, drawn: dict[str, str]) -> None:
    committed = outlines((DOCS / "figures" / f"{name}.svg").read_text("utf-8"))
    now = outlines(drawn[f"{name}.svg"])
    assert committed.shape == now.shape, "run grpo-dynamics report --update"
    assert np.abs(committed - now).max() < 2e-3, "run grpo-dynamics report --update"


def test_a_figure_of_other_numbers_is_noticed(
    drawn: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(story, "_DECAY", 0.021)
    other = outlines(panel("explain_inertia", FIGURES["explain_inertia"]))
    assert np.abs(other - outlines(drawn["explain_inertia.svg"])).max() > 2e-3


def test_every_figure_is_shown_once_and_described() -> None:
    pages = [path.read_text("utf-8") for path in (DOCS / "explanation").glob("*.md")]
    shown = re.findall(r"!\[([^\]]*)\]\(\.\./figures/([^)]*)\.svg\)", "\n".join(pages))
    assert sorted(name for _, name in shown) == sorted(FIGURES)
    assert all(len(alt) > 60 for alt, _ in shown)
    assert sorted(path.stem for path in (DOCS / "figures").glob("explain_*.svg")) == sorted(FIGURES)


def test_a_missing_figure_is_drift(tmp_path: Path) -> None:
    (part,) = (part for part in generated.PARTS if part.folder == "docs/figures")
    assert "docs/figures/explain_inertia.svg: missing" in part.drift(tmp_path)
    assert part.drift(DOCS.parent) == []


def test_figures_stand_alone_on_their_own_ground(drawn: dict[str, str]) -> None:
    for name in drawn:
        head = (DOCS / "figures" / name).read_text("utf-8")[:60]
        assert head.startswith('<svg style="background:#fff"'), name


# --- what the figures compute --------------------------------------------------------------------


@pytest.mark.parametrize("p_end", [0.3, 0.9])
def test_a_very_large_group_takes_the_closed_form_s_time(p_end: float) -> None:
    steps = group_size.time_to(p_end, 0.05, 100_000, eta=0.1, ddof=0)
    assert no_kl_path("std", eta=0.1, p=0.05, t=steps).success == pytest.approx(p_end, rel=2e-4)


def test_a_group_of_two_takes_the_time_of_a_mean_only_run() -> None:
    """G = 2 pushes by 1/2 where the two differ: d theta/dt = eta p (1-p), as without division."""
    steps = group_size.time_to(0.5, 0.05, 2, eta=0.1, ddof=0)
    assert no_kl_path("mean", eta=0.1, p=0.05, t=steps).success == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize("size", [8, 128])
def test_the_bands_hold_what_is_sampled(size: int) -> None:
    """Mean and deviation of sampled chains lie where the figure's bands are put."""
    run = simulate_two_arm_chains(
        "stale-samples", "heavy-ball", ConstantLag(0), group_size=size, normaliser="std", ddof=0,
        eps=0, beta=2.0, theta_ref=0.0, eta=0.02, mu=0.9, initial=1.1, steps=4000, chains=60,
        seed=3, measure=Measure(2000),
    )  # fmt: skip
    assert run.statistics is not None
    point, spread = story.settles(size)
    means = run.statistics.mean
    error = means.std(ddof=1) / math.sqrt(len(means))
    # Beyond the linear theory the mean moves by a part of the variance.
    assert abs(means.mean() - point) < spread**2 + 5 * error
    deviation = math.sqrt(run.statistics.variance.mean())
    assert deviation == pytest.approx(spread, rel=0.03)
