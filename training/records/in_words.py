"""The format `words`: one form for any game of hidden roles, in which anybody can bring games with what was said.

A game is a JSON object:

    {"game": "werewolf_v0", "game_id": "evening_1", "config": {"rules": "official"},
     "players": [{"name": "Ann", "role": "Werewolf"}, {"name": "Bo", "role": "Seer"}, ...],
     "order": ["Bo", "Cy", ...],
     "moves": [{"who": "Ann", "does": "hunt", "whom": "Cy"}, {"who": "Bo", "words": "Ann is evil."}, ...],
     "winner": "village"}

`players` are the seats, `config` the options of the game without roles and number of players. What chance decided at the
beginning is `leader`, a player, in Avalon and `order`, all players, in Werewolf. The moves follow the order of the rules: votes
of a round by seat, in Werewolf by the order of talk; later chance is a move of `nature`.

A move says `who` makes it, what it `does` (the kind of the move, as in transcripts), and with it: `whom` (a player, a list
of players, or null for nobody), `choice` (approve or reject, success or fail, give or keep), `role` (of `claim_role`),
`found` (good or evil, of `report`). `words` are what is said with it, in which names of players count for their seats. A
move of `words` alone is a speech whose act the game's own reader finds. `winner` is null or missing where a record ends
early. Other fields of a record are ignored; in a move they are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from parlour.envs.avalon import GAME as AVALON
from parlour.envs.avalon.vocabulary import BALLOT, CARD
from parlour.envs.core import NATURE, OVER, Move, ParlourError
from parlour.envs.language import speech
from parlour.envs.language.transcript_lines import NATURE_NAME
from parlour.envs.registry import build
from parlour.envs.replay import Transcript
from parlour.envs.spec import GameSpec
from parlour.envs.werewolf import GAME as WEREWOLF
from parlour.envs.werewolf.vocabulary import HEALS
from parlour.training.records.json_objects import JsonObject
from parlour.training.records.reading import Names, RecordedMoves, RecordFormat, record_notes

DEALT, DRAWN = "deal", "draw"
"""Moves of nature in all games of hidden roles."""
_FOUND: Final = ("good", "evil")
_KEYS: Final = ("who", "does", "whom", "choice", "role", "found", "words")
_OF_PLAYERS: Final = ("num_players", "roles")
"""Options that the players of a record tell."""


@dataclass(frozen=True, kw_only=True)
class InWords:
    """How the form describes one game."""

    spec: GameSpec
    opening: str
    """The field with what chance decided besides the roles."""
    choices: Mapping[str, tuple[str, str]]
    """Kinds of moves with a choice of two, 0 and 1, in words."""

    @cached_property
    def format(self) -> RecordFormat:
        return RecordFormat(
            game=self.spec.id,
            name="words",
            fields=("game", "players", "moves"),
            key="game_id",
            named=lambda at: at.file_name("game_id"),
            transcript=self._transcript,
        )

    # -- reading -----------------------------------------------------------------------------------------------

    def _transcript(self, at: JsonObject, _logs: Path | None) -> str:
        at.one_of("game", (self.spec.id,))
        players = at.records("players", "player")
        names = Names.of(players, "name")
        game = self._rules(at, [player.of(str, "role", "a role") for player in players])
        table: RecordedMoves[Any] = RecordedMoves(self.spec.id, game, self.spec.text(game))
        dealt = [game.role_names.index(player.fields["role"]) for player in players]
        table.play(Move(DEALT, (*dealt, *self._opened(at, names))), at)
        for number, move in enumerate(at.of(list, "moves", "a list of moves"), 1):
            if type(move) is not dict:
                raise at.error(f"move {number} is not an object", f"an object with {', '.join(_KEYS)}")
            self._move(table, game, names, JsonObject(f"{at.where}, move {number}", move))
        self._ending(table, at)
        return table.transcript({"record": record_notes("words", at, at.fields["game_id"], names.names)})

    def _rules(self, at: JsonObject, roles: list[str]) -> Any:
        config = at.record("config") if "config" in at.fields else JsonObject(at.where, {})
        for key in _OF_PLAYERS:
            if key in config.fields:
                raise config.refused(key, "the list of players implies it")
        try:
            return build(self.spec, {**config.fields, "num_players": len(roles), "roles": roles})
        except (ParlourError, TypeError, OverflowError) as error:
            raise ParlourError(f"{at.where}: config and roles cannot be used: {error}") from None

    def _opened(self, at: JsonObject, names: Names) -> Sequence[int]:
        if type(at.fields.get(self.opening)) is not list:
            return (names.seat(at, self.opening),)
        seats = names.seats(at, self.opening)
        if len(seats) != len(names):
            raise at.refused(self.opening, "all players, each once")
        return seats

    def _move(self, table: RecordedMoves[Any], game: Any, names: Names, at: JsonObject) -> None:
        actor = table.actor
        if actor == OVER:
            raise at.error(f"the game ended before it, by {table.outcome.reason}", "no further move")
        at.expect("who", NATURE_NAME if actor == NATURE else names.names[actor], "whose turn it is")
        if strange := [key for key in at.fields if key not in _KEYS]:
            raise at.error(f"{strange[0]} is not accepted", _KEYS)
        raw = at.of(str, "words", "a text") if "words" in at.fields else None
        words = "" if raw is None else names.with_seats(raw)
        legal = game.legal(table.state)
        if "does" not in at.fields and raw is not None and any(move.kind == speech.SILENT for move in legal):
            table.read(words, at, raw)
            return
        kind = at.one_of("does", (DRAWN,) if actor == NATURE else tuple(dict.fromkeys(move.kind for move in legal)))
        table.play(Move(kind, self._arguments(kind, game, names, at), words), at, raw)

    def _arguments(self, kind: str, game: Any, names: Names, at: JsonObject) -> tuple[int, ...]:
        if kind in self.choices:
            return (self.choices[kind].index(at.one_of("choice", self.choices[kind])),)
        if kind == speech.CLAIM_ROLE:
            return (game.role_names.index(at.one_of("role", game.role_names)),)
        if kind == speech.REPORT:
            return names.seat(at, "whom"), _FOUND.index(at.one_of("found", _FOUND))
        if at.fields.get("whom") is None:
            return ()
        if type(at.fields["whom"]) is list:
            return tuple(sorted(names.seats(at, "whom")))
        return (names.seat(at, "whom"),)

    def _ending(self, table: RecordedMoves[Any], at: JsonObject) -> None:
        if table.over:
            at.expect("winner", table.outcome.winner, f"the game ends by {table.outcome.reason}")
        elif at.fields.get("winner") is not None:
            raise at.refused("winner", "null, in a record that ends early", "the moves stop before the end of the game")

    # -- writing -----------------------------------------------------------------------------------------------

    def record_of(self, transcript: Transcript, game_id: str) -> dict[str, Any]:
        """A game of parlour in the form; players are called `player_0` and so on, also in their words.

        Read back it has the same rules and moves. A game that a seat gave up ends early here.

        Raises:
            ParlourError: The transcript is of another game, or has no deal.
        """
        game: Any = transcript.game()
        moves = [(entry.seat, entry.move) for entry in transcript.entries if entry.move is not None]
        if transcript.header["game"] != self.spec.id or not moves or moves[0][1].kind != DEALT:
            raise ParlourError(f"game {game_id!r} has no deal of {self.spec.id}; accepted: a game from its beginning")
        args, seats = moves[0][1].args, game.seats
        named = Names([f"player_{seat}" for seat in range(seats)])
        opening: Any = [named.names[seat] for seat in args[seats:]]
        record: dict[str, Any] = {"game": self.spec.id, "game_id": game_id}
        record["config"] = {key: value for key, value in game.config.items() if key not in _OF_PLAYERS}
        record["players"] = [
            {"name": name, "role": game.role_names[role]} for name, role in zip(named.names, args, strict=False)
        ]
        record[self.opening] = opening if len(opening) > 1 else opening[0]
        record["moves"] = [self._move_in_words(seat, move, game, named) for seat, move in moves[1:]]
        finished = transcript.outcome is not None and transcript.outcome.reason != "forfeit"
        return record | ({"winner": transcript.outcome.winner} if finished and transcript.outcome else {})

    def _move_in_words(self, seat: int, move: Move, game: Any, names: Names) -> dict[str, Any]:
        who = NATURE_NAME if seat == NATURE else names.names[seat]
        choice: dict[str, Any] = {"who": who, "does": move.kind}
        if move.kind in self.choices:
            choice["choice"] = self.choices[move.kind][move.args[0]]
        elif move.kind == speech.CLAIM_ROLE:
            choice["role"] = game.role_names[move.args[0]]
        elif move.kind == speech.REPORT:
            choice |= {"whom": names.names[move.args[0]], "found": _FOUND[move.args[1]]}
        elif move.args:
            whom = [names.names[arg] for arg in move.args]
            choice["whom"] = whom if len(whom) > 1 else whom[0]
        return choice | ({"words": move.words} if move.words else {})


AVALON_IN_WORDS: Final = InWords(
    spec=AVALON, opening="leader", choices={BALLOT: ("reject", "approve"), CARD: ("fail", "success")}
)


WEREWOLF_IN_WORDS: Final = InWords(spec=WEREWOLF, opening="order", choices={HEALS: ("keep", "give")})
