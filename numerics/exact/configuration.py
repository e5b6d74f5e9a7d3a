r"""What a run is, as far as the linear theory goes: optimizer, lag model, momentum, stale share.

The stiffness per step x = eta*K is kept apart, because thresholds and onsets are values of it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple, SupportsIndex

__all__ = [
    "LAG_MODELS",
    "LONGEST_DELAY",
    "OPTIMIZERS",
    "RECURRENCES",
    "Configuration",
    "ConfigurationError",
    "Number",
    "Recurrence",
    "UnstableError",
    "exact_stiffness",
]

#: What is taken for a number, each as exactly the number it is.
Number = int | float | Fraction

#: The names a lag model may have.
LAG_MODELS = ("constant", "sawtooth")

#: The longest lag or refresh accepted, in steps. The work grows with it, the spectrum's with its
#: square: a few seconds at this bound.
LONGEST_DELAY = 5000


class ConfigurationError(ValueError):
    """A value outside the domain of the theory; the message is one line."""


class UnstableError(ValueError):
    """A stationary quantity was asked of a configuration that has no stationary state."""


class Recurrence(NamedTuple):
    r"""An optimizer: ``v_k = memory v_{k-1} + intake g_k``, then ``q += direct g_k + passed v_k``.

    ``g_k = -(x_f q_k + x_s q_{k-lag})`` is the restoring force, step size included.
    """

    memory: Fraction
    intake: Fraction
    direct: Fraction
    passed: Fraction

    @property
    def gain(self) -> tuple[Fraction, Fraction]:
        r"""``(g0, g1)`` of the gain ``G(z) = g0 + g1/z`` by which chi multiplies the force."""
        return self.direct + self.passed * self.intake, -self.memory * self.direct


#: The coefficients of each optimizer at a momentum of any kind of number, arrays included.
RECURRENCES: Mapping[str, Callable[[Any], tuple[Any, Any, Any, Any]]] = {
    "heavy-ball": lambda mu: (mu, 1, 0, 1),
    "ema": lambda mu: (mu, 1 - mu, 0, 1),
    "nesterov": lambda mu: (mu, 1, 1, mu),
}

#: The names an optimizer may have.
OPTIMIZERS = tuple(RECURRENCES)


def _known(kind: str, name: object, allowed: Collection[str]) -> None:
    if name in allowed:
        return
    from difflib import get_close_matches  # only an error pays for it

    near = get_close_matches(str(name).lower().replace("_", "-"), allowed, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ConfigurationError(f"unknown {kind} {str(name)[:60]!r}; {hint}use {', '.join(allowed)}")


def _exact(name: str, value: object) -> Fraction:
    """Return a finite real number as exactly the rational it is."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ConfigurationError(f"{name} is {value!r}; give a real number")
    try:
        return Fraction(value) if isinstance(value, int | Fraction) else Fraction(float(value))
    except (ValueError, OverflowError):
        raise ConfigurationError(f"{name} is {value!r}; give a finite number") from None


def _steps(name: str, value: object, smallest: int) -> None:
    if (
        not isinstance(value, SupportsIndex)
        or isinstance(value, bool)
        or not smallest <= operator.index(value) <= LONGEST_DELAY
    ):
        raise ConfigurationError(
            f"{name} is {value!r}; give a whole number of steps from {smallest} to {LONGEST_DELAY}"
        )


def exact_stiffness(x: Number) -> Fraction:
    """Return the stiffness per step x = eta*K as an exact rational.

    Raises
    ------
    ConfigurationError
        If `x` is not a finite number above 0.
    """
    value = _exact("x", x)
    if value <= 0:
        raise ConfigurationError(f"x is {x}; the stiffness per step eta*K must be above 0")
    return value


@dataclass(frozen=True)
class Configuration:
    r"""A run of the linear map, but for its stiffness per step.

    Parameters
    ----------
    optimizer
        ``"heavy-ball"`` (equation 3), ``"ema"`` (Adam's beta1) or ``"nesterov"`` (torch's SGD).
    lag_model
        ``"constant"``: the stale part of the force is always `lag` steps old.
        ``"sawtooth"``: at step k it is ``k mod refresh`` steps old.
    mu
        Momentum in [0, 1). A `Fraction` or a float is taken as exactly the number it is.
    stale_share
        Share s of the stiffness that acts through the old policy: ``x_s = s x``,
        ``x_f = (1 - s) x``. Any real number; the published equation (3) is s = 1.
    lag
        Steps from 0, for the constant lag model only.
    refresh
        Steps from 1 (on-policy), for the sawtooth lag model only.

    Raises
    ------
    ConfigurationError
        If a value is outside its domain, or `lag` and `refresh` do not fit the lag model.
    """

    optimizer: str
    lag_model: str
    mu: Number
    stale_share: Number
    lag: int | None = field(default=None, kw_only=True)
    refresh: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _known("optimizer", self.optimizer, OPTIMIZERS)
        _known("lag model", self.lag_model, LAG_MODELS)
        if not 0 <= _exact("momentum mu", self.mu) < 1:
            raise ConfigurationError(f"momentum mu is {self.mu}; it must be in [0, 1)")
        _exact("stale_share", self.stale_share)
        name, other, smallest = ("lag", "refresh", 0) if self.constant else ("refresh", "lag", 1)
        if getattr(self, other) is not None:
            raise ConfigurationError(f"the {self.lag_model} lag model takes {name}, not {other}")
        _steps(name, getattr(self, name), smallest)

    @property
    def constant(self) -> bool:
        """Whether the lag is constant (it is a sawtooth otherwise)."""
        return self.lag_model == "constant"

    @property
    def delay(self) -> int:
        """The lag or the refresh interval, whichever the lag model has."""
        steps = self.lag if self.constant else self.refresh
        assert steps is not None  # __post_init__ has seen to it
        return steps

    @property
    def momentum(self) -> Fraction:
        """The momentum as an exact rational."""
        return _exact("momentum mu", self.mu)

    @property
    def share(self) -> Fraction:
        """The stale share as an exact rational."""
        return _exact("stale_share", self.stale_share)

    @property
    def recurrence(self) -> Recurrence:
        """The optimizer's recurrence at this momentum."""
        return Recurrence(*map(Fraction, RECURRENCES[self.optimizer](self.momentum)))
