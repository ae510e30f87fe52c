"""A small Llama, and its states of attention for many games in flight, each of its own length.

`transformers` runs the network. Its caches hold rows of one length; `Attended` holds one row a game, to which each game appends
where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import torch
from parlour.training.learn.language_model.config import NetworkConfig
from parlour.training.learn.language_model.tokens import ChatTokens
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.cache_utils import Cache, CacheLayerMixin

_BESIDE: Final = 8
"""Games that are read side by side, where gradients are needed."""


def make_model(config: NetworkConfig, tokens: ChatTokens, seed: int) -> Any:
    """A network with weights drawn from a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(tokens),
                hidden_size=config.hidden,
                intermediate_size=config.inner,
                num_hidden_layers=config.layers,
                num_attention_heads=config.heads,
                num_key_value_heads=config.heads,
                max_position_embeddings=config.context,
                tie_word_embeddings=True,
                bos_token_id=None,
                eos_token_id=tokens.end,
                pad_token_id=tokens.pad,
                attn_implementation="sdpa",
                initializer_range=config.spread,
            )
        )


def save_model(model: Any, tokens: ChatTokens, folder: Path) -> None:
    """Weights as safetensors, configuration, tokenizer and chat template, as `from_pretrained` reads them."""
    model.save_pretrained(str(folder), safe_serialization=True)
    tokens.tokenizer.save_pretrained(str(folder))


def read_model(folder: Path) -> tuple[Any, ChatTokens]:
    """What `save_model` wrote."""
    return LlamaForCausalLM.from_pretrained(str(folder), local_files_only=True), ChatTokens.read(folder)


def parameters(model: Any) -> int:
    """How many numbers the network learns."""
    return sum(one.numel() for one in model.parameters())


def token_logits(model: Any, games: Sequence[Sequence[int]], at: Sequence[Sequence[int]], pad: int) -> Any:
    """Logits of the tokens that follow, at chosen places of games.

    Games of similar length are read side by side, filled up on the right: what a causal network says at a place does not depend on
    what follows, so no mask is needed.

    Args:
        model: The network.
        games: Tokens of each game.
        at: Places in each game; what is predicted there is the token after.
        pad: A token to fill up with.

    Returns:
        Shape (places of all games, vocabulary), game by game.
    """
    order = sorted(range(len(games)), key=lambda game: len(games[game]))
    read: dict[int, Any] = {}
    for start in range(0, len(order), _BESIDE):
        rows = order[start : start + _BESIDE]
        hidden = _hidden(model, [games[game] for game in rows], pad)
        read |= {game: hidden[row, list(at[game])] for row, game in enumerate(rows)}
    return model.lm_head(torch.cat([read[game] for game in range(len(games))]))


def _hidden(model: Any, games: Sequence[Sequence[int]], pad: int) -> Any:
    """What the network makes of games; shape (games, longest, hidden)."""
    ids = torch.full((len(games), max(len(one) for one in games)), pad, dtype=torch.long)
    for row, one in enumerate(games):
        ids[row, : len(one)] = torch.as_tensor(one)
    return model.model(input_ids=ids, use_cache=False).last_hidden_state


class _AttendedLayer(CacheLayerMixin):
    """Keys and values of one layer; shapes (games, heads, tokens, head)."""

    is_sliding = False
    is_compileable = False

    def __init__(self, shape: tuple[int, int, int, int]) -> None:
        super().__init__()
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.rows, self.places, self.longest = torch.zeros(0), torch.zeros(0), 0
        self.is_initialized = True

    def lazy_initialization(self, key_states: Any, value_states: Any) -> None:
        """Nothing is left to do."""

    def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        self.keys[self.rows, :, self.places] = key_states.transpose(1, 2)
        self.values[self.rows, :, self.places] = value_states.transpose(1, 2)
        return self.keys[:, :, : self.longest], self.values[:, :, : self.longest]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.longest, 0

    def get_seq_length(self) -> int:
        return self.longest

    def get_max_length(self) -> int:
        return int(self.keys.shape[2])


class Attended:
    """What the network has read of many games.

    Args:
        model: The network.
        games: How many.
        context: Tokens of a game at most.
    """

    def __init__(self, model: Any, games: int, context: int) -> None:
        config = model.config
        shape = (games, config.num_key_value_heads, context, config.hidden_size // config.num_attention_heads)
        self._model, self.lengths = model, [0] * games
        self._layers = [_AttendedLayer(shape) for _ in range(config.num_hidden_layers)]

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these games alone, in this order."""
        chosen = torch.as_tensor(list(rows), dtype=torch.long)
        for layer in self._layers:
            layer.keys, layer.values = layer.keys[chosen], layer.values[chosen]
        self.lengths = [self.lengths[row] for row in rows]

    @torch.no_grad()
    def read(self, news: Sequence[Sequence[int]]) -> Any:
        """Append tokens to each game, possibly none.

        Returns:
            Logits of the token that follows the last one of each game, shape (games, vocabulary); those of a game without news
            mean nothing.
        """
        width = max(len(one) for one in news)
        ids = torch.zeros((len(news), width), dtype=torch.long)
        for row, one in enumerate(news):
            ids[row, : len(one)] = torch.as_tensor(one, dtype=torch.long)
        start = torch.as_tensor(self.lengths)[:, None]
        places = start + torch.arange(width)[None]  # filled up on the right: written over by what comes next
        longest = int(places.max()) + 1
        self._make_room(longest)
        for layer in self._layers:
            layer.rows, layer.places, layer.longest = torch.arange(len(news))[:, None], places, longest
        mask = torch.arange(longest)[None, None, None] <= places[:, None, :, None]
        hidden = self._model.model(
            input_ids=ids,
            position_ids=places,
            attention_mask=mask,
            past_key_values=Cache(layers=self._layers),
            use_cache=True,
        ).last_hidden_state
        self.lengths = [length + len(one) for length, one in zip(self.lengths, news, strict=True)]
        last = torch.as_tensor([max(0, len(one) - 1) for one in news])
        return self._model.lm_head(hidden[torch.arange(len(news)), last])

    def _make_room(self, longest: int) -> None:
        for layer in self._layers:
            more = longest - layer.keys.shape[2]
            if more > 0:
                layer.keys = torch.nn.functional.pad(layer.keys, (0, 0, 0, more))
                layer.values = torch.nn.functional.pad(layer.values, (0, 0, 0, more))
