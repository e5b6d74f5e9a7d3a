"""The named presets against what published releases do.

The table is transcribed from the project's notes on trainers (rows D1 to D22) and repeated here so
that the test needs no other file. Rows marked "release" are defaults read in the releases
themselves: torch's AdamW for what the trainers leave to it.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from numerics.inputs import InvalidInput, UnknownName
from numerics.simulation import STALENESS
from numerics.simulation.bandit import PRESETS, Adam, Conventions, preset

# (preset, where the value is, value, row)
TABLE: list[tuple[str, str, Any, str]] = [
    ("trl-1.16", "eps", 1e-4, "D11"),
    ("trl-1.16", "eps_in", "std", "D11"),
    ("trl-1.16", "ddof", 1, "D10"),
    ("trl-1.16", "baseline", "group-mean", "D12: leave-one-out is NeMo-RL's"),
    ("trl-1.16", "normaliser", "group-std", "D14"),
    ("trl-1.16", "group_of_one", "refuse", "D13"),
    ("trl-1.16", "staleness", "stale-samples-ratio", "D7"),
    ("trl-1.16", "clip", (0.2, 0.2), "D8"),
    ("trl-1.16", "dual_clip", None, "D8: verl's"),
    ("trl-1.16", "log_ratio_clamp", None, "D8: verl's"),
    ("trl-1.16", "kl", "k3-ratio", "D18"),
    ("trl-1.16", "over_prompts", "mean", "D21"),
    ("trl-1.16", "beta", 0.0, "D17"),
    ("trl-1.16", "mu", 0.9, "D1; release"),
    ("trl-1.16", "beta2", 0.999, "release"),
    ("trl-1.16", "adam_eps", 1e-8, "release"),
    ("trl-1.16", "weight_decay", 0.0, "release"),
    ("trl-1.16", "bias_correction", True, "release"),
    ("trl-0.16", "eps", 1e-4, "D11"),
    ("trl-0.16", "eps_in", "std", "D11"),
    ("trl-0.16", "ddof", 1, "D10"),
    ("trl-0.16", "baseline", "group-mean", "D12: leave-one-out is NeMo-RL's"),
    ("trl-0.16", "normaliser", "group-std", "D14"),
    ("trl-0.16", "group_of_one", "refuse", "D13"),
    ("trl-0.16", "staleness", "stale-samples-ratio", "D7"),
    ("trl-0.16", "clip", (0.2, 0.2), "D8"),
    ("trl-0.16", "dual_clip", None, "D8: verl's"),
    ("trl-0.16", "log_ratio_clamp", None, "D8: verl's"),
    ("trl-0.16", "kl", "k3", "D17, D18"),
    ("trl-0.16", "over_prompts", "mean", "D21"),
    ("trl-0.16", "beta", 0.04, "D17"),
    ("trl-0.16", "mu", 0.9, "D1; release"),
    ("trl-0.16", "beta2", 0.999, "release"),
    ("trl-0.16", "adam_eps", 1e-8, "release"),
    ("trl-0.16", "weight_decay", 0.0, "release"),
    ("trl-0.16", "bias_correction", True, "release"),
    ("verl-0.9", "eps", 1e-6, "D11"),
    ("verl-0.9", "eps_in", "std", "D11"),
    ("verl-0.9", "ddof", 1, "D10"),
    ("verl-0.9", "baseline", "group-mean", "D12: leave-one-out is NeMo-RL's"),
    ("verl-0.9", "normaliser", "group-std", "D14: norm_adv_by_std_in_grpo True"),
    ("verl-0.9", "group_of_one", "raw", "D13"),
    ("verl-0.9", "staleness", "stale-samples-ratio", "D7"),
    ("verl-0.9", "clip", (0.2, 0.2), "D8"),
    ("verl-0.9", "dual_clip", 3.0, "D8"),
    ("verl-0.9", "log_ratio_clamp", 20.0, "D8"),
    ("verl-0.9", "kl", "k3", "release: low_var_kl, with use_kl_loss"),
    ("verl-0.9", "over_prompts", "mean", "D21"),
    ("verl-0.9", "beta", 0.0, "D17: use_kl_loss False"),
    ("verl-0.9", "mu", 0.9, "D1; release"),
    ("verl-0.9", "beta2", 0.999, "release"),
    ("verl-0.9", "adam_eps", 1e-8, "release"),
    ("verl-0.9", "weight_decay", 0.01, "release"),
    ("verl-0.9", "bias_correction", True, "release"),
    ("paper", "baseline", "group-mean", "equation 1"),
    ("paper", "normaliser", "group-std", "equation 1"),
    ("paper", "ddof", 0, "equation 1"),
    ("paper", "eps", 0.0, "equation 1"),
    ("paper", "eps_in", "std", "equation 1"),
    ("paper", "group_of_one", "refuse", "equation 1 divides by the std"),
    ("paper", "staleness", "delayed-gradient", "given: equation 3"),
    ("paper", "clip", None, "equation 2"),
    ("paper", "dual_clip", None, "equation 2"),
    ("paper", "log_ratio_clamp", None, "equation 2"),
    ("paper", "kl", "reverse", "equation 2"),
    ("paper", "over_prompts", "mean", "equation 2: an expectation over prompts"),
    ("paper", "beta", None, "left open"),
    ("paper", "mu", None, "left open"),
]


def named(name: str) -> Any:
    return preset(name, staleness="delayed-gradient" if name == "paper" else None)


@pytest.mark.parametrize(("name", "what", "expected", "row"), TABLE)
def test_presets_are_the_table(name: str, what: str, expected: Any, row: str) -> None:
    given = named(name)
    places = [
        place for place in (given, given.conventions, given.optimizer) if hasattr(place, what)
    ]
    assert len(places) == 1, what
    found = getattr(places[0], what)
    assert (found, type(found)) == (expected, type(expected)), row


def test_the_table_is_complete() -> None:
    for name in PRESETS:
        rows = [what for preset_name, what, _, _ in TABLE if preset_name == name]
        expected = [field.name for field in fields(Conventions)] + ["beta", "mu"]
        if name != "paper":
            expected += [field.name for field in fields(Adam)]
        assert sorted(rows) == sorted(expected)


def test_the_paper_is_heavy_ball_and_leaves_the_staleness_open() -> None:
    for staleness in STALENESS:
        paper = preset("paper", staleness=staleness)
        assert paper.optimizer == "heavy-ball"
        assert paper.conventions.staleness == staleness
    with pytest.raises(InvalidInput, match="leaves the staleness open: give one of delayed"):
        preset("paper")


def test_a_version_bump_of_trl_changes_the_kl_force() -> None:
    old, new = preset("trl-0.16"), preset("trl-1.16")
    changed = {
        field.name
        for field in fields(Conventions)
        if getattr(old.conventions, field.name) != getattr(new.conventions, field.name)
    }
    assert changed == {"kl"}
    assert (old.beta, new.beta) == (0.04, 0.0)


def test_other_presets_are_refused() -> None:
    with pytest.raises(UnknownName, match=r"preset 'trl-1\.15' is unknown"):
        preset("trl-1.15")
    with pytest.raises(InvalidInput, match="leave it out"):
        preset("verl-0.9", staleness="stale-samples")
    with pytest.raises(UnknownName, match="staleness 'late' is unknown"):
        preset("paper", staleness="late")
