r"""Tiny GPT-2 policies made from scratch, and what can be measured on them exactly.

Every completion is enumerated, so the success probability and its slope carry no sampling noise.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from numerics.experiments.transformer.tasks import Task

__all__ = [
    "Policy",
    "gram",
    "log_probabilities",
    "move",
    "policy",
    "success_logit",
    "tokenizer",
    "trained",
]

Policy: TypeAlias = GPT2LMHeadModel

_SPECIAL = ("<pad>", "<eos>")


def _words(task: Task) -> list[str]:
    asked = sorted({word for prompt in task.prompts for word in prompt.split()})
    return [*_SPECIAL, *task.answers, *asked]


def _answers(task: Task) -> slice:
    return slice(len(_SPECIAL), len(_SPECIAL) + len(task.answers))


def tokenizer(task: Task) -> Any:
    """Return the tokenizer of a task: a word is a token."""
    words = {word: place for place, word in enumerate(_words(task))}
    plain = Tokenizer(models.WordLevel(words, unk_token="<eos>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="<pad>", eos_token="<eos>", padding_side="left"
    )


def policy(task: Task, *, seed: int, layers: int = 2, width: int = 32, heads: int = 2) -> Policy:
    """Return a new policy, without dropout; the same one for the same seed."""
    with torch.random.fork_rng(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library's own, on sizes it does not expect
        torch.manual_seed(seed)
        made = GPT2LMHeadModel(GPT2Config(
            vocab_size=len(_words(task)), n_positions=16, n_embd=width, n_layer=layers,
            n_head=heads, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
            bos_token_id=1, eos_token_id=1, pad_token_id=0, tie_word_embeddings=False,
            initializer_range=width**-0.5,
        ))  # fmt: skip
        # No word but an answer is ever said. The mask is a bias of the head, because the trainer
        # takes its log-probabilities from the head's weights and not from the model's forward.
        made.lm_head = torch.nn.Linear(width, len(_words(task)))
        torch.nn.init.normal_(made.lm_head.weight, std=width**-0.5)
    bias = torch.full((len(_words(task)),), -1e4)
    bias[_answers(task)] = 0.0
    made.lm_head.bias = torch.nn.Parameter(bias, requires_grad=False)
    return made


def log_probabilities(policy: Policy, task: Task) -> Any:
    """Return the log-probability of every completion, a tensor (prompts, completions)."""
    words = {word: place for place, word in enumerate(_words(task))}
    start = torch.tensor([[words[word] for word in prompt.split()] for prompt in task.prompts])
    answers = _answers(task)
    tokens = torch.arange(answers.start, answers.stop)
    prefixes = start  # (prompts * answers**t, length of the prompt + t)
    total = torch.zeros(len(start), 1)
    for t in range(task.length):
        logits = policy(input_ids=prefixes).logits[:, -1, answers]
        step = torch.log_softmax(logits, -1)  # (prompts * answers**t, answers)
        total = (total.reshape(-1, 1) + step).reshape(len(start), -1)
        if t + 1 < task.length:
            longer = prefixes.repeat_interleave(len(tokens), 0)
            prefixes = torch.cat([longer, tokens.repeat(len(prefixes))[:, None]], 1)
    return total


def success_logit(policy: Policy, task: Task) -> Any:
    """Return the logit of the success probability, a tensor (prompts,)."""
    total = log_probabilities(policy, task).double()
    right = torch.as_tensor(task.right)
    worst = torch.tensor(-torch.inf, dtype=total.dtype)
    return torch.logsumexp(torch.where(right, total, worst), -1) - torch.logsumexp(
        torch.where(right, worst, total), -1
    )


def trained(policy: Policy) -> list[Any]:
    """Return the weights that training changes."""
    return [weight for weight in policy.parameters() if weight.requires_grad]


def _slopes(policy: Policy, task: Task) -> tuple[NDArray[np.float64], list[list[Any]]]:
    logits = success_logit(policy, task)
    weights = trained(policy)
    rows = [torch.autograd.grad(logit, weights, retain_graph=True) for logit in logits]
    return logits.detach().numpy(), [list(row) for row in rows]


def _products(rows: list[list[Any]]) -> NDArray[np.float64]:
    return np.array([
        [sum(float((a.double() * b.double()).sum()) for a, b in zip(one, two, strict=True))
         for two in rows] for one in rows
    ])  # fmt: skip


def gram(policy: Policy, task: Task) -> NDArray[np.float64]:
    r"""Return the scalar products of the slopes of the success logits, (prompts, prompts).

    The diagonal is the gain: a plain gradient step of size eta along a drift d in the logit changes
    the logit by eta times the gain times d.
    """
    return _products(_slopes(policy, task)[1])


def move(
    policy: Policy, task: Task, target: NDArray[np.float64] | float, *, within: float = 1e-5
) -> None:
    r"""Move the weights by the shortest way to given logits of success.

    Parameters
    ----------
    policy
        Changed in place.
    task
        Its task.
    target
        Logits, one for all prompts or (prompts,).
    within
        How near each must come.
    """
    for _ in range(200):
        logits, rows = _slopes(policy, task)
        missing = np.asarray(target, dtype=np.float64) - logits
        if np.max(np.abs(missing)) <= within:
            return
        # A Gauss-Newton step of least norm, at most one unit of logit long.
        missing *= min(1.0, 1.0 / float(np.max(np.abs(missing))))
        share = np.linalg.lstsq(_products(rows), missing, rcond=1e-10)[0]
        with torch.no_grad():
            for place, weight in enumerate(trained(policy)):
                for row, factor in zip(rows, share, strict=True):
                    weight += float(factor) * row[place]
    raise ArithmeticError(f"the policy did not reach the logits {target} in 200 steps")
