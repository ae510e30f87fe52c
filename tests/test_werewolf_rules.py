"""Werewolf's rules, one by one (SPEC 1.7 and 9; the points on which presets differ are those of `presets.py`).

The table of eight unless something else is said, and no talk: seats 0-2 werewolves, 3 witch, 4 guard, 5 seer, 6 and 7
villagers; they talk and vote in seat order.
"""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlour.envs import registry
from parlour.envs.core import NATURE, OVER, IllegalMove, Move, Outcome, ParlourError
from parlour.envs.werewolf.presets import PLAYERS, PRESETS, default_roles
from parlour.envs.werewolf.vocabulary import ACTS, WHISPERS

WOLVES, WITCH, GUARD, SEER, VILLAGERS = (0, 1, 2), 3, 4, 5, (6, 7)
NIGHT_KINDS = ("hunt", "protect", "save", "poison", "check")
PASSES = {"save": Move("save", (0,))}


class Played(NamedTuple):
    """A state, and who was asked what on the way."""

    state: Any
    asked: list[tuple[int, str]]


def table(rules: str = "paper", **options: Any) -> Any:
    return registry["werewolf_v0"].raw_env(rules=rules, **{"talk": False, **options}).game


def deal(game: Any, order: tuple[int, ...] | None = None) -> Any:
    """The roles in the order of the box: the wolves first."""
    return game.apply(game.initial(), Move("deal", (*game.deck, *(order or range(game.seats)))))


def night(game: Any, s: Any, **acts: Any) -> Played:
    """Play one night: `hunt=6` for all wolves or `hunt=(6, 7, None)` wolf by wolf; what is left out is passed."""
    asked: list[tuple[int, str]] = []
    hunts = acts.pop("hunt", None)
    wolves = iter(hunts if isinstance(hunts, tuple) else ())
    while game.actor(s) >= 0 and game.legal(s)[0].kind in NIGHT_KINDS:
        kind = game.legal(s)[0].kind
        asked.append((game.actor(s), kind))
        wanted = acts.get(kind)
        if kind == "hunt":
            wanted = next(wolves) if isinstance(hunts, tuple) else hunts
        move = PASSES.get(kind, Move(kind)) if wanted is None else Move(kind, (int(wanted),))
        s = game.apply(s, move)
    assert set(acts) <= {kind for _, kind in asked}, "an act that was given was not asked for"
    return Played(s, asked)


def day(game: Any, s: Any, *votes: int | None, everybody: int | None = None) -> Any:
    """Play one vote: the votes in the order of voting, or one for everybody."""
    given_votes = iter(votes)
    while game.actor(s) >= 0 and game.legal(s)[0].kind == "vote":
        vote = next(given_votes) if votes else everybody
        s = game.apply(s, Move("vote", () if vote is None else (vote,)))
    return s


def living(s: Any) -> set[int]:
    return {j for j, alive in enumerate(s.standing.alive) if alive}


def told(s: Any, kind: str, seat: int | None = None) -> list[tuple[int, ...]]:
    """The arguments of all announcements or moves of a kind, those seen by a seat only if one is given."""
    return [e.move.args for e in s.log if e.move.kind == kind and (seat is None or e.to is None or seat in e.to)]


# -- tables ----------------------------------------------------------------------------------------------------


def test_the_papers_table_of_eight_is_the_default():
    game = registry["werewolf_v0"].raw_env().game
    assert game.seats == 8
    assert game.roles == ("Werewolf",) * 3 + ("Witch", "Guard", "Seer") + ("Villager",) * 2
    assert game.config["rules"] == "paper"


@pytest.mark.parametrize(
    ("players", "wolves"), [(6, 2), (7, 2), (8, 3), (9, 3), (10, 3), (11, 4), (12, 4), (13, 4), (14, 5), (15, 5)]
)
def test_six_to_fifteen_players_about_a_third_of_them_werewolves(players, wolves):
    counts = Counter(default_roles(players))
    assert counts["Werewolf"] == wolves
    assert counts["Witch"] == counts["Guard"] == counts["Seer"] == 1
    assert counts.total() == players


