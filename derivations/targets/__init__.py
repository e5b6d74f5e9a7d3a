r"""The quantities a claim can be about, and what the derivations give for each.

A target turns the conventions of a claim (its ``model``) into a :class:`Value` or a :class:`Region`
to compare with. A new quantity is one more target in one of these modules.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from derivations.targets.bandit import BANDIT
from derivations.targets.base import Target, TargetError
from derivations.targets.curve import CURVES
from derivations.targets.group import GROUPS
from derivations.targets.law import LAWS
from derivations.targets.noise import NOISE
from derivations.targets.oscillator import OSCILLATOR
from derivations.targets.spectrum import SPECTRUM
from derivations.targets.threshold import THRESHOLDS

__all__ = ["TARGETS", "Target", "TargetError"]

#: Name -> quantity that a claim can be about.
TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        target.name: target
        for target in (
            *OSCILLATOR, *CURVES, *LAWS, *THRESHOLDS, *SPECTRUM, *NOISE, *BANDIT, *GROUPS
        )
    }
)  # fmt: skip
