r"""The combinations of conventions that are in use, by name.

``"paper"`` is equations (1) to (3) of the source; the others are the defaults of published
releases of trainers. What a bandit has no place for is not in them: loss normalisation over tokens
(every answer here is one token) and the clipping of the gradient's norm.
"""

from __future__ import annotations

from dataclasses import dataclass

from numerics.inputs import InvalidInput, known_name
from numerics.simulation.bandit.conventions import Conventions
from numerics.simulation.bandit.optimizer import Adam
from numerics.simulation.mean_field import STALENESS


@dataclass(frozen=True, kw_only=True)
class Preset:
    r"""Conventions of a source, with what it says of the optimizer.

    Attributes
    ----------
    name
        One of `PRESETS`.
    conventions
        The objective's.
    optimizer
        For `simulate_bandit`.
    mu, beta
        Momentum (Adam's beta1) and KL weight; None where the source leaves it open.
    """

    name: str
    conventions: Conventions
    optimizer: str | Adam
    mu: float | None
    beta: float | None


#: The names `preset` knows.
PRESETS: tuple[str, ...] = ("paper", "trl-1.16", "trl-0.16", "verl-0.9")


def preset(name: str, *, staleness: str | None = None) -> Preset:
    r"""Return the conventions of a source.

    Parameters
    ----------
    name
        One of `PRESETS`.
    staleness
        Required for ``"paper"``, whose equations (2) and (3) disagree: ``"delayed-gradient"`` is
        (3), ``"stale-samples-ratio"`` is (2). A trainer's is part of its preset; with another one
        it is not that trainer (`dataclasses.replace` makes such conventions).

    Returns
    -------
    Preset
        ``"paper"`` has exact reverse KL, no clip, ddof 0 and eps 0.

    Raises
    ------
    UnknownName, InvalidInput
        No such preset; staleness missing for ``"paper"``, or given for a trainer.
    """
    known_name("preset", name, PRESETS)
    if name == "paper":
        if staleness is None:
            raise InvalidInput(
                f"preset 'paper' leaves the staleness open: give one of {', '.join(STALENESS)}"
            )
        return Preset(
            name=name,
            conventions=_conventions(ddof=0, eps=0.0, staleness=staleness, clip=None, kl="reverse"),
            optimizer="heavy-ball",
            mu=None,
            beta=None,
        )
    if staleness is not None:
        raise InvalidInput(
            f"preset {name!r} has staleness 'stale-samples-ratio': leave it out, "
            "or replace it in the preset's conventions"
        )
    conventions, decay, beta = {
        "trl-1.16": (_conventions(eps=1e-4, kl="k3-ratio"), 0.0, 0.0),
        "trl-0.16": (_conventions(eps=1e-4, kl="k3"), 0.0, 0.04),
        "verl-0.9": (
            _conventions(
                eps=1e-6, kl="k3", group_of_one="raw", dual_clip=3.0, log_ratio_clamp=20.0
            ),
            0.01,
            0.0,
        ),
    }[name]
    return Preset(
        name=name,
        conventions=conventions,
        optimizer=Adam(beta2=0.999, adam_eps=1e-8, weight_decay=decay, bias_correction=True),
        mu=0.9,
        beta=beta,
    )


def _conventions(
    *,
    eps: float,
    kl: str,
    ddof: int = 1,
    group_of_one: str = "refuse",
    staleness: str = "stale-samples-ratio",
    clip: tuple[float, float] | None = (0.2, 0.2),
    dual_clip: float | None = None,
    log_ratio_clamp: float | None = None,
) -> Conventions:
    """Return group-normalised conventions, of a trainer unless said otherwise."""
    return Conventions(
        baseline="group-mean",
        normaliser="group-std",
        ddof=ddof,
        eps=eps,
        eps_in="std",
        group_of_one=group_of_one,
        staleness=staleness,
        clip=clip,
        dual_clip=dual_clip,
        log_ratio_clamp=log_ratio_clamp,
        kl=kl,
        over_prompts="mean",
    )