@pytest.mark.parametrize("players", [4, 5])
def test_tables_of_four_and_five_have_one_werewolf_a_seer_and_villagers(players):
    assert default_roles(players) == ("Werewolf", "Seer", *("Villager",) * (players - 2))
    game = table("official", num_players=players)
    for hunted in (None, *range(1, players)):  # no first night ends the game
        assert night(game, deal(game), hunt=hunted).state.standing.reason == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 3}, "num_players 3 is not accepted; accepted: 4..15"),
        ({"num_players": True}, "num_players True is not accepted"),
        ({"rules": "house"}, "rules 'house' is not accepted; accepted: paper, reference, official"),
        ({"talk": 1}, "talk 1 is not accepted; accepted: True, False"),
        ({"max_days": 0}, r"max_days 0 is not accepted; accepted: 1\.\.20"),
        ({"max_days": 21}, "max_days 21 is not accepted"),
        ({"roles": "Werewolf"}, "roles 'Werewolf' is not accepted; accepted: None, or one role for each player"),
        ({"roles": ("Werewolf", "Mayor", *("Villager",) * 6)}, "role 'Mayor' is not accepted; accepted: Werewolf"),
        ({"roles": ("Werewolf", *("Villager",) * 6)}, r"are 7; accepted: one for each of 8 players"),
        ({"roles": ("Werewolf", "Seer", "Seer", *("Villager",) * 5)}, "hold 2 x Seer; accepted: at most one"),
        ({"roles": ("Villager",) * 8}, "hold 0 x Werewolf; accepted: 1 to 3"),
        ({"roles": ("Werewolf",) * 4 + ("Villager",) * 4}, "hold 4 x Werewolf; accepted: 1 to 3"),
    ],
)
def test_a_table_that_cannot_be_played_is_refused_with_what_is_accepted(options, message):
    with pytest.raises(ParlourError, match=message):
        registry["werewolf_v0"].raw_env(**options)


def test_the_deal_gives_each_seat_a_role_and_draws_one_order_of_talk():
    game = table()
    dealt = [game.nature(game.initial(), np.random.default_rng(seed)).args for seed in range(40)]
    assert all(sorted(d[:8]) == sorted(game.deck) and sorted(d[8:]) == list(range(8)) for d in dealt)
    assert len({d[:8] for d in dealt}) > 30
    assert len({d[8:] for d in dealt}) == 40
    for bad in ((*game.deck,), (*game.deck[1:], 1, *range(8)), (*game.deck, 0, *range(7)), ()):
        with pytest.raises(IllegalMove, match="deals other roles than"):
            game.apply(game.initial(), Move("deal", bad))


def test_the_card_tells_the_points_on_which_the_presets_differ():
    card = import_module("parlour.envs.werewolf").__doc__ or ""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in card.splitlines() if line.count("|") == 5]
    assert rows[0] == ["point", *PRESETS]
    points = {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows}
    for preset, rules in PRESETS.items():
        said = {point: row["paper"] if row[preset] == "the same" else row[preset] for point, row in points.items()}
        assert ("later wolves see" in said["wolves' votes"]) == (rules.hunt_shown == "as_cast")
        assert ("random" in said["tied hunt"]) == (rules.hunt_tie == "random")
        assert (said["wolves may hunt wolves"] == "yes") == rules.hunt_wolves
        assert (said["guard, two nights running"] == "any player") == rules.guard_may_repeat
        assert (said["killed witch, no antidote left"] == "may still poison") == rules.dying_witch_poisons
        assert ("public" in said["votes by day"]) == (rules.votes_shown == "as_cast")
        assert (said["roles are shown"] == "of all dead") == (rules.reveals == "all")
        assert ("half" in said["wolves win"]) == (rules.wolves_win == "parity")
        assert (said["antidote, by words"] == "any yes-word") == rules.yes_words


# -- the order of the night ------------------------------------------------------------------------------------


def test_the_order_of_a_night_is_wolves_guard_witch_seer():
    game = table()
    asked = night(game, deal(game), hunt=6).asked
    assert asked == [*((w, "hunt") for w in WOLVES), (4, "protect"), (3, "save"), (3, "poison"), (5, "check")]


def test_without_a_victim_the_witch_is_asked_for_the_poison_only():
    game = table()
    asked = night(game, deal(game), hunt=None).asked
    assert [kind for seat, kind in asked if seat == WITCH] == ["poison"]


