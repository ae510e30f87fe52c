"""What the prompts of transcripts cost at a server: tokens, by its own count, and how many of them it had in its cache.

    parlour serve --port 8017 &
    parlour play avalon_v0 --policy chat --model heuristic --base-url http://127.0.0.1:8017/v1 --out runs/prompts
    python scripts/bench/prompt_tokens.py runs/prompts/*.jsonl --base-url http://localhost:8080/v1 --model NAME

Each prompt is sent again, in the order of the transcript, for a reply of one token: so that versions and agents can be
compared at the same decisions. Servers that keep one conversation at a time (llama.cpp with one slot) tell the most.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from parlour.policies.llm.transport.endpoint import Endpoint
from parlour.policies.llm.transport.request import ChatMessage, Request


def counted(endpoint: Endpoint, model: str, paths: list[Path]) -> dict[str, list[int]]:
    """Kind of question -> prompts, tokens, and of these those that were cached."""
    counts: dict[str, list[int]] = {}
    for path in paths:
        lines = map(json.loads, path.read_text("utf-8").splitlines())
        for call in (call for line in lines for call in line.get("calls", []) if "prompt" in call):
            messages = tuple(ChatMessage(message["role"], message["content"]) for message in call["prompt"])
            usage = endpoint.complete(Request(model=model, messages=messages, temperature=0.0, max_tokens=1)).usage
            taken = counts.setdefault(call["ask"], [0, 0, 0])
            for place, number in enumerate((1, usage.prompt, usage.cached)):
                taken[place] += number
    return counts


def show(counts: dict[str, list[int]]) -> None:
    """A line for each kind of question, and one for all."""
    total = [sum(taken[place] for taken in counts.values()) for place in range(3)]
    print(f"{'question':30} {'prompts':>8} {'tokens':>10} {'cached':>10} {'uncached':>10}  share cached")
    for kind, (prompts, tokens, cached) in [*sorted(counts.items()), ("all", total)]:
        print(f"{kind:30} {prompts:8} {tokens:10} {cached:10} {tokens - cached:10}  {cached / max(tokens, 1):.1%}")


def main() -> None:
    """Count, and show."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("transcripts", nargs="+", type=Path)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", default="model")
    given = parser.parse_args()
    show(counted(Endpoint(given.base_url), given.model, given.transcripts))


if __name__ == "__main__":
    main()
