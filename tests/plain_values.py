r"""Quantities by the plainest road in 50-digit arithmetic, for claims to be held against.

Nothing here is taken from the code under test. Derivatives are numerical, zeros are bisected,
groups are counted, second moments solve one linear system.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any

import mpmath as mp
import reference
from reference import Run, number

__all__ = [
    "advantages",
    "attracting",
    "autocovariance",
    "dead",
    "drift_moments",
    "kl_force",
    "oscillation_period",
    "oscillator",
    "period_of_the_map",
    "real_until",
    "relaxation_time",
    "stale_slope",
]

# --- the linear map -----------------------------------------------------------------------------


def oscillator(run: Run, x: Any) -> list[Any]:
    """Return stiffness, damping and mass: the Taylor coefficients of chi(exp(h)) at h = 0."""
    mu, s, x = number(run.mu), number(run.s), number(x)
    g0, g1 = reference.gain(run)
    ages = range(run.delay) if run.lag_model == "sawtooth" else (run.delay,)

    def chi(h: Any) -> Any:
        z = mp.exp(h)
        aged = sum(z**-age for age in ages) / len(ages)
        return (z - 1) * (1 - mu / z) + (g0 + g1 / z) * ((1 - s) * x + s * x * aged)

    return list(mp.taylor(chi, 0, 2))


def oscillation_period(run: Run, x: Any) -> Any:
    """Return 2*pi over the imaginary part of the oscillator's rates, None if they are real."""
    stiffness, damping, mass = oscillator(run, x)
    turn = max(abs(root.imag) for root in map(mp.mpc, mp.polyroots([mass, damping, stiffness])))
    return 2 * mp.pi / turn if turn > mp.mpf(10) ** -20 else None


def period_of_the_map(run: Run, x: Any) -> Any:
    """Return 2*pi over the angle of the dominant root, in steps, None if it is real."""
    if run.lag_model == "constant":
        root, steps = reference.dominant_root(run, x), 1
    else:
        root, steps = mp.mpc(reference.monodromy_eigenvalues(run, x)[0]), run.delay
    turns = abs(root.imag) > mp.mpf(10) ** -30
    return 2 * mp.pi * steps / abs(mp.arg(root)) if turns else None


def relaxation_time(run: Run, x: Any) -> Any:
    """Return the steps in which the slowest mode falls by e."""
    return -1 / reference.rate(run, x)


def autocovariance(run: Run, x: Any, shift: int) -> Any:
    """Return the stationary mean of q times q of `shift` steps later, constant lag.

    The first few solve the same linear system as the variance; the map carries them on.
    """
    with mp.workdps(2 * reference.DIGITS):
        a = reference.coefficients(run, x)
        system, right = mp.zeros(len(a)), mp.zeros(len(a), 1)
        right[0] = 1
        for k in range(len(a)):
            for j, value in enumerate(a):
                system[k, abs(k - j)] += value
        found = list(mp.lu_solve(system, right))
        while len(found) <= shift:
            found.append(-sum(value * found[-j] for j, value in enumerate(a) if j > 0) / a[0])
        return found[shift]


def real_until(run: Run) -> Any:
    """Return the x up to which the dominant root is real and positive, by bisection."""
    low, high = mp.mpf(0), mp.mpf(2)
    for _ in range(60):
        middle = (low + high) / 2
        root = reference.dominant_root(run, middle)
        swings = root.real <= 0 or abs(root.imag) > mp.mpf(10) ** -25
        low, high = (low, middle) if swings else (middle, high)
    return low


# --- the two-arm bandit -------------------------------------------------------------------------


def _probability(theta: Any) -> Any:
    return 1 / (1 + mp.exp(-theta))


def _logit(p: Any) -> Any:
    return mp.log(p / (1 - p))


