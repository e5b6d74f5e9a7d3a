r"""Rewards to advantages, on the samples of a group or on its counts per arm.

A group is a distribution over arms: counts over G, or for G to infinity the policy's
probabilities; samples are arms that were each drawn once. So there is one computation, with arms on
the first axis. Deviations are taken from the reward of an arm the group does contain: where all
rewards agree they are exactly 0, and rounding has nothing to leak through a small eps.
Provenance: equation (1) stated, conventions as in `AdvantageConventions`.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, Values, check_type, common_shape, floats, rectangular
from numerics.simulation.bandit.conventions import AdvantageConventions

Floats: TypeAlias = NDArray[np.float64]


@np.errstate(all="ignore")  # a difference of huge rewards is infinite
def advantages(rewards: Values, conventions: AdvantageConventions) -> Floats:
    r"""Return the advantage of every sample of a group.

    Parameters
    ----------
    rewards
        Shape ``(..., group)``, finite. With the normaliser ``"batch-std"`` a batch is the last two
        axes, ``(..., prompts, group)``.
    conventions
        `AdvantageConventions`, or a whole `Conventions`.

    Returns
    -------
    array
        The shape of `rewards`; exactly 0 in a group whose rewards agree, if it has a baseline.
        Differences below 1e-154 of the largest reward count as agreement.

    Raises
    ------
    InvalidInput
        NaN or infinite rewards, no samples, or a group too small for the conventions.
    """
    values = floats(rewards=rewards)["rewards"]
    if values.ndim == 0 or values.size == 0:
        raise InvalidInput(f"rewards has shape {values.shape}: give at least one group of samples")
    size = values.shape[-1]
    prompts = values.shape[-2] if values.ndim > 1 else 1
    grader = Grader(
        np.moveaxis(values, -1, 0).reshape(size, -1), conventions, group_size=size, prompts=prompts
    )
    result = grader(np.full((size, values.size // size), 1 / size))
    return np.moveaxis(result.reshape(size, *values.shape[:-1]), 0, -1)


@np.errstate(all="ignore")
def count_advantages(rewards: Values, counts: Values, conventions: AdvantageConventions) -> Floats:
    r"""Return the advantage of every arm in groups given by their counts.

    Parameters
    ----------
    rewards
        Shape ``(..., prompts, arms)``, finite.
    counts
        How often each arm was drawn: whole numbers that broadcast with `rewards`, with the same
        sum over the arms (the group size) for every prompt.
    conventions
        `AdvantageConventions`, or a whole `Conventions`.

    Returns
    -------
    array
        Shape ``(..., prompts, arms)``; 0 for an arm that was not drawn.

    Raises
    ------
    InvalidInput
        As in `advantages`, and for counts that are no counts.
    """
    values = floats(rewards=rewards)["rewards"]
    drawn, size = checked_counts(counts)
    shape = common_shape(rewards=values.shape, counts=drawn.shape)
    if len(shape) < 2 or not np.prod(shape):
        raise InvalidInput(f"rewards and counts have shape {shape}: give (..., prompts, arms)")
    full, shares = (
        np.moveaxis(np.broadcast_to(array, shape), -1, 0).reshape(shape[-1], -1)
        for array in (values, drawn / size)
    )
    grader = Grader(full, conventions, group_size=size, prompts=shape[-2])
    result = np.where(shares > 0, grader(shares), 0.0)
    return np.moveaxis(result.reshape(shape[-1], *shape[:-1]), 0, -1)


def checked_counts(counts: Values) -> tuple[NDArray[np.int64], int]:
    """Return counts as integers and their common sum over the last axis, the group size."""
    drawn = rectangular("counts", counts)
    if drawn.dtype.kind not in "iu" or drawn.ndim == 0 or drawn.size == 0 or np.any(drawn < 0):
        raise InvalidInput("counts must be whole numbers >= 0, shape (..., prompts, arms)")
    sizes = drawn.sum(axis=-1)
    size = int(sizes.flat[0])
    if size < 1 or np.any(sizes != size):
        raise InvalidInput("counts must sum to the same group size >= 1 for every prompt")
    return drawn.astype(np.int64), size


class Grader:
    """Advantages of groups over `rewards`, arms first: both arrays ``(arms, columns)``.

    A column is one prompt of one chain; the `prompts` columns of a chain stand side by side.
    """

    def __init__(
        self,
        rewards: Floats,
        conventions: AdvantageConventions,
        *,
        group_size: int | None,
        prompts: int,
    ) -> None:
        check_type("conventions", conventions, AdvantageConventions,
                   "AdvantageConventions, or the conventions of a preset")  # fmt: skip
        conventions.check_group(group_size, prompts=prompts)
        self._normaliser, self._eps_in = conventions.normaliser, conventions.eps_in
        self._size, self._prompts, self._ddof = group_size, prompts, conventions.ddof
        in_group = self._normaliser in ("group-std", "others-std")
        # In units of a power of two near the largest reward no square over- or underflows.
        largest = np.abs(rewards).max(axis=0 if in_group else None)
        self._unit = np.ldexp(1.0, np.frexp(largest)[1] - 1)
        self._rewards = np.ascontiguousarray(rewards / self._unit)
        self._columns = np.arange(rewards.shape[1])
        self._eps = conventions.eps / self._unit  # infinite beside the smallest rewards
        if self._eps_in == "variance":
            self._eps = self._eps / self._unit
        self._centred = conventions.baseline != "none" and group_size != 1
        # r - (mean of the others) = (r - mean) G/(G - 1)
        leave_out = conventions.baseline == "leave-one-out" and self._centred
        self._gain = group_size / (group_size - 1) if leave_out and group_size else 1.0
        self._of_one = None
        if group_size == 1 and in_group:  # mean 0 and std 1, in the rewards' own units
            std = 1 + conventions.eps
            self._of_one = rewards / (std if self._eps_in == "std" else np.sqrt(std))

    def __call__(self, weights: Floats) -> Floats:
        """Return the advantage of every arm; of an arm with weight 0, any finite number."""
        if self._of_one is not None:
            return self._of_one
        deviation, variance = self._moments(weights)
        scale: Values
        top = deviation if self._centred else self._rewards
        if self._normaliser == "none":
            scale = self._unit
        elif self._normaliser == "batch-std":
            scale = self._over_std(self._of_batch(weights), agreed=0.0)
        elif self._normaliser == "others-std" and self._size is not None:
            scale = self._over_std(self._of_others(weights), agreed=self._unit)
        else:
            scale = self._over_std(variance * self._bessel(self._size), agreed=0.0)
        result: Floats = top * (scale if self._gain == 1 else self._gain * scale)
        return result

    def spread(self, weights: Floats) -> Floats:
        """Return the std of every group, with the conventions' ddof where the group has one."""
        small = self._size is not None and self._size <= self._ddof
        variance = self._moments(weights)[1] * (1.0 if small else self._bessel(self._size))
        result: Floats = np.sqrt(variance) * self._unit
        return result

    def _moments(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return every arm's deviation from its group's mean, and the variance (ddof 0)."""
        deviation = self._rewards - self._rewards[weights.argmax(axis=0), self._columns]
        deviation -= np.add.reduce(weights * deviation, axis=0)
        return deviation, np.add.reduce(weights * deviation * deviation, axis=0)

    def _bessel(self, samples: int | None) -> float:
        return 1.0 if samples is None else samples / (samples - self._ddof)

    def _over_std(self, variance: Floats, *, agreed: Values) -> Floats:
        """Return 1/(std + eps), or `agreed` where the variance is 0 and there is a baseline."""
        if self._eps_in == "std":
            std = np.sqrt(variance) + self._eps
        else:
            std = np.sqrt(variance + self._eps)
        divided = variance > 0 if self._centred or not np.all(self._eps) else True
        result: Floats = np.empty_like(std)
        result[...] = agreed
        np.divide(1.0, std, out=result, where=divided)
        return result

    def _of_batch(self, weights: Floats) -> Floats:
        """Return the variance of all rewards of the batch a column belongs to."""
        shape = (len(weights), -1, self._prompts)
        rewards, weights = self._rewards.reshape(shape), weights.reshape(shape)
        heaviest = weights[:, :, 0].argmax(axis=0)
        start = np.take_along_axis(rewards[:, :, 0], heaviest[None], axis=0)[0]
        deviation = rewards - start[:, None]
        deviation -= np.einsum("acp,acp->c", weights, deviation)[:, None] / self._prompts
        variance = np.einsum("acp,acp,acp->c", weights, deviation, deviation) / self._prompts
        samples = None if self._size is None else self._size * self._prompts
        return np.repeat(variance * self._bessel(samples), self._prompts)

    def _of_others(self, weights: Floats) -> Floats:
        """Return, for every arm, the variance of its group without one sample of that arm."""
        assert self._size is not None
        rest = self._size - 1
        counts = np.rint(weights * self._size)
        variance = np.empty_like(weights)
        for arm in range(len(weights)):
            others = counts / rest
            others[arm] = np.maximum(counts[arm] - 1, 0) / rest  # an arm not drawn: any number
            variance[arm] = self._moments(others)[1]
        variance *= self._bessel(rest)
        return variance
