"""A transcript as the data of its page (`model.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlour.envs.core import NATURE, ParlourError, accept
from parlour.envs.language.headings import language_of
from parlour.envs.language.seat_names import SeatNames
from parlour.envs.language.text import agents_of, clean, end_of
from parlour.envs.replay import Transcript
from parlour.policies.llm.decisions import Decisions
from parlour.training.play import heard
from parlour.training.play.decisions import of_transcript
from parlour.training.replay.asked import Pieces
from parlour.training.replay.matter import GameMatter, matter_of
from parlour.training.replay.model import FORMAT, Header, Replay, SeatCard
from parlour.training.replay.played import PlayedGame, play_again
from parlour.training.replay.record import lines_of, rules_of, self_knowledge
from parlour.training.replay.steps import Choices, steps_of


def replay_of(transcript: Transcript, file: str = "") -> Replay:
    """The data of a transcript's page; for an unfinished or unplayable transcript, as far as it goes.

    Args:
        transcript: As `parlour.envs.replay.Transcript.read` gives it.
        file: Name of its file, for the page's head.

    Raises:
        ParlourError: Its game is not known, or its config cannot be used or opens paths that it may not.
    """
    played = play_again(transcript)
    matter = matter_of(played)
    pieces, choices = Pieces(), Choices(played)
    steps = steps_of(played, pieces, choices)
    return Replay(
        parlour_replay=FORMAT,
        header=_header(played, matter, file),
        steps=steps,
        lines=lines_of(played),
        who=self_knowledge(played),
        alive=matter.alive,
        choices=choices.offers,
        pieces=pieces.texts,
        tables=matter.tables,
        documents=matter.documents,
        graphs=matter.graphs,
        beliefs=matter.beliefs,
    )


def _header(played: PlayedGame, matter: GameMatter, file: str) -> Header:
    transcript, outcome = played.transcript, played.outcome
    header, spec = transcript.header, transcript.spec
    seed = header.get("seed")
    return Header(
        game=spec.id,
        title=spec.title,
        config=dict(played.game.config),
        seats=_seats(played, matter),
        file=file,
        seed=seed if type(seed) is int else None,
        language=language_of(played.text),
        rules=rules_of(played),
        sides=spec.sides,
        winner=outcome.winner if outcome else "",
        reason=outcome.reason if outcome else "",
        ended=end_of(played.text, outcome) if outcome else _no_end(played),
        finished=outcome is not None,
        turned=matter.turned,
        notes=(*_notes(played), *matter.notes),
    )


def _no_end(played: PlayedGame) -> str:
    why = played.transcript.closing.get("unfinished")
    reason = f": {clean(str(why))}" if why else ""
    return f"The game was not finished{reason}."


def _notes(played: PlayedGame) -> list[str]:
    transcript, notes = played.transcript, []
    if played.stopped:
        left = len(transcript.entries) - len(played.entries)
        notes.append(f"{played.stopped} The page ends before it; {left} lines of the transcript are not shown.")
    elif transcript.outcome is not None and transcript.outcome != played.outcome:
        notes.append(
            f"The outcome written down, {end_of(played.text, transcript.outcome)!r}, is not that of the moves."
        )
    elif played.outcome is None and played.game.actor(played.last) == NATURE:
        notes.append("The transcript ends before the moderator's next move.")
    if not transcript.heard:
        notes.append(heard.NOTE)
    return notes


def _seats(played: PlayedGame, matter: GameMatter) -> tuple[SeatCard, ...]:
    header, outcome = played.transcript.header, played.outcome
    agents = agents_of(played.game)
    called = matter.called or names_in(header).names
    decisions = _decisions(played)
    cards = []
    for seat, agent in enumerate(agents):
        role, side = matter.roles[seat] if matter.roles else ("", "")
        cards.append(
            SeatCard(
                agent=agent,
                called=called[seat] if called else "",
                player=_named(header.get("players"), agent, seat),
                model=_model(header.get("models"), seat),
                role=role,
                side=side,
                returned=outcome.returns[seat] if outcome else None,
                won=outcome.winner == side if outcome and side else None,
                died=next((step for step, living in matter.alive if not living[seat]), None),
                decisions=decisions[seat].as_json() if decisions else {},
            )
        )
    return tuple(cards)


def names_in(header: Mapping[str, Any]) -> SeatNames:
    """The names that a transcript's header gives the seats. Raises `ParlourError` for a text that is not a name."""
    names = header.get("names", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise accept("names of a transcript", names, "a list of names, one for each seat")
    return SeatNames(names)


def _decisions(played: PlayedGame) -> tuple[Decisions, ...] | None:
    """The decisions of each seat; None where they cannot be counted, as of calls that parlour did not write."""
    if played.stopped or not played.transcript.lines:
        return None
    try:
        return of_transcript(played.transcript)
    except ParlourError:
        return None


def _named(players: Any, agent: str, seat: int) -> str:
    """Who played a seat, by the header: seats go by the game's own names or as `player_3`."""
    if not isinstance(players, dict):
        return ""
    player = players.get(agent, players.get(f"player_{seat}"))
    return player if isinstance(player, str) else ""


def _model(models: Any, seat: int) -> str:
    entry = models.get(f"player_{seat}") if isinstance(models, dict) else None
    if not isinstance(entry, dict):
        return ""
    model, server = str(entry.get("model", "")), str(entry.get("server", ""))
    return f"{model} at {server}" if server else model
