r"""Which derived expressions become kernels.

A row is a module of kernels and the function that derives their expressions. Regenerating writes
every module; the drift check compares them with the committed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import sympy as sp

from derivations.derivation import Derivation
from derivations.notation import quantity
from derivations.results import (
    dead_groups,
    fixed_point,
    group_size,
    no_kl,
    onset,
    oscillator,
    refresh_rule,
    sawtooth,
    slow_root,
    staleness,
    stiffness,
    transition,
    variance,
)
from derivations.update import LAG_MODELS, OPTIMIZERS, Update
from numerics.compile import Kernel, module_source

__all__ = ["MODULES", "drift", "sources", "write"]

_delta, _s = quantity("delta"), quantity("s")
_KERNELS = Path(__file__).parent / "kernels"


def _kernel(
    name: str, derivation: Derivation, *results: str, takes: tuple[str, ...] = ()
) -> Kernel:
    """Make a kernel of named results, at delta = 1."""
    outputs = {
        result: sp.sympify(derivation[result], strict=True).subs(_delta, 1) for result in results
    }
    return Kernel(name, outputs, derivation.id, takes)


def _python(name: str) -> str:
    return name.replace("-", "_")


def _for_updates(
    derive: Callable[[Update], Derivation],
    *results: str,
    takes: tuple[str, ...] = (),
    share: object = _s,
    optimizers: tuple[str, ...] = tuple(OPTIMIZERS),
    lag_models: tuple[str, ...] = tuple(LAG_MODELS),
) -> list[Kernel]:
    """Make one kernel per optimizer and lag model, lag symbolic."""
    return [
        _kernel(
            _python(f"{optimizer}_{lag_model}"),
            derive(Update.named(optimizer, lag_model, stale_share=share)),
            *results,
            takes=("mu", LAG_MODELS[lag_model].parameter.name, *takes),
        )
        for optimizer in optimizers
        for lag_model in lag_models
    ]


def _variances() -> list[Kernel]:
    return [
        _kernel(
            _python(f"{optimizer}_lag_{lag}"),
            variance.derive(Update.named(optimizer, "constant", stale_share=_s, lag=lag)),
            "variance",
            takes=("mu", "x", "s"),
        )
        for optimizer in OPTIMIZERS
        for lag in (0, 1, 2, 3)
    ]


def _slopes() -> list[Kernel]:
    kinds = ("delayed-gradient", "stale-samples", "stale-samples-ratio")
    names = ("fresh_slope", "stale_slope", "stiffness", "stale_share")
    return [
        _kernel(_python(kind), staleness.derive(kind), *names, takes=("beta", "p_star"))
        for kind in kinds
    ]


def _groups() -> list[Kernel]:
    made = [
        _kernel(
            f"{normaliser}_ddof_{ddof}",
            group_size.derive(normaliser, ddof),
            "drift",
            "drift_variance",
            takes=("p", "G"),
        )
        for normaliser in ("std", "mean")
        for ddof in (0, 1)
    ]
    return [*made, _kernel("dead_groups", dead_groups.derive(), "dead_groups")]


def _fixed_points() -> list[Kernel]:
    reverse, k3 = fixed_point.derive("reverse"), fixed_point.derive("k3")
    return [
        _kernel("reverse_map", reverse, "map"),
        _kernel("k3_map", k3, "map"),
        _kernel("k3_fixed_point", k3, "p_star"),
        _kernel("stiffness", stiffness.derive(), "stiffness", "contraction"),
    ]


def _beta_zero() -> list[Kernel]:
    return [
        _kernel(normaliser, no_kl.derive(normaliser), "rate", "acceleration")
        for normaliser in ("std", "mean")
    ]


#: Module name -> (title, the kernels in it).
MODULES: Mapping[str, tuple[str, Callable[[], list[Kernel]]]] = MappingProxyType(
    {
        "oscillator": (
            "Mass, damping and stiffness of theorem-7.",
            lambda: _for_updates(
                oscillator.derive, "mass", "damping", "stiffness", takes=("x", "s")
            ),
        ),
        "refresh_rule": (
            "Prop-9's rule: where theorem-7's damping vanishes, under sawtooth with N for d.",
            lambda: _for_updates(refresh_rule.derive, "rule_threshold", takes=("s",)),
        ),
        "transition": (
            "The x at which theorem-7 turns oscillatory (sec-3.5), whole force stale.",
            lambda: _for_updates(
                transition.derive, "truncated_onset", share=1, lag_models=("constant",)
            ),
        ),
        "onset": (
            "The x at which the exact map turns oscillatory, whole force stale.",
            lambda: _for_updates(onset.derive, "onset", share=1, optimizers=("heavy-ball", "ema")),
        ),
        "sawtooth": (
            "Exact thresholds under a sawtooth refresh, whole force stale.",
            lambda: _for_updates(
                sawtooth.derive, "flip", "neimark_sacker", share=1, lag_models=("sawtooth",)
            ),
        ),
        "slow_root": (
            "The relaxation time and the x that gives it, to leading orders in x.",
            lambda: _for_updates(
                slow_root.derive, "relaxation_time", takes=("x", "s"), lag_models=("constant",)
            ),
        ),
        "variance": ("Exact stationary variance per unit noise, short lags.", _variances),
        "staleness": ("Fresh and stale slopes of the two-arm bandit.", _slopes),
        "fixed_point": ("Fixed points of the two-arm bandit.", _fixed_points),
        "group_size": ("Drift and noise of finite groups, to leading order in 1/G.", _groups),
        "beta_zero": ("Rate and acceleration of the success probability at beta = 0.", _beta_zero),
    }
)


def sources() -> dict[str, str]:
    """Return file name -> source of every generated module."""
    made = {
        f"{name}.py": module_source(title, kernels()) for name, (title, kernels) in MODULES.items()
    }
    names = "\n".join(f"    {name}," for name in sorted(MODULES))
    listed = ", ".join(f'"{name}"' for name in sorted(MODULES))
    made["__init__.py"] = (
        '"""Kernels compiled from the derivations, one module per result.\n\n'
        'Generated from the derivations by `grpo-dynamics report`; do not edit.\n"""\n\n'
        f"from numerics.kernels import (\n{names}\n)\n\n__all__ = [{listed}]\n"
    )
    return made


def write(directory: Path = _KERNELS) -> list[Path]:
    """Write every generated module; return the paths written."""
    written = []
    for name, text in sources().items():
        path = directory / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


def drift(directory: Path = _KERNELS) -> list[str]:
    """Return the generated files that differ from what the derivations give, or are missing."""
    return [
        name
        for name, text in sources().items()
        if not (directory / name).is_file() or (directory / name).read_text("utf-8") != text
    ]
