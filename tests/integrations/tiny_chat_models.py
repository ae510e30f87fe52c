"""Tiny random language models with a tokenizer of their own, made on the spot: for tests of what trains and seats such models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

END, PAD = "<|im_end|>", "<|endoftext|>"
PLAIN_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""Knows no tools."""


def tokenizer_of(texts: Iterable[str], template: str) -> Any:
    """Byte-level byte-pair encoding learned from texts."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = [PAD, "<|im_start|>", END]
    made.train_from_iterator(
        texts,
        trainers.BpeTrainer(vocab_size=1200, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token=END, pad_token=PAD, chat_template=template)


def llama_config(tokenizer: Any, width: int = 8, layers: int = 1, context: int = 4096) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        max_position_embeddings=context,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )


class ScriptedLlama(LlamaForCausalLM):  # type: ignore[misc]
    """A model that is trained like any other, but whose `generate` writes what a script says: it samples nothing.

    `script` is handed each prompt in words, padding left out, and gives the words of the completion without the end token.
    """

    tokenizer: Any
    script: Callable[[str], str]

    def generate(self, input_ids: Any, attention_mask: Any = None, **settings: Any) -> Any:
        rows = [ids[mask.bool()].tolist() for ids, mask in zip(input_ids, attention_mask, strict=True)]
        words = [self.script(self.tokenizer.decode(row)) for row in rows]
        said = [[*self.tokenizer(word)["input_ids"], self.tokenizer.eos_token_id] for word in words]
        longest = max(map(len, said))
        padded = [tokens + [self.tokenizer.pad_token_id] * (longest - len(tokens)) for tokens in said]
        return torch.cat([input_ids, torch.tensor(padded)], 1)


def imitate(model: Any, examples: Sequence[tuple[list[int], list[int]]], steps: int, rate: float = 3e-3) -> float:
    """Cross-entropy on the second part of pairs of tokens, a pair a step; the last loss."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
    loss = torch.zeros(())
    for step in range(steps):
        before, after = examples[step % len(examples)]
        labels = torch.tensor([[-100] * len(before) + after])
        loss = model(input_ids=torch.tensor([before + after]), labels=labels).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    return float(loss.detach())
