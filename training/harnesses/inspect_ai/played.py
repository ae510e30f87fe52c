"""A game that models played in words: all that is needed to play it again, and how it ended.

It stands in the sample's store in Inspect's log. The seed, the words that the models said and the players of ours at the other
seats give the game once more; `digest` tells whether it is the same one, move by move.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError, accept, check_from, check_one_of, in_short
from parlour.envs.registry import name_of
from parlour.wrappers.conversation import Conversation, table
from parlour.wrappers.text_actions import ON_BAD
from pydantic import TypeAdapter

STORED: Final = "parlour"
"""The key of a sample's store."""
FORMAT: Final = 1
_ON_BAD: Final = tuple(one for one in ON_BAD if one != "raise")


@dataclass(frozen=True)
class TaskTable:
    """How a table is set up.

    Raises:
        ParlourError: A setting is not accepted.
    """

    game: str
    options: Mapping[str, Any]
    """Of the game."""
    opponents: str = "heuristic"
    """Player of ours at the seats that no model takes."""
    on_bad: str = "ask_again"
    tries: int = 3
    list_options: bool = True
    """Whether messages list the options."""

    def __post_init__(self) -> None:
        check_one_of("on_bad", self.on_bad, _ON_BAD)
        check_from("tries", self.tries, 1)

    def seat(
        self,
        agents: Sequence[str] | None = None,
        transcript: Path | None = None,
        header: Mapping[str, Any] | None = None,
    ) -> Conversation:
        """The table, with models at these seats; None: at all. A transcript of the game is written where one is named."""
        env = table(
            self.game, on_bad=self.on_bad, tries=self.tries, transcript=transcript, header=header, **self.options
        )
        return Conversation(env, agents, self.opponents, list_options=self.list_options)


@dataclass(frozen=True)
class StoredGame:
    """A game from its seed, and its end."""

    table: TaskTable
    """Its options are all that the table has."""
    seed: int
    own: tuple[str, ...]
    """The seats of the model that is evaluated."""
    models: Mapping[str, str]
    """Agent -> name of the model that played it; the others are players of ours."""
    said: tuple[tuple[str, str], ...]
    """Who said what, of the seats that models played, in order."""
    left: bool
    """Whether the models were stopped (a limit, an error) and said nothing from there on."""
    returns: Mapping[str, float]
    """Of all seats."""
    winner: str
    reason: str
    faults: Mapping[str, Mapping[str, int]]
    """Of the seats that models played."""
    moves: int
    """Nature's included."""
    digest: str
    """SHA-256 of the moves."""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"format": FORMAT, **json.loads(json.dumps(asdict(self)))}

    @staticmethod
    def from_json(value: Any) -> StoredGame:
        """What `as_json` made. Raises `ParlourError` for anything else."""
        try:
            kept = dict(value)
            if kept.pop("format") != FORMAT:
                raise ValueError(f"format {value['format']!r}")
            return _READ.validate_python(kept)
        except (TypeError, ValueError, KeyError) as error:
            why = in_short(" ".join(str(error).split()))
            raise ParlourError(
                f"it holds no game of parlour ({why}); accepted: what a task of parlour stored"
            ) from None


_READ: Final = TypeAdapter(StoredGame)


def played(
    talk: Conversation,
    settings: TaskTable,
    seed: int,
    own: Sequence[str],
    models: Mapping[str, str],
    said: Sequence[tuple[str, str]],
    left: bool,
) -> StoredGame:
    """The game that has just ended at a table."""
    base = talk.game_env
    assert base.outcome is not None
    told = TaskTable(
        name_of(base.spec),
        base.game.config,
        settings.opponents,
        settings.on_bad,
        settings.tries,
        settings.list_options,
    )
    return StoredGame(
        told,
        seed,
        tuple(own),
        dict(models),
        tuple(said),
        left,
        {agent: float(base.outcome.returns[seat]) for agent, seat in base.seat_of.items()},
        base.outcome.winner,
        base.outcome.reason,
        talk.faults,
        len(base.moves),
        digest_of(base.moves),
    )


def digest_of(moves: Sequence[Any]) -> str:
    """SHA-256 of moves, words included."""
    plain = json.dumps([[move.kind, list(move.args), move.words] for move in moves], ensure_ascii=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def play_again(game: StoredGame, transcript: Path, header: Mapping[str, Any]) -> None:
    """Play a game again from its seed and what was said, and write its transcript.

    Raises:
        ParlourError: It does not come out as it was played: other rules, other players, other words.
    """
    talk = game.table.seat(list(game.models), transcript, header)
    try:
        talk.reset(seed=game.seed)
        for number, (agent, words) in enumerate(game.said, 1):
            if talk.agent != agent:
                due = "nobody, as the game is over" if talk.agent is None else talk.agent
                raise ParlourError(f"answer {number} is said by {agent}; accepted: the seat to speak, {due}")
            talk.say(words)
        if game.left:
            leave(talk)
        if not talk.done:
            raise ParlourError(f"the game goes on after the last answer, {len(game.said)}; accepted: all that was said")
        again = played(talk, game.table, game.seed, game.own, game.models, game.said, game.left)
    finally:
        talk.env.close()
    _check_same(game, again)


def leave(talk: Conversation) -> None:
    """The models say nothing any more: the game ends by the table's rules."""
    for agent in talk.agents:
        if not talk.done:
            talk.leave(agent)


def _check_same(told: StoredGame, again: StoredGame) -> None:
    for name in ("returns", "winner", "reason", "faults", "moves", "digest"):
        one, other = getattr(told, name), getattr(again, name)
        if one != other:
            raise accept(f"{name} of the game", one, f"what comes of its seed and its words, {other!r}")
