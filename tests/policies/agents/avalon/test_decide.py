"""What a player does who holds given chances true: decisions worked out by hand, and never anything but an option."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs.avalon.vocabulary import EVIL_ROLES
from parlour.envs.core import NATURE, OVER, ParlourError
from parlour.policies.agents.avalon.decide import AvalonDecision, RoleProbabilities
from parlour.policies.agents.avalon.lines import (
    EVIL_LINES,
    OPEN,
    SABOTAGE,
    SHADOW,
    SLEEPER,
    lines_of,
    put_results,
    results_in,
)
from parlour.policies.agents.avalon.seat import AvalonSelfInfo, AvalonSituation, Night, Notes, _who, situation
from parlour.policies.agents.seat import code, coded

# six players: player_0 is asked; player_4 and player_5 are evil
SURE = RoleProbabilities(evil=[0, 0, 0, 0, 1, 1], merlin=[0, 0.7, 0.2, 0.1, 0, 0], looks=[0.3, 0.3, 0.3, 0.9, 0.1, 0.1])
EVEN = RoleProbabilities(evil=[0, 0.4, 0.4, 0.4, 0.4, 0.4], merlin=[0.2] * 6, looks=[0.33] * 6)
VOTES = {"vote:1": "yes", "vote:0": "no"}
CARDS = {"card:1": "success", "card:0": "fail"}
GUESSES = {"guess": "pass", **{f"guess:{j}": str(j) for j in range(1, 6)}}


def now(does: str, **changed: Any) -> AvalonSituation:
    plain: dict[str, Any] = {
        "quest": 2, "proposal": 1, "limit": 5, "last_rejection_loses": False, "leader": 1,
        "team": [1, 4], "size": 2, "fails_needed": 1, "good": 1, "evil": 0,
    }  # fmt: skip
    return AvalonSituation(does=does, **{**plain, **changed})  # type: ignore[arg-type]


def myself(seat: int, role: str) -> AvalonSelfInfo:
    """The two evil seats know each other, but for Oberon."""
    night = (
        [Night(roles=list(EVIL_ROLES), players=[j for j in (4, 5) if j != seat])]
        if role in ("Morgana", "Assassin")
        else []
    )
    return AvalonSelfInfo(seat=seat, role=role, introduction="", roles=[], night=night)


def player(
    what: AvalonSituation,
    role: str = "Merlin",
    *,
    line: str = OPEN,
    chances: RoleProbabilities = SURE,
    seat: int = 0,
    seed: int = 0,
) -> AvalonDecision:
    return AvalonDecision(myself(seat, role), what, chances, line, np.random.default_rng(seed))


def often(what: AvalonSituation, options: dict[str, str], role: str, n: int = 60, **more: Any) -> Counter[str]:
    return Counter(player(what, role, seed=seed, **more).choose(options) for seed in range(n))


# -- votes -----------------------------------------------------------------------------------------------------


def test_good_rejects_a_dirty_team_and_approves_a_clean_one():
    assert player(now("vote")).choose(VOTES) == "vote:0"
    assert player(now("vote", team=[1, 2])).choose(VOTES) == "vote:1"
    assert player(now("vote", leader=0, team=[1, 4])).choose(VOTES) == "vote:1"  # its own team
    assert player(now("vote", team=[0, 1]), "Loyal Servant", chances=EVEN).choose(VOTES) == "vote:1"


@pytest.mark.parametrize("loses", [True, False])
def test_at_the_limit_good_takes_anything(loses):
    for role in ("Merlin", "Loyal Servant"):
        last = now("vote", proposal=5, last_rejection_loses=loses)
        assert player(last, role).choose(VOTES) == "vote:1"
        assert (
            player(now("vote", proposal=6, team=[4, 5]), role).choose(VOTES) == "vote:1"
        )  # a short team counted twice
    assert player(now("vote", proposal=4)).choose(VOTES) == "vote:0"


def test_at_the_limit_evil_rejects_where_that_wins():
    assert often(now("vote", proposal=5, last_rejection_loses=True), VOTES, "Morgana", seat=4) == {"vote:0": 60}
    assert often(now("vote", proposal=5, last_rejection_loses=True, leader=4), VOTES, "Morgana", seat=4) == {
        "vote:0": 60
    }
    assert often(now("vote", proposal=5, leader=4), VOTES, "Morgana", seat=4) == {"vote:1": 60}


def test_evil_votes_by_what_is_at_stake():
    def votes(**changed: Any) -> Counter[str]:
        return often(now("vote", **changed), VOTES, "Assassin", n=400, seat=5)

    assert votes(evil=2) == {"vote:1": 400}  # a fellow can end it
    assert votes(team=[1, 2], good=2) == {"vote:0": 400}  # a clean team would end it
    assert 0.74 < votes()["vote:1"] / 400 < 0.86
    assert 0.24 < votes(team=[1, 2])["vote:1"] / 400 < 0.36


def test_a_doubtful_team_is_weighed_against_those_to_come():
    # clean with 0.6; the next leaders offer 0.9, 0.9, 0.3 and 0.3 times oneself, 0.6 in the mean; 0.95 of it is asked
    doubtful = RoleProbabilities(evil=[0, 0.4, 0.1, 0.1, 0.7, 0.7], merlin=[0] * 6, looks=[0] * 6)
    assert player(now("vote", team=[0, 1]), "Loyal Servant", chances=doubtful).choose(VOTES) == "vote:1"
    worse = doubtful.model_copy(update={"evil": [0, 0.44, 0.1, 0.1, 0.7, 0.7]})
    assert player(now("vote", team=[0, 1]), "Loyal Servant", chances=worse).choose(VOTES) == "vote:0"
    late = now("vote", team=[0, 1], proposal=4)  # only leader 5 is to come, who offers 0.3
    assert player(late.model_copy(update={"leader": 4}), "Loyal Servant", chances=worse).choose(VOTES) == "vote:1"


# -- cards, teams, guesses, words ------------------------------------------------------------------------------


def card(role: str = "Morgana", seat: int = 4, n: int = 1, line: str = SABOTAGE, **changed: Any) -> Counter[str]:
    return often(now("card", **changed), CARDS, role, n=n, seat=seat, line=line)


def test_good_never_fails():
    assert card("Loyal Servant", seat=1) == {"card:1": 1}
    assert card("Merlin", seat=1, evil=2, good=2) == {"card:1": 1}


def test_two_fails_are_needed():
    assert card(fails_needed=2, team=[1, 4]) == {"card:1": 1}  # alone it is no use
    assert card(fails_needed=2, team=[4, 5], evil=2) == {"card:0": 1}
    assert card(fails_needed=2, team=[1, 4], evil=2) == {"card:1": 1}
    assert card("Oberon", fails_needed=2, team=[1, 4]) == {"card:0": 1}  # knows of nobody, and may be lucky


def test_the_line_decides_about_a_fail():
    assert card(line=SLEEPER, good=0, quest=1) == {"card:1": 1}
    assert card(line=SLEEPER, good=0, quest=3) == {"card:0": 1}
    assert card(line=SLEEPER, good=0, quest=2, evil=2) == {"card:0": 1}
    assert card(line=SHADOW, team=[4, 5]) == {"card:0": 1}
    assert card(line=SHADOW, team=[4, 5], seat=5) == {"card:1": 1}  # one of two is enough
    assert card(line=SABOTAGE, team=[4, 5], seat=5) == {"card:0": 1}
    assert card(line=SHADOW, team=[4, 5], seat=5, good=2) == {"card:0": 1}  # the game hangs on it
    assert 60 < card(line="", n=200)["card:0"] < 140


def test_teams():
    teams = {code("propose", pair): "" for pair in [(a, b) for a in range(6) for b in range(a + 1, 6)]}
    what = now("propose", leader=0)
    assert set(often(what, teams, "Merlin")) == {"propose:0,1", "propose:0,2", "propose:0,3"}
    assert set(often(what, teams, "Morgana", seat=4, line=SABOTAGE)) == {"propose:0,4", "propose:1,4", "propose:2,4"}
    assert set(often(what, teams, "Morgana", seat=4, line=SHADOW)) == {"propose:0,5", "propose:1,5", "propose:2,5"}
    both = now("propose", leader=4, fails_needed=2)
    assert set(often(both, teams, "Morgana", seat=4)) == {"propose:4,5"}


def test_evil_accuses_no_fellow():
    words = {f"{kind}:{j}": "" for kind in ("accuse", "recommend") for j in range(6)}
    said = {line: set(often(now("speak"), words, "Morgana", seat=4, line=line)) for line in EVIL_LINES}
    # who looks worst of the others is accused, who looks best is recommended; a fellow only from the background
    assert said[SABOTAGE] == {"recommend:4"}
    assert said[SLEEPER] == {"recommend:4", "accuse:3", "recommend:0"}
    assert said[SHADOW] == {"recommend:4", "accuse:3", "recommend:5"}
    suspects = SURE.model_copy(update={"looks": [0.3, 0.2, 0.3, 0.4, 0.9, 0.95]})
    worse = set(often(now("speak"), words, "Morgana", seat=4, line=SLEEPER, chances=suspects))
    assert worse == {"recommend:4", "accuse:3", "recommend:1"}


def test_the_assassin_waits_for_the_last_chance():
    def guess(options: dict[str, str], **changed: Any) -> str:
        mine = SURE.model_copy(update={"merlin": [0.1, 0.3, 0.2, 0.1, 0.9, 0.8]})  # fellows are nobody's Merlin
        return player(now("guess", **changed), "Assassin", line=SABOTAGE, chances=mine, seat=5).choose(options)

    without_pass = {key: value for key, value in GUESSES.items() if key != "guess"}
    for good in range(3):
        assert guess(GUESSES, good=good) == "guess"
    assert guess(GUESSES, good=3) == "guess:1"
    assert guess(without_pass, good=3) == "guess:1"


# -- never anything but an option ------------------------------------------------------------------------------


class Strict(dict):  # type: ignore[type-arg]
    """Options that betray who takes the first one for want of a better idea."""

    def __iter__(self):
        raise AssertionError("what was wanted is no option")


@given(seed=st.integers(0, 10**6), where=st.integers(0, 10**6))
def test_a_choice_is_always_an_option(avalon, playout, seed, where):
    """Random games of all presets and roles, chances drawn at random, all lines; nobody falls back on the first option."""
    game = avalon.game
    rng = np.random.default_rng(seed)
    states = [s for s in playout(game, where % 7).states if game.actor(s) not in (NATURE, OVER)]
    for state in [states[int(k)] for k in rng.integers(len(states), size=6)]:
        view = game.view(state, game.actor(state))
        notes, me = Notes(), _who(view)
        notes.take(view.events, game.role_names)
        what = situation(view, notes.score)
        options = Strict(coded({"view": view, "options": list(map(str, view.legal))}))
        chances = RoleProbabilities(
            *(),
            **{key: rng.random(game.seats).round(int(rng.integers(3))).tolist() for key in ("evil", "merlin", "looks")},
        )
        for line in ("", *lines_of(view.role)):
            chosen = AvalonDecision(me, what, chances, line, rng).choose(options)
            assert chosen in options.keys()  # noqa: SIM118 - must not be iterated over
        assert what.size == game.sizes[what.quest - 1]
        assert 0 <= what.good <= 3
        assert 0 <= what.evil <= 3
        assert what.proposal >= 1


def test_who_is_asked_and_the_turn_are_told_in_lines_that_are_read_back(avalon, playout):
    """Prompts hold the lines; what stands in them is what heuristics work on."""
    game = avalon.game
    for state in playout(game, 1).states:
        if game.actor(state) in (NATURE, OVER):
            continue
        view = game.view(state, game.actor(state))
        me, what = _who(view), situation(view, (view.good, view.evil))
        for field in (me, what):
            lines = field.model_dump(mode="json")
            assert all(isinstance(line, str) and line for line in lines)
            assert type(field).model_validate(lines) == field
            for changed in (lines[1:], [*lines, "x"], ["x", *lines], [], [1], lines[:-2]):
                with pytest.raises(ValueError, match=r"lines|phrase"):
                    type(field).model_validate(changed)


def test_options_that_are_not_avalons_are_refused():
    with pytest.raises(ParlourError, match=r"option 'vote:[01]' is not accepted; accepted: other:1, vote:7"):
        player(now("vote")).choose({"other:1": "", "vote:7": ""})


# -- lines of play ---------------------------------------------------------------------------------------------


def test_results_speak_for_the_line_with_the_best_mean():
    # Beta(1, 1): open 4/6, quiet 1/2 (never played), discreet 3/4
    text = put_results({"open": (3, 4), "discreet": (2, 2)}, "Merlin")
    assert text.startswith('Prefer the line of play "discreet": Lead and vote')
    assert results_in(text) == {"open": (3, 4), "discreet": (2, 2)}
    assert put_results({"open": (0, 9)}, "Merlin").startswith('Prefer the line of play "discreet"')
    assert results_in("I won so far.") == results_in("") == {}