def test_dead_players_do_not_act():
    """The witch poisons the guard, the wolves kill the seer, a wolf is executed: night 2 has two wolves and a witch."""
    game = table()
    s = night(game, deal(game), hunt=SEER, poison=GUARD).state
    s = day(game, s, everybody=0)
    assert living(s) == {1, 2, 3, 6, 7}
    asked = night(game, s, hunt=6).asked
    assert asked == [(1, "hunt"), (2, "hunt"), (3, "save")]


def test_roles_that_are_not_in_play_are_skipped():
    game = table(num_players=6, roles=("Werewolf", *("Villager",) * 5))
    s, asked = night(game, deal(game), hunt=1)
    assert asked == [(0, "hunt")]
    assert living(s) == {0, 2, 3, 4, 5}


# -- the wolves ------------------------------------------------------------------------------------------------


def test_wolves_know_each_other_and_nobody_else_knows_anything():
    game = table()
    s = deal(game)
    assert [game.view(s, w).knows for w in WOLVES] == [
        ((("Werewolf",), (1, 2)),),
        ((("Werewolf",), (0, 2)),),
        ((("Werewolf",), (0, 1)),),
    ]
    assert all(game.view(s, seat).knows == () for seat in range(3, 8))


def test_wolves_talk_in_seat_order_before_they_vote_and_only_living_wolves_hear_it():
    game = table(talk=True)
    s = deal(game)
    spoken = []
    while {m.kind for m in game.legal(s)} <= set(WHISPERS):
        spoken.append(game.actor(s))
        s = game.apply(s, Move("recommend", (6,), "him!"))
    assert spoken == list(WOLVES)
    assert game.legal(s)[0].kind == "hunt"
    assert [e.to for e in s.log if e.move.kind == "recommend"] == [WOLVES] * 3
    assert all(told(s, "recommend", seat) == [] for seat in range(3, 8))


def test_a_dead_wolf_hears_no_more():
    game = table()
    s = day(game, night(game, deal(game)).state, everybody=0)
    s = night(game, s, hunt=7).state
    assert told(s, "wolves", seat=0) == [()]  # of the first night
    assert told(s, "wolves", seat=1) == told(s, "wolves", seat=2) == [(), (7,)]


def test_a_lone_wolf_does_not_talk():
    game = table(num_players=6, roles=("Werewolf", *("Villager",) * 5), talk=True)
    assert game.legal(deal(game))[0].kind == "hunt"


def test_the_target_with_most_votes_of_the_wolves_is_the_victim():
    game = table()
    s = night(game, deal(game), hunt=(6, 7, 7)).state
    assert told(s, "dawn") == [(1, 7)]


def test_wolves_may_choose_nobody():
    game = table()
    s = night(game, deal(game), hunt=(6, None, None)).state
    assert told(s, "wolves") == [()]
    assert told(s, "dawn") == [(1,)]


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_a_tied_hunt_is_drawn_among_the_tied_nobody_being_one_of_them(rules):
    game = table(rules)
    s = deal(game)
    for vote in ((6,), (), (7,)):
        s = game.apply(s, Move("hunt", vote))
    assert game.actor(s) == NATURE
    drawn = Counter(game.nature(s, np.random.default_rng(seed)).args for seed in range(300))
    assert set(drawn) == {(), (6,), (7,)}
    assert min(drawn.values()) > 70  # of 100 expected; standard deviation 8.2
    assert told(game.apply(s, Move("draw", (7,))), "wolves") == [(7,)]
    assert told(game.apply(s, Move("draw")), "wolves") == [()]
    for bad in (Move("draw", (0,)), Move("draw", (6, 7)), Move("hunt", (6,)), Move("draw", (-2,))):
        with pytest.raises(IllegalMove, match="draws none of the tied"):
            game.apply(s, bad)


def test_official_a_tied_hunt_kills_nobody():
    game = table("official")
    s = night(game, deal(game), hunt=(6, 7, None)).state
    assert told(s, "wolves") == [()]
    assert told(s, "dawn") == [(1,)]


