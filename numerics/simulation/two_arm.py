r"""The two-arm bandit with finite groups, actually sampled, in many chains at once.

One prompt, two arms with rewards 1 and 0, one logit theta. A step samples one group from the policy
of `lag` steps ago; the group enters only through its number of successes, a binomial, so its
advantages are tabulated once for each number. No clipping. With two free logits and theta their
difference, the step size is 2 eta.
"""

from __future__ import annotations

import numpy as np

from numerics.inputs import (
    InvalidInput,
    Values,
    check_momentum,
    check_positive,
    floats,
    known_name,
    whole_number,
)
from numerics.simulation.engine import SAMPLES, ChainRun, checked_plan, per_chain, run
from numerics.simulation.mean_field import STALENESS
from numerics.simulation.noise import LANE_WIDTH, Lane, Seed
from numerics.simulation.optimizer import optimizer_named
from numerics.simulation.scalar_map import DiscreteMap, Drift
from numerics.simulation.schedule import ConstantLag, RandomLag, Schedule
from numerics.simulation.statistics import Measure
from numerics.simulation.steppers import FloatArray, GeneralStepper, Ring, Stepper

#: Larger groups would need larger tables, and have no fluctuations left to sample.
LARGEST_GROUP = 10**6

_TINY = 1e-300

#: What a centred reward is divided by: the group's standard deviation plus eps, or nothing.
NORMALISERS: tuple[str, ...] = ("std", "mean")


def simulate_two_arm_chains(
    staleness: str,
    optimizer: str,
    schedule: Schedule | RandomLag,
    *,
    group_size: int,
    normaliser: str,
    ddof: int,
    eps: float,
    beta: float,
    theta_ref: float,
    eta: float,
    mu: float,
    initial: float,
    steps: int,
    chains: int | range,
    seed: Seed,
    lane: int = LANE_WIDTH,
    measure: Measure | None = None,
    record_every: int | None = None,
) -> ChainRun:
    r"""Run many chains of the two-arm bandit, each step on a freshly sampled group.

    Parameters
    ----------
    staleness
        Where the lag acts, as in `two_arm_drift`.
    optimizer, schedule
        As in `simulate_chains`.
    group_size
        G, samples per step: 2 to a million.
    normaliser, ddof, eps
        Advantages ``(r - mean r)/(std r + eps)`` with normaliser ``"std"``, the group's standard
        deviation over G - ddof (equation 1: ddof 0, eps 0), eps >= 0; or ``r - mean r`` with
        ``"mean"``, where ddof and eps have no effect. A group of equal rewards has advantages 0.
    beta, theta_ref
        Weight >= 0 of the exact reverse KL divergence, logit of the reference policy.
    eta, mu, initial
        Step size > 0, momentum in [0, 1), logit at step 0 and before. One parameter set a run,
        because what a lane draws depends on all of its chains; sets are swept with
        `numerics.sweep`.
    steps, chains, seed, lane, measure, record_every
        As in `simulate_chains`.

    Returns
    -------
    ChainRun
        Of the logit.

    Raises
    ------
    InvalidInput
        An argument outside its domain, before any step is taken.

    Notes
    -----
    Premises 1 to 3, stated; readings of staleness, `eps`, ``ddof = 1`` and other optimizers:
    extension.
    """
    known_name("staleness", staleness, STALENESS)
    rule = optimizer_named(optimizer)
    table = advantage_table(group_size, normaliser=normaliser, ddof=ddof, eps=eps)
    plan = checked_plan(
        schedule,
        initial=initial,
        std=None,
        steps=steps,
        chains=chains,
        seed=seed,
        random=True,
        lane=lane,
        measure=measure,
        record_every=record_every,
    )
    values = per_chain(plan.chains, beta=beta, theta_ref=theta_ref, eta=eta, mu=mu)
    for name, value in {**values, "initial": plan.initial}.items():
        if value.ndim:
            raise InvalidInput(f"{name} has shape {value.shape}: give one number for all chains")
    check_positive("eta", values["eta"])
    check_momentum(values["mu"])
    if values["beta"] < 0:
        raise InvalidInput(f"beta is {beta}: the KL weight must be >= 0")

    def stepper(lane: Lane, ring: Ring) -> Stepper:
        drift = _sampled_drift(
            staleness, table, values["beta"], values["theta_ref"], lane.generator(SAMPLES)
        )
        discrete_map = DiscreteMap(drift, rule, ConstantLag(0), values["eta"], values["mu"])
        return GeneralStepper(discrete_map, ring)

    return run(plan, stepper)


