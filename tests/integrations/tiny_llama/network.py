"""A Llama of one or two million parameters in PyTorch: RMSNorm, rotary positions, SwiGLU, tied embeddings.

Rotary positions turn neighbouring pairs of numbers, as llama.cpp does for this architecture, so that weights are written
as they are.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

ROPE_BASE: Final = 10000.0
EPSILON: Final = 1e-5


class Sizes(NamedTuple):
    """How large the network is."""

    tokens: int
    width: int = 128
    blocks: int = 4
    heads: int = 4
    inner: int = 384


class Norm(nn.Module):
    """RMSNorm."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * self.weight


class Block(nn.Module):
    """Attention, then the feed-forward part; parts are called as in files for llama.cpp."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        width, inner = sizes.width, sizes.inner
        self.heads = sizes.heads
        self.attn_norm, self.ffn_norm = Norm(width), Norm(width)
        self.attn_q, self.attn_k, self.attn_v, self.attn_output = (
            nn.Linear(width, width, bias=False) for _ in range(4)
        )
        self.ffn_gate, self.ffn_up = (nn.Linear(width, inner, bias=False) for _ in range(2))
        self.ffn_down = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor, turns: Tensor) -> Tensor:
        rows, length, width = x.shape
        normed = self.attn_norm(x)
        parts = (part(normed) for part in (self.attn_q, self.attn_k, self.attn_v))
        q, k, v = (part.view(rows, length, self.heads, -1).transpose(1, 2) for part in parts)
        seen = functional.scaled_dot_product_attention(turned(q, turns), turned(k, turns), v, is_causal=True)
        x = x + self.attn_output(seen.transpose(1, 2).reshape(rows, length, width))
        normed = self.ffn_norm(x)
        return x + self.ffn_down(functional.silu(self.ffn_gate(normed)) * self.ffn_up(normed))


class Llama(nn.Module):
    """Token numbers (rows, length) -> scores of the next token (rows, length, tokens)."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.token_embd = nn.Embedding(sizes.tokens, sizes.width)
        self.blk = nn.ModuleList(Block(sizes) for _ in range(sizes.blocks))
        self.output_norm = Norm(sizes.width)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02)

    def forward(self, numbers: Tensor) -> Tensor:
        turns = turns_of(numbers.shape[1], self.sizes.width // self.sizes.heads)
        x = self.token_embd(numbers)
        for block in self.blk:
            x = block(x, turns)
        return functional.linear(self.output_norm(x), self.token_embd.weight)


def turns_of(length: int, width: int) -> Tensor:
    """Cosines and sines of the angles by which pairs are turned: (2, length, width / 2)."""
    speeds = ROPE_BASE ** (-torch.arange(0, width, 2) / width)
    angles = torch.outer(torch.arange(length), speeds)
    return torch.stack((angles.cos(), angles.sin()))


def turned(x: Tensor, turns: Tensor) -> Tensor:
    """(rows, heads, length, width) with each neighbouring pair of the last axis turned."""
    even, odd = x[..., ::2], x[..., 1::2]
    cos, sin = turns
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)
