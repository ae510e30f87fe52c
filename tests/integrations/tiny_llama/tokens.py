"""The tiny model's tokenizer: byte pairs of parlour's own prompts, and how a chat becomes a row of tokens.

GPT-2's kind of tokenizer, so that llama.cpp splits words as the library `tokenizers` does (its pre-tokenizer `gpt-2`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final, NamedTuple

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

SIZE: Final = 3072
"""Tokens, bytes and signs included."""
BEGIN: Final = "<|im_start|>"
END: Final = "<|im_end|>"
SIGNS: Final = (END, BEGIN)
"""Tokens that stand for no text: the end of a reply has number 0, the beginning of a message number 1."""

CHAT_TEMPLATE: Final = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


class Vocabulary(NamedTuple):
    """What a file of a model says of its tokenizer."""

    tokens: list[str]
    """In the order of their numbers."""
    merges: list[str]
    """Pairs, in the order in which they are merged."""


def trained(texts: Iterable[str]) -> Tokenizer:
    """A tokenizer for texts like these."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE, special_tokens=list(SIGNS), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def vocabulary(tokenizer: Tokenizer) -> Vocabulary:
    """Tokens and merges."""
    numbers = tokenizer.get_vocab()
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return Vocabulary(sorted(numbers, key=numbers.__getitem__), [" ".join(pair) for pair in merges])


def message(role: str, content: str) -> str:
    """A message as the chat template writes it."""
    return f"{BEGIN}{role}\n{content}{END}\n"
