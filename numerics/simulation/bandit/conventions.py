r"""The conventions in which implementations of GRPO differ, each a required, named choice.

None has a default, because each changes the answer. Provenance: the group-normalised advantage and
the importance-weighted surrogate are stated (equations 1 and 2); every other choice is what a
published trainer does (extension). `presets` has the combinations that are in use.
"""

from __future__ import annotations

from dataclasses import dataclass

from numerics.inputs import InvalidInput, floats, known_name, whole_number
from numerics.simulation.mean_field import STALENESS

#: What is subtracted from a reward: its group's mean, the mean of the others, nothing.
BASELINES: tuple[str, ...] = ("group-mean", "leave-one-out", "none")
#: What it is divided by: the std of its group, of the whole batch, of the others, nothing.
NORMALISERS: tuple[str, ...] = ("group-std", "batch-std", "others-std", "none")
#: Where eps is added.
EPS_IN: tuple[str, ...] = ("std", "variance")
#: A group of one sample: an error, or mean 0 and std 1.
GROUPS_OF_ONE: tuple[str, ...] = ("refuse", "raw")
#: More samples than any batch has, and few enough to be drawn.
LARGEST_GROUP = 10**9
#: The KL term of the objective: exact, or an estimator differentiated on the samples.
KL_ESTIMATORS: tuple[str, ...] = ("reverse", "k1", "k2", "k3", "k3-ratio")
#: The objective of a batch: the sum over its prompts, or their mean.
OVER_PROMPTS: tuple[str, ...] = ("sum", "mean")


@dataclass(frozen=True, kw_only=True)
class AdvantageConventions:
    r"""How rewards become advantages: ``(r - baseline)/(std + eps)``.

    Parameters
    ----------
    baseline
        One of `BASELINES`.
    normaliser
        One of `NORMALISERS`. ``"others-std"``, only with ``"leave-one-out"``, is the std of the
        other samples of the group; where they all agree nothing is divided.
    ddof
        The variance is the sum of squares over ``n - ddof``: 0 is equation (1), 1 what trainers do.
    eps, eps_in
        ``std + eps`` (``"std"``) or ``sqrt(std^2 + eps)`` (``"variance"``); eps >= 0.
    group_of_one
        ``"refuse"``, or ``"raw"``: baseline 0 and group std 1, so the reward is its own advantage;
        not with ``"batch-std"``, which has no group std to replace.

    Raises
    ------
    UnknownName, InvalidInput
        A value outside its domain, or a combination that can divide by zero.
    """

    baseline: str
    normaliser: str
    ddof: int
    eps: float
    eps_in: str
    group_of_one: str

    def __post_init__(self) -> None:
        known_name("baseline", self.baseline, BASELINES)
        known_name("normaliser", self.normaliser, NORMALISERS)
        whole_number("ddof", self.ddof, least=0)
        if real("eps", self.eps) < 0:
            raise InvalidInput(f"eps is {self.eps}: it must be >= 0")
        known_name("eps_in", self.eps_in, EPS_IN)
        known_name("group_of_one", self.group_of_one, GROUPS_OF_ONE)
        if self.normaliser == "others-std" and self.baseline != "leave-one-out":
            raise InvalidInput(
                f"normaliser 'others-std' with baseline {self.baseline!r}: "
                "the std of the others goes with the baseline 'leave-one-out'"
            )
        if self.baseline == "none" and self.normaliser != "none" and self.eps == 0:
            raise InvalidInput(
                f"baseline 'none' with normaliser {self.normaliser!r} and eps 0 divides by zero "
                "where all rewards agree: give eps > 0 or a baseline"
            )

    def check_group(self, group_size: int | None, *, prompts: int) -> None:
        """Refuse a group size for which the advantage is undefined; None is G to infinity."""
        if group_size is None:
            return
        if whole_number("group_size", group_size, least=1) > LARGEST_GROUP:
            raise InvalidInput(
                f"group_size is {group_size}: give up to {LARGEST_GROUP}, or None for G to infinity"
            )
        if group_size == 1 and self.group_of_one == "refuse":
            raise InvalidInput(
                "group_size is 1 and group_of_one is 'refuse': give a group of at least 2"
            )
        if group_size == 1 and self.normaliser == "batch-std":
            raise InvalidInput(
                "group_size is 1 and normaliser 'batch-std': group_of_one 'raw' leaves a reward as "
                "it is, and the std of the batch would divide it; give a group of at least 2 or "
                "another normaliser"
            )
        samples = {
            "group-std": group_size if group_size > 1 else None,
            "others-std": group_size - 1 if group_size > 1 else None,
            "batch-std": group_size * prompts,
        }.get(self.normaliser)
        if samples is not None and samples <= self.ddof:
            raise InvalidInput(
                f"normaliser {self.normaliser!r} with ddof {self.ddof} has no std of {samples} "
                f"sample{'s' * (samples != 1)}: give a larger group or a smaller ddof"
            )


