#!/usr/bin/env python3
"""Writes docs/cards: one page for each game and one for each network that comes with parlour, from what the code says.

A game's page is the docstring of its package with numbers of its default table; a network's is its card,
`policies/experts/data/NAME.json`, with what its file holds. Usage: scripts/make_cards.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from parlour.envs import registry
from parlour.envs.core import GameSpec
from parlour.policies.experts import DATA, ExpertCard, Points, cards, expert
from parlour.training.results.result_table import markdown_list, markdown_table

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "cards"
MADE = "<!-- made by scripts/make_cards.py -->\n"


def pages() -> dict[str, str]:
    """File name -> text."""
    made = {f"{name}.md": _game(registry[name].spec) for name in registry}
    made |= {f"{card.name}.md": _network(card) for card in cards()}
    return {"README.md": _index(), **made}


def _index() -> str:
    games = [(f"[{name}]({name}.md)", registry[name].spec.title) for name in registry]
    networks = [(f"[{card.name}]({card.name}.md)", card.game, _points(card.whole_sides)) for card in cards()]
    return (
        f"{MADE}# Cards\n\nWhat each game is, and each network that comes with parlour. Other players are programs: heuristics and agents "
        "without weights of their own: see [players](../reference/players.md).\n\n"
        f"{markdown_table(('game', 'what it is'), games)}\n\n"
        f"{markdown_table(('network', 'game', 'points against the heuristic, whole sides'), networks)}\n"
    )


def _game(spec: GameSpec) -> str:
    first, _, rest = (sys.modules[type(spec).__module__].__doc__ or "").strip().partition("\n")
    facts = markdown_table(("the default table", ""), _facts(spec))
    options = [(f"`{name}`", accepted) for name, accepted in spec.options.items()]
    told = f"## Options\n\n{markdown_table(('option', 'accepted'), options)}\n\n" if options else ""
    return f"{MADE}# {spec.title}\n\n{first}\n\n{rest.strip()}\n\n{told}## In numbers\n\n{facts}\n"


def _facts(spec: GameSpec) -> Iterator[tuple[str, str]]:
    env = registry[spec.id].raw_env()
    game = env.game
    yield "seats", str(game.seats)
    yield "actions", f"{len(game.catalogue):,}"
    for kind in spec.features:
        yield f'features, `features="{kind}"`', f"{registry[spec.id].raw_env(features=kind).encoder.size:,} numbers"
    yield "sides", ", ".join(spec.sides) or "none"
    yield "heuristic", f"`{spec.heuristic}`" if spec.heuristic else "chance"
    yield "many tables over arrays", f"`{spec.batch}`" if spec.batch else "by the scalar rules"
    networks = [f"[{card.name}]({card.name}.md)" for card in cards() if card.game == spec.id]
    yield "networks that come with parlour", ", ".join(networks) or "none"


def _network(card: ExpertCard) -> str:
    path = DATA / f"{card.name}.npz"
    seat = expert(card.game, card.config)
    sizes = [seat.layers[0][0].shape[1], *(len(bias) for _, bias in seat.layers)]
    numbers = sum(weights.size + bias.size for weights, bias in seat.layers)
    measured = [
        ("as whole sides, less the heuristic", _points(card.whole_sides)),
        ("in one seat among heuristics, less the heuristic there", _points(card.one_seat)),
    ]
    measured += [
        (f"what a best response gained as {exploit.side} from {exploit.decisions:,} decisions", _points(exploit.gain))
        for exploit in card.exploits
    ]
    if not card.exploits:
        measured.append(("what best responses gain", "not measured"))
    facts = [
        ("file", f"`policies/experts/data/{path.name}`, {path.stat().st_size:,} bytes, half precision"),
        ("SHA-256", f"`{card.sha256}`"),
        ("network", f"layers of {', '.join(map(str, sizes))}; {numbers:,} numbers; {seat.activation}"),
        ("sees", f'`features="{card.features}"`, in the frame of its seat'),
        ("plays", "by drawing from its probabilities, with NumPy alone"),
        ("trained by", f"`{card.command} --out runs/{card.name}`, seed {card.seed}"),
        ("learned from", f"{card.decisions:,} decisions by self-play, after imitation of the heuristic"),
        ("time", f"{card.seconds:,.0f} s of processor time"),
        ("measured on", card.date),
        ("licence", "MIT, as parlour"),
    ]
    limits = [
        "It plays this table and no other; for others `--policy expert` is refused.",
        "The figures are against heuristics and networks; nobody has measured it against people or language models.",
        "It says the game's own statements, never words of its own." if card.config["talk"] else "Nobody talks there.",
        "It was measured in single precision, before its weights were rounded.",
    ]
    table = json.dumps(_plain(card.config))
    return (
        f"{MADE}# {card.name}\n\nA trained player of [`{card.game}`]({card.game}.md) for one table: `{table}`. To seat it: `--policy expert` "
        f"at that table. How it was made: [self-play](../explanation/selfplay.md), [experts](../explanation/experts.md).\n\n"
        f"{markdown_table(('what', ''), facts)}\n\n## Strength\n\n"
        "Points are win rates in hundredths, on held-out deals that nobody chose by, with 95 % intervals.\n\n"
        f"{markdown_table(('measured', 'points'), measured)}\n\n"
        "A best response that gains much shows that the network can be exploited; the figure is a lower bound.\n\n"
        f"## Limits\n\n{markdown_list(limits)}\n"
    )


def _plain(config: Mapping[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(dict(config)))  # type: ignore[no-any-return]


def _points(of: Points) -> str:
    return f"{of.mean:+.1f} [{of.low:+.1f}, {of.high:+.1f}], n = {of.n:,}"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(FOLDER / name)