@pytest.mark.parametrize(("rules", "allowed"), [("paper", True), ("reference", True), ("official", False)])
def test_wolves_may_hunt_wolves_but_in_official(rules, allowed):
    game = table(rules)
    targets = {m.args[0] for m in game.legal(deal(game)) if m.args}
    assert targets == (set(range(8)) if allowed else {3, 4, 5, 6, 7})


@pytest.mark.parametrize(("rules", "seen"), [("paper", False), ("reference", True), ("official", False)])
def test_reference_later_wolves_see_earlier_votes(rules, seen):
    game = table(rules)
    s = game.apply(deal(game), Move("hunt", (6,)))
    assert told(s, "hunt", seat=0) == [(6,)]
    assert told(s, "hunt", seat=1) == told(s, "hunt", seat=2) == ([(6,)] if seen else [])
    assert all(told(s, "hunt", seat) == [] for seat in range(3, 8))


def test_wolves_are_told_whom_they_chose_even_if_it_lives():
    game = table()
    s = night(game, deal(game), hunt=6, protect=6).state
    assert [e.to for e in s.log if e.move.kind == "wolves"] == [WOLVES]
    assert told(s, "wolves") == [(6,)]
    assert told(s, "dawn") == [(1,)]


# -- the guard -------------------------------------------------------------------------------------------------


def test_the_guard_protects_from_the_wolves():
    game = table()
    assert living(night(game, deal(game), hunt=6, protect=6).state) == set(range(8))
    assert living(night(game, deal(game), hunt=6, protect=7).state) == set(range(8)) - {6}


def test_the_guard_may_protect_himself():
    game = table()
    assert living(night(game, deal(game), hunt=GUARD, protect=GUARD).state) == set(range(8))


def test_protection_is_no_help_against_poison():
    game = table()
    s = night(game, deal(game), hunt=6, protect=7, save=False, poison=7).state
    assert told(s, "dawn") == [(1, 6, 7)]


def test_a_guard_who_is_killed_has_still_protected():
    """He acts before the kill takes effect: a guard who protects another dies himself, the other would have lived."""
    game = table()
    s = night(game, deal(game), hunt=GUARD, protect=6).state
    assert told(s, "dawn") == [(1, GUARD)]


@pytest.mark.parametrize("rules", ["paper", "official"])
def test_the_guard_does_not_protect_the_same_player_in_two_nights_running(rules):
    game = table(rules)
    s = day(game, night(game, deal(game), protect=6).state)
    for _ in WOLVES:
        s = game.apply(s, Move("hunt"))
    assert {m.args for m in game.legal(s)} == {(), *((j,) for j in range(8) if j != 6)}
    with pytest.raises(IllegalMove, match=r"protect \[6\] is not accepted"):
        game.apply(s, Move("protect", (6,)))
    # another one in between, or nobody: then he may again
    for between in (7, None):
        t = game.apply(s, Move("protect", () if between is None else (between,)))
        t = day(game, night(game, t).state)
        assert night(game, t, hunt=6, protect=6).state.standing.alive[6]


def test_reference_the_guard_may_protect_the_same_player_again():
    game = table("reference")
    s = day(game, night(game, deal(game), protect=6).state)
    assert night(game, s, hunt=6, protect=6).state.standing.alive[6]


# -- the witch -------------------------------------------------------------------------------------------------


def test_the_witch_is_told_the_victim_and_may_save_it():
    game = table()
    s = night(game, deal(game), hunt=6, save=True).state
    assert [e.to for e in s.log if e.move.kind == "attacked"] == [(WITCH,)]
    assert told(s, "attacked") == [(6,)]
    assert told(s, "dawn") == [(1,)]


def test_the_witch_may_save_herself():
    game = table()
    s, asked = night(game, deal(game), hunt=WITCH, save=True)
    assert living(s) == set(range(8))
    assert (WITCH, "poison") in asked  # she lives, so she is asked


def test_guard_and_witch_do_not_both_save_the_victim():
    """Guard = victim = witch's choice: the kill is off already, so she hears of nobody and keeps the antidote."""
    game = table()
    s, asked = night(game, deal(game), hunt=6, protect=6)
    assert told(s, "attacked") == [()]
    assert (WITCH, "save") not in asked
    assert s.standing.antidote
    s, asked = night(game, deal(game), hunt=WITCH, protect=WITCH)
    assert (WITCH, "save") not in asked
    assert (WITCH, "poison") in asked


