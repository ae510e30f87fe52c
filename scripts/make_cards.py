#!/usr/bin/env python3
"""Writes docs/cards from the code: one page for each game, and one for each network shipped with parlour.

A game's page is the docstring of its package and the numbers of its default table. A network's page is its card,
`policies/experts/data/NAME.json`, and the contents of its file. Usage: scripts/make_cards.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from parlour.envs import registry
from parlour.envs.batch import KERNELS
from parlour.envs.registry import kinds_of
from parlour.envs.settings import accepted
from parlour.envs.spec import GameSpec
from parlour.policies.experts.catalogue import DATA, ExpertCard, Points, cards, expert
from parlour.training.report.result_table import markdown_list, markdown_table

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "cards"
_BEGAN = {
    "": "self-play, after imitation of the heuristic",
    "strangers": "games among the players of the command, from the weights of `expert`",
}
_MEASURED = {
    "": "It was measured against heuristics and networks, not against people or language models.",
    "strangers": "It learned among the families named above. How it plays among players that it has never met is in "
    "[strangers](../howto/strangers.md#what-it-brought). It was not measured among people or language models.",
}
_NUMBERS = (
    "none",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
)
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
        f"{MADE}# Cards\n\nOne card for each game and for each network shipped with parlour. Other players have no weights: they are "
        "heuristics and agents; see [players](../reference/players.md).\n\n"
        f"{markdown_table(('game', 'what it is'), games)}\n\n"
        f"{markdown_table(('network', 'game', 'points against the heuristic, whole sides'), networks)}\n"
    )


def _game(spec: GameSpec) -> str:
    first, _, rest = (sys.modules[type(spec).__module__].__doc__ or "").strip().partition("\n")
    facts = markdown_table(("default table", ""), _facts(spec))
    options = [
        (f"`{name}`", f"`{json.dumps(field.default)}`", accepted(field), field.description)
        for name, field in spec.options.model_fields.items()
    ]
    table = markdown_table(("option", "default", "accepted", "what it is"), options)
    listed = f"## Options\n\n{table}\n\n" if options else ""
    return f"{MADE}# {spec.title}\n\n{first}\n\n{rest.strip()}\n\n{listed}## Numbers\n\n{facts}\n"


def _facts(spec: GameSpec) -> Iterator[tuple[str, str]]:
    env = registry[spec.id].raw_env()
    game = env.game
    yield "seats", str(game.seats)
    yield "actions", f"{len(game.catalogue):,}"
    for kind in kinds_of(spec, {}):
        yield f'features, `features="{kind}"`', f"{registry[spec.id].raw_env(features=kind).encoder.size:,} numbers"
    yield "sides", ", ".join(spec.sides) or "none"
    yield "heuristic", f"`{spec.heuristic}`" if spec.heuristic else "chance"
    yield "batched kernels", f"`{KERNELS[spec.id]}`" if spec.id in KERNELS else "none; the scalar rules are used"
    networks = [f"[{card.name}]({card.name}.md)" for card in cards() if card.game == spec.id]
    yield "shipped networks", ", ".join(networks) or "none"


def _network(card: ExpertCard) -> str:
    path = DATA / f"{card.name}.npz"
    seat = expert(card.game, card.config, style=card.style)
    sizes = [seat.layers[0][0].shape[1], *(len(bias) for _, bias in seat.layers)]
    numbers = sum(weights.size + bias.size for weights, bias in seat.layers)
    measured = [
        ("playing whole sides, minus the heuristic", _points(card.whole_sides)),
        ("playing one seat among heuristics, minus the heuristic there", _points(card.one_seat)),
    ]
    if card.among_strangers is not None:
        families = ", ".join(f"`{name}`" for name in card.families)
        among = f"playing one seat among {_NUMBERS[card.config['num_players'] - 1]} of a family, minus the family there; mean over {families}"
        measured.append((among, _points(card.among_strangers)))
    measured += [
        (
            f"gain of a best response as {exploit.side}, trained on {exploit.decisions:,} decisions",
            _points(exploit.gain),
        )
        for exploit in card.exploits
    ]
    if not card.exploits:
        measured.append(("gain of best responses", "not measured"))
    facts = [
        ("file", f"`policies/experts/data/{path.name}`, {path.stat().st_size:,} bytes, half precision"),
        ("SHA-256", f"`{card.sha256}`"),
        ("network", f"layers of {', '.join(map(str, sizes))}; {numbers:,} parameters; {seat.activation}"),
        ("input", f'`features="{card.features}"`, seats counted from its own'),
        ("play", "samples from its probabilities; needs NumPy only"),
        ("training command", f"`{card.command} --out runs/{card.name}`, seed {card.seed}"),
        *((("the command needs", card.needs),) if card.needs else ()),
        ("training data", f"{card.decisions:,} decisions of {_BEGAN[card.style]}"),
        ("training time", f"{card.seconds:,.0f} s of processor time"),
        ("measured", card.date),
        ("licence", "MIT, like parlour"),
    ]
    options = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in card.config.items())
    limits = [
        "It plays this table only. At other tables it is refused.",
        _MEASURED[card.style],
        "It speaks in the game's canonical statements, not in free words."
        if card.config["talk"]
        else "Nobody talks at this table.",
        "It was measured in single precision, before its weights were rounded to half precision.",
    ]
    return (
        f"{MADE}# {card.name}\n\nA trained player of [`{card.game}`]({card.game}.md). `--policy {card.policy}` seats it at this table:\n\n"
        f"```json\n{{\n{options}\n}}\n```\n\nMore: [self-play](../explanation/selfplay.md), [experts](../explanation/experts.md).\n\n"
        f"{markdown_table(('what', ''), facts)}\n\n## Strength\n\n"
        "Points are differences of win rates in percentage points, on held-out deals, with 95 % confidence intervals.\n\n"
        f"{markdown_table(('measured', 'points'), measured)}\n\n"
        "A large gain of a best response shows that the network can be exploited. The gain is a lower bound.\n\n"
        f"## Limits\n\n{markdown_list(limits)}\n"
    )


def _points(points: Points) -> str:
    return f"{points.mean:+.1f} [{points.low:+.1f}, {points.high:+.1f}], n = {points.n:,}"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(FOLDER / name)
