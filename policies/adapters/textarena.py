"""TextArena: our policies as its agents, and our games as its environments. Its agents at our tables need no adapter.

TextArena (0.7.4) hands a player one string and takes one string back. Its environments list what may be done now in the
last words of a message, as in "Valid targets: [0], [1]", where they list it at all; they have no action mask. They draw
from the global `random` module, and seed it for the whole process: `PrivateChance` gives an environment its own.
"""

from __future__ import annotations

import random  # noqa: TID251 - what TextArena draws from; its state is put back after each call
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, Final

import textarena as ta
from parlour.envs.core import ParlourError, accept
from parlour.policies.base import Policy
from parlour.policies.by_text import SILENCE, in_words, options_in, require_text

FAULTS: Final = ("unreadable", "ambiguous", "illegal")
_INVALID: Final = "attempted an invalid move"
_LOCK: Final = RLock()


# -- ours at their tables --------------------------------------------------------------------------------------


class TextArenaAgent(ta.Agent):
    """One of parlour's policies as a TextArena agent: a string in, a string out.

    Args:
        policy: A policy that needs only words: `random`, or a policy with `wants = "text"` such as `ChatPlayer`.
        seat: Its number at the table.
        seed: Seed of its random choices.
        options: Reads the options out of an observation; where it finds none, the policy may say nothing.

    Raises:
        ParlourError: The policy needs more than words.
    """

    def __init__(
        self,
        policy: Policy,
        seat: int = 0,
        seed: int = 0,
        options: Callable[[str], Sequence[str]] = options_in,
    ) -> None:
        super().__init__()
        require_text(policy, policy.name)
        self.policy, self._options = policy, options
        self.reset(seat, seed)

    def reset(self, seat: int, seed: int) -> None:
        """A new game begins."""
        self.policy.reset(seat, seed)

    def __call__(self, observation: str) -> str:
        """The policy's words; where it chooses an option, those of the option."""
        return in_words(self.policy, observation, self._options(observation) or (SILENCE,))


# -- their tables ----------------------------------------------------------------------------------------------


class PrivateChance(ta.Wrapper):
    """An environment of TextArena that draws from a stream of its own: the process's `random` stays as it was.

    Environments in several threads do not disturb each other; what an agent draws is not touched.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._stream = random.Random(0).getstate()

    def reset(self, num_players: int, seed: int | None = None) -> Any:
        with self._own_chance():
            return self.env.reset(num_players=num_players, seed=seed)

    def step(self, action: str) -> Any:
        with self._own_chance():
            return self.env.step(action=action)

    def get_observation(self) -> Any:
        with self._own_chance():
            return self.env.get_observation()

    @contextmanager
    def _own_chance(self) -> Iterator[None]:
        with _LOCK:
            outside = random.getstate()
            random.setstate(self._stream)
            try:
                yield
            finally:
                self._stream = random.getstate()
                random.setstate(outside)


@dataclass(frozen=True)
class TextArenaGame:
    """A game that was played through TextArena's interface."""

    seed: int
    rewards: tuple[float, ...]
    """For each player."""
    turns: int
    invalid: tuple[int, ...]
    """For each player, how many of its words the game could not use."""
    reason: str
    """Why it ended, in the game's words."""


def play_textarena(env: Any, agents: Sequence[Callable[[str], str]], seed: int) -> TextArenaGame:
    """Play one game.

    Args:
        env: A new one, by `textarena.make`: used again, TextArena's observations still hold the game before. It draws
            from a stream of its own, see `PrivateChance`. A `TextArenaTable` works, too.
        agents: An agent for each player: TextArena's or ours.
        seed: Seed of the game.
    """
    env = env if isinstance(env, TextArenaTable) else PrivateChance(env)
    env.reset(num_players=len(agents), seed=seed)
    invalid = [0] * len(agents)
    turns, done = 0, False
    while not done:
        player, observation = env.get_observation()
        seen = len(env.state.logs)
        done, _ = env.step(agents[player](observation))
        turns += 1
        invalid[player] += any(who == ta.GAME_ID and _INVALID in words for who, words in env.state.logs[seen:])
    rewards, info = env.close()
    if isinstance(env, PrivateChance):  # TextArena does not announce the attempt that ends a player's game
        invalid = [count + bool(info[player]["invalid_move"]) for player, count in enumerate(invalid)]
    reason = next((str(end["reason"]) for end in info.values() if end.get("reason")), "")
    return TextArenaGame(seed, tuple(float(rewards[k]) for k in range(len(agents))), turns, tuple(invalid), reason)


# -- our tables as theirs --------------------------------------------------------------------------------------


class TextArenaTable(ta.Env):
    """One of parlour's games with TextArena's interface; observations are whole strings, as after its own wrappers.

    Args:
        env: An AEC environment of parlour with words as actions: `make("avalon_v0", action="text", ...)`.

    Raises:
        ParlourError: The environment takes numbers.
    """

    def __init__(self, env: Any) -> None:
        if not hasattr(env, "on_bad"):
            raise ParlourError("a table of numbers is not accepted; accepted: an environment made with action='text'")
        self.env = env
        self.agents: list[str] = list(env.unwrapped.possible_agents)
        self.state = _Log()

    def reset(self, num_players: int | None = None, seed: int | None = None) -> None:
        """Deal. Raises `ParlourError` if the table is for another number of players."""
        if num_players not in (None, len(self.agents)):
            raise accept("num_players", num_players, f"{len(self.agents)}, as the table was made")
        self.state = _Log()
        self.env.reset(seed=seed)

    def get_observation(self) -> tuple[int, str]:
        """Who is to move, and the whole text of that seat."""
        agent = self.env.agent_selection
        return self.agents.index(agent), self.env.observe(agent)["text"]

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Let the player speak. Whether the game is over, and the counts of this player's unusable replies."""
        agent = self.env.agent_selection
        seat = self.agents.index(agent)
        before = self._faults(agent)
        self.env.step(action)
        self.state.logs.append((seat, action))
        if self._faults(agent) > before:
            self.state.logs.append((ta.GAME_ID, f"Player {seat} {_INVALID}."))
        return self.env.unwrapped.outcome is not None, dict(self.env.infos[agent])

    def close(self) -> tuple[dict[int, float], dict[int, dict[str, Any]]]:
        """Rewards by player, and of each its role, turns, whether a move was made in its place, and the reason."""
        base, spoken = self.env.unwrapped, Counter(seat for seat, _ in self.state.logs)
        outcome = base.outcome
        returns = (0.0,) * len(self.agents) if outcome is None else outcome.returns
        info = {
            seat: {
                "role": getattr(base.view(seat), "role", "") or f"Player {seat}",
                "invalid_move": self.env.infos[agent]["replaced"] > 0,
                "turn_count": spoken[seat],
                "reason": base.ended(),
            }
            for seat, agent in enumerate(self.agents)
        }
        return dict(enumerate(returns)), info

    def _faults(self, agent: str) -> int:
        return sum(self.env.infos[agent][fault] for fault in FAULTS)


@dataclass
class _Log:
    """What TextArena's environments keep as `state`, as far as its users read it."""

    logs: list[tuple[int, str]] = field(default_factory=list)
    """Who spoke, `textarena.GAME_ID` for the game, and the words."""