def test_the_antidote_is_used_once_and_then_she_is_not_told_the_victim_any_more():
    game = table()
    s = day(game, night(game, deal(game), hunt=6, save=True).state)
    s, asked = night(game, s, hunt=7)
    assert told(s, "attacked") == [(6,)]
    assert (WITCH, "save") not in asked
    assert told(s, "dawn") == [(1,), (2, 7)]


def test_a_refused_antidote_is_kept():
    game = table()
    s = day(game, night(game, deal(game), hunt=6, save=False).state)
    s = night(game, s, hunt=7, save=True).state
    assert told(s, "attacked") == [(6,), (7,)]
    assert told(s, "dawn") == [(1, 6), (2,)]


def test_the_poison_is_used_once():
    game = table()
    s = day(game, night(game, deal(game), poison=0).state)
    assert living(s) == set(range(1, 8))
    assert (WITCH, "poison") not in night(game, s).asked


def test_without_antidote_she_is_still_asked_for_the_poison():
    game = table()
    s = day(game, night(game, deal(game), hunt=6, save=True).state)
    assert living(night(game, s, poison=2).state) == set(range(8)) - {2}


def test_she_may_save_and_poison_in_one_night_even_the_same_player():
    game = table()
    assert living(night(game, deal(game), hunt=6, save=True, poison=0).state) == set(range(1, 8))
    assert living(night(game, deal(game), hunt=6, save=True, poison=6).state) == set(range(8)) - {6}


def test_both_deaths_of_a_night_are_told_in_seat_order():
    game = table()
    assert told(night(game, deal(game), hunt=7, save=False, poison=0).state, "dawn") == [(1, 0, 7)]
    assert told(night(game, deal(game), hunt=6, save=False, poison=7).state, "dawn") == [(1, 6, 7)]


def test_victim_and_poisoned_may_be_the_same():
    game = table()
    assert told(night(game, deal(game), hunt=6, save=False, poison=6).state, "dawn") == [(1, 6)]


@pytest.mark.parametrize("rules", ["paper", "reference", "official"])
def test_a_witch_who_refuses_to_save_herself_does_not_poison(rules):
    game = table(rules)
    asked = night(game, deal(game), hunt=WITCH, save=False).asked
    assert [kind for seat, kind in asked if seat == WITCH] == ["save"]


@pytest.mark.parametrize(("rules", "acts"), [("paper", False), ("reference", True), ("official", False)])
def test_reference_a_witch_killed_after_the_antidote_is_used_up_may_still_poison(rules, acts):
    game = table(rules)
    s = day(game, night(game, deal(game), hunt=6, save=True).state)
    s, asked = night(game, s, hunt=WITCH, **({"poison": 0} if acts else {}))
    assert ((WITCH, "poison") in asked) == acts
    assert living(s) == set(range(8)) - ({0, WITCH} if acts else {WITCH})


# -- the seer --------------------------------------------------------------------------------------------------


def test_the_seer_alone_learns_whether_one_player_is_a_werewolf():
    game = table()
    s = night(game, deal(game), check=0).state
    s = night(game, day(game, s), check=6).state
    assert [e.to for e in s.log if e.move.kind == "checked"] == [(SEER,), (SEER,)]
    assert told(s, "checked") == [(0, 1), (6, 0)]
    assert game.view(s, SEER).checks == ((0, True), (6, False))
    assert all(game.view(s, seat).checks == () for seat in range(8) if seat != SEER)


def test_the_seer_does_not_check_himself_nor_the_dead():
    game = table()
    s = day(game, night(game, deal(game), hunt=6).state)
    while game.legal(s)[0].kind != "check":
        s = game.apply(s, game.legal(s)[0])
    assert {m.args for m in game.legal(s)} == {(), *((j,) for j in (0, 1, 2, 3, 4, 7))}


def test_a_pass_of_the_seer_checks_nobody():
    game = table()
    assert told(night(game, deal(game), check=None).state, "checked") == []


@pytest.mark.parametrize("acts", [{"hunt": SEER}, {"poison": SEER}])
@pytest.mark.parametrize("rules", PRESETS)
def test_a_seer_who_is_killed_this_night_does_not_check(rules, acts):
    game = table(rules)
    s, asked = night(game, deal(game), **acts)
    assert (SEER, "check") not in asked
    assert told(s, "dawn") == [(1, SEER)]


