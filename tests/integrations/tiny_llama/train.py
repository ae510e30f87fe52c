"""Makes the tiny model: a Llama that learned, in a minute or two, to answer parlour's questions with a line of JSON.

    python -m integrations.tiny_llama.train FILE.gguf [STEPS]     (in the folder tests)

What it learns from are the last tokens of prompts from games, and the heuristics' replies; a few prompts are long, so
that it bears long ones. It plays badly. The same seed and number of steps give the same weights on the same machine.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from tests.integrations.tiny_llama import gguf_file, tokens
from tests.integrations.tiny_llama.heard import TABLES, Heard, heard_at
from tests.integrations.tiny_llama.network import Llama, Sizes

SEED: Final = 0
GAMES: Final = range(1000, 1002)
"""Seeds of the games that are learned from; others than those of the tests."""
A_KIND: Final = 40
"""Questions of a kind that are learned from, at most."""
TAIL: Final = 96
"""Tokens of a prompt that are read before a reply."""
REPLY: Final = 160
"""Tokens of a reply, at most; longer ones are left out."""
STEPS: Final = 240
ROWS: Final = 8
LONG_TAIL, LONG_ROWS, LONG_EVERY = 1024, 1, 8
"""Every so many steps a few rows with so many tokens of their prompts."""
RATE: Final = 3e-3
OF_PROMPT: Final = 0.1
"""Weight of the prompt's tokens in what is learned, of a reply's: 1."""


class Lesson(NamedTuple):
    """A prompt and a reply as tokens."""

    prompt: list[int]
    reply: list[int]


def heard_for_training() -> list[Heard]:
    """Questions of all kinds, of each at most a number."""
    counts: dict[str, int] = {}
    samples = []
    for table in TABLES:
        for sample in heard_at(table, GAMES):
            key = f"{table.game} {sample.question.language} {sample.question.kind}"
            counts[key] = counts.get(key, 0) + 1
            if counts[key] <= A_KIND:
                samples.append(sample)
    return samples


def texts_of(sample: Heard) -> tuple[str, str]:
    """The end of a question's prompt as the chat template writes it, and its reply."""
    system = sample.question.system(sample.context.rules)
    user = sample.question.prompt()
    opening = tokens.message("system", system) + tokens.message("user", user) + f"{tokens.BEGIN}assistant\n"
    return opening[-8 * LONG_TAIL :], sample.reply + tokens.END


def batch(lessons: list[Lesson], rows: int, tail: int, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Token numbers (rows, length), and the weight of each token as something to learn (rows, length)."""
    chosen = [lessons[int(number)] for number in rng.integers(len(lessons), size=rows)]
    length = max(min(len(example.prompt), tail) + len(example.reply) for example in chosen)
    numbers, weights = torch.zeros(rows, length, dtype=torch.long), torch.zeros(rows, length)
    for row, example in enumerate(chosen):
        prompt = example.prompt[-tail:]
        end = len(prompt) + len(example.reply)
        numbers[row, :end] = torch.tensor(prompt + example.reply)
        weights[row, : len(prompt)] = OF_PROMPT
        weights[row, len(prompt) : end] = 1.0
    return numbers, weights


def taught(lessons: list[Lesson], size: int, steps: int = STEPS) -> Llama:
    """A network that learned for so many steps."""
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    network = Llama(Sizes(size))
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, betas=(0.9, 0.95), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.1)
    for step in range(steps):
        long = step % LONG_EVERY == LONG_EVERY - 1
        numbers, weights = batch(lessons, *((LONG_ROWS, LONG_TAIL) if long else (ROWS, TAIL)), rng)
        scores = network(numbers[:, :-1])
        losses = functional.cross_entropy(scores.flatten(0, 1), numbers[:, 1:].flatten(), reduction="none")
        loss = (losses * weights[:, 1:].flatten()).sum() / weights[:, 1:].sum()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 25 == 0 or step == steps - 1:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    return network.eval()


def main(path: Path, steps: int = STEPS) -> None:
    """Make the file."""
    texts = [texts_of(sample) for sample in heard_for_training()]
    tokenizer = tokens.trained(prompt + reply for prompt, reply in texts[::4])
    pairs = [Lesson(*(tokenizer.encode(text).ids for text in pair)) for pair in texts]
    lessons = [lesson for lesson in pairs if len(lesson.reply) <= REPLY]
    characters, taken = sum(len(prompt) for prompt, _ in texts), sum(len(pair.prompt) for pair in pairs)
    print(f"{len(lessons)} of {len(texts)} questions, {characters / taken:.2f} characters a token", flush=True)
    network = taught(lessons, tokenizer.get_vocab_size(), steps)
    print(f"{sum(weight.numel() for weight in network.parameters()):,} parameters", flush=True)
    gguf_file.write(path, network, tokens.vocabulary(tokenizer))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
