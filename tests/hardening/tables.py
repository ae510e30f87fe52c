"""Attacks on tables, in every form in which they can be played: whatever is done to an environment, its game stays what it is.

Sources: the contracts of `parlour.envs.core`, PettingZoo and Gymnasium. Each attempt walks through a game of
random legal moves, disturbs it, and compares it, step by step, with one that was not disturbed.
"""

from __future__ import annotations

import copy
import json
import pickle
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hardening.attack import Finding, Tried, uncaught
from hardening.elsewhere import digest, elsewhere
from hardening.forms import PARALLEL, Form, forms_of
from hardening.games import table_of, tables
from hardening.junk import junk, name_of
from hardening.parallel import differs_from_aec
from hardening.walks import Walk, difference
from parlour.envs.core import ParlourError
from parlour.envs.testing.table import ConfiguredGame

LONGEST = 4000
"""Characters of a refusal."""
LONGEST_WALK = 200
"""Steps of a walk, at most."""
HASHES = ("1", "4242")
"""PYTHONHASHSEED of other processes."""
REPLACES = ("learners", "seat features random", "seat text random")
"""Forms in which a number that is not legal is replaced by one that is; other junk is refused."""


@dataclass(frozen=True)
class Drawn:
    """What an attempt drew: with the subject, all that it depends on."""

    form: str
    seed: int
    other: int
    """Another seed."""
    step: int
    """When the game is disturbed."""
    steps: int
    """How long it is played at most."""


@dataclass(frozen=True)
class Scene:
    """A table, the form in which it is played, and what else was drawn."""

    subject: str
    table: ConfiguredGame
    form: Form
    drawn: Drawn
    folder: Path
    open_files: ExitStack

    def walk(self) -> Walk:
        """An environment of its own."""
        walk = Walk(self.form, self.table, Path(tempfile.mkdtemp(dir=self.folder)), self.drawn.steps)
        self.open_files.callback(walk.env.close)
        return walk

    def alone(self, seed: int) -> list[str]:
        """The game that nobody disturbs."""
        walk = self.walk()
        return [walk.start(seed), *walk.play()]


def resets(scene: Scene) -> str:
    """A game that begins anew, by `reset` in the middle of another, is that of a new environment."""
    walk, drawn = scene.walk(), scene.drawn
    walk.start(drawn.other)
    for _ in range(drawn.step):
        if not walk.over:
            walk.step()
    defect = difference([walk.start(drawn.seed), *walk.play()], scene.alone(drawn.seed))
    return f"another game after a reset: {defect}" if defect else ""


def interleaved(scene: Scene) -> str:
    """Two games of one table that are played by turns are those that are played alone."""
    walks, chance = [scene.walk(), scene.walk()], np.random.default_rng(scene.drawn.step)
    seeds = scene.drawn.seed, scene.drawn.other
    logs = [[walk.start(seed)] for walk, seed in zip(walks, seeds, strict=True)]
    while not all(walk.over for walk in walks):
        for walk, log in zip(walks, logs, strict=True):
            if not walk.over and chance.random() < 0.5:
                log.append(walk.step())
    defect = next(filter(None, map(difference, logs, map(scene.alone, seeds))), "")
    return f"a game disturbs another: {defect}" if defect else ""


def copies(scene: Scene) -> str:
    """A copy made in the middle goes on as the original does, by `pickle` as by `deepcopy`, and neither disturbs the other."""
    walk = scene.walk()
    walk.start(scene.drawn.seed)
    for _ in range(scene.drawn.step):
        if not walk.over:
            walk.step()
    pickled, copied = walk.copied(lambda value: pickle.loads(pickle.dumps(value))), walk.copied(copy.deepcopy)
    rest, ends = [], [list[str](), list[str]()]
    while not walk.over:
        rest.append(walk.step())
        for twin, end in zip((pickled, copied), ends, strict=True):
            if not twin.over:
                end.append(twin.step())
    for name, end in zip(("pickle", "deepcopy"), ends, strict=True):
        if defect := difference(rest, end):
            return f"a copy by {name} goes on otherwise: {defect}"
    return ""