@pytest.mark.parametrize("acts", [{"hunt": SEER, "protect": SEER}, {"hunt": SEER, "save": True}])
def test_a_seer_who_was_saved_checks(acts):
    game = table()
    assert told(night(game, deal(game), **acts, check=1).state, "checked") == [(1, 1)]


# -- dawn ------------------------------------------------------------------------------------------------------


def test_by_night_nobody_sees_who_has_died_before_dawn():
    game = table()
    s = deal(game)
    for move in (*(Move("hunt", (6,)),) * 3, Move("protect"), Move("save", (0,)), Move("poison", (7,))):
        s = game.apply(s, move)
    assert game.view(s, 6).alive == (True,) * 8
    assert living(game.apply(s, Move("check"))) == set(range(6))


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_roles_are_revealed_only_after_the_first_night(rules):
    game = table(rules)
    s = night(game, deal(game), hunt=6, poison=0).state
    witch, villager = game.role_names.index("Witch"), game.role_names.index("Villager")
    assert told(s, "revealed") == [(0, game.wolf), (6, villager)]
    s = day(game, s, everybody=1)
    s = night(game, s, hunt=WITCH).state
    assert living(s) == {2, 4, 5, 7}
    assert len(told(s, "revealed")) == 2
    assert witch not in [role for _, role in told(s, "revealed")]


def test_official_the_roles_of_all_dead_are_revealed_the_executed_ones_after_the_last_words():
    game = table("official", talk=True)
    s = deal(game)
    while game.legal(s)[0].kind != "vote":
        s = game.apply(s, game.legal(s)[0])
    s = day(game, s, everybody=0)
    assert told(s, "revealed") == []
    s = game.apply(s, Move("silent"))
    assert told(s, "revealed") == [(0, game.wolf)]
    while not told(s, "dawn")[1:]:
        legal = game.legal(s)
        s = game.apply(s, Move("hunt", (7,)) if legal[0].kind == "hunt" else legal[0])
    assert told(s, "revealed") == [(0, game.wolf), (7, game.role_names.index("Villager"))]


# -- the day ---------------------------------------------------------------------------------------------------


def test_the_living_speak_once_and_then_vote_in_the_order_drawn_with_the_roles_every_day():
    game = table(talk=True)
    order = (5, 0, 7, 2, 4, 6, 1, 3)
    s = deal(game, order)
    for number in (1, 2):
        while game.legal(s)[0].kind in NIGHT_KINDS or {m.kind for m in game.legal(s)} <= set(WHISPERS):
            legal = game.legal(s)
            s = game.apply(s, Move("hunt", (7,)) if legal[0].kind == "hunt" and number == 1 else legal[0])
        expected = [j for j in order if j != 7]
        assert told(s, "day")[-1] == (number, expected[0])
        for kind in ("talk", "vote"):
            seen = []
            while game.legal(s)[0].kind == ("vote" if kind == "vote" else "silent") and len(seen) < 7:
                seen.append(game.actor(s))
                s = game.apply(s, game.legal(s)[0])
            assert seen == expected


def test_everybody_may_say_any_claim_about_others():
    game = table(talk=True)
    s = deal(game)
    while "report" not in {m.kind for m in game.legal(s)}:
        s = game.apply(s, game.legal(s)[0])
    kinds = Counter(m.kind for m in game.legal(s))
    # 7 others to accuse and to defend, 5 roles to claim, 7 others to report as good or evil
    assert kinds == {"silent": 1, "accuse": 7, "defend": 7, "claim_role": 5, "report": 14}
    assert tuple(kinds) == ACTS


@pytest.mark.parametrize("rules", ["paper", "official"])
def test_votes_are_secret_until_all_are_in(rules):
    game = table(rules)
    s = night(game, deal(game)).state
    for seat in range(7):
        s = game.apply(s, Move("vote", (7,)))
        assert all(told(s, kind) == [] for kind in ("vote", "votes")), seat
    s = game.apply(s, Move("vote"))
    assert told(s, "votes") == [(1, 7, 7, 7, 7, 7, 7, 7, -1)]
    assert told(s, "vote") == []


