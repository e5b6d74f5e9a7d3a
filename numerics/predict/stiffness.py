r"""Where x comes from: given, from the measured relaxation time, or from the run's settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

from numerics.exact.arithmetic import decimal, magnitude, working
from numerics.inputs import InvalidInput, exact_number, known_name
from numerics.predict.bandit import PARAMETERS, STALENESS, fixed_point, slopes_at

__all__ = ["Settings", "Source"]

#: What goes with a step size `eta`, and is of no use without one.
_WITH_ETA = ("beta", "p_star", "p_ref", "staleness", "parameters", "second_moment", "adam_eps")

#: The fields that are numbers; `x` and the share are checked where all ways to them meet.
_NUMBERS = ("tau", "eta", "beta", "p_star", "p_ref", "second_moment", "adam_eps")

_BANDIT_NOTE = (
    "slopes of the two-arm bandit, rewards 1 and 0: infinite groups, std-normalised advantages "
    "(ddof 0, eps 0), exact reverse KL, no clipping"
)
_TAU_NOTE = (
    "x is the smallest at which this run, lag included, relaxes in tau steps; past the onset the "
    "same tau comes back at a larger x, in a run that swings"
)


@dataclass(frozen=True)
class Source:
    """The stiffness per step and the stale share, and what they were found from.

    Attributes
    ----------
    x, stale_share
        As exact numbers.
    conventions
        What to echo: JSON-ready.
    notes
        What a reader has to know.
    """

    x: Fraction
    stale_share: Fraction
    conventions: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    r"""What is known of a run's stiffness; exactly one of `x`, `tau` and `eta`.

    Attributes
    ----------
    x
        Stiffness per step eta*K itself.
    tau
        Measured relaxation time, in steps.
    eta
        Step size (learning rate); with `beta`, one of `p_star` and `p_ref`, `staleness` and
        `parameters`, and for Adam `second_moment` and `adam_eps`.
    stale_share
        With `x` or `tau`; None is 1. With `eta` it follows from the staleness.
    """

    x: Fraction | None = None
    tau: Fraction | None = None
    eta: Fraction | None = None
    stale_share: Fraction | None = None
    beta: Fraction | None = None
    p_star: Fraction | None = None
    p_ref: Fraction | None = None
    staleness: str | None = None
    parameters: str | None = None
    second_moment: Fraction | None = None
    adam_eps: Fraction | None = None

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, exact_number(name, value))

    @classmethod
    def given(cls, **settings: Any) -> Settings:
        """Return the settings of these names, each checked to be one."""
        for name in settings:
            known_name("setting", name, [field.name for field in fields(cls)])
        return cls(**settings)

    def source(
        self, optimizer: str, from_tau: Callable[[Fraction, Fraction], Fraction]
    ) -> Source:
        r"""Return x and the stale share.

        `from_tau` maps the stale share and tau to x.

        Raises
        ------
        InvalidInput
            If what is given does not go together, or a value is outside its domain.
        """
        ways = [name for name in ("x", "tau", "eta") if getattr(self, name) is not None]
        if len(ways) != 1:
            raise InvalidInput(
                f"{' and '.join(ways) or 'none of x, tau and eta'} given; give exactly one of x "
                "(eta*K), tau (measured relaxation time) and eta (step size, with beta, p_star or "
                "p_ref, staleness and parameters)"
            )
        if self.eta is not None:
            return self._from_settings(self.eta, optimizer)
        if stray := [name for name in _WITH_ETA if getattr(self, name) is not None]:
            raise InvalidInput(f"{', '.join(stray)} given with {ways[0]}; that goes with eta only")
        share = Fraction(1) if self.stale_share is None else self.stale_share
        if self.x is not None:
            return Source(self.x, share)
        assert self.tau is not None  # one of the three is
        x = from_tau(share, self.tau)
        return Source(x, share, {"tau": float(self.tau)}, (_TAU_NOTE,))

    def _from_settings(self, eta: Fraction, optimizer: str) -> Source:
        if self.stale_share is not None:
            raise InvalidInput("stale_share given with eta; there it follows from the staleness")
        missing = [n for n in ("beta", "staleness", "parameters") if getattr(self, n) is None]
        if missing:
            raise InvalidInput(
                f"eta needs {' and '.join(missing)} too, which change the answer: beta above 0; "
                f"staleness {', '.join(STALENESS)}; parameters {', '.join(PARAMETERS)}"
            )
        assert self.beta is not None
        assert self.staleness is not None
        known_name("parameters", self.parameters, PARAMETERS)
        if (self.p_star is None) == (self.p_ref is None):
            raise InvalidInput(
                "eta needs one of p_star (success probability at the fixed point) and p_ref (of "
                "the reference policy)"
            )
        if not eta > 0:
            raise InvalidInput(f"eta is {float(eta):g}; the step size must be above 0")
        step = eta * PARAMETERS[str(self.parameters)] / self._divisor(optimizer)
        beta = float(self.beta)
        if self.p_ref is not None:
            p_star = fixed_point(beta=beta, p_ref=self.p_ref)
        else:
            assert self.p_star is not None
            p_star = float(self.p_star)
        slopes = slopes_at(self.staleness, beta=beta, p_star=p_star)
        given = {
            name: value if isinstance(value, str) else float(value)
            for name in ("eta", *_WITH_ETA)
            if (value := getattr(self, name)) is not None
        }
        found = {
            "p_star": p_star,
            "fresh_slope": slopes.fresh,
            "stale_slope": slopes.stale,
            "stiffness_scale": slopes.stiffness,
        }
        share = Fraction(slopes.stale_share)
        return Source(step * Fraction(slopes.stiffness), share, {**given, **found}, (_BANDIT_NOTE,))

    def _divisor(self, optimizer: str) -> Fraction:
        """Return what Adam divides the step by, 1 for the others."""
        of_adam = (self.second_moment, self.adam_eps)
        if optimizer != "adam":
            if of_adam != (None, None):
                raise InvalidInput(f"second_moment and adam_eps are Adam's, not {optimizer}'s")
            return Fraction(1)
        moment, eps = of_adam
        if moment is None or eps is None:
            raise InvalidInput(
                "adam with eta needs second_moment (v, frozen) and adam_eps: it divides the step "
                "by sqrt(v) + eps"
            )
        if moment < 0 or eps < 0 or moment + eps == 0:
            raise InvalidInput(
                f"second_moment is {float(moment):g} and adam_eps {float(eps):g}; both must be "
                "from 0, and not both 0"
            )
        with working(50 + magnitude(moment)):
            root: Decimal = decimal(moment).sqrt()
        return Fraction(root) + eps
