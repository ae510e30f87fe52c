"""The page of a game in Markdown: what was played, what could be believed, what was surprising, and what it cost."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from parlour.envs import replay
from parlour.envs.avalon import vocabulary as said
from parlour.envs.avalon.belief import ONLOOKER
from parlour.envs.core import Move
from parlour.envs.english import name
from parlour.envs.text import clean
from parlour.training.measure.analysis.beliefs import BeliefLine
from parlour.training.measure.analysis.decisions import GUESS, SPEECH, VOTE, Decision
from parlour.training.measure.analysis.games import NOT_TOLD, AnalysedGame
from parlour.training.measure.analysis.values import DecisionValue
from parlour.training.results.result_table import markdown_table

_ROWS: Final = 8
_WORDS: Final = 160
"""Letters of a player's words that are shown."""
_HIDDEN: Final = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")


@dataclass(frozen=True)
class FoundGame:
    """A game with all that was found in it."""

    game: AnalysedGame
    lines: tuple[BeliefLine, ...]
    decisions: tuple[Decision, ...]
    """By the habits of the analysis."""
    values: Mapping[int, DecisionValue]
    """Values of the valued decisions, by the number of the move."""
    played_on: str
    """Who played the continuations; empty if none were."""


def page(analysed: FoundGame, transcript: str, picture: str | None) -> str:
    """The page.

    Args:
        analysed: The game.
        transcript: Where its file is, as a link from the page.
        picture: Likewise the picture of its beliefs; None without one.
    """
    parts = [
        f"# {plain(analysed.game.name)}",
        _heading(analysed.game, transcript),
        *([f"![Beliefs over the game]({picture})"] if picture else []),
        "## Seats",
        _seats(analysed),
        "## Quests",
        _quests(analysed),
        "## Most surprising decisions",
        _surprising(analysed),
        "## Decisions that cost most",
        _costly(analysed),
    ]
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    r"""Words from a record as one line of Markdown that shows them as they are.

    >>> print(plain("<b>x|y"))
    \<b\>x\|y
    """
    line = " ".join(clean(text).split())
    shown = line if len(line) <= _WORDS else f"{line[: _WORDS - 4]} ..."
    return _HIDDEN.sub(r"\\\1", shown)


def _heading(game: AnalysedGame, transcript: str) -> str:
    notes = [("result", game.end), ("players", str(game.seats))]
    notes += [(key, game.noted(key)) for key in ("model", "reasoning_effort", "memory", "source", "game_id")]
    text = "; ".join(f"{key.replace('_', ' ')}: {plain(value)}" for key, value in notes if value != NOT_TOLD)
    shell = transcript.replace("'", "'\\''")
    return f"{text}. Transcript: [{plain(transcript)}](<{transcript}>), to be shown by `parlour replay '{shell}'`."


def _seats(analysed: FoundGame) -> str:
    game, last = analysed.game, {line.viewer: line.points[-1] for line in analysed.lines}
    rows = []
    for seat, role in enumerate(game.roles):
        own = [
            decision.bits
            for decision in analysed.decisions
            if decision.seat == seat and decision.choices > 1 and decision.bits is not None
        ]
        votes = [decision.right for decision in analysed.decisions if decision.seat == seat and decision.kind == VOTE]
        counted = [right for right in votes if right is not None]
        rows.append(
            (
                name(seat),
                role,
                f"{last[ONLOOKER].evil[seat]:.2f}",
                f"{last[seat].truth:.2f}",
                f"{sum(counted)} of {len(counted)}" if counted else NOT_TOLD,
                f"{sum(own) / len(own):.2f}" if own else NOT_TOLD,
            )
        )
    headings = ("seat", "role", "evil to an onlooker, at the end", "the true evil side, to itself")
    return markdown_table((*headings, "right votes", "bits a decision"), rows)