def test_reference_votes_are_public_as_they_are_cast():
    game = table("reference")
    s = night(game, deal(game)).state
    s = game.apply(game.apply(s, Move("vote", (7,))), Move("vote"))
    assert [(e.seat, e.move.args, e.to) for e in s.log if e.move.kind == "vote"] == [(0, (7,), None), (1, (), None)]


def test_most_votes_are_executed():
    game = table()
    s = day(game, night(game, deal(game)).state, 7, 7, 7, 0, 0, None, 1, 2)
    assert told(s, "executed") == [(7,)]
    assert told(s, "votes") == [(1, 7, 7, 7, 0, 0, -1, 1, 2)]
    assert living(s) == set(range(7))


@pytest.mark.parametrize(
    "votes",
    [
        (None,) * 8,  # all pass
        (7, 7, 7, 0, 0, 0, None, None),  # two players tied
        (7, 7, 7, None, None, None, 0, 1),  # tied with pass
        (7, 7, None, None, None, 0, 1, 2),  # most pass
    ],
)
@pytest.mark.parametrize("rules", PRESETS)
def test_a_tie_pass_included_or_most_passes_execute_nobody(rules, votes):
    game = table(rules)
    s = day(game, night(game, deal(game)).state, *votes)
    assert told(s, "executed") == [()]
    assert living(s) == set(range(8))
    assert told(s, "night") == [(1,), (2,)]


def test_a_vote_for_oneself_counts_and_the_dead_are_not_voted_for():
    game = table()
    s = night(game, deal(game), hunt=7).state
    assert {m.args for m in game.legal(s)} == {(), *((j,) for j in range(7))}
    s = day(game, s, 0, None, None, None, None, None, 6)
    assert told(s, "votes") == [(1, 0, -1, -1, -1, -1, -1, 6, -2)]
    s = day(game, night(game, s).state, 0, None, None, 0, 0, 0, None)
    assert told(s, "executed")[-1] == (0,)


def test_the_executed_speaks_last_words_and_then_moves_no_more():
    game = table(talk=True)
    s = deal(game)
    while game.legal(s)[0].kind != "vote":
        s = game.apply(s, game.legal(s)[0])
    s = day(game, s, everybody=6)
    assert game.actor(s) == 6
    assert not game.view(s, 6).alive[6]
    assert {m.kind for m in game.legal(s)} == set(ACTS)
    s = game.apply(s, Move("accuse", (0,), "It was player_0!"))
    assert told(s, "night") == [(1,), (2,)]
    actors = set()
    while not told(s, "executed")[1:]:
        actors.add(game.actor(s))
        s = game.apply(s, game.legal(s)[0])
    assert actors == set(range(8)) - {6}


def test_who_dies_by_night_has_no_last_words():
    game = table(talk=True)
    s = deal(game)
    while not told(s, "dawn"):
        s = game.apply(s, Move("hunt", (7,)) if game.legal(s)[0].kind == "hunt" else game.legal(s)[0])
    assert told(s, "dawn") == [(1, 7)]
    assert game.actor(s) == 0  # first in the order of talk


# -- the end ---------------------------------------------------------------------------------------------------


def small(rules: str = "paper", **options: Any) -> Any:
    """Seat 0 is the wolf, 1 the witch; the others are villagers."""
    return table(rules, num_players=6, roles=("Werewolf", "Witch", *("Villager",) * 4), **options)


def test_the_village_wins_when_no_wolf_lives():
    game = small()
    s = day(game, night(game, deal(game)).state, everybody=0)
    assert game.actor(s) == OVER
    assert game.outcome(s) == Outcome((-1.0, 1.0, 1.0, 1.0, 1.0, 1.0), "village", "wolves_dead")
    with pytest.raises(IllegalMove, match=r"the game is over \(wolves_dead\)"):
        game.apply(s, Move("vote"))


def test_the_village_wins_when_the_last_wolf_is_poisoned_even_if_it_kills_in_that_night():
    game = small()
    s = night(game, deal(game), hunt=2, poison=0).state
    assert told(s, "dawn") == [(1, 0, 2)]
    assert game.outcome(s).winner == "village"


