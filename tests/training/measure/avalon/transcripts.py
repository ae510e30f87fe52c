"""Games of Avalon by the reference rules for six players, as transcripts that a test writes down move by move."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlour.envs.avalon import GAME
from parlour.envs.core import Move, Outcome
from parlour.envs.language import transcript_lines
from parlour.envs.language.entries import Entry
from parlour.envs.registry import lookup
from parlour.envs.replay import Transcript
from parlour.training.statistics import Estimate

RULES = GAME.build(GAME.options(num_players=6, rules="reference"))
# player_0 Merlin, player_1 Percival, player_2 and player_3 Loyal Servants, player_4 Morgana, player_5 Assassin
DEAL = Move("deal", (0, 1, 2, 2, 3, 4, 0))
NOTHING = Move("silent")


def words(text: str) -> Move:
    return Move("silent", (), text)


def proposal(team: tuple[int, ...], votes: str, *said: Move) -> list[Move]:
    """A proposal: what the first ones say, silence of the others, the team, the votes (a letter each, "a" for yes)."""
    ballots = [Move("vote", (int(vote == "a"),)) for vote in votes]
    return [*said, *[NOTHING] * (6 - len(said)), Move("propose", team), *ballots]


def cards(results: str) -> list[Move]:
    """A card for each letter, "s" for success."""
    return [Move("card", (int(card == "s"),)) for card in results]


def game(*moves: Move, winner: str = "good", **header: Any) -> Transcript:
    """A game given up after these moves."""
    state, entries = RULES.initial(), []
    for move in (DEAL, *moves):
        entries.append(Entry(RULES.actor(state), move, None))
        state = RULES.apply(state, move)
    head = {"parlour": 1, "game": "avalon_v0", "config": dict(RULES.config), **header}
    return Transcript(head, tuple(entries), Outcome((0.0,) * 6, winner, "forfeit"))


def write(path: Path, game: Transcript, calls: Mapping[int, Any] | None = None) -> Path:
    """The transcript as a file; `calls`: what models were asked, by the number of an entry."""
    name, config, calls = game.header["game"], game.header["config"], calls or {}
    text = lookup(name).spec.text(game.game())
    extra = {key: value for key, value in game.header.items() if key not in ("parlour", "game", "config")}
    lines = [transcript_lines.header_line(name, config, extra)]
    for number, entry in enumerate(game.entries):
        lines.append(
            transcript_lines.entry_line(number, entry, text, {"calls": calls[number]} if number in calls else None)
        )
    if game.outcome is not None:
        lines.append(transcript_lines.outcome_line(game.outcome))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), "utf-8")
    return path


def parts(share: Estimate | None) -> tuple[int, int] | None:
    """Of how many cases how many are counted."""
    return None if share is None else (share.hits or 0, share.n)
