r"""Any asynchronous trainer: a queue of batches, bounded in staleness or known by its distribution.

Staleness is counted in policy versions, as such trainers do; a version lasts `updates_per_version`
optimizer steps U, so staleness v at step u of a version is the lag ``v U + u``. (Extension.)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from numerics.inputs import InvalidInput
from numerics.trainers.settings import Setting, Values, count, numbers
from numerics.trainers.table import Effect, LagTable, Notice, check_period

__all__ = ["MARKS", "NEIGHBOURS", "SETTINGS", "table"]

SETTINGS = (
    Setting("max_staleness", count(0)),
    Setting("lag_law", numbers),
    Setting("updates_per_version", count(1), 1),
)

#: Keys that say a configuration is a queue's.
MARKS = ("max_staleness", "lag_law")
NEIGHBOURS: tuple[str, ...] = ()


def table(given: Values) -> LagTable:
    """Return the lags of a queue that is full (`max_staleness`) or follows `lag_law`.

    Raises
    ------
    InvalidInput
        Neither of the two, a law that is none, or one that reaches beyond `max_staleness`.
    """
    steps, most = given["updates_per_version"], given["max_staleness"]
    check_period(steps * ((most or 0) + 1), "max_staleness and updates_per_version")
    law = _law(given["lag_law"], most)
    check_period(steps * len(law), "lag_law and updates_per_version")
    versions = [version for version, share in enumerate(law) if share]
    shares = tuple(law[version] for version in versions)
    certain = len(versions) == 1
    if certain:
        lags = tuple((versions[0] * steps + step,) for step in range(steps))
        weights = None
    else:  # which step of a version it is, is drawn too
        lags = (tuple(version * steps + step for version in versions for step in range(steps)),)
        weights = (tuple(share / steps for share in shares for _ in range(steps)),)
    settings = {
        "max_staleness": given["max_staleness"],
        "lag_law": None if given["lag_law"] is None else [float(share) for share in law],
        "updates_per_version": steps,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    return LagTable(
        trainer="queue",
        settings=settings,
        defaults=tuple(name for name in settings if name not in given.given),
        lags=lags,
        weights=weights,
        drawn=not certain,
        importance_ratio=None,
        updates_per_rollout=Fraction(steps),
        uses=1,
        reward_rows=(1,),
        effects=tuple(
            Effect(name, "delays", "a queue delays; it re-uses nothing")
            for name in ("max_staleness", "lag_law")
            if name in settings and max(versions)
        ),
        notices=tuple(_notices(given, delayed=max(map(max, lags)) > 0)),
    )


def _law(asked: Sequence[Fraction] | None, bound: int | None) -> Sequence[Fraction]:
    if asked is None:
        if bound is None:
            raise InvalidInput(
                "a queue needs max_staleness, a number of policy versions, or lag_law, the "
                "probabilities of being 0, 1, ... versions old"
            )
        return (*[Fraction(0)] * bound, Fraction(1))
    if sum(asked) != 1:
        raise InvalidInput(
            f"lag_law sums to {float(sum(asked)):.12g}; probabilities must sum to exactly 1 (1/3 "
            "is exact, 0.333 is not)"
        )
    longest = max(version for version, share in enumerate(asked) if share)
    if bound is not None and longest > bound:
        raise InvalidInput(f"lag_law reaches to {longest}, beyond max_staleness {bound}")
    return asked


def _notices(given: Values, *, delayed: bool) -> list[Notice]:
    found = []
    if given["lag_law"] is None and given["max_staleness"]:
        found.append(Notice(
            "bound-is-not-the-lag", "max_staleness",
            "an upper bound: the table is for a queue that is always full, where every batch is "
            "exactly that old; the logged staleness gives the real distribution (lag_law)",
        ))  # fmt: skip
    if given["updates_per_version"] == 1 and "updates_per_version" not in given.given:
        found.append(Notice(
            "versions-are-not-steps", "updates_per_version",
            "not given: staleness counts policy versions, and lag optimizer steps; 1 is taken for "
            "the steps between two versions",
        ))  # fmt: skip
    if delayed:
        found.append(Notice(
            "ratio-unknown", "importance_ratio",
            "whether the loss holds an importance ratio, and to which policy, decides what the lag "
            "does; a queue does not tell",
        ))  # fmt: skip
    return found