def _quests(game: FoundGame) -> str:
    log, rows, team, leader, proposal = game.game.log, list[tuple[str, ...]](), "", "", 0
    row: list[str] = []
    for event in log:
        kind, args = event.move.kind, event.move.args
        if kind == said.LEADS:
            leader, proposal = name(args[1]), args[3] + 1
            quest = str(args[0] + 1)
            row = [quest, str(proposal), leader, "", "", ""]
        elif kind == said.TEAM:
            team = ", ".join(f"{j}{'*' if j in game.game.evil else ''}" for j in args)
            row = [*row[:3], team, "none", ""]
            rows.append(tuple(row))
        elif kind == said.VOTES:
            row[4] = " ".join(str(j) for j, vote in enumerate(args[1:]) if vote) or "nobody"
            rows[-1] = tuple(row)
        elif kind == said.FAILS:
            row[5] = f"{args[1]} fail{'' if args[1] == 1 else 's'}"
            rows[-1] = tuple(row)
    table = markdown_table(("quest", "proposal", "leader", "team (* evil)", "approved by", "cards"), rows)
    return table if rows else "No team was named."


def _surprising(game: FoundGame) -> str:
    bits = [
        (decision, decision.bits)
        for decision in game.decisions
        if decision.bits is not None and decision.kind != SPEECH
    ]
    chosen = sorted(
        ((decision, b) for decision, b in bits if decision.choices > 1), key=lambda pair: (-pair[1], pair[0].number)
    )
    rows = [
        (*_what(game, decision), f"{b:.2f}", _say(game, decision.ours), plain(decision.move.words))
        for decision, b in chosen[:_ROWS]
    ]
    if not rows:
        return "Nobody had a choice."
    headings = ("move", "who", "did", "team", "thought clean", "bits", "heuristic", "words")
    return markdown_table(headings, rows)


def _costly(game: FoundGame) -> str:
    by = {decision.number: decision for decision in game.decisions}
    costs = sorted(game.values.values(), key=lambda value: (-value.loss, value.number))
    rows = [
        (
            *_what(game, by[value.number]),
            f"{value.value:.2f}",
            f"{value.best:.2f}",
            _say(game, value.best_move),
            f"{value.loss:.2f}",
            f"{value.error:.2f}" if value.continuations else "exact",
        )
        for value in costs[:_ROWS]
        if value.loss > 0
    ]
    if not rows:
        return "No decision that was valued lost anything." if game.values else "No decision was valued."
    headings = ("move", "who", "did", "team", "thought clean", "value", "best", "best move", "lost", "error")
    counted = {value.continuations for value in costs} - {0}
    how = f"Continuations by {game.played_on}, {max(counted)} for each move." if counted else ""
    return "\n\n".join([markdown_table(headings, rows), *([how] if how else [])])


def _what(game: FoundGame, decision: Decision) -> tuple[str, ...]:
    team = " ".join(f"{j}{'*' if j in game.game.evil else ''}" for j in decision.team) if decision.kind != GUESS else ""
    thought = "" if decision.clean is None or decision.kind == GUESS else f"{decision.clean:.2f}"
    return str(decision.number), f"{name(decision.seat)}, {decision.role}", _say(game, decision.move), team, thought


def _say(game: FoundGame, move: Move) -> str:
    return plain(replay.text_of(game.game.transcript).say(Move(move.kind, move.args)))


def index(rows: Sequence[tuple[str, ...]]) -> str:
    """The list of all games with links to their pages, from their rows (`listed`)."""
    headings = ("game", "players", "result", "effort", "memory", "onlooker's true side", "most surprising", "most lost")
    return "\n".join(["# Games", "", markdown_table(headings, rows), ""])


def listed(analysed: FoundGame) -> tuple[str, ...]:
    """The row of a game in the index."""
    game = analysed.game
    looking = [
        line for line in analysed.lines if line.viewer == ONLOOKER
    ]  # the last is the one with words, if words tell
    surprise = max(
        (choice.bits for choice in analysed.decisions if choice.choices > 1 and choice.bits is not None), default=0.0
    )
    loss = max((value.loss for value in analysed.values.values()), default=None)
    return (
        f"[{plain(game.name)}](<games/{game.name}.md>)",
        str(game.seats),
        game.end,
        plain(game.noted("reasoning_effort")),
        plain(game.noted("memory")),
        f"{looking[-1].points[-1].truth:.2f}",
        f"{surprise:.1f} bits",
        NOT_TOLD if loss is None else f"{loss:.2f}",
    )
