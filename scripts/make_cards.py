#!/usr/bin/env python3
"""Writes docs/cards from the code: one page for each game, and one for each network shipped with parlour.

A game's page is the docstring of its package and the numbers of its default table. A network's page is its card,
`policies/experts/data/NAME.json`, and the contents of its file. Usage: scripts/make_cards.py
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from parlour.envs import registry
from parlour.envs.batch import KERNELS
from parlour.envs.registry import kinds_of
from parlour.envs.spec import GameSpec
from parlour.policies.experts.catalogue import DATA, ExpertCard, Points, cards, expert
from parlour.training.report.plots import range_of
from parlour.training.report.result_table import markdown_table

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "cards"
COUNTED = FOLDER.parent / "lab" / "data"
"""Where `conventions-NAME.csv` are, as `parlour evaluate strangers --out` leaves them."""
MADE = "<!-- made by scripts/make_cards.py -->\n"
_CONVENTIONS = {
    ("approves teams with an evil seat", "good"): "approves evil teams, good seats",
    ("misleading claims", "good"): "misleading claims, good seats",
    ("misleading claims", "village"): "misleading claims, village",
    ("claims known to be false", "village"): "claims known to be false, village",
}
"""Rows of that file that a card shows, and what they are called there."""
_OF_ALL = """\
One card for each game and for each network shipped with parlour. Other players have no weights: see
[players](../reference/players.md).

These statements hold for every network:

