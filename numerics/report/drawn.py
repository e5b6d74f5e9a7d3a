r"""Points of a claim's domain, drawn: the same every time, ends and near-ends among them.

Runs of the linear map are pressed against their border of stability, where a wrong condition and a
right one differ first.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

from derivations.audit import Audited
from derivations.claim import Claim
from derivations.domain import Domain
from derivations.notation import QUANTITIES
from numerics.exact import threshold
from numerics.report.crosscheck import configuration
from numerics.report.witness import Run, numbers_of, schedule_of

__all__ = ["Looks", "collected", "domain_of", "draw_lag", "runs"]

#: A point in words, and whether a claim agrees there with a second look; None if it shows nothing.
Looks = Iterator[tuple[str, bool | None]]

#: So many points are drawn for each that is wanted; some show nothing, or would take too long.
_DRAWN = 20
#: Longer lags are as likely to break a claim, and dearer.
_LONGEST = Fraction(32)


def collected(claim: Claim, looks: Looks, points: int) -> dict[str, bool]:
    """Return claim and point to whether they agree, at so many different points.

    A domain may have fewer. But if fewer looks than that show anything, the claim was not checked,
    which counts as a disagreement.
    """
    found: dict[str, bool] = {}
    shown = 0
    for at, agrees in islice(looks, _DRAWN * points):
        if agrees is not None:
            shown += 1
            found[f"{claim.id} at {at}"] = agrees
        if len(found) == points:
            return found
    if shown < points:
        found[f"{claim.id}: looked at {shown} points only"] = False
    return found


def domain_of(claim: Claim, name: str) -> Domain:
    """Return the domain of a symbol: the claim's own, or its quantity's."""
    return claim.domain.get(name, QUANTITIES[name].domain)


def draw_lag(domain: Domain, source: random.Random) -> int:
    """Draw a lag: in one case of three its smallest value, or one of the next."""
    domain = domain.intersect(Domain(high=_LONGEST))
    if source.random() < 1 / 3 and domain.low is not None:
        domain = domain.intersect(Domain(high=domain.low + 2))
    return int(domain.draw(source))


def runs(audited: Audited) -> Iterator[Run]:
    """Draw runs that a claim about the linear map speaks of, without end."""
    claim, given = audited.claim, numbers_of(audited)
    source = random.Random(claim.id)
    lag_model = audited.conventions["lag_model"]
    key, symbol = ("lag", "d") if lag_model == "constant" else ("refresh", "N")
    while True:
        lag = int(given[key]) if key in given else draw_lag(domain_of(claim, symbol), source)
        share = given.get("stale_share") or domain_of(claim, "s").draw(source)
        run = Run(
            audited.conventions["optimizer"],
            schedule_of(lag_model, lag),
            domain_of(claim, "mu").draw(source),
            Fraction(1),
            Fraction(share),
        )
        yield run.at(_stiffness(run, domain_of(claim, "x"), source))


def _stiffness(run: Run, domain: Domain, source: random.Random) -> Fraction:
    """Draw an x from its whole domain, up to twice the border, or next to the border."""
    border = threshold(configuration(run.optimizer, run.schedule, run.mu, run.stale_share)).value
    kind = source.random()
    if kind < 0.2:
        return domain.draw(source)
    if kind < 0.6:
        x = border * 2 * source.random()
    else:
        x = border * (1 + source.choice((1, -1)) * 2.0 ** -source.randint(1, 30))
    return Fraction(x) if Fraction(x) in domain else domain.draw(source)
