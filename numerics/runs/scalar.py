r"""``kind = "scalar"``: chains of the scalar map, linear or with the two-arm bandit's drift."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput
from numerics.runs.fields import Field, RunFileError, named, number, read_table, read_variant
from numerics.runs.lag import schedule
from numerics.runs.settings import Run, Settings
from numerics.runs.table import Table, table
from numerics.simulation.chains import simulate_chains, simulate_linear_chains
from numerics.simulation.mean_field import STALENESS, success_probability, two_arm_drift
from numerics.simulation.noise import GaussianNoise
from numerics.simulation.optimizer import OPTIMIZERS
from numerics.simulation.scalar_map import NOISE_ENTERS
from numerics.simulation.schedule import RandomLag

__all__ = ["PARAMETERS", "TABLES", "run"]

#: The tables of a scalar run, and whether each is required.
TABLES = {"drift": True, "update": True, "lag": True, "noise": False}

#: What is trained, and by how much its step moves the logit against eta.
PARAMETERS = {"logit": 1, "logits": 2}


def _probability(value: Any) -> float:
    read = number(value)
    if not 0 < read < 1:
        raise InvalidInput(f"{read!r} is not a probability in (0, 1)")
    return read


_FORMS = {
    "linear": {"x": Field(number), "stale_share": Field(number), "initial": Field(number)},
    "two-arm": {
        "beta": Field(number),
        "p_ref": Field(_probability),
        "p_initial": Field(_probability),
        "staleness": Field(named("staleness", STALENESS)),
        "parameters": Field(named("parameters", tuple(PARAMETERS))),
    },
}
_UPDATE = {"optimizer": Field(named("optimizer", OPTIMIZERS)), "mu": Field(number)}
_NOISE = {"std": Field(number), "enters": Field(named("noise_enters", NOISE_ENTERS))}


def run(settings: Settings, own: Mapping[str, Any]) -> Run:
    """Return the run that the tables of a scalar run file describe.

    Raises
    ------
    RunFileError
        On anything in them that is unknown, missing or outside its domain.
    """
    at = f"{settings.where} [{{}}]".format
    drift = read_variant(own["drift"], "form", _FORMS, at("drift"))
    linear = drift["form"] == "linear"
    # The step size of the linear map is inside x.
    update = read_table(
        own["update"], _UPDATE if linear else {**_UPDATE, "eta": Field(number)}, at("update")
    )
    lags = schedule(own["lag"], at("lag"))
    noise = None if own["noise"] is None else read_table(own["noise"], _NOISE, at("noise"))
    try:
        kicks = None if noise is None else GaussianNoise(**noise)
    except InvalidInput as error:
        raise RunFileError(f"{at('noise')} {error}") from error
    if settings.seed is None and (noise or isinstance(lags, RandomLag)):
        raise RunFileError(f"{settings.where} seed: a run with noise or a random lag needs one")
    settings.check_size(longest_lag=lags.longest, numbers=1)
    common = {
        "optimizer": update["optimizer"],
        "schedule": lags,
        "mu": update["mu"],
        "noise": kicks,
        "steps": settings.steps,
        "chains": settings.chains,
        "seed": settings.seed,
        "record_every": settings.record_every,
    }

    def simulate() -> Table:
        if linear:
            named_ = {key: drift[key] for key in ("x", "stale_share", "initial")}
            found = simulate_linear_chains(**common, **named_)
            values = {"q": found.path}
        else:
            eta = update["eta"] * PARAMETERS[drift["parameters"]]
            reference, initial = _logit(drift["p_ref"]), _logit(drift["p_initial"])
            force = two_arm_drift(drift["staleness"], beta=drift["beta"], theta_ref=reference)
            found = simulate_chains(force, eta=eta, initial=initial, **common)
            values = _two_arm(found.path, reference)
        return table(found.steps, values, found.overflow_step, rows=settings.rows)

    conventions = {"drift": drift, "update": update, "lag": own["lag"], "noise": noise}
    return Run("scalar", settings, conventions, simulate)


def _logit(p: float) -> float:
    return math.log(p) - math.log1p(-p)


def _two_arm(
    theta: NDArray[np.float64], reference: float
) -> dict[str, NDArray[np.float64]]:
    """Return what a trainer would log of the policy; rows that overflowed are left out later."""
    with np.errstate(all="ignore"):
        p, q = success_probability(theta), success_probability(-theta)
        log_p, log_q = -np.logaddexp(0, -theta), -np.logaddexp(0, theta)
        ref_p, ref_q = -np.logaddexp(0, -reference), -np.logaddexp(0, reference)
        return {
            "theta": theta,
            "policy_reward": p,
            "entropy": -(p * log_p + q * log_q),
            "kl": p * (log_p - ref_p) + q * (log_q - ref_q),
        }
