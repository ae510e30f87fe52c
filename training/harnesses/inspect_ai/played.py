"""A game that models played in words: all that is needed to play it again, and how it ended.

It is in the sample's store in Inspect's log. The seed, the words that the models said and our players at the other
seats reproduce the game; `digest` shows whether it is the same, move by move.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import Outcome, ParlourError, accept, check_from, listed
from parlour.envs.language.text import end_of
from parlour.envs.registry import build, lookup
from parlour.envs.settings import OneOf, Settings
from parlour.envs.spec import GameSpec
from parlour.training.play import seeds
from parlour.training.play.outside import OutsideSeats, OutsideTable
from parlour.wrappers.text_actions import ON_BAD

STORED: Final = "parlour"
"""The key of a sample's store."""


class ModelTable(OutsideTable):
    """A table of models: a game must continue whatever they say, so their words are never an error."""

    opponents: str = "heuristic"
    on_bad: Annotated[str, OneOf(tuple(name for name in ON_BAD if name != "raise"))] = "ask_again"


class StoredGame(Settings):
    """A game from its seed, and its end."""

    format: Literal[1]
    """Version of the form."""
    table: ModelTable
    """Its options are all that the table has."""
    seed: int
    """Seed of the deal."""
    own: tuple[str, ...]
    """The seats of the model that is evaluated."""
    models: Mapping[str, str]
    """Agent -> name of the model that played it; the others are our players."""
    said: tuple[tuple[str, str], ...]
    """Who said what, of the seats that models played, in order."""
    left: bool
    """Whether the models were stopped (a limit, an error) and said nothing from there on."""
    returns: Mapping[str, float]
    """Returns of all seats."""
    winner: str
    """The side that won."""
    reason: str
    """Why the game ended."""
    faults: Mapping[str, Mapping[str, int]]
    """Faults of the seats that models played."""
    moves: int
    """Nature's included."""
    digest: str
    """SHA-256 of the moves."""

    @property
    def ended(self) -> str:
        """How it ended, in one sentence."""
        spec = lookup(self.table.game).spec
        text = spec.text(build(spec, self.table.options))
        return end_of(text, Outcome(tuple(self.returns.values()), self.winner, self.reason))


