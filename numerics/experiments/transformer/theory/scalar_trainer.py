r"""The trainer on a single logit: its groups, shuffle, ratio, clip and KL estimate, sampled.

Two answers, one prompt. The network is its gain along the way, everything else is what the trainer
does to a batch: one sampling draws as many groups as the policy will make steps, normalises each,
shuffles all samples together and deals them out, so that the samples of a step come from several
groups and their advantages do not add up to zero. Averages over many of these runs are predictions
where no linear theory reaches. Provenance: extension.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.transformer.setting import EPS, Run
from numerics.experiments.transformer.theory.cycles import period
from numerics.inputs import InvalidInput

__all__ = ["scalar_runs"]

FloatArray = NDArray[np.float64]

_FAR = 50.0


def scalar_runs(run: Run, *, gain_at: FloatArray, gain: FloatArray, chains: int) -> FloatArray:
    r"""Return the logits of scalar runs like a run, (chains, steps + 1).

    Parameters
    ----------
    run
        Plain heavy ball or gradient steps, groups normalised by their std. It gives the settings,
        the step size, the first logit and the seed, and nothing that it did.
    gain_at, gain
        The gain of its network at ascending logits; beyond them it is taken as at the end.
    chains
        How many.
    """
    setting = run.setting
    if setting.prompts != 1 or setting.answers != 2 or setting.kl != "reverse":
        raise InvalidInput(
            f"run {setting.name}: a scalar run has one prompt, two answers and the reverse KL"
        )
    # Far ends with the gain of the last known place, so that no run is stopped there.
    at = np.concatenate([[gain_at[0] - _FAR], gain_at, [gain_at[-1] + _FAR]])
    slow = 1 / np.concatenate([gain[:1], gain, gain[-1:]])
    way = np.concatenate([[0.0], np.cumsum((slow[1:] + slow[:-1]) / 2 * np.diff(at))])
    rng = np.random.default_rng(setting.seed)
    logit = np.full(chains, run.logit[0, 0])
    velocity = np.zeros(chains)
    path = [logit]
    for step in range(setting.steps):
        if step % period(run) == 0:
            old = logit
            right, advantage = _batches(old, setting.refresh, setting.group_size, rng)
        slot = step % setting.refresh  # a batch that is used again comes back in the same order
        force = _gradient(run, logit, old, right[:, slot], advantage[:, slot])
        velocity = setting.mu * velocity + run.facts["eta"] * force
        logit = np.interp(np.interp(logit, at, way) + velocity, way, at)
        path.append(logit)
    return np.stack(path, axis=-1)


def _batches(
    logit: FloatArray, count: int, size: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], FloatArray]:
    """Return which samples are right, and their advantages, each (chains, steps, samples)."""
    p = _p(logit)[:, None, None]
    right = rng.random((len(logit), count, size)) < p
    centred = right - right.mean(-1, keepdims=True)
    advantage = centred / (right.std(-1, ddof=1, keepdims=True) + EPS)
    order = rng.permuted(np.tile(np.arange(count * size), (len(logit), 1)), axis=1)
    dealt = (
        np.take_along_axis(part.reshape(len(logit), -1), order, 1).reshape(right.shape)
        for part in (right, advantage)
    )
    first, second = dealt
    return first, second


def _p(logit: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-logit)))


def _gradient(
    run: Run, logit: FloatArray, old: FloatArray, right: NDArray[np.bool_], advantage: FloatArray
) -> FloatArray:
    """Return the gradient of the objective in the logit, of one batch of every chain."""
    setting = run.setting
    p_old = _p(old)[:, None]
    p = p_old if setting.staleness == "delayed-gradient" else _p(logit)[:, None]
    p_ref = setting.p_ref
    assert isinstance(p_ref, float)  # of one prompt
    away = np.where(right, np.log(p / p_ref), np.log((1 - p) / (1 - p_ref)))
    score = np.where(right, 1 - p, -p)
    ratio = np.ones_like(score)
    if setting.staleness == "stale-samples-ratio":
        ratio = np.where(right, p / p_old, (1 - p) / (1 - p_old))
    # The smaller of the two surrogates: outside the clip range, on the side of its advantage, flat.
    kept = np.where(advantage > 0, ratio <= 1 + setting.clip, ratio >= 1 - setting.clip)
    kept_advantage = np.where(kept, advantage, 0.0)
    return np.asarray((ratio * score * (kept_advantage - setting.beta * away)).mean(-1))
