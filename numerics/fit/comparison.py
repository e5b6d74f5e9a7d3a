"""All families on one series: which describes it best, and which would have foretold its tail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np

from numerics.fit.families import family_names
from numerics.fit.point import family_of, fit, too_few_rows
from numerics.fit.result import Fit
from numerics.fit.series import FEWEST_ROWS, Series
from numerics.inputs import InvalidInput, known_name

__all__ = ["TOLD_APART", "Comparison", "TailScore", "compare", "held_out"]

#: AICc between two families from which on a log is said to tell them apart. Of 600 synthetic logs
#: one put the law that had made it so far behind another (`tests/benchmarks/published_laws.py`).
TOLD_APART = 10.0


@dataclass(frozen=True, eq=False)
class Comparison:
    r"""Fits of several families to one series.

    Attributes
    ----------
    fits
        By name, the best by AICc first. AICc ranks and weighs, because a curve is fitted to
        predict and no family is the truth; BIC, which asks for the true one, stands beside it.
    weights
        Akaike weights ``exp(-delta/2)``, summing to 1, by name.
    left_out
        Families that could not be fitted, and why.
    """

    fits: Mapping[str, Fit]
    weights: Mapping[str, float]
    left_out: Mapping[str, str]

    @property
    def best(self) -> Fit:
        """The fit of least AICc."""
        return next(iter(self.fits.values()))

    def delta(self, name: str) -> float:
        """Return AICc of a family above the best."""
        return self.fits[name].aicc - self.best.aicc

    def standing(self, name: str) -> str:
        """Return ``"worse"``, ``"undecided"`` or ``"preferred"``.

        A family is worse where another is better by `TOLD_APART`, preferred where it is better than
        every other by that, and undecided in between. None is preferred by itself.
        """
        others = [found.aicc for other, found in self.fits.items() if other != name]
        ahead = min(others, default=self.fits[name].aicc) - self.fits[name].aicc
        if abs(ahead) < TOLD_APART:
            return "undecided"
        return "preferred" if ahead > 0 else "worse"


@dataclass(frozen=True)
class TailScore:
    """How a family fitted to the first rows did on the rest.

    `error` is the mean of the rewards left out minus that of the prediction; `rmse` the root mean
    square of the differences, row by row.
    """

    error: float
    rmse: float


def compare(given: Series, families: Sequence[str] | None = None) -> Comparison:
    """Fit families, all of them by default, and rank them.

    Raises
    ------
    InvalidInput
        An unknown family, or none that can be fitted.
    """
    names = _names(families)
    left_out = {name: why for name in names if (why := _obstacle(name, given)) is not None}
    fits = [fit(given, name) for name in names if name not in left_out]
    if not fits:
        raise InvalidInput(f"no family can be fitted: {'; '.join(left_out.values())}")
    fits.sort(key=lambda found: found.aicc)
    relative = [exp(max(-0.5 * (found.aicc - fits[0].aicc), -700.0)) for found in fits]
    return Comparison(
        {found.family.name: found for found in fits},
        {f.family.name: w / sum(relative) for f, w in zip(fits, relative, strict=True)},
        left_out,
    )


def held_out(
    given: Series, families: Sequence[str] | None = None, *, share: float = 0.25
) -> dict[str, TailScore]:
    """Fit families to all but the last `share` of the rows and score them on those.

    Families with too few rows are left out.

    Raises
    ------
    InvalidInput
        An unknown family, a share that is not between 0 and 1, or one that leaves too few rows.
    """
    if not 0 < share < 1:
        raise InvalidInput(f"share is {share}: give the part to hold out, between 0 and 1")
    kept = round(len(given) * (1 - share))
    if kept < FEWEST_ROWS or kept == len(given):
        raise InvalidInput(
            f"holding out {share:g} of {len(given)} rows leaves {kept}: at least {FEWEST_ROWS} "
            "are needed, and one to hold out"
        )
    head, tail = given.head(kept), given.value[kept:]
    scores = {}
    for name in _names(families):
        if float(np.ptp(head.value)) > 0 and _obstacle(name, head) is None:
            miss = tail - fit(head, name).at(given.step[kept:])[0]
            scores[name] = TailScore(float(miss.mean()), float(np.sqrt(np.mean(miss**2))))
    return scores


def _names(families: Sequence[str] | None) -> list[str]:
    if families is None:
        return list(family_names())
    return [known_name("family", name, family_names()) for name in families]


def _obstacle(name: str, given: Series) -> str | None:
    if name == "finite-group" and given.group_size is None:
        return "the group size is not known"
    family = family_of(name, given)
    if too_few_rows(family, given):
        return f"{len(given)} rows are too few for {family.size} parameters"
    return None
