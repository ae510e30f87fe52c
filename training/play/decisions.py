"""Decisions counted from the lines of a game, as it is played or from its transcript: see `parlour.policies.llm.decisions`.

A turn is a decision if several moves are legal. Words of the seat's own from which the table reads the same move as from any
others are talk, and decide nothing. The last question of a turn decides it. Words that the table refused are counted whoever
spoke them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import GameText, Move, Outcome, ParlourError, View
from parlour.envs.language.english import name
from parlour.envs.language.entries import Entry
from parlour.envs.language.transcript_lines import BY_HEURISTIC, BY_PAPER
from parlour.envs.replay import Transcript, states, text_of
from parlour.policies.llm.decisions import Beginnings, Decisions, in_place, made_by, questions, summed
from parlour.policies.llm.model import Model
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.transport.meter import Taken
from parlour.training.play.recorded_calls import calls_in, models_in

FORFEIT: Final = "forfeit"
_ANY_WORDS: Final = "Hm."
_OWN_SERVER: Final = "https://api.openai.com"
"""Where a model without an address of its own is asked."""


class PlayedLine(NamedTuple):
    """A line of a game by a seat."""

    entry: Entry
    notes: Mapping[str, Any]
    """What the transcript's line adds, such as `calls`."""
    options: int
    """How many moves were legal."""
    talk: bool
    """Whether its words say no more to the table than any others."""


def is_talk(text: GameText[Any], move: Move | None, view: View) -> bool:
    """Whether the table would have read the same move from any words."""
    if move is None or not move.words:
        return False
    try:
        return text.parse(_ANY_WORDS, view)._replace(words=move.words) == move
    except ParlourError:
        return False


def counted(lines: Iterable[PlayedLine], seats: int) -> tuple[Decisions, ...]:
    """The decisions of each seat."""
    counts: list[list[Decisions]] = [[Decisions()] for _ in range(seats)]
    seen = Beginnings()
    refused: list[list[PlayedLine]] = [[] for _ in counts]
    """The lines of each seat's turn whose words the table refused."""
    for line in lines:
        seat, fault = line.entry.seat, line.entry.fault
        if calls := _calls(line):
            counts[seat].append(Decisions.of_calls(calls, seen))
        if line.entry.move is None and fault != FORFEIT:
            counts[seat].append(Decisions(refused={fault: 1}))
            refused[seat].append(line)
            continue
        counts[seat].append(_decision(line, refused[seat]))
        refused[seat] = []
    return tuple(Decisions(**summed(*of)) for of in counts)


def _calls(line: PlayedLine) -> Sequence[Mapping[str, Any]]:
    return line.notes.get("calls") or ()


def _decision(line: PlayedLine, refused: Sequence[PlayedLine]) -> Decisions:
    """A turn as a decision, after some refused lines; none if there was nothing to decide."""
    entry = line.entry
    if entry.move is None:
        return Decisions(replaced={FORFEIT: 1})
    if line.options < 2 and not line.talk:
        return Decisions()
    if entry.replaced:
        return Decisions(replaced={entry.replaced: 1})
    before = [question.by for other in refused for question in questions(_calls(other)) if question.decides]
    by = line.notes if line.notes.get("by") in (BY_HEURISTIC, BY_PAPER) else made_by(_calls(line))
    if by or before:
        return in_place(by or before[0])
    if line.talk:
        return Decisions(talk=1)
    put = questions(_calls(line))
    again = bool(refused) or any(question.replies > 1 for question in put[-1:])
    return Decisions(again=1) if again else Decisions(first=1)


def of_transcript(transcript: Transcript) -> tuple[Decisions, ...]:
    """The decisions of each seat in a transcript that was read from a file, finished or not."""
    seats = transcript.game().seats
    models = models_in(transcript.header)
    named = [_answering(models[name(seat)]) if name(seat) in models else () for seat in range(seats)]
    last = transcript.closing
    left = {str(last["seat"]): Decisions.of_calls(calls_in(last))} if "seat" in last else {}
    return tuple(
        replace(counts + left.get(name(seat), Decisions()), models=named[seat])
        for seat, counts in enumerate(counted(_lines(transcript), seats))
    )


def _lines(transcript: Transcript) -> Iterator[PlayedLine]:
    game, text = transcript.game(), text_of(transcript)
    reached = states(game, transcript.moves)
    state = next(reached)
    for entry, notes in zip(transcript.entries, transcript.lines or ({},) * len(transcript.entries), strict=True):
        if entry.seat >= 0:
            calls_in(notes)
            talk = is_talk(text, entry.move, game.view(state, entry.seat)) if entry.move else False
            yield PlayedLine(entry, notes, len(game.legal(state)), talk)
        if entry.move is not None:
            state = next(reached)