def hashes(scene: Scene) -> str:
    """A process with other hashes plays the same game."""
    here = digest(scene.walk(), scene.drawn.seed)
    for hash_seed in HASHES:
        there = elsewhere(hash_seed, scene.subject, scene.form.name, scene.drawn.seed, scene.drawn.steps)
        if there != here:
            return f"another game with other hashes: PYTHONHASHSEED={hash_seed} {there!r}, here {here!r}"
    return ""


def illegal(scene: Scene) -> str:
    """What is no action is refused in one line and changes nothing."""
    walk, chance = scene.walk(), np.random.default_rng(scene.drawn.other)
    steps = [walk.start(scene.drawn.seed)]
    while not walk.over:
        mask = walk.mask()
        if mask is not None and chance.random() < 0.3:
            value = junk(chance, mask, words=scene.form.words, masked=scene.form.name not in REPLACES)
            if defect := _not_refused(walk, value):
                return f"{defect}: action {name_of(value)}"
        steps.append(walk.step())
    defect = difference(steps, scene.alone(scene.drawn.seed))
    return f"what was refused has changed the game: {defect}" if defect else ""


def _not_refused(walk: Walk, value: Any) -> str:
    """What is wrong with how an action is refused; empty if nothing is."""
    try:
        walk.env.step(value)
    except ParlourError as error:
        words = str(error)
        many = "\n" in words or len(words) > LONGEST
        return "refused in many lines or characters" if many else ""
    except Exception as error:  # whatever is not refused
        return ": ".join(astuple(uncaught(error)))
    return "not refused"


def replaced(scene: Scene) -> str:
    """Where all step at once, what is no action is replaced by a legal one and counted for its seat, and nobody else's."""
    walk, chance = scene.walk(), np.random.default_rng(scene.drawn.other)
    walk.free_words = 0.0
    walk.start(scene.drawn.seed)
    while not walk.over:
        agents = [agent for agent in walk.env.agents if chance.random() < 0.2]
        bad = {agent: junk(chance, walk.mask_at(agent), words=scene.form.words) for agent in agents}
        expected = dict(walk.env.unwrapped.replaced)
        for agent in bad:
            expected[agent] += walk.decides(agent)
        try:
            walk.step(bad)
        except Exception as error:  # whatever is not replaced
            return f"{uncaught(error).what}: actions {', '.join(map(name_of, bad.values()))}"
        if walk.env.unwrapped.replaced != expected:
            return f"not counted: actions { {agent: name_of(value) for agent, value in bad.items()} }"
    return ""


@dataclass(frozen=True)
class TableAttack:
    """One of these, at all tables; a form and seeds are drawn, and told with a finding."""

    name: str
    attack: Callable[[Scene], str]
    """Says what went wrong, and after a colon what it shows; empty if nothing did."""
    takes: Callable[[Form], bool] = lambda form: True
    """Which forms it attacks."""
    share: float = 1.0

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        return tables(outside)

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        table = table_of(subject)
        forms = [form for form in forms_of(table) if self.takes(form)]
        form = forms[int(rng.integers(len(forms)))]
        drawn = Drawn(form.name, *(int(rng.integers(most)) for most in (2**31, 2**31, 30, LONGEST_WALK)))
        try:
            form.make(table, folder)
        except ParlourError:
            return Tried(0, counts={"no such form": 1})
        with ExitStack() as open_files:
            what, _, where = self.attack(Scene(subject, table, form, drawn, folder, open_files)).partition(": ")
        shortest = json.dumps({**asdict(drawn), "found": where}, ensure_ascii=False)
        return Tried(1, (Finding(what, shortest),) if what else ())


ATTACKS = (
    TableAttack("resets", resets),
    TableAttack("interleaved", interleaved),
    TableAttack("copies", copies, lambda form: form.copies),
    TableAttack("hashes", hashes, lambda form: form.copies, share=0.3),
    TableAttack("illegal", illegal, lambda form: form.kind != PARALLEL and form.name != "cycles"),
    TableAttack("replaced", replaced, lambda form: form.kind == PARALLEL and form.name != "parallel ranks", share=0.5),
    TableAttack("parallel", differs_from_aec, lambda form: form.name == "parallel", share=0.5),
)
