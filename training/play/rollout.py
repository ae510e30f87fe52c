"""The one loop that everybody uses: play a game with a policy at every seat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, Final

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.adapters.turn import Player, end_turn
from parlour.envs.core import Outcome, ParlourError
from parlour.envs.language.english import name
from parlour.envs.registry import lookup
from parlour.policies.llm.decisions import Decisions
from parlour.training.play.decisions import HeardGame
from parlour.training.play.failures import ENDS_THE_RUN, RULE, Failures, NotAnswered
from parlour.training.play.moments import Moments
from parlour.wrappers.base import inner_game
from parlour.wrappers.text_actions import TextActions
from pettingzoo.utils.env import AECEnv


@dataclass(frozen=True)
class Episode:
    """A game that was played."""

    seed: int
    outcome: Outcome
    moves: int
    """How many moves it had, nature's included."""
    faults: Mapping[str, Mapping[str, int]]
    """Agent -> how many of its words were unreadable, ambiguous, illegal, and how many moves were replaced."""
    last_views: tuple[Any, ...]
    """Each seat's View at the end; tells its role."""
    decisions: tuple[Decisions, ...] = ()
    """Decisions of each seat: who made them, and their cost."""

    @property
    def returns(self) -> tuple[float, ...]:
        """Return per seat."""
        return self.outcome.returns


def table(game: str, *, on_bad: str = "ask_again", **options: Any) -> TextActions:
    """An environment that `play` accepts: takes numbers and words, and tells policies all they may know."""
    env = lookup(game).raw_env(info="full", **options)
    return TextActions(env, on_bad=on_bad, mask=True)


@dataclass(frozen=True)
class Unfinished:
    """A game that was given up because a player failed."""

    seed: int
    why: str
    moves: int
    """How many moves it had until then, nature's included."""
    decisions: tuple[Decisions, ...]
    """As of an Episode."""


class GameUnfinished(ParlourError):  # noqa: N818 - named for what happened
    """A player failed, and the game is given up."""

    def __init__(self, game: Unfinished) -> None:
        super().__init__(game.why)
        self.game = game

    def __reduce__(self) -> Any:
        return type(self), (self.game,)


class Stopped(Exception):  # noqa: N818 - nothing went wrong in this game
    """A game was given up because somebody asked for it."""


def play(
    env: AECEnv[str, Any, Any],
    policies: Sequence[Player] | Mapping[str, Player],
    seed: int,
    stop: Event | None = None,
    failures: Failures = RULE,
) -> Episode:
    """Play one game. `parlour.training.play.parallel.concurrent_games` plays many.

    Args:
        env: What `table` makes, possibly in a Recorder: one of parlour's environments with `info="full"`.
        policies: One for each seat, in order, or by agent's name. No policy may sit at two seats.
        seed: Seed of the deal and of all policies: the same seed gives the same game, byte for byte.
        stop: Looked at before each turn; once it is set, the game is given up.
        failures: What follows when a player fails.

    Raises:
        ParlourError: The policies do not fit the seats, or the environment is none of those.
        Stopped: `stop` was set.
        GameUnfinished: A player failed, and no heuristic may answer for it.
        Exception: What a player raises, unless that game is skipped.
    """
    base = inner_game(env, "play", full=True)
    players = _seated(base, policies)
    env.reset(seed=seed)
    game = HeardGame(env, players)
    try:
        for seat, player in enumerate(players):
            player.reset(seat, seed)
        moments = Moments(env, players)
        while base.outcome is None:
            if stop is not None and stop.is_set():
                raise Stopped
            _turn(env, base, players[base.seat], moments, game, failures)
    except ENDS_THE_RUN:
        raise
    except Exception as error:
        if isinstance(error, Stopped) or not (failures.skips or isinstance(error, NotAnswered)):
            raise
        raise _unfinished(base, seed, error, game) from error
    finally:
        decisions = game.leave()
    faults = {agent: {k: info[k] for k in COUNTED if k in info} for agent, info in env.infos.items()}
    views = tuple(base.view(seat) for seat in range(base.game.seats))
    return Episode(seed, base.outcome, len(base.moves), faults, views, decisions)


def _turn(
    env: AECEnv[str, Any, Any], base: GameEnv, player: Player, moments: Moments, game: HeardGame, failures: Failures
) -> None:
    """One turn, heard and timed."""
    seat = base.seat

    def hear(notes: Mapping[str, Any]) -> None:
        game.note(notes)
        failures.check(name(seat), notes)

    game.turn(env.infos[base.agent_selection])
    try:
        action = moments.action()
    finally:
        game.waited(seat, moments.seconds)
    end_turn(env, player, action, hear)


def _unfinished(base: GameEnv, seed: int, error: Exception, game: HeardGame) -> GameUnfinished:
    """The game as far as it went; its transcript's last line is told what it needs."""
    who, why = name(base.seat), " ".join(str(error).split())
    reason = why if isinstance(error, NotAnswered) else f"{who}: {type(error).__name__}: {why}"
    game.sum_up(seat=who)
    return GameUnfinished(Unfinished(seed, reason, len(base.moves), game.decisions()))


COUNTED: Final = ("unreadable", "ambiguous", "illegal", "replaced")
"""What an Episode counts as faults."""


def _seated(base: GameEnv, policies: Sequence[Player] | Mapping[str, Player]) -> list[Player]:
    agents = base.possible_agents
    if isinstance(policies, Mapping):
        if set(policies) != set(agents):
            raise ParlourError(f"policies for {', '.join(policies)}; accepted: one for each of {', '.join(agents)}")
        policies = [policies[agent] for agent in agents]
    if len(policies) != len(agents):
        raise ParlourError(f"{len(policies)} policies; accepted: one for each of {len(agents)} seats")
    if len({id(policy) for policy in policies}) != len(policies):
        raise ParlourError("one policy sits at two seats; accepted: a policy of its own for each seat")
    return list(policies)