@dataclass(frozen=True, kw_only=True)
class Conventions(AdvantageConventions):
    r"""Everything the objective of a batch depends on, besides the samples and beta.

    Parameters
    ----------
    baseline, normaliser, ddof, eps, eps_in, group_of_one
        As in `AdvantageConventions`.
    staleness
        One of `numerics.simulation.STALENESS`. ``"delayed-gradient"``: equation (3), the whole
        gradient at theta_old; ``"stale-samples"``: score ``A log pi``, no ratio;
        ``"stale-samples-ratio"``: equation (2), ``A pi/pi_old``.
    clip
        None, or ``(low, high)``, both > 0: the smaller of ``ratio A`` and
        ``clamp(ratio, 1 - low, 1 + high) A``.
    dual_clip
        None, or c > 1: where A < 0, not below ``c A``.
    log_ratio_clamp
        None, or L > 0: the log of the policy's ratio is clamped to [-L, L].
    kl
        One of `KL_ESTIMATORS`, with ``l = log(pi/pi_ref)``: ``"reverse"`` is the exact
        ``sum pi l``; on the samples ``"k1"`` is l, ``"k2"`` l^2/2, ``"k3"`` ``e^-l + l - 1``,
        ``"k3-ratio"`` that times the (unclamped) ratio. Always in the loss, with weight beta.
    over_prompts
        One of `OVER_PROMPTS`. A group without signal keeps its share of the mean.

    Raises
    ------
    UnknownName, InvalidInput
        A value outside its domain, or a clip where there is no ratio to clip.
    """

    staleness: str
    clip: tuple[float, float] | None
    dual_clip: float | None
    log_ratio_clamp: float | None
    kl: str
    over_prompts: str

    def __post_init__(self) -> None:
        super().__post_init__()
        known_name("staleness", self.staleness, STALENESS)
        known_name("kl", self.kl, KL_ESTIMATORS)
        known_name("over_prompts", self.over_prompts, OVER_PROMPTS)
        if self.clip is not None:
            if not isinstance(self.clip, tuple) or len(self.clip) != 2:
                raise InvalidInput(f"clip is {self.clip!r}: give (low, high), or None for no clip")
            for side, width in zip(("low", "high"), self.clip, strict=True):
                if real(f"clip {side}", width) <= 0:
                    raise InvalidInput(
                        f"clip {side} is {width}: a clip range must be > 0; None, in a run file "
                        "'none', is no clip"
                    )
        if self.dual_clip is not None and real("dual_clip", self.dual_clip) <= 1:
            raise InvalidInput(
                f"dual_clip is {self.dual_clip}: it must be > 1; None, in a run file "
                "'none', is none"
            )
        if self.log_ratio_clamp is not None and real("log_ratio_clamp", self.log_ratio_clamp) <= 0:
            raise InvalidInput(
                f"log_ratio_clamp is {self.log_ratio_clamp}: it must be > 0; None, in a run "
                "file 'none', is none"
            )
        if self.staleness == "stale-samples":
            for name in ("clip", "dual_clip", "log_ratio_clamp"):
                if getattr(self, name) is not None:
                    raise InvalidInput(
                        f"{name} with staleness 'stale-samples': it has no ratio to clip; "
                        f"give {name} None or staleness 'stale-samples-ratio'"
                    )


def real(what: str, value: object) -> float:
    """Return `value` as a float, or refuse what is not one finite real number."""
    array = floats(**{what: value})[what]
    if array.ndim:
        raise InvalidInput(f"{what} is {value!r}: give one number")
    return float(array)
