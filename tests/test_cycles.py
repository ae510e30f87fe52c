"""What a seat experiences of time in the parallel form is a function of its View (DESIGN.md section 3).

Cycles, waits, and the order and number of its own turns: a night of Werewolf and an exchange of two in a murder mystery have
a fixed length, whoever lives and whatever is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parlour.envs.core import Move
from parlour.envs.registry import lookup

CASES = Path(__file__).parent / "cases"
RULES = ("paper", "reference", "official")


def played(env: Any, seed: int) -> Iterator[tuple[Any, Any]]:
    """A game by random legal actions; yields what everybody gets, cycle by cycle."""
    rng = np.random.default_rng(seed)
    seen, infos = env.reset(seed=seed)
    yield seen, infos
    while env.agents:
        seen, _, _, _, infos = env.step({a: int(rng.choice(np.flatnonzero(s["action_mask"]))) for a, s in seen.items()})
        yield seen, infos


@pytest.mark.parametrize("talk", [True, False])
@pytest.mark.parametrize("rules", RULES)
def test_every_night_takes_as_long_however_many_wolves_live(rules, talk):
    """Who counts cycles learns nothing of the wolves: nights with one, two and three of them were played."""
    env = lookup("werewolf_v0").parallel_env(rules=rules, talk=talk, render_mode="ansi")
    lengths, living = set[int](), set[int]()
    for seed in range(12):
        cycles: Counter[str] = Counter()
        for _ in played(env, seed):
            shown = env.render().splitlines()[-1]
            if shown.startswith("Moderator: Night"):
                living.add(len(env.aec.state_now.standing.living.wolves))
                cycles[shown] += 1
        lengths |= set(cycles.values())
    assert len(living) > 1
    assert len(lengths) == 1


@pytest.mark.parametrize("case", ["seed:3", "seed:11:en:4", "letter"])
@pytest.mark.parametrize("questions", [1, 2])
def test_an_exchange_that_two_hear_takes_as_long_whatever_is_said(case, questions):
    """From "turns to" to the next public line: the questions and answers (nobody else may be asked)."""
    at = str(CASES / "letter_en.json") if case == "letter" else case
    options: dict[str, Any] = {"case": at, "hearing": "two", "rounds": 1, "questions": questions, "targets": 1}
    env = lookup("murder_mystery_v0").parallel_env(**options, render_mode="ansi")
    lengths = set()
    for seed in range(4):
        cycles: Counter[int] = Counter()
        for _ in played(env, seed):
            told = env.render().splitlines()
            if told and " turns to " in told[-1]:
                cycles[len(told)] += 1
        lengths |= set(cycles.values())
    assert len(lengths) == 1, lengths


ROLES = ("Werewolf", "Werewolf", "Werewolf", "Witch", "Guard", "Seer", "Villager", "Villager")
WITCH, GUARD, SEER = 3, 4, 5


def night_of(seat: int, nights: list[dict[str, Any]], **options: Any) -> list[Any]:
    """What a seat gets, cycle by cycle, until the dawn after some nights, and what it is asked. Nobody is executed by day.

    Args:
        seat: Who looks.
        nights: For each night the targets by kind of move; what is not named is done to nobody.
        options: Of the table.
    """
    env = lookup("werewolf_v0").parallel_env(talk=False, observation="both", info="full", **options)
    seen, infos = env.reset(options={"nature": [Move("deal", (*env.aec.game.deck, *range(8)))]})
    found: list[Any] = []
    while env.agents:
        views = [env.shown(j) for j in range(8)]
        day = views[0].day
        if views[0].night:
            if day > len(nights):
                return found
            told = seen[f"player_{seat}"]
            legal = [move.kind for move in views[seat].legal][:1]
            found.append((day, told["text"], told["observation"].tobytes(), told["action_mask"].tobytes(), legal))
        actions = {}
        for view in views:
            if not view.legal:
                continue
            target = nights[day - 1].get(view.legal[-1].kind) if views[0].night else None
            wanted = [move for move in view.legal if move.args == (target,)]
            actions[f"player_{view.seat}"] = env.aec.number(wanted[0]) if wanted else env.aec.number(view.legal[0])
        seen, _, _, _, infos = env.step(actions)
    assert all(info["replaced"] == 0 for info in infos.values())
    return found


def asked(found: list[Any]) -> list[tuple[int, str]]:
    """In which cycle of the nights a seat was asked for what."""
    return [(cycle, told[-1][0]) for cycle, told in enumerate(found) if told[-1]]


@pytest.mark.parametrize("rules", RULES)
def test_a_seer_who_dies_is_asked_like_one_who_lives(rules):
    """Until dawn it gets the same whether the wolves chose it, the witch poisons it, or nobody touches it."""
    worlds = [night_of(SEER, [night], rules=rules) for night in ({}, {"hunt": SEER}, {"poison": SEER}, {"hunt": 6})]
    assert all(world == worlds[0] for world in worlds)
    assert [kind for _, kind in asked(worlds[0])] == ["check"]


@pytest.mark.parametrize("rules", RULES)
def test_a_witch_without_antidote_is_asked_for_poison_whether_she_dies_or_not(rules):
    """She saved seat 6 in the first night, and hears of no victim any more."""
    first = {"hunt": 6, "save": 1}
    worlds = [night_of(WITCH, [first, second], rules=rules) for second in ({}, {"hunt": WITCH}, {"hunt": 7})]
    assert all(world == worlds[0] for world in worlds)
    assert [kind for _, kind in asked(worlds[0])] == ["save", "poison", "poison"]


@pytest.mark.parametrize("rules", RULES)
def test_a_witch_who_knows_that_she_dies_is_not_asked_for_poison(rules):
    """She hears of herself and does not save: nothing of it is hidden from her."""
    assert [kind for _, kind in asked(night_of(WITCH, [{"hunt": WITCH}], rules=rules))] == ["save"]
    saved = night_of(WITCH, [{"hunt": WITCH, "save": 1}], rules=rules)
    assert [kind for _, kind in asked(saved)] == ["save", "poison"]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize(
    "dead", [{"hunt": WITCH}, {"hunt": GUARD}, {"hunt": SEER}, {"hunt": 0}, {"hunt": 6, "poison": 1}]
)
def test_who_died_in_the_first_night_changes_the_second_for_no_villager(rules, dead):
    """Neither its length nor what it shows; what the first one showed (the dead and their roles) is left out."""
    if rules == "official" and dead["hunt"] == 0:
        dead = {"poison": 0}  # wolves spare each other there
    cycles = [len(night_of(7, [night, {}], rules=rules)) for night in (dead, {})]
    assert cycles[0] == cycles[1]


def test_the_second_night_of_a_wolf_is_the_same_whether_guard_witch_or_seer_are_left():
    """A wolf learns whom the wolves chose when the night ends, not one cycle earlier or later."""
    worlds = []
    for dead in (WITCH, GUARD, SEER, 6):
        found = night_of(2, [{"hunt": dead}, {"hunt": 7}])
        second = [told for told in found if told[0] == 2]
        worlds.append([(told[-1], told[1] == second[0][1]) for told in second])
    assert all(world == worlds[0] for world in worlds)