def kl_force(estimator: str, p: Any, p_ref: Any) -> Any:
    """Return the slope in the logit of the KL term, differentiated numerically.

    ``reverse`` is the divergence itself; ``k3`` is ``ratio - 1 - log ratio``, ratio = pi_ref/pi, on
    samples of the policy that are held fixed.
    """
    sampled = (p, 1 - p)

    def term(theta: Any) -> Any:
        now = _probability(theta)
        arms = list(zip((now, 1 - now), (p_ref, 1 - p_ref), sampled, strict=True))
        if estimator == "reverse":
            return sum(pi * mp.log(pi / ref) for pi, ref, _ in arms)
        return sum(old * (ref / pi - 1 - mp.log(ref / pi)) for pi, ref, old in arms)

    return mp.diff(term, _logit(p))


def attracting(estimator: str, p_ref: Any, beta: Any) -> Any:
    """Return where the mean drift first vanishes above p_ref, by walking up and bisecting."""
    p_ref, beta, parts = number(p_ref), number(beta), 2000

    def drift(p: Any) -> Any:
        pull = p - p_ref if estimator == "k3" else p * (1 - p) * (_logit(p) - _logit(p_ref))
        return mp.sqrt(p * (1 - p)) - beta * pull

    walk = (p_ref + (1 - p_ref) * i / parts for i in range(1, parts))
    high = next((p for p in walk if drift(p) < 0), None)
    if high is None:
        return None
    low = high - (1 - p_ref) / parts
    for _ in range(180):
        middle = (low + high) / 2
        low, high = (middle, high) if drift(middle) > 0 else (low, middle)
    return low


def stale_slope(p: Any) -> Any:
    """Return minus the slope of the drift in the old policy: old samples, importance ratio.

    The surrogate is differentiated in the new logit and then in the old one; the KL anchor does not
    know the old policy, so it is left out.
    """

    def surrogate(new: Any, old: Any) -> Any:
        before, now = _probability(old), _probability(new)
        spread = mp.sqrt(before * (1 - before))
        gains = ((1 - before) / spread, -before / spread)
        # The old probability times the ratio is the new one.
        return sum(pi * gain for pi, gain in zip((now, 1 - now), gains, strict=True))

    at = _logit(p)
    return -mp.diff(surrogate, (at, at), (1, 1))


# --- a group ------------------------------------------------------------------------------------


def advantages(rewards: list[Any], normaliser: str, ddof: int, baseline: str) -> list[Any]:
    """Return the advantages of one group, written out reward by reward."""
    size = len(rewards)
    mean = mp.fsum(rewards) / size
    variance = mp.fsum((r - mean) ** 2 for r in rewards) / (size - ddof)
    scale = mp.sqrt(variance) if normaliser == "std" else mp.mpf(1)
    centres = [
        mean if baseline == "group-mean" else (mp.fsum(rewards) - r) / (size - 1) for r in rewards
    ]
    return [(r - centre) / scale for r, centre in zip(rewards, centres, strict=True)]


def _counted(p: Any, size: int) -> Iterator[tuple[int, Any]]:
    """Yield every number of successes with its probability."""
    for c in range(size + 1):
        yield c, comb(size, c) * p**c * (1 - p) ** (size - c)


def drift_moments(p: Any, size: int, normaliser: str, ddof: int) -> tuple[Any, Any]:
    """Return mean and variance of a group's drift, sum of advantage times score over G."""
    first = second = mp.mpf(0)
    for c, chance in _counted(p, size):
        if not 0 < c < size:
            continue  # equal rewards: no advantage, no drift
        mean = mp.mpf(c) / size
        variance = (c * (1 - mean) ** 2 + (size - c) * mean**2) / (size - ddof)
        scale = mp.sqrt(variance) if normaliser == "std" else mp.mpf(1)
        won, lost = (1 - mean) / scale, -mean / scale
        pull = (c * won * (1 - p) + (size - c) * lost * -p) / size
        first, second = first + chance * pull, second + chance * pull**2
    return first, second - first**2


def dead(p: Any, G: int) -> Any:
    """Return the probability that all rewards of a group are equal."""
    return mp.fsum(chance for c, chance in _counted(p, G) if c in (0, G))
