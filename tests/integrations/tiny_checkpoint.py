"""A causal language model of a few thousand random numbers with its tokenizer, made on the spot, as `save_pretrained` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import torch
from parlour.wrappers import ConversationSeat
from parlour.wrappers.conversation import table
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

SIGNS: Final = ("<|end|>", "<|user|>", "<|assistant|>")
TEMPLATE: Final = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def tokenizer_of(texts: list[str], template: str | None = TEMPLATE, size: int = 1500) -> Any:
    """A tokenizer of byte pairs of these texts."""
    pairs = Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pairs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=list(SIGNS), initial_alphabet=alphabet, show_progress=False
    )
    pairs.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pairs, eos_token=SIGNS[0], pad_token=SIGNS[0])
    tokenizer.chat_template = template
    return tokenizer


def network(tokens: int, context: int = 4096, width: int = 16, seed: int = 0, **sizes: Any) -> Any:
    """A Llama with random weights, which are larger than usual: its distributions are not flat."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=tokens,
        hidden_size=width,
        intermediate_size=sizes.pop("inner", 2 * width),
        num_hidden_layers=sizes.pop("layers", 1),
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=context,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=0,
        initializer_range=sizes.pop("spread", 0.2),
    )
    return LlamaForCausalLM(config)


def told_in_games() -> list[str]:
    """What seats are told in a few games, for the tokenizer."""
    texts = []
    for game in ("avalon_v0", "werewolf_v0", "template_v0"):
        seat = ConversationSeat(table(game), "player_1")
        texts.append(seat.reset(0))
        while not seat.done:
            texts.append(seat.say(seat.options[-1]))
    return texts


def write(folder: Path, template: str | None = TEMPLATE, context: int = 4096, seed: int = 0) -> str:
    """Write a checkpoint; its path."""
    tokenizer = tokenizer_of(told_in_games(), template)
    network(len(tokenizer), context, seed=seed).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