# -- who answers -----------------------------------------------------------------------------------------------------


def models_of(players: Sequence[Any]) -> dict[str, dict[str, str]]:
    """For the header of a transcript: seat -> the model that answers its player, and the server's host.

    Players that ask no model are left out.
    """
    models = {name(seat): getattr(player, "model", None) for seat, player in enumerate(players)}
    return {seat: described(model) for seat, model in models.items() if isinstance(model, Model)}


def described(model: Model) -> dict[str, str]:
    """A model's name; the host at which a language model is asked, where that is known; the name of the folder of prompts that
    replace parlour's own, with a digest. Never a key or a path.
    """
    settings = {"model": model.name}
    if model.is_language_model and "base_url" in model.settings():
        settings["server"] = urlsplit(model.settings()["base_url"] or _OWN_SERVER).hostname or ""
    templates = getattr(model, "templates", None)
    if isinstance(templates, Templates) and templates.called:
        settings["prompts"] = templates.called
    return settings


def _answering(model: Mapping[str, str]) -> tuple[str, ...]:
    where = f" at {model['server']}" if model.get("server") else ""
    return (f"{model['model']}{where}" + (f", prompts {model['prompts']}" if model.get("prompts") else ""),)


# -- while a game is played ------------------------------------------------------------------------------------------


class HeardGame:
    """Listens to a game at a table and counts, beside the Recorder where there is one.

    Args:
        env: The table, after its reset.
        players: Who sits at it.
    """

    def __init__(self, env: Any, players: Sequence[Any]) -> None:
        base = env.unwrapped
        assert isinstance(base, GameEnv), "games are heard at parlour's own tables"
        self._base, self._annotate = base, getattr(env, "annotate", None)
        self._models = {seat: getattr(player, "model", None) for seat, player in enumerate(players)}
        self._next, base.listener = base.listener, self
        self._lines: list[PlayedLine] = []
        self._counts: tuple[Decisions, ...] | None = None
        """The decisions of the lines, once they have been counted."""
        self._notes: Mapping[str, Any] = {}
        self._seconds = [0.0] * base.game.seats
        self._options = 0
        self._view: Any = None

    def turn(self, info: Mapping[str, Any]) -> None:
        """A turn begins, of a seat with this info."""
        self._options, self._view = len(info["legal"]), info["view"]

    def note(self, notes: Mapping[str, Any]) -> None:
        """What a player added to the answer that follows."""
        self._notes = notes

    def waited(self, seat: int, seconds: float) -> None:
        """Add the time of a turn."""
        self._seconds[seat] += seconds

    def __call__(self, entry: Entry | Outcome) -> None:
        if isinstance(entry, Outcome):
            self.sum_up()
        elif entry.seat >= 0:
            talk = is_talk(self._base.text, entry.move, self._view)
            self._lines.append(PlayedLine(entry, self._notes, self._options, talk))
            self._notes, self._counts = {}, None
        if self._next is not None:
            self._next(entry)

    def sum_up(self, **notes: Any) -> None:
        """Note the decisions for the last line of the transcript, and further entries."""
        if self._annotate is not None:
            players = {name(seat): counts.as_json() for seat, counts in enumerate(self._counted())}
            self._annotate(**notes, players=players)

    def decisions(self) -> tuple[Decisions, ...]:
        """Decisions of each seat so far, with the seconds of its turns."""
        return tuple(replace(counts, seconds=s) for counts, s in zip(self._counted(), self._seconds, strict=True))

    def leave(self) -> tuple[Decisions, ...]:
        """Stop listening; tells the meters of the models, and returns `decisions`."""
        if self._base.listener is self:
            self._base.listener = self._next
        decisions = self.decisions()
        for seat, model in self._models.items():
            meter = getattr(model, "meter", None) if isinstance(model, Model) else None
            if meter is not None:
                meter.add(Taken(decisions=decisions[seat]))
        return decisions

    def _counted(self) -> tuple[Decisions, ...]:
        if self._counts is None:
            self._counts = counted(self._lines, len(self._seconds))
        counts = list(self._counts)
        if self._notes:  # of a turn that did not end
            counts[self._base.seat] += Decisions.of_calls(self._notes.get("calls") or ())
        named = {seat: _answering(described(m)) for seat, m in self._models.items() if isinstance(m, Model)}
        return tuple(replace(counts, models=named.get(seat, ())) for seat, counts in enumerate(counts))
