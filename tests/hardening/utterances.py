"""Hostile utterances: whatever is said, nothing changes at the table but the one line that quotes it.

Two games are compared that differ in one utterance: the hostile words, and harmless ones that the table takes in the same
meaning. Of every seat the prose, the features, the View but for the words, what it may do, and the question that a language
model is asked are the same then and for some moves to come. Words that cannot be used
change nothing for others, and are quoted to their speaker in one line.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from hardening.attack import Finding, Tried, uncaught
from hardening.games import table_of, tables
from hardening.hostile_words import own_words, utterance
from hardening.shrink import shrink_text
from parlour.envs.core import NATURE, OVER, Move, ParlourError
from parlour.envs.language.entries import TextAction
from parlour.envs.language.text import MAX_WORDS, clean, render
from parlour.envs.testing.spoof import assert_only_one_line_differs
from parlour.envs.testing.table import ConfiguredGame
from parlour.policies.agents.chat.player import turn_of
from parlour.policies.llm.ask import read_back
from parlour.wrappers import TextActions

HARMLESS = "Good evening."
SAID = 12
"""Utterances at one decision."""
TURNS = 4
"""Moves after the utterance that are compared, too."""


@dataclass(frozen=True)
class Decision:
    """A state of a table in which a seat is to move."""

    table: ConfiguredGame
    features: str
    """One of the game's kinds."""
    moves: tuple[Move, ...]

    @cached_property
    def game(self) -> Any:
        return self.table.game

    @cached_property
    def state(self) -> Any:
        state = self.game.initial()
        for move in self.moves:
            state = self.game.apply(state, move)
        return state

    @cached_property
    def view(self) -> Any:
        return self.game.view(self.state, self.game.actor(self.state))

    def wrong(self, words: str) -> tuple[str, str]:
        """What the words change that they may not, empty if nothing; and whether they were `said`, `refused` or `plain`."""
        try:
            move = self.table.text.parse(clean(words), self.view)
        except ParlourError as error:
            return _refusal(str(error), words) or self._after_refusal(words), "refused"
        if move._replace(words="") not in self.view.legal:
            return "read as a move that is not legal", "said"
        if not move.words:
            return "", "plain"
        if move.words != clean(move.words) or len(move.words) > MAX_WORDS:
            return "words that are not clean", "said"
        return self._two_games(move) or self._two_environments(words, move), "said"

    # -- the game itself ---------------------------------------------------------------------------------------

    def _two_games(self, move: Move) -> str:
        game = self.game
        said, plain = game.apply(self.state, move), game.apply(self.state, move._replace(words=HARMLESS))
        for _ in range(TURNS):
            if (game.actor(said), game.legal(said), game.outcome(said)) != (
                game.actor(plain),
                game.legal(plain),
                game.outcome(plain),
            ):
                return "whose turn it is, what is legal, or the end changes"
            for seat in range(game.seats):
                if two_views := self._two_views(game.view(said, seat), game.view(plain, seat), move):
                    return two_views
            said, plain = _next(game, said), _next(game, plain)
        return ""

    def _two_views(self, said: Any, plain: Any, move: Move) -> str:
        if repr(said).replace(repr(move.words), repr(HARMLESS)) != repr(plain) and wordless(said) != wordless(plain):
            return "a View changes beyond the words"
        return other_lines(render(self.table.text, said), render(self.table.text, plain), move.words)

    # -- its environment ---------------------------------------------------------------------------------------

    def _two_environments(self, words: str, move: Move) -> str:
        said, plain = self._env(), self._env()
        said.step(words)
        plain.step(TextAction(move._replace(words=HARMLESS), None))
        for _ in range(TURNS):
            if defect := _two_observations(said, plain, move) or _two_questions(said, plain, move):
                return defect
            for env in (said, plain):
                if env.unwrapped.outcome is None:
                    env.step(env.unwrapped.number(env.unwrapped.game.legal(env.unwrapped.state_now)[-1]))
        return ""

    def _after_refusal(self, words: str) -> str:
        """Others see nothing of words that cannot be used; the speaker sees them in lines of their own at the end."""
        before, env = self._before, self._env()
        env.step(words)
        if env.unwrapped.moves != before.unwrapped.moves:
            return "words that cannot be used make a move at once"
        speaker = env.agent_selection
        for agent in env.possible_agents:
            was, now = before.observe(agent)["text"], env.observe(agent)["text"]
            added = now.removeprefix(was) if now.startswith(was) else None
            if added is None or (agent != speaker and added):
                return "words that cannot be used change what is read"
            if agent == speaker and (added.count("\n") != 1 or len(added.splitlines()) != 1):
                return "words that cannot be used are not quoted in one line"
        return ""

    @cached_property
    def _before(self) -> TextActions:
        return self._env()

    def _env(self) -> TextActions:
        """The environment that has come to this decision."""
        env = TextActions(self.table.raw_env(observation="both", info="full", features=self.features))
        nature, made, state = [], [], self.game.initial()
        for move in self.moves:
            (nature if self.game.actor(state) == NATURE else made).append(move)
            state = self.game.apply(state, move)
        env.reset(seed=0, options={"nature": nature})
        for move in made:
            env.unwrapped.play(move)
        env._refresh()
        return env


