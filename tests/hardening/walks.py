"""A game of random legal moves in any form, with all that the environment shows and the actions, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from parlour.envs.testing.forms import frozen
from parlour.envs.testing.table import UTTERANCES, ConfiguredGame

from tests.hardening.forms import AEC, GYM, PARALLEL, Form

FREE = 0.2
"""Share of the actions in words that are free words."""


class Walk:
    """One environment, and what it showed since its last reset."""

    def __init__(self, form: Form, table: ConfiguredGame, folder: Path) -> None:
        self.form, self.table, self.folder = form, table, Path(mkdtemp(dir=folder))
        self.env = form.make(table, self.folder)
        self.over, self.log, self.played = True, list[Any](), list[tuple[int, int]]()
        self.free, self.replaced = FREE, False
        """Whether an action was replaced by one that chance drew: then the game is not that of its own choices."""

    def start(self, seed: int) -> None:
        """A new game."""
        shown = self.env.reset(seed=seed)
        self.seed, self.now, self.over, self.replaced, self.played = seed, shown, False, False, []
        self.log = [frozen(shown)]
        self._after_step()

    def advance(self, seed: int, steps: int) -> None:
        """So many steps, by choices of this seed."""
        self.rng = np.random.default_rng(seed)
        self.played.append((seed, steps))
        for _ in range(steps):
            if not self.over:
                self.step()

    def step(self, instead: Mapping[str, Any] | None = None) -> None:
        """One step. `instead`: actions to take, where all step at once."""
        steps = {AEC: self._aec, PARALLEL: lambda: self._parallel(instead or {}), GYM: self._gym}
        self.log.append(frozen(steps[self.form.kind]()))
        self._after_step()

    def again(self) -> Walk:
        """The same choices in a new environment that nobody disturbs."""
        walk = Walk(self.form, self.table, self.folder.parent)
        walk.start(self.seed)
        for seed, steps in self.played:
            walk.advance(seed, steps)
        return walk

    def copied(self, copy: Callable[[Any], Any]) -> Walk:
        """A walk with a copy of the environment."""
        new: Walk = object.__new__(Walk)
        new.__dict__.update(self.__dict__, log=list(self.log), played=list(self.played))
        new.env, new.now = copy((self.env, self.now))
        return new

    def mask(self, agent: str | None = None) -> Any:
        """Which actions are open to who is to act, or to an agent where all step at once; None after the end."""
        if self.form.kind == GYM:
            return self.env.action_masks()
        if agent is not None:
            shown = mask_of(self.now[0][agent], self.now[-1][agent])
            return np.ones(self.env.unwrapped.wait) if shown is None else shown
        env, agent = self.env, self.env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            return None
        shown = mask_of(env.observe(agent), env.infos[agent])
        if shown is None and self.form.words:
            shown = env.unwrapped.infos[agent]["action_mask"]
        return np.ones(int(env.action_space(agent).n)) if shown is None else shown

    def decides(self, agent: str) -> bool:
        """Whether an agent has something to decide where all step at once."""
        shown = mask_of(self.now[0][agent], self.now[-1][agent])
        return "options" in self.now[-1][agent] if shown is None else not shown[-1]

    def _after_step(self) -> None:
        ended = self.form.kind == GYM and len(self.now) == 5 and (self.now[2] or self.now[3])
        self.over = not getattr(self.env, "agents", True) or ended
        if self.over:
            files = sorted(self.folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
            self.log += [path.read_text("utf-8") for path in files[-1:]]

    def _aec(self) -> Any:
        env, agent = self.env, self.env.agent_selection
        seen, reward, terminated, truncated, info = env.last()
        other = env.agents[int(self.rng.integers(len(env.agents)))]
        shown = agent, seen, reward, terminated, truncated, info, other, env.observe(other), dict(env.rewards)
        action = None if terminated or truncated else self._choose(agent, seen, info)
        env.step(action)
        return shown, action

    def _gym(self) -> Any:
        legal = np.flatnonzero(self.env.action_masks())
        action = int(legal[self.rng.integers(len(legal))])
        shown, self.now = self.now, self.env.step(action)
        return shown, action

    def _parallel(self, instead: Mapping[str, Any]) -> Any:
        seen, infos = self.now[0], self.now[-1]
        actions = {agent: self._choose(agent, seen[agent], infos[agent]) for agent in self.env.agents}
        shown, self.now = self.now, self.env.step(actions | dict(instead))
        return shown, actions

    def _choose(self, agent: str, seen: Any, info: Mapping[str, Any]) -> Any:
        if self.form.words:
            legal_words = tuple(info.get("options", ())) or UTTERANCES
            options = UTTERANCES if self.rng.random() < self.free else legal_words
            return options[int(self.rng.integers(len(options)))]
        mask = mask_of(seen, info)
        legal = range(int(self.env.action_space(agent).n)) if mask is None else np.flatnonzero(mask)
        return int(legal[int(self.rng.integers(len(legal)))])


def mask_of(seen: Any, info: Mapping[str, Any]) -> Any:
    """The mask among what an agent is shown; None if there is none."""
    return seen.get("action_mask", info.get("action_mask")) if isinstance(seen, dict) else info.get("action_mask")