def test_the_village_wins_when_nobody_is_left():
    """Wolf and witch alone, the antidote used up: the reference's dying witch poisons the last wolf."""
    game = small("reference")
    s = night(game, deal(game), hunt=2, save=True).state
    for villager in (2, 3, 4):
        s = night(game, day(game, s, everybody=villager)).state
    s = day(game, s, everybody=5)
    assert living(s) == {0, 1}
    s = night(game, s, hunt=1, poison=0).state
    assert living(s) == set()
    assert (game.outcome(s).winner, game.outcome(s).reason) == ("village", "wolves_dead")


def down_to_two(game: Any) -> Any:
    """One wolf and one villager are left at dusk, or the game is over before."""
    s = deal(game)
    for hunted, voted in ((1, 2), (3, 4)):
        if game.actor(s) != OVER:
            s = night(game, s, hunt=hunted).state
        if game.actor(s) != OVER:
            s = day(game, s, everybody=voted)
    return s


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_the_wolves_win_only_when_nobody_else_lives(rules):
    game = small(rules)
    s = down_to_two(game)
    assert living(s) == {0, 5}
    assert game.outcome(s) is None
    s = night(game, s, hunt=5).state
    assert (game.outcome(s).winner, game.outcome(s).reason) == ("werewolf", "village_dead")
    assert game.outcome(s).returns == (1.0, -1.0, -1.0, -1.0, -1.0, -1.0)


def test_official_the_wolves_win_at_parity():
    game = small("official")
    s = down_to_two(game)
    assert living(s) == {0, 5}
    assert (game.outcome(s).winner, game.outcome(s).reason) == ("werewolf", "parity")
    # two of five are no parity, two of four are
    game = table("official", num_players=6)
    s = night(game, deal(game), hunt=5).state
    assert game.outcome(s) is None
    assert game.outcome(day(game, s, everybody=4)).reason == "parity"


def test_the_winner_is_looked_for_after_the_last_words():
    game = small(talk=True)
    s = deal(game)
    while game.legal(s)[0].kind != "vote":
        s = game.apply(s, game.legal(s)[0])
    s = day(game, s, everybody=0)
    assert game.outcome(s) is None
    assert game.outcome(game.apply(s, Move("claim_role", (0,)))).winner == "village"


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("days", [1, 3, 20])
def test_after_the_last_day_the_game_is_a_draw(rules, days):
    game = table(rules, max_days=days)
    s = deal(game)
    for number in range(days):
        assert game.outcome(s) is None
        assert game.view(s, 0).day == number + 1
        s = day(game, night(game, s).state)
    assert (game.outcome(s).winner, game.outcome(s).reason) == ("draw", "days")
    assert game.outcome(s).returns == (0.0,) * 8


# -- invariants ------------------------------------------------------------------------------------------------


@given(
    players=st.sampled_from(PLAYERS),
    rules=st.sampled_from(sorted(PRESETS)),
    talk=st.booleans(),
    seed=st.integers(0, 9999),
)
def test_random_games_keep_the_rules(playout, players, rules, talk, seed):
    game = table(rules, num_players=players, talk=talk)
    played = playout(game, seed)
    used: Counter[str] = Counter()
    protected = None
    for before, move, after in played.steps:
        actor = game.actor(before)
        if actor >= 0:
            last_words = not before.standing.alive[actor]
            if last_words:
                assert move.kind in ACTS
                assert before.log[-1].move == Move("executed", (actor,))
            used["antidote"] += move == Move("save", (1,))
            used["poison"] += move.kind == "poison" and move.args != ()
        if move.kind == "protect":
            if rules != "reference":
                assert move.args == () or move.args != protected
            protected = move.args
        assert sum(after.standing.alive) <= sum(before.standing.alive)
        assert after.log[: len(before.log)] == before.log
    assert used["antidote"] <= 1
    assert used["poison"] <= 1
    end = played.states[-1]
    dead = {j for args in told(end, "dawn") for j in args[1:]} | {j for args in told(end, "executed") for j in args}
    assert living(end) == set(range(players)) - dead
    assert all(game.view(end, j).alive == end.standing.alive for j in range(players))
    for number, *votes in told(end, "votes"):
        assert len(votes) == players
        assert 1 <= number <= 15
