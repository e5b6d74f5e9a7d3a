r"""The objective of a batch and its gradient, as functions of the parameters.

``theta`` is the policy that is changed, ``theta_old`` the one that was sampled. Equation (2) is
staleness ``"stale-samples-ratio"`` without clip; equation (3) evaluates its gradient at theta_old,
``"delayed-gradient"``. Provenance: stated, the other conventions extension.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, Values, common_shape, floats, whole_number
from numerics.simulation.bandit.advantage import Grader, checked_counts
from numerics.simulation.bandit.conventions import Conventions
from numerics.simulation.bandit.policy import Bandit, Columns, Floats, Policy
from numerics.simulation.bandit.sampling import draw
from numerics.simulation.bandit.surrogate import Surrogate

#: Beyond the floating-point range a result is infinite or NaN, without a warning.
_QUIET = np.errstate(all="ignore")


@_QUIET
def objective(
    bandit: Bandit,
    conventions: Conventions,
    theta: Values,
    theta_old: Values,
    *,
    beta: Values,
    counts: Values,
) -> NDArray[Any]:
    r"""Return the surrogate objective J that an update raises.

    Parameters
    ----------
    bandit, conventions
        What is played, and how the objective is made of it.
    theta, theta_old
        Parameters ``(..., *bandit.parameter_shape)`` of the policy and of the sampled policy.
        `theta` may be complex: J is analytic but at the edges of a clip, so that a complex step
        differentiates it.
    beta
        KL weight >= 0; a number, or an array that broadcasts to the leading axes.
    counts
        How often each arm was drawn, whole numbers ``(..., prompts, arms)``; or None for
        expectations under theta_old, G to infinity.

    Returns
    -------
    array
        Shape ``(...)``. With staleness ``"delayed-gradient"`` the same as with the ratio; it is the
        gradient that is taken elsewhere, at theta_old.

    Raises
    ------
    InvalidInput
        Shapes that do not fit, values that are not finite, a group too small for the conventions.
    """
    batch = _Batch(bandit, conventions, theta, theta_old, beta, counts)
    values = batch.surrogate.value(batch.weights, batch.advantages, batch.new, batch.old)
    total = batch.columns.over_prompts(values)
    return total / bandit.prompts if conventions.over_prompts == "mean" else total


@_QUIET
def gradient(
    bandit: Bandit,
    conventions: Conventions,
    theta: Values,
    theta_old: Values,
    *,
    beta: Values,
    counts: Values,
) -> Floats:
    r"""Return the exact gradient of `objective` in theta, at theta.

    With staleness ``"delayed-gradient"`` it is taken at theta_old instead. Where a clip holds it is
    zero; at its very edge, where J has a corner, it is the derivative from the unclipped side.

    Parameters
    ----------
    bandit, conventions, theta, theta_old, beta, counts
        As in `objective`, `theta` real.

    Returns
    -------
    array
        Shape ``(..., *bandit.parameter_shape)``; accurate while logits differ by less than 700.

    Raises
    ------
    InvalidInput
        As in `objective`.
    """
    if np.iscomplexobj(theta):
        raise InvalidInput("theta is complex: the gradient is taken at real parameters")
    batch = _Batch(bandit, conventions, theta, theta_old, beta, counts)
    return batch.gradient()


def mean_gradient(
    bandit: Bandit, conventions: Conventions, theta: Values, theta_old: Values, *, beta: Values
) -> Floats:
    r"""Return the expected gradient for G to infinity: the mean field's drift.

    ``functools.partial(mean_gradient, bandit, conventions, beta=beta)`` is a
    ``drift(theta, theta_old)``.

    Parameters
    ----------
    bandit, conventions, theta, theta_old, beta
        As in `gradient`.

    Returns
    -------
    array
        As in `gradient`.

    Raises
    ------
    InvalidInput
        As in `objective`.
    """
    return gradient(bandit, conventions, theta, theta_old, beta=beta, counts=None)


@_QUIET
def sample_gradient(
    bandit: Bandit,
    conventions: Conventions,
    theta: Values,
    theta_old: Values,
    *,
    beta: Values,
    group_size: int,
    rng: np.random.Generator,
) -> Floats:
    r"""Return the gradient on a batch drawn from the policy of theta_old.

    Parameters
    ----------
    bandit, conventions, theta, theta_old, beta
        As in `gradient`; every leading index gets a batch of its own.
    group_size
        Samples per prompt, G.
    rng
        Where the samples come from.

    Returns
    -------
    array
        As in `gradient`.

    Raises
    ------
    InvalidInput
        As in `objective`.
    """
    conventions.check_group(whole_number("group_size", group_size, least=1), prompts=bandit.prompts)
    if not isinstance(rng, np.random.Generator):
        raise InvalidInput(f"rng is {rng!r}: give a numpy.random.Generator")
    lead = common_shape(
        theta=_lead(bandit, "theta", theta),
        theta_old=_lead(bandit, "theta_old", theta_old),
        beta=np.shape(beta),
    )
    old = floats(theta_old=theta_old)["theta_old"]
    columns = Columns(bandit, lead)
    policy = Policy(columns.logits(columns.parameters(old)))
    counts = draw(policy.probabilities, group_size, rng)
    shape = (bandit.arms, *lead, bandit.prompts)
    return gradient(
        bandit,
        conventions,
        theta,
        old,
        beta=beta,
        counts=np.moveaxis(counts.reshape(shape), 0, -1),
    )


class _Batch:
    """The arguments of `objective`, checked and in columns."""

    def __init__(
        self,
        bandit: Bandit,
        conventions: Conventions,
        theta: Values,
        theta_old: Values,
        beta: Values,
        counts: Values,
    ) -> None:
        check_types(bandit, conventions)
        leads = {
            "theta": _lead(bandit, "theta", theta),
            "theta_old": _lead(bandit, "theta_old", theta_old),
            "beta": np.shape(beta),
        }
        drawn, size = None, None
        if counts is not None:
            drawn, size = checked_counts(counts)
            if drawn.shape[-2:] != bandit.rewards.shape:
                raise InvalidInput(
                    f"counts has shape {drawn.shape}: "
                    f"its last axes must be (prompts, arms) = {bandit.rewards.shape}"
                )
            leads["counts"] = drawn.shape[:-2]
        conventions.check_group(size, prompts=bandit.prompts)
        old = floats(theta_old=theta_old)["theta_old"]
        values = np.asarray(theta)
        parts = floats(**{"theta": values.real, "theta's imaginary part": values.imag})
        values = parts["theta"] + 1j * values.imag if np.iscomplexobj(values) else parts["theta"]
        self.columns = Columns(bandit, common_shape(**leads))
        self.conventions = conventions
        weight = floats(beta=beta)["beta"]
        check_weight(weight)
        self.surrogate = Surrogate(
            conventions, self.columns, self.columns.per_chain(weight) if np.any(weight) else None
        )
        self.new, self.old = (
            Policy(self.columns.logits(self.columns.parameters(point))) for point in (values, old)
        )
        if drawn is None:
            self.weights = self.old.probabilities
        else:
            self.weights = self.columns.arms_first(drawn) / size
        grader = Grader(self.columns.rewards, conventions, group_size=size, prompts=bandit.prompts)
        self.advantages = grader(self.weights)

    def gradient(self) -> Floats:
        result = self.surrogate.gradient(self.weights, self.advantages, self.new, self.old)
        if self.conventions.over_prompts == "mean":
            result = result / self.columns.bandit.prompts
        return self.columns.restored(result)


def check_types(bandit: object, conventions: object) -> None:
    """Refuse arguments in the wrong order, in one line."""
    if not isinstance(bandit, Bandit):
        raise InvalidInput(f"bandit is {bandit!r}: give a Bandit")
    if not isinstance(conventions, Conventions):
        raise InvalidInput(f"conventions is {conventions!r}: give Conventions, or a preset's")


def check_weight(beta: Floats) -> None:
    """Refuse a KL weight that is negative."""
    if np.any(beta < 0):
        raise InvalidInput(f"beta is {beta.min()}: the KL weight must be >= 0")


def _lead(bandit: Bandit, what: str, theta: Values) -> tuple[int, ...]:
    """Return the leading axes of parameters, or refuse their shape."""
    shape, own = np.shape(theta), bandit.parameter_shape
    if shape[len(shape) - len(own) :] != own:
        raise InvalidInput(f"{what} has shape {shape}: its last axes must be {own}")
    return shape[: len(shape) - len(own)]
