"""A game of random legal moves in any form, told as one line of text a step: all that the environment shows, and the actions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from hardening.forms import AEC, GYM, PARALLEL, Form
from parlour.envs.testing.table import UTTERANCES, ConfiguredGame
from parlour.wrappers.turns import Turn

FREE = 0.2
"""Share of the actions in words that are free words."""


class Walk:
    """One environment and the chance of who moves in it.

    Args:
        form, table: What is played.
        folder: For transcripts.
        most: Steps after which it ends, if the game does not.
    """

    def __init__(self, form: Form, table: ConfiguredGame, folder: Path, most: int = 200) -> None:
        self.form, self.table, self.most, self.free_words = form, table, most, FREE
        self.env, self._folder = form.make(table, folder), folder
        self.over = True

    def start(self, seed: int) -> str:
        """A new game; returns what it shows."""
        self.chance, self.steps, self.over = np.random.default_rng((seed, 1)), 0, False
        shown = self.env.reset(seed=seed)
        self._now: Any = None if self.form.kind == AEC else shown
        self._after_step()
        return shown_as_text(shown)

    def step(self, instead: Mapping[str, Any] | None = None) -> str:
        """One step; returns what was shown before it, and what was done. `instead`: actions to take (where all step at once)."""
        self.steps += 1
        if self.form.kind == PARALLEL:
            done = self._parallel(instead or {})
        else:
            done = self._aec() if self.form.kind == AEC else self._gym()
        self._after_step()
        return shown_as_text((done, self._recorded() if self.over else ""))

    def play(self) -> list[str]:
        """Step until the end."""
        steps = []
        while not self.over:
            steps.append(self.step())
        return steps

    def copied(self, copy: Callable[[Any], Any]) -> Walk:
        """A walk with copies of the environment, of the chance and of what was shown last."""
        new = object.__new__(Walk)
        new.__dict__.update(self.__dict__)
        new.env, new.chance, new._now = copy((self.env, self.chance, self._now))
        return new

    def mask_at(self, agent: str) -> Any:
        """Which actions are open to an agent where all step at once; of words, of as many as there are moves."""
        shown = mask_of(self._now[0][agent], self._now[-1][agent])
        return np.ones(self.env.unwrapped.wait) if shown is None else shown

    def decides(self, agent: str) -> bool:
        """Whether an agent has something to decide where all step at once."""
        shown = mask_of(self._now[0][agent], self._now[-1][agent])
        return "options" in self._now[-1][agent] if shown is None else not shown[-1]

    def mask(self) -> Any:
        """Which actions are open to the agent that is to act (AEC, Gymnasium): ones and zeros; None after the end."""
        if self.form.kind == GYM:
            return self.env.action_masks()
        env, agent = self.env, self.env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            return None
        shown = mask_of(env.observe(agent), env.infos[agent])
        if shown is None and self.form.words:
            shown = env.unwrapped.infos[agent]["action_mask"]
        return np.ones(int(env.action_space(agent).n)) if shown is None else shown

    # -- inside ------------------------------------------------------------------------------------------------

    def _recorded(self) -> str:
        """The transcript of this game, if one is written."""
        files = sorted(self._folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
        return files[-1].read_text("utf-8") if files else ""

    def _after_step(self) -> None:
        agents = getattr(self.env, "agents", True)
        ended = self.form.kind == GYM and len(self._now) == 5 and (self._now[2] or self._now[3])
        self.over = not agents or ended or self.steps >= self.most

    def _aec(self) -> Any:
        env = self.env
        agent = env.agent_selection
        seen, reward, terminated, truncated, info = env.last()
        other = env.agents[int(self.chance.integers(len(env.agents)))]
        shown = agent, seen, reward, terminated, truncated, info, other, env.observe(other), dict(env.rewards)
        action = None if terminated or truncated else self._choose(agent, seen, info)
        env.step(action)
        return shown, action

    def _gym(self) -> Any:
        legal = np.flatnonzero(self.env.action_masks())
        action = int(legal[self.chance.integers(len(legal))])
        shown, self._now = self._now, self.env.step(action)
        return shown, action

    def _parallel(self, instead: Mapping[str, Any]) -> Any:
        seen, infos = self._now[0], self._now[-1]
        actions = {agent: self._choose(agent, seen[agent], infos[agent]) for agent in self.env.agents}
        shown, self._now = self._now, self.env.step(actions | dict(instead))
        return shown, actions

    def _choose(self, agent: str, seen: Any, info: Mapping[str, Any]) -> Any:
        if self.form.words:
            return self._say(info)
        mask = mask_of(seen, info)
        legal = range(int(self.env.action_space(agent).n)) if mask is None else np.flatnonzero(mask)
        return int(legal[int(self.chance.integers(len(legal)))])

    def _say(self, info: Mapping[str, Any]) -> str:
        options = info.get("options") or ("",)
        if self.chance.random() < self.free_words:
            return UTTERANCES[int(self.chance.integers(len(UTTERANCES)))]
        return str(options[int(self.chance.integers(len(options)))])


def mask_of(seen: Any, info: Mapping[str, Any]) -> Any:
    """The mask among what an agent is shown; None if there is none."""
    return seen.get("action_mask", info.get("action_mask")) if isinstance(seen, dict) else info.get("action_mask")


_NOT_PLAIN = ("{", "array(", " at 0x", "set(")
"""What stands in the `repr` of a record whose `repr` does not tell all, or not in the same order in every process."""


def shown_as_text(value: Any) -> str:
    """Plain values, arrays and records as a text that is equal if and only if they are, in every process."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tobytes()!r}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{shown_as_text(key)}: {shown_as_text(value[key])}' for key in value)}}}"
    if isinstance(value, Turn):
        return f"Turn{shown_as_text((value.seed, value.seat, value._sealed))}"  # not which of the environment's games
    if type(value) in (str, int, float, bool, type(None)):
        return repr(value)
    if hasattr(type(value), "_fields") and not any(mark in (text := repr(value)) for mark in _NOT_PLAIN):
        return text
    if isinstance(value, set | frozenset):
        return f"set{sorted(map(shown_as_text, value))}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(shown_as_text, value))})"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return type(value).__name__ + shown_as_text(fields)
    return repr(value)


def difference(first: list[str], other: list[str]) -> str:
    """Where two walks differ first, and the first words that do; empty if they do not."""
    for number, (ours, theirs) in enumerate(zip(first, other, strict=False)):
        if ours != theirs:
            at = next(
                (k for k, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs))
            )
            return f"step {number}: {ours[max(0, at - 60) : at + 60]!r} and {theirs[max(0, at - 60) : at + 60]!r}"
    return "" if len(first) == len(other) else f"{len(first)} and {len(other)} steps"