def played(talk: OutsideSeats, own: Sequence[str], models: Mapping[str, str]) -> StoredGame:
    """The game that has just ended at a table.

    Args:
        talk: The table.
        own: The seats of the model that is evaluated.
        models: Agent -> name of the model that played it.
    """
    base = talk.game_env
    assert base.outcome is not None
    table = dict(talk.settings) | {"game": base.game_name, "options": base.game.config}
    return StoredGame(
        format=1,
        table=ModelTable(**table),
        seed=talk.seed,
        own=tuple(own),
        models=models,
        said=tuple(talk.said),
        left=bool(talk.left),
        returns={agent: float(base.outcome.returns[seat]) for agent, seat in base.seat_of.items()},
        winner=base.outcome.winner,
        reason=base.outcome.reason,
        faults=talk.faults,
        moves=len(base.moves),
        digest=digest_of(base.moves),
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
    talk = OutsideSeats(game.table, list(game.models), transcript, header)
    try:
        talk.deal(game.seed)
        for number, (agent, words) in enumerate(game.said, 1):
            if talk.agent != agent:
                due = "nobody, as the game is over" if talk.agent is None else talk.agent
                raise ParlourError(f"answer {number} is said by {agent}; accepted: the seat to speak, {due}")
            talk.say(words)
        if game.left:
            talk.leave_all()
        if not talk.done:
            raise ParlourError(
                f"the game continues after the last answer, {len(game.said)}; accepted: all that was said"
            )
        again = played(talk, game.own, game.models).replace(left=game.left)
    finally:
        talk.close()
    _check_same(game, again)


def _check_same(game: StoredGame, again: StoredGame) -> None:
    for name in ("returns", "winner", "reason", "faults", "moves", "digest"):
        value, other = getattr(game, name), getattr(again, name)
        if value != other:
            raise accept(f"{name} of the game", value, f"the result of its seed and its words, {other!r}")


ONE: Final = "one"
EACH: Final = "each"
ALL: Final = "all"
MIXED: Final = "mixed"
"""The side of seats that are on several sides."""


@dataclass(frozen=True)
class TaskGame:
    """One game: its deal, and who the model is in it."""

    seed: int
    agents: tuple[str, ...]
    """The seats that the model takes."""
    side: str
    """Theirs; `"mixed"` where they are on several, empty in a game without sides."""
    role: str
    """Theirs, by seat, separated by commas; empty in a game without roles."""
    name: str
    """Tells the game from the others of its task."""


def seeds_of(deals: int | Sequence[int], first: int) -> list[int]:
    """The seeds: so many of `parlour.training.play.seeds.HELD_OUT`, counted from `first`; or those that are given.

    Raises:
        ParlourError: There are none, or one of them is no seed.
    """
    if isinstance(deals, int):
        check_from("deals", deals, 1)
        check_from("seed", first, 0)
        return list(seeds.HELD_OUT[first : first + deals])
    given = list(deals)
    for seed in given:
        check_from("seed", seed, 0)
    if not given or len(set(given)) < len(given):
        raise ParlourError(f"deals {listed(given)} are not accepted; accepted: a number, or seeds, each once")
    return given


def seatings(
    base: GameEnv, dealt: Sequence[int], seats: str | Sequence[str] = ONE, sides: str | Sequence[str] | None = None
) -> list[TaskGame]:
    """The games of a task.

    Args:
        base: The table; each seed is dealt at it.
        dealt: The seeds.
        seats: `"one"`: one seat in each deal, the k-th deal's is seat k modulo the number of seats, or the first after it on
            the side; `"each"`: every seat in a game of its own; `"all"`: all seats together in one game; or the names of
            seats, which the model takes together.
        sides: Only seats of these sides, each side in a game of its own; None: sides do not matter.

    Raises:
        ParlourError: There is no such seat or side.
    """
    wanted = _sides(base.spec, sides)
    named = _named(base, seats)
    if named and wanted:
        raise ParlourError("seats by name are not accepted with sides; accepted: either, or seats one, each, all")
    games = []
    for number, seed in enumerate(dealt):
        base.reset(seed=seed)
        views: list[Any] = [base.view(seat) for seat in range(base.game.seats)]
        groups = [("+".join(named), named)] if named else list(_groups(base, views, str(seats), wanted, number))
        games += [_seating(base, views, seed, name, agents) for name, agents in groups]
    return games


def _sides(spec: GameSpec, sides: str | Sequence[str] | None) -> list[str]:
    wanted = [] if sides is None else [sides] if isinstance(sides, str) else list(sides)
    for side in wanted:
        if side not in spec.sides:
            raise accept(f"side of {spec.id}", side, spec.sides or "none, as the game has no sides")
    return wanted


def _named(base: GameEnv, seats: str | Sequence[str]) -> tuple[str, ...]:
    """The seats that are given by name; empty for a rule."""
    given = [seats] if isinstance(seats, str) else list(seats)
    if given in ([ONE], [EACH], [ALL]):
        return ()
    for agent in given:
        if agent not in base.seat_of:
            raise accept("seats", agent, (ONE, EACH, ALL, *base.possible_agents))
    return tuple(agent for agent in base.possible_agents if agent in given)


def _groups(
    base: GameEnv, views: Sequence[Any], rule: str, wanted: Sequence[str], number: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Of one deal: what each game is called, and the seats that the model takes in it."""
    agents = base.possible_agents
    first = number % len(agents)
    for side in wanted or (None,):
        mine = [agent for agent in agents if side is None or views[base.seat_of[agent]].side == side]
        if rule == ALL:
            yield side or ALL, tuple(mine)
        elif rule == EACH:
            yield from ((agent, (agent,)) for agent in mine)
        else:
            taken = next(agent for agent in (*agents[first:], *agents) if agent in mine)
            yield taken, (taken,)


def _seating(base: GameEnv, views: Sequence[Any], seed: int, name: str, agents: tuple[str, ...]) -> TaskGame:
    own = [views[base.seat_of[agent]] for agent in agents]
    sides = {view.side for view in own} if base.spec.sides else {""}
    roles = [view.role for view in own if hasattr(view, "role")]
    return TaskGame(seed, agents, sides.pop() if len(sides) == 1 else MIXED, ", ".join(roles), f"{seed}-{name}")
