r"""``kind = "bandit"``: GRPO on a softmax bandit, its rows named as trainers name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput
from numerics.runs.fields import (
    REQUIRED,
    Field,
    RunFileError,
    array,
    flag,
    named,
    number,
    or_word,
    read_table,
    text,
    whole,
)
from numerics.runs.lag import schedule
from numerics.runs.settings import Run, Settings
from numerics.runs.table import Table, table
from numerics.simulation.bandit import (
    COORDINATES,
    PRESETS,
    Adam,
    Bandit,
    Conventions,
    Preset,
    preset,
    simulate_bandit,
)
from numerics.simulation.bandit.conventions import LARGEST_GROUP
from numerics.simulation.optimizer import OPTIMIZERS

__all__ = ["COLUMNS", "TABLES", "run"]

#: The tables of a bandit run, and whether each is required.
TABLES = {"bandit": True, "conventions": True, "update": True, "lag": True}

#: Column and the field of `BanditRun` it holds; the first six as trainers name them.
COLUMNS = {
    "reward": "sampled_reward",
    "reward_std": "group_std",
    "frac_reward_zero_std": "dead_fraction",
    "clip_ratio": "clip_fraction",
    "entropy": "entropy",
    "kl": "kl_to_reference",
    "policy_reward": "reward",
    "effective_arms": "effective_arms",
    "advantage_min": "advantage_min",
    "advantage_max": "advantage_max",
}

_BANDIT = {
    "rewards": Field(array(2)),
    "reference_logits": Field(array(0, 1, 2)),
    "coordinates": Field(named("coordinates", COORDINATES)),
    "initial": Field(array(0, 1, 2), None),
}
_CLIP = or_word("none", lambda value: tuple(array(1)(value).tolist()))
_READ = {
    "ddof": whole(least=0, most=10**6),
    "eps": number,
    "clip": _CLIP,
    "dual_clip": or_word("none", number),
    "log_ratio_clamp": or_word("none", number),
}
#: The values themselves are checked by `Conventions`, whose words they are.
_CONVENTIONS = {field.name: _READ.get(field.name, text) for field in fields(Conventions)}
_ADAM = {"beta2": number, "adam_eps": number, "weight_decay": number, "bias_correction": flag}


def run(settings: Settings, own: Mapping[str, Any]) -> Run:
    """Return the run that the tables of a bandit run file describe.

    Raises
    ------
    RunFileError
        On anything in them that is unknown, missing or outside its domain.
    """
    at = f"{settings.where} [{{}}]".format
    played = read_table(own["bandit"], _BANDIT, at("bandit"))
    initial = played.pop("initial")  # if left out, the reference
    source, conventions = _conventions(own["conventions"], at("conventions"))
    update = read_table(own["update"], _update_fields(source), at("update"))
    if settings.seed is None:
        raise RunFileError(f"{settings.where} seed: it is missing, and has no default")
    lags = schedule(own["lag"], at("lag"))
    try:
        bandit = Bandit(**played)
        start = bandit.reference if initial is None else initial
        start = _broadcast(start, bandit.parameter_shape)
    except InvalidInput as error:
        raise RunFileError(f"{at('bandit')} {error}") from error
    try:
        optimizer = _optimizer(update, source)
        conventions.check_group(update["group_size"], prompts=bandit.prompts)
    except InvalidInput as error:
        raise RunFileError(f"{at('update')} {error}") from error
    settings.check_size(longest_lag=lags.longest, numbers=bandit.prompts * bandit.arms)
    asked = {key: update[key] for key in ("eta", "mu", "beta", "group_size")}

    def simulate() -> Table:
        found = simulate_bandit(
            bandit,
            conventions,
            optimizer,
            lags,
            **asked,
            initial=start,
            steps=settings.steps,
            chains=settings.chains,
            seed=settings.seed if settings.seed is not None else 0,
            record_every=settings.record_every,
        )
        values = {name: getattr(found, kept) for name, kept in COLUMNS.items()}
        return table(found.steps, values, found.overflow_step, rows=settings.rows)

    spelt = {
        "preset": None if source is None else source.name,
        "conventions": asdict(conventions),
        "optimizer": optimizer if isinstance(optimizer, str) else {"adam": asdict(optimizer)},
        **asked,
        "lag": own["lag"],
    }
    return Run("bandit", settings, spelt, simulate)


def _broadcast(initial: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    try:
        return np.broadcast_to(initial, shape)
    except ValueError:
        raise InvalidInput(
            f"initial has shape {initial.shape}: it must broadcast to the parameters' {shape}"
        ) from None


def _conventions(content: Any, where: str) -> tuple[Preset | None, Conventions]:
    """Return the preset, if one is named, and the conventions, all given or its but for some."""
    has_preset = isinstance(content, dict) and "preset" in content
    given = {
        name: Field(read, None if has_preset else REQUIRED) for name, read in _CONVENTIONS.items()
    }
    known = {"preset": Field(named("preset", PRESETS), None), **given}
    read = read_table(content, known, where)
    name = read.pop("preset")
    try:
        if name is None:
            return None, Conventions(**read)
        changed = {key: value for key, value in read.items() if key in content}
        staleness = changed.get("staleness") if name == "paper" else None
        source = preset(name, staleness=staleness)
        return source, replace(source.conventions, **changed)
    except InvalidInput as error:
        raise RunFileError(f"{where} {error}") from error


def _update_fields(source: Preset | None) -> dict[str, Field]:
    """Return the fields of ``[update]``; what the preset says is the default."""
    own: dict[str, Any] = {}
    if source is not None:
        name = "adam" if isinstance(source.optimizer, Adam) else source.optimizer
        own = {"optimizer": name, "mu": source.mu, "beta": source.beta}
    said = {key: REQUIRED if value is None else value for key, value in own.items()}
    return {
        "optimizer": Field(
            named("optimizer", (*OPTIMIZERS, "adam")), said.get("optimizer", REQUIRED)
        ),
        "eta": Field(number),
        "mu": Field(number, said.get("mu", REQUIRED)),
        "beta": Field(number, said.get("beta", REQUIRED)),
        "group_size": Field(or_word("infinite", whole(least=1, most=LARGEST_GROUP))),
        **{name: Field(read, None) for name, read in _ADAM.items()},
    }


def _optimizer(update: Mapping[str, Any], source: Preset | None) -> str | Adam:
    """Return the optimizer; Adam's numbers that are not given are the preset's."""
    given = {name: update[name] for name in _ADAM if update[name] is not None}
    if update["optimizer"] != "adam":
        if given:
            raise InvalidInput(f"{', '.join(given)}: of adam, not of {update['optimizer']}")
        return str(update["optimizer"])
    if source is not None and isinstance(source.optimizer, Adam):
        return replace(source.optimizer, **given)
    if missing := [name for name in _ADAM if name not in given]:
        raise InvalidInput(f"adam needs {', '.join(missing)} too: each changes the answer")
    return Adam(**given)
