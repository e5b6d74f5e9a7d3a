r"""E5: what a stale policy does to stability, for the three things that stale can mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.transformer.comparison import Row, compare
from numerics.experiments.transformer.experiment import Experiment, Plan
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.staleness_case import Case, cases
from numerics.experiments.transformer.staleness_figure import figures
from numerics.experiments.transformer.theory.anchored import Anchor, weight_for
from numerics.experiments.transformer.theory.cycles import crossing, jackknifed
from numerics.experiments.transformer.theory.staleness_theory import Slopes, rule, rule_onset

__all__ = ["STALE"]

FloatArray = NDArray[np.float64]

_EXPERIMENT = "E5"
_STIFFNESS, _SHARE = "stiffness", "stale share"
_BORDER, _ONSET = "refresh at the border", "refresh at the onset"
_AT = "multiplier at refresh {refresh}"


def _settings(plan: Plan) -> list[Setting]:
    found = [
        one
        for case in plan["cases"]
        for seed in range(plan["seeds"])
        for one in _case(plan, plan | case, seed)
    ]
    return list(dict.fromkeys(found))  # the response does not depend on the momentum


def _case(plan: Plan, case: Plan, seed: int) -> list[Setting]:
    """Return the runs of one case and network: one to measure the response, and the sweep."""
    p_star, p_ref, size = case["p_star"], case["p_ref"], case["group_size"]
    beta = float(f"{weight_for(p_star, group_size=size, kl='reverse', p_ref=p_ref):.6g}")
    stiffness = Anchor(size, beta, "reverse", p_ref).rest(_logit(p_star)).stiffness
    common = {
        "staleness": case["staleness"], "policy_seed": seed, "seed": seed, "p_ref": p_ref,
        "beta": beta, "group_size": size,
    }  # fmt: skip
    pace, usual = (float(f"{of['x'] / stiffness:.4g}") for of in (case, plan))
    found = [Setting(**common, pace=usual, p_start=p_star, steps=1, measures=("response",))]
    for place, refresh in enumerate(case["refreshes"]):
        # Half of the networks start above and half below, so that the map's bend can be told.
        away = case["away"] * (-1) ** (seed + place)
        found.append(Setting(
            **common, pace=pace, p_start=float(f"{_p(_logit(p_star) + away):.5g}"),
            mu=case.get("mu", 0.0), refresh=refresh,
            steps=refresh * max(3, -(-case["steps"] // refresh)),
        ))  # fmt: skip
    return found


def _logit(p: float) -> float:
    return float(np.log(p / (1 - p)))


def _p(logit: float) -> float:
    return float(1 / (1 + np.exp(-logit)))


def _rows(runs: Sequence[Run]) -> list[Row]:
    return compare(_EXPERIMENT, [one for case in cases(runs) for one in _compared(case)])


_Compared = tuple[str, str, str, float, FloatArray]


def _compared(case: Case) -> list[_Compared]:
    found = _slopes_compared(case)
    asked = _asked(case)

    def statistic(seeds: Sequence[int]) -> FloatArray:
        values, errors = np.array(case.multipliers(seeds)).T
        return np.array([
            (_read(case, quantity, values, errors), _said(case, quantity, theory, seeds, errors))
            for quantity, theory in asked
        ])  # fmt: skip

    whole, values = jackknifed(statistic, case.seeds)
    by_row = values.swapaxes(0, 1)
    for (quantity, theory), (_, said), each in zip(asked, whole, by_row, strict=True):
        if theory == "formula":
            quantity, theory = f"{quantity}, slopes by formula", "exact"
        # The measured slopes are in the prediction: what is uncertain is the difference.
        found.append((case.name, quantity, theory, float(said), said + each[:, 0] - each[:, 1]))
    return found


def _slopes_compared(case: Case) -> list[_Compared]:
    """Return the rows of the measured slopes beside the formula's."""
    measured = [case.slopes([seed]) for seed in case.seeds]
    stiffness = np.array([one.stiffness for one in measured])
    share = np.array([one.share for one in measured])
    shares = {"exact": case.theory().share}
    if case.setting.staleness != "delayed-gradient":
        shares["source"] = 1.0
    if case.setting.staleness == "stale-samples":
        shares["rival"] = case.theory("exact").share
    return [
        (case.name, _STIFFNESS, "exact", case.theory().stiffness, stiffness),
        *((case.name, _SHARE, theory, value, share) for theory, value in shares.items()),
    ]


def _asked(case: Case) -> list[tuple[str, str]]:
    """Return the quantities and theories that a case is asked, by what its formula lets expect."""
    expected = case.predicted(case.theory(), case.seeds)
    last = _AT.format(refresh=case.refreshes[-1])
    border = max(expected) > 1 or min(expected) < -1
    found = [(_BORDER, theory) for theory in ("exact", "formula", "source")] if border else []
    if min(expected) < 0:
        found += [(_ONSET, "exact"), (_ONSET, "source")]
    if not border:
        found += [(last, "exact"), (last, "source")]
    elif case.setting.staleness == "stale-samples":
        found += [(last, "exact")]
    if case.setting.staleness == "stale-samples":
        found += [(last, "rival")]
    return found


def _said(
    case: Case, quantity: str, theory: str, seeds: Sequence[int], errors: FloatArray
) -> float:
    """Return what a theory says of a quantity, x and shares from the slopes measured there."""
    slopes, mu = case.slopes(seeds), case.setting.mu
    if theory == "source":  # the whole force is stale, whatever the kind
        x = case.pace(seeds) * slopes.stiffness
        if quantity == _BORDER:
            return rule(x, mu)
        if quantity == _ONSET:
            return rule_onset(x, mu)
        slopes = Slopes(0.0, slopes.stiffness)
    if theory in ("formula", "rival"):
        slopes = case.theory("exact" if theory == "rival" else "sampled")
    return _read(case, quantity, case.predicted(slopes, seeds), errors)


def _read(
    case: Case, quantity: str, values: Sequence[float] | FloatArray, errors: FloatArray
) -> float:
    """Return a quantity from multipliers, measured or predicted: both are read the same way."""
    if quantity not in (_BORDER, _ONSET):
        return float(values[-1])
    level = 0.0 if quantity == _ONSET else -1.0 if not case.setting.mu else 1.0
    return crossing(case.refreshes, values, errors, level)


def _figures(runs: Sequence[Run], rows: Sequence[Row]) -> dict[str, str]:
    return figures(cases(runs))


STALE = Experiment(
    id=_EXPERIMENT,
    title="refresh interval and stability, for three kinds of staleness",
    question="At which refresh interval does training swing and diverge, and what must be stale?",
    settings=_settings,
    rows=_rows,
    figures=_figures,
    headline="stale-samples-ratio, p* 0.1 / refresh at the border, slopes by formula / exact",
)