def _two_observations(said: Any, plain: Any, move: Move) -> str:
    for agent in said.possible_agents:
        ours, theirs = said.observe(agent), plain.observe(agent)
        if ours["observation"].tobytes() != theirs["observation"].tobytes():
            return "features change"
        if not said.observation_space(agent).contains(ours):
            return "an observation is outside of its space"
        if defect := other_lines(ours["text"], theirs["text"], move.words):
            return defect
    ours, theirs = said.infos, plain.infos
    return "" if wordless(plain_values(ours)) == wordless(plain_values(theirs)) else "an info changes beyond the words"


def _two_questions(said: Any, plain: Any, move: Move) -> str:
    """The prompt of a plain language-model player at its turn: the same lines but for one, and read back as it was put."""
    if said.unwrapped.outcome is not None:
        return ""
    prompts = []
    for env in (said, plain):
        info = env.infos[env.agent_selection]
        ask = turn_of(env.observe(env.agent_selection)["text"], info)
        prompts.append(ask.prompt())
        if read_back(prompts[-1]) != ask:
            return "a prompt is not read back as it was put"
    ours, theirs = (prompt.split("\n") for prompt in prompts)
    changed = [k for k, (line, other) in enumerate(zip(ours, theirs, strict=False)) if line != other]
    if len(ours) != len(theirs) or len(changed) > 1 or any(len(our.splitlines()) > 1 for our in ours):
        return "a prompt changes beyond the quoted line"
    return ""


def other_lines(said: str, plain: str, words: str) -> str:
    """What changes in a prose beyond the line that quotes the words; empty if nothing does."""
    try:
        assert_only_one_line_differs(said, plain, words)
    except AssertionError as error:
        return f"the prose changes beyond the quoted line ({uncaught(error).what})"
    return ""


def _refusal(words: str, said: str) -> str:
    """What is wrong with the error that refuses words."""
    if len(words.splitlines()) > 1 or not words.isprintable():
        return "refused in several lines or with characters that do not print"
    return "refused at length" if len(words) > 2 * MAX_WORDS + 4000 else ""


def wordless(value: Any) -> Any:
    """A View, or what holds some, with the words of moves left out."""
    if isinstance(value, Move):
        return value._replace(words="")
    if isinstance(value, dict):
        return {key: wordless(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return tuple(wordless(part) for part in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: wordless(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return value


def plain_values(infos: Any) -> Any:
    """Infos with bytes in place of arrays."""
    return {
        agent: {key: value.tobytes() if isinstance(value, np.ndarray) else value for key, value in info.items()}
        for agent, info in infos.items()
    }


def _next(game: Any, state: Any) -> Any:
    """The state after the last legal move, or after a move of nature that is drawn by a fixed seed."""
    if game.actor(state) == OVER:
        return state
    if game.actor(state) == NATURE:
        return game.apply(state, game.nature(state, np.random.default_rng(0)))
    return game.apply(state, game.legal(state)[-1])


class Utterances:
    """Something hostile is said, or answered, at a decision of a random game."""

    name = "utterances"
    share = 2.0

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        return tables(outside)

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        decision = self._decision(table_of(subject), rng)
        own = own_words(decision.table.text, decision.game, decision.state, decision.view)
        counts: dict[str, int] = {}
        first: dict[str, str] = {}
        for _ in range(SAID):
            words = utterance(rng, own)
            defect, how = self._wrong(decision, words)
            counts[how] = counts.get(how, 0) + 1
            if defect:
                first.setdefault(defect, words)
        findings = [Finding(defect, self._shortest(decision, words, defect)) for defect, words in first.items()]
        return Tried(SAID, tuple(findings), counts)

    def _decision(self, table: ConfiguredGame, rng: np.random.Generator) -> Decision:
        """A decision of a random game; the kinds of decisions are equally likely, speech more so."""
        played, game = table.play(int(rng.integers(2**31)), words=0.0), table.game
        kinds: dict[str, list[int]] = {}
        for number, state in enumerate(played.states):
            if game.actor(state) >= 0:
                kinds.setdefault(game.legal(state)[-1].kind, []).append(number)
        spoken = [kind for kind in kinds if kind in table.worded] or list(kinds)
        among = spoken if rng.random() < 0.8 else list(kinds)
        numbers = kinds[among[int(rng.integers(len(among)))]]
        features = table.spec.features_at(table.game)
        kind = features[int(rng.integers(len(features)))]
        return Decision(table, kind, tuple(played.moves[: numbers[int(rng.integers(len(numbers)))]]))

    @staticmethod
    def _wrong(decision: Decision, words: str) -> tuple[str, str]:
        try:
            return decision.wrong(words)
        except Exception as error:  # whatever the table raises
            return uncaught(error).what, "raised"

    def _shortest(self, decision: Decision, words: str, defect: str) -> str:
        """The words with whatever they do not need left out, and the moves before them."""
        shortest = shrink_text(words[:20_000], lambda part: self._wrong(decision, part)[0] == defect, most=100)
        moves = [[move.kind, list(move.args)] for move in decision.moves]
        return json.dumps({"words": shortest, "features": decision.features, "moves": moves})


ATTACKS = (Utterances(),)
