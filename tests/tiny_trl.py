"""trl's real GRPOTrainer on a two-layer GPT-2 of 16 words, made from scratch."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

__all__ = ["trainer"]

_LETTERS = [chr(97 + place) for place in range(14)]
_LENGTH = 4


def trainer(directory: Path, callbacks: list[Any], **settings: Any) -> Any:
    """Return a trainer that rewards the share of the letter c among four; the same every time."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import torch
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    words = {word: place for place, word in enumerate(["<pad>", "<eos>", *_LETTERS])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="<eos>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=len(words), n_positions=32, n_embd=32, n_layer=2, n_head=2,
        bos_token_id=1, eos_token_id=1, pad_token_id=0,
    ))  # fmt: skip
    return GRPOTrainer(
        model=model,
        reward_funcs=_share_of_c,
        args=GRPOConfig(
            output_dir=str(directory), logging_steps=1, per_device_train_batch_size=16,
            num_generations=8, max_completion_length=_LENGTH, learning_rate=3e-3, beta=0.0,
            lr_scheduler_type="constant", report_to=[], save_steps=20, use_cpu=True, seed=1,
            bf16=False, disable_tqdm=True, **settings,
        ),
        train_dataset=Dataset.from_list(
            [{"prompt": f"{one} {two}"} for one in _LETTERS[:8] for two in _LETTERS[:8]]
        ),
        processing_class=PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", padding_side="left"
        ),
        callbacks=callbacks,
    )  # fmt: skip


def _share_of_c(completions: list[str], **columns: Any) -> list[float]:
    return [text.split().count("c") / _LENGTH for text in completions]