- It imitated the heuristic, then learned by self-play, or [among other players](../howto/strangers.md#train-for-strangers). It plays the table on its card only. Another table is refused. Where that has talk, it speaks in the game's canonical statements.
- It samples from its probabilities and needs NumPy only. Its input is `features="belief"`, seats counted from its own.
- Points are differences of win rates in percentage points on held-out deals, with 95 % confidence intervals.
- It was measured in single precision, before its weights were rounded to half precision. Nobody measured it among people or language
  models.
- Where another replaced it, `expert:style=selfplay` seats it; its card is `NAME-selfplay.json`.
- A large gain of a best response shows that it can be exploited. The gain is a lower bound.
- [Conventions](../explanation/conventions.md) were counted in one seat among heuristics: `parlour evaluate strangers ... --family
  heuristic --games 2000 --out DIR`.
- Its licence is MIT, like parlour's. [Experts](../explanation/experts.md) says how they are trained, and
  [strangers](../howto/strangers.md#what-it-brought) how they play among players that they have not met.
"""


def pages() -> dict[str, str]:
    """File name -> text."""
    made = {f"{name}.md": _game(registry[name].spec) for name in registry}
    made |= {f"{card.name}.md": _network(card) for card in cards() if not card.style}
    return {"README.md": _index(), **made}


def _index() -> str:
    games = [(f"[{name}]({name}.md)", registry[name].spec.title) for name in registry]
    networks = [(f"[{card.name}]({card.name}.md)", _points(card.whole_sides)) for card in cards() if not card.style]
    return (
        f"{MADE}# Cards\n\n{_OF_ALL}\n{markdown_table(('game', 'what it is'), games)}\n\n"
        f"{markdown_table(('network', f'points against the heuristic, whole sides, n = {_deals(cards())}'), networks)}\n"
    )


def _game(spec: GameSpec) -> str:
    first, _, rest = (sys.modules[type(spec).__module__].__doc__ or "").strip().partition("\n")
    facts = markdown_table(("default table", ""), _facts(spec))
    return f"{MADE}# {spec.title}\n\n{first}\n\n{rest.strip()}\n\n## Numbers\n\n{facts}\n"


def _facts(spec: GameSpec) -> Iterator[tuple[str, str]]:
    env = registry[spec.id].raw_env()
    yield "seats", str(env.game.seats)
    yield "actions", f"{len(env.game.catalogue):,}"
    sizes = [f"`{kind}` {registry[spec.id].raw_env(features=kind).encoder.size:,}" for kind in kinds_of(spec, {})]
    yield "numbers of `features`", ", ".join(sizes)
    yield "sides", ", ".join(spec.sides) or "none"
    yield "heuristic", f"`{spec.heuristic}`" if spec.heuristic else "chance"
    yield "batched kernels", f"`{KERNELS[spec.id]}`" if spec.id in KERNELS else "none; the scalar rules are used"


def _network(card: ExpertCard) -> str:
    options = ",\n".join(f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in card.config.items())
    return (
        f"{MADE}# {card.name}\n\n`--policy {card.policy}` seats it at this table of [`{card.game}`]({card.game}.md). "
        f"[Limits of all networks](README.md).\n\n```json\n{{\n{options}\n}}\n```\n\n"
        f"{markdown_table(('what', ''), _made(card))}\n\n"
        f"{markdown_table(('strength', f'points, n = {_deals([card])}'), _strength(card))}\n"
    )


def _made(card: ExpertCard) -> list[tuple[str, str]]:
    """What it is, how it was trained, which conventions it has."""
    path = DATA / f"{card.name}.npz"
    seat = expert(card.game, card.config, style=card.style)
    sizes = [seat.layers[0][0].shape[1], *(len(bias) for _, bias in seat.layers)]
    numbers = sum(weights.size + bias.size for weights, bias in seat.layers)
    return [
        ("file", f"`policies/experts/data/{path.name}`, SHA-256 `{card.sha256}`"),
        ("network", f"layers of {', '.join(map(str, sizes))}; {numbers:,} parameters; {seat.activation}"),
        ("training command", f"`{card.command} --out runs/{card.name}`"),
        *((("seed", str(card.seed)),) if "--seed" not in card.command else ()),
        *((("the command needs", card.needs),) if card.needs else ()),
        *((("same bytes with", ", ".join(map(" ".join, card.made_with.items()))),) if card.made_with else ()),
        ("training", f"{card.decisions:,} decisions, {card.seconds:,.0f} s of processor time"),
        ("measured", card.date),
        *_conventions(card),
    ]


def _strength(card: ExpertCard) -> Iterator[tuple[str, str]]:
    yield "whole sides, minus the heuristic", _points(card.whole_sides)
    yield "one seat, minus the heuristic there", _points(card.one_seat)
    if card.among_strangers is not None:
        families = ", ".join(f"`{name}`" for name in card.families)
        yield f"one seat among families, minus the family there: {families}", _points(card.among_strangers)
    for exploit in card.exploits:
        yield f"gain of a best response as {exploit.side}, {exploit.decisions:,} decisions", _points(exploit.gain)
    if not card.exploits:
        yield "gain of best responses", "not measured"


def _conventions(card: ExpertCard) -> Iterator[tuple[str, str]]:
    path = COUNTED / f"conventions-{card.name}.csv"
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            rows = {(row["measure"], row["of"]): row for row in csv.DictReader(file)}
        for key, name in _CONVENTIONS.items():
            if row := rows.get(key):
                own, other = (_share(row, player) for player in (card.policy, "family there"))
                n = int(row[f"{card.policy}_n"])
                yield f"{name} ([all](../lab/data/{path.name}))", f"{own}, n = {n:,}; heuristic there {other}"


def _share(row: dict[str, str], player: str) -> str:
    share, low, high = (100 * float(row[f"{player}{end}"]) for end in ("", "_low", "_high"))
    return f"{share:.1f} % [{low:.1f}, {high:.1f}]"


def _points(points: Points) -> str:
    return f"{points.mean:+.1f} [{points.low:+.1f}, {points.high:+.1f}]"


def _deals(known: Sequence[ExpertCard]) -> str:
    """How many deals each figure of some cards has."""
    measured = [
        figure for card in known for figure in (card.whole_sides, card.one_seat, card.among_strangers) if figure
    ]
    return range_of([figure.n for figure in (*measured, *(of.gain for card in known for of in card.exploits))])


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(FOLDER / name)