def advantage_table(group_size: int, *, normaliser: str, ddof: int, eps: float) -> FloatArray:
    r"""Return ``sum over the successes of A_i / G`` for each number of successes 0, ..., G.

    Parameters
    ----------
    group_size, normaliser, ddof, eps
        As in `simulate_two_arm_chains`.

    Returns
    -------
    ndarray
        Shape ``(G + 1,)``. Over the failures the sum is minus this, as advantages sum to 0; at
        ``"std"``, ddof 0, eps 0 it is ``sqrt(r (1 - r))`` with r the share of successes.

    Raises
    ------
    InvalidInput
        A group below 2 or above a million, an unknown normaliser, a `ddof` other than 0 and 1,
        `eps` negative or not finite.
    """
    group_size = whole_number("group_size", group_size, least=2)
    if group_size > LARGEST_GROUP:
        raise InvalidInput(
            f"group_size is {group_size}: it must be <= {LARGEST_GROUP}; two_arm_drift is the "
            "limit of large groups"
        )
    known_name("normaliser", normaliser, NORMALISERS)
    if whole_number("ddof", ddof, least=0) > 1:
        raise InvalidInput(f"ddof is {ddof}: give 0 (equation 1) or 1")
    added = floats(eps=eps)["eps"]
    if added.ndim or added < 0:
        raise InvalidInput(f"eps is {eps}: give one number >= 0")
    successes = np.arange(group_size + 1)
    failures = group_size - successes
    # Variance times G^2: a whole number, so a group of equal rewards has exactly 0.
    spread = successes * failures
    if normaliser == "mean":
        return np.asarray(spread / group_size**2)
    std = np.sqrt(spread / (group_size * (group_size - ddof)))
    table = np.zeros(group_size + 1)
    np.divide(spread / group_size**2, std + added, out=table, where=spread > 0)
    return table


def _sampled_drift(
    staleness: str, table: FloatArray, beta: Values, theta_ref: Values, rng: np.random.Generator
) -> Drift:
    """Return the gradient on one group for each chain, drawn by `rng` whenever it is called."""
    group_size = len(table) - 1

    def drift(theta: FloatArray, theta_old: FloatArray) -> FloatArray:
        p_old, variance_old = _policy(theta_old)
        if staleness == "delayed-gradient":
            theta, variance = theta_old, variance_old
        else:
            variance = _policy(theta)[1]
        # Mean over the group of advantage times score, arm - p: the p drops out, because the
        # advantages sum to 0.
        policy_gradient: FloatArray = table.take(rng.binomial(group_size, p_old))
        if staleness == "stale-samples-ratio":
            # Ratios p/p_old and (1 - p)/(1 - p_old) on the scores 1 - p and -p.
            # Where the old variance underflows, no group will ever be other than dead.
            policy_gradient *= variance / np.maximum(variance_old, _TINY)
        away = theta - theta_ref
        away *= variance
        away *= beta
        policy_gradient -= away
        return policy_gradient

    return drift


def _policy(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return p and p (1 - p) from one exponential, without overflow or loss where p is small."""
    rare = np.exp(-np.abs(theta))
    likely = 1 / (1 + rare)
    rare *= likely
    return np.where(theta < 0, rare, likely), rare * likely
