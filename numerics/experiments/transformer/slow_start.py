r"""E7: the slow start without a KL term: how much of it is the drift's own, how much inertia."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics import no_kl_path
from numerics.experiments.transformer.comparison import Row, compare
from numerics.experiments.transformer.experiment import Experiment, Plan
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.theory.curve import Curve, mean_path
from numerics.experiments.transformer.theory.scalar import drift
from numerics.experiments.transformer.theory.seeds import Case, alike, together
from numerics.kernels.oscillator import heavy_ball_constant
from numerics.plots import COLOURS, panel, standing_alone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SLOW_START", "Rise", "later_by", "rise"]

FloatArray = NDArray[np.float64]

_EXPERIMENT = "E7"
_TIME, _PLACE = "steps to the steepest rise", "success at the steepest rise"
_START = "slope at the start over the steepest"
_LATER = "steps later than without momentum"
_SHARE = "share of the slow start that is not inertia"
_WINDOW = 5  # the parabola reaches a fifth of the time of the steepest rise to either side
_SETTLED = 0.25  # steps by which the top may still move
_BEGINNING = 10  # the slope at the start is that of a tenth of that time


@dataclass(frozen=True)
class Rise:
    """Where a curve is steepest, how high it is there, and how steep it was at the start."""

    time: float
    success: float
    start: float


def rise(success: FloatArray) -> Rise:
    """Return the steepest rise of a curve of success probabilities, one a step.

    By a parabola through its increments about the largest; the same for a run and a prediction.
    """
    slopes = np.diff(success)
    times = np.arange(len(slopes)) + 0.5
    top = float(times[np.argmax(np.convolve(slopes, np.full(5, 0.2), "same"))])
    height = float(np.interp(top, times, slopes))
    for _ in range(20):
        near = np.abs(times - top) <= max(4.0, top / _WINDOW)
        bend = np.polyfit(times[near], slopes[near], 2)
        if bend[0] >= 0:
            break  # no top: a curve that only slows down
        moved, top = top, float(np.clip(-bend[1] / (2 * bend[0]), times[0], times[-1]))
        height = float(np.polyval(bend, top))
        if abs(top - moved) < _SETTLED:
            break
    first = max(1, round(top / _BEGINNING))
    place = float(np.interp(top, np.arange(len(success)), success))
    return Rise(top, place, float(slopes[:first].mean()) / height)


def later_by(growth: float, mu: float) -> float:
    r"""Return by how many steps momentum delays a slow run over which its force grows by a factor.

    To first order in the inertia of mu/(1 - mu) steps, a run whose speed grows at some rate is
    slower by the share inertia times rate, so that from rest it comes to a place late by
    ``mu/(1 - mu) * (1 + ln(growth))``: by M/C (half a step apart) only where the force stays what
    it was. Provenance: extension.
    """
    return float(mu / (1 - mu) * (1 + np.log(growth)))


def _of(rises: Sequence[Rise], name: str) -> FloatArray:
    return np.array([getattr(one, name) for one in rises])


@dataclass(frozen=True)
class _Family:
    """Runs that differ in their seeds only."""

    runs: Sequence[Run]

    @property
    def setting(self) -> Setting:
        return self.runs[0].setting

    @property
    def steady(self) -> float:
        """The pace without momentum that ends in the same speed."""
        return self.setting.pace / (1 - self.setting.mu)

    @property
    def name(self) -> str:
        kind = {"group-std": "std-normalised", "none": "mean only"}[self.setting.normaliser]
        return f"{kind}, pace {self.steady:.2g}, mu {self.setting.mu:g}"

    @cached_property
    def measured(self) -> list[Rise]:
        return [rise(run.p[:, 0]) for run in self.runs]

    @cached_property
    def exact(self) -> list[Rise]:
        """By the scalar theory of each network."""
        force = _force(self.setting)
        return [rise(_predicted(run, force)) for run in self.runs]

    @cached_property
    def network(self) -> list[Rise]:
        """By the mean drift on the network itself, which may leave the curve."""
        return [rise(np.array(run.facts["mean_field"])) for run in self.runs]


def _settings(plan: Plan) -> list[Setting]:
    return [
        Setting(
            policy_seed=seed, seed=seed, p_ref=plan["p_start"], normaliser=case["normaliser"],
            mu=mu, pace=round(case["pace"] * (1 - mu), 6), group_size=plan["group_size"],
            steps=case["steps"], until=plan["until"], measures=("flow", "mean-field"),
        )
        for case in plan["cases"]
        for mu, seed in product(case["mus"], range(plan["seeds"]))
    ]  # fmt: skip


def _force(setting: Setting) -> Callable[[FloatArray], FloatArray]:
    return np.vectorize(drift(setting.group_size, setting.normaliser), otypes=[float])


def _predicted(run: Run, force: Callable[[FloatArray], FloatArray]) -> FloatArray:
    setting = run.setting
    path = mean_path(
        Curve.of(run), force, start=float(run.logit[0, 0]), eta=run.facts["eta"], mu=setting.mu,
        optimizer=setting.optimizer, steps=len(run.logit) - 1,
    )  # fmt: skip
    return np.asarray(1 / (1 + np.exp(-path)))


def _closed(setting: Setting) -> FloatArray:
    """Return the closed form: infinite groups, and a gain that stays that of the first policy."""
    assert isinstance(setting.p_ref, float)
    return np.asarray(no_kl_path(
        {"group-std": "std", "none": "mean"}[setting.normaliser],
        eta=setting.pace, p=setting.p_ref, t=np.arange(setting.steps + 1.0),
    ).success)  # fmt: skip


def _rows(runs: Sequence[Run]) -> list[Row]:
    families = [_Family(some) for some in alike(runs)]
    plain = {_kind(one): one for one in families if one.setting.mu == 0}
    cases: list[Case] = []
    for one in families:
        cases += _curve(one) if one.setting.mu == 0 else _inertia(one, plain[_kind(one)])
    return compare(_EXPERIMENT, cases)


def _kind(family: _Family) -> tuple[str, float]:
    return family.setting.normaliser, round(family.steady, 6)


def _curve(one: _Family) -> list[Case]:
    """Return the rows of a curve without momentum."""
    closed = rise(_closed(one.setting))
    cases: list[Case] = []
    for quantity, name in ((_TIME, "time"), (_PLACE, "success"), (_START, "start")):
        exact = together(one.name, quantity, "exact", _of(one.exact, name), _of(one.measured, name))
        # p13's words: no slow start without inertia. A single exponential only slows down.
        theory, said = ("source", 1.0) if name == "start" else ("rival", getattr(closed, name))
        cases += [exact, (one.name, quantity, theory, said, exact[-1])]
    return cases


def _inertia(one: _Family, plain: _Family) -> list[Case]:
    """Return the rows of a curve with momentum, beside the same seeds without.

    Momentum takes the weights off the curve of the gradient flow; what that costs is the difference
    of the scalar theory and the mean drift on the network.
    """
    measured, exact, network = (
        np.array([_of(getattr(family, theory), "time") for family in (one, plain)])
        for theory in ("measured", "exact", "network")
    )
    mass, damping, _ = heavy_ball_constant(mu=one.setting.mu, x=0.0, d=0.0, s=1.0)
    later = measured[0] - measured[1]
    cases: list[Case] = []
    for name, theory in (("exact", exact), ("afterwards", network)):
        cases += [
            together(one.name, _TIME, name, theory[0], measured[0]),
            together(one.name, _LATER, name, theory[0] - theory[1], later),
        ]
    return [
        *cases,
        (one.name, _LATER, "source", float(mass / damping), cases[1][-1]),
        together(one.name, _SHARE, "exact", exact[1] / exact[0], measured[1] / measured[0]),
    ]


def _figures(runs: Sequence[Run], rows: Sequence[Row]) -> dict[str, str]:
    name = "transformer_slow_start"
    return {f"{name}.svg": standing_alone(panel(name, partial(_draw, runs)))}


def _draw(runs: Sequence[Run], axes: Axes) -> None:
    """Draw one network with and without momentum, against the scalar theory."""
    styles: Mapping[float, str] = {0.0: "blue", 0.9: "orange"}
    fastest = max(_kind(_Family([run])) for run in runs if run.setting.normaliser == "group-std")
    some = [run for run in runs if _kind(_Family([run])) == fastest and run.setting.mu in styles]
    for run in some:
        colour = COLOURS[styles[run.setting.mu]]
        axes.plot(run.p[:, 0], color=colour, linewidth=0.5, alpha=0.45)
        if run.setting.seed == some[0].setting.seed:
            label = f"mu {run.setting.mu:g}, theory"
            axes.plot(_predicted(run, _force(run.setting)), "--", color=colour, label=label)
    axes.plot(_closed(some[0].setting), ":", color=COLOURS["ink"], label="constant gain, large G")
    axes.set_xlim(0, max(len(run.logit) for run in some))
    axes.set_xlabel("step")
    axes.set_ylabel("success probability")
    axes.set_title("a slow start without inertia, and with it")
    axes.legend(loc="upper left", fontsize=7.6)


SLOW_START = Experiment(
    id=_EXPERIMENT,
    title="the slow start without momentum",
    question="How much of a slow start is the drift's nonlinearity, and how much inertia?",
    settings=_settings,
    rows=_rows,
    figures=_figures,
    headline=f"std-normalised, pace 0.2, mu 0 / {_TIME} / exact",
)
