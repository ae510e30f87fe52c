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


def voting(game: Any) -> Any:
    """The first vote, after a night of first legal moves."""
    s = deal(game)
    while game.legal(s)[0].kind != "vote":
        s = game.apply(s, game.legal(s)[0])
    return s


def living(s: Any) -> set[int]:
    return {j for j, alive in enumerate(s.standing.alive) if alive}


def args_of(s: Any, kind: str, seat: int | None = None) -> list[tuple[int, ...]]:
    """The arguments of all announcements or moves of a kind, those seen by a seat only if one is given."""
    return [e.move.args for e in s.log if e.move.kind == kind and (seat is None or e.to is None or seat in e.to)]


# -- tables ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", PLAYERS)
def test_about_a_third_are_werewolves_with_one_of_each_power_from_six_players_on(players):
    wolves = {4: 1, 5: 1, 6: 2, 7: 2, 8: 3, 9: 3, 10: 3, 11: 4, 12: 4, 13: 4, 14: 5, 15: 5}[players]
    powers = ("Witch", "Guard", "Seer") if players > 5 else ("Seer",)
    villagers = players - wolves - len(powers)
    assert default_roles(players) == (*("Werewolf",) * wolves, *powers, *("Villager",) * villagers)
    default = registry["werewolf_v0"].raw_env().game
    assert (default.roles, default.config["rules"]) == (default_roles(8), "paper")


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
        assert ("drawn" in said["tied hunt"]) == (rules.hunt_tie == "random")
        assert (said["wolves may hunt wolves"] == "yes") == rules.hunt_wolves
        assert (said["guard, two nights running"] == "any player") == rules.guard_may_repeat
        assert (said["killed witch without antidote"] == "may still poison") == rules.dying_witch_poisons
        assert ("public" in said["votes by day"]) == (rules.votes_shown == "as_cast")
        assert (said["revealed roles"] == "all dead") == (rules.reveals == "all")
        assert ("half" in said["wolves win"]) == (rules.wolves_win == "parity")
        assert (said["antidote, by words"] == "any yes-word") == rules.yes_words


# -- the order of the night ------------------------------------------------------------------------------------


# what is done in each night, by letters: h hunt, g protect, s save, p poison, c check, each with a seat (w witch, e seer, u guard;
# of save 1 or 0), a hunt also wolf by wolf; nobody dies by day | what was told: of dawn, and more | whom the witch and the seer were
# asked last; presets, if not all
NIGHTS = {
    "the order is wolves, guard, witch, seer": ("h6", {"dawn": [(1, 6)]}, "spc"),
    "without a victim the witch is asked for the poison only": ("", {"attacked": [()]}, "pc"),
    "most votes of the wolves choose": ("h677", {"wolves": [(7,)], "dawn": [(1, 7)]}, "spc"),
    "wolves may choose nobody": ("h6--", {"wolves": [()], "dawn": [(1,)]}, "pc"),
    "a tied hunt kills nobody": ("h67-", {"wolves": [()], "dawn": [(1,)]}, "pc", "official"),
    "the guard averts the hunt, and wolves are told": (
        "h6 g6",
        {"wolves": [(6,)], "attacked": [()], "dawn": [(1,)]},
        "pc",
    ),
    "and of nobody else": ("h6 g7", {"dawn": [(1, 6)]}, "spc"),
    "the guard may protect himself": ("hu gu", {"dawn": [(1,)]}, "pc"),
    "protection is no help against poison": ("h6 g7 s0 p7", {"dawn": [(1, 6, 7)]}, "spc"),
    "a guard who is killed has still acted": ("hu g6", {"dawn": [(1, GUARD)]}, "spc"),
    "the guard may protect the same player again": ("g6, h6 g6", {"dawn": [(1,), (2,)]}, "pc", "reference"),
    "the witch is told the victim and may save it": ("h6 s1", {"attacked": [(6,)], "dawn": [(1,)]}, "spc"),
    "the witch may save herself, and lives": ("hw s1", {"dawn": [(1,)]}, "spc"),
    "guard and witch do not both save": ("hw gw", {"attacked": [()], "dawn": [(1,)]}, "pc"),
    "then she keeps the antidote": ("h6 g6, h7 s1", {"attacked": [(), (7,)], "dawn": [(1,), (2,)]}, "spc"),
    "without antidote she is not told the victim": ("h6 s1, h7", {"attacked": [(6,)], "dawn": [(1,), (2, 7)]}, "pc"),
    "a refused antidote is kept": ("h6 s0, h7 s1", {"attacked": [(6,), (7,)], "dawn": [(1, 6), (2,)]}, "spc"),
    "the poison is used once": ("p7, ", {"dawn": [(1, 7), (2,)]}, "c"),
    "without antidote she may poison": ("h6 s1, p2", {"dawn": [(1,), (2, 2)]}, "pc"),
    "she may save and poison in one night": ("h6 s1 p0", {"dawn": [(1, 0)]}, "spc"),
    "even the same player": ("h6 s1 p6", {"dawn": [(1, 6)]}, "spc"),
    "both deaths are told in seat order": ("h7 p0", {"dawn": [(1, 0, 7)]}, "spc"),
    "victim and poisoned may be the same": ("h6 p6", {"dawn": [(1, 6)]}, "spc"),
    "a witch who does not save herself does not poison": ("hw s0", {"dawn": [(1, WITCH)]}, "sc"),
    "a witch killed without antidote does not poison": (
        "h6 s1, hw",
        {"dawn": [(1,), (2, WITCH)]},
        "c",
        "paper official",
    ),
    "or does": ("h6 s1, hw p0", {"dawn": [(1,), (2, 0, WITCH)]}, "pc", "reference"),
    "a pass of the seer checks nobody": ("", {"checked": []}, "pc"),
    "a seer killed by wolves does not check": ("he", {"dawn": [(1, SEER)]}, "sp"),
    "a seer who is poisoned does not check": ("pe", {"dawn": [(1, SEER)]}, "p"),
    "a seer who was guarded checks": ("he ge c1", {"checked": [(1, 1)]}, "pc"),
    "a seer who was saved checks": ("he s1 c6", {"checked": [(6, 0)]}, "spc"),
}
LETTERS = {"h": "hunt", "g": "protect", "s": "save", "p": "poison", "c": "check"}
SEATS = {"w": WITCH, "e": SEER, "u": GUARD, "-": None} | {str(j): j for j in range(8)}


@pytest.mark.parametrize("rule", NIGHTS)
def test_a_night_ends_as_the_rule_says(rule):
    nights, announced, asked, *presets = NIGHTS[rule]
    for preset in presets[0].split() if presets else PRESETS:
        game = table(preset)
        s = deal(game)
        for number, acts in enumerate(nights.split(",")):
            seats = {LETTERS[act[0]]: tuple(SEATS[seat] for seat in act[1:]) for act in acts.split()}
            given_acts = {kind: aims if len(aims) > 1 else aims[0] for kind, aims in seats.items()}
            s, order = night(game, day(game, s) if number else s, **given_acts)
        assert {kind: args_of(s, kind) for kind in announced} == announced, preset
        assert order[:4] == [*((wolf, "hunt") for wolf in WOLVES), (GUARD, "protect")]
        assert order[4:] == [(SEER if letter == "c" else WITCH, LETTERS[letter]) for letter in asked], preset
        hears = {"wolves": WOLVES, "attacked": (WITCH,), "checked": (SEER,)}
        assert all(e.to == hears[e.move.kind] for e in s.log if e.move.kind in hears)


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
    assert all(args_of(s, "recommend", seat) == [] for seat in range(3, 8))


def test_a_dead_wolf_hears_no_more():
    game = table()
    s = day(game, night(game, deal(game)).state, everybody=0)
    s = night(game, s, hunt=7).state
    assert args_of(s, "wolves", seat=0) == [()]  # of the first night
    assert args_of(s, "wolves", seat=1) == args_of(s, "wolves", seat=2) == [(), (7,)]


def test_a_lone_wolf_does_not_talk():
    game = table(num_players=6, roles=("Werewolf", *("Villager",) * 5), talk=True)
    assert game.legal(deal(game))[0].kind == "hunt"


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
    assert args_of(game.apply(s, Move("draw", (7,))), "wolves") == [(7,)]
    assert args_of(game.apply(s, Move("draw")), "wolves") == [()]
    for bad in (Move("draw", (0,)), Move("draw", (6, 7)), Move("hunt", (6,)), Move("draw", (-2,))):
        with pytest.raises(IllegalMove, match="draws none of the tied"):
            game.apply(s, bad)


@pytest.mark.parametrize(("rules", "allowed"), [("paper", True), ("reference", True), ("official", False)])
def test_wolves_may_hunt_wolves_but_in_official(rules, allowed):
    game = table(rules)
    targets = {m.args[0] for m in game.legal(deal(game)) if m.args}
    assert targets == (set(range(8)) if allowed else {3, 4, 5, 6, 7})


@pytest.mark.parametrize(("rules", "seen"), [("paper", False), ("reference", True), ("official", False)])
def test_reference_later_wolves_see_earlier_votes(rules, seen):
    game = table(rules)
    s = game.apply(deal(game), Move("hunt", (6,)))
    assert args_of(s, "hunt", seat=0) == [(6,)]
    assert args_of(s, "hunt", seat=1) == args_of(s, "hunt", seat=2) == ([(6,)] if seen else [])
    assert all(args_of(s, "hunt", seat) == [] for seat in range(3, 8))


# -- the guard -------------------------------------------------------------------------------------------------


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


# -- the seer --------------------------------------------------------------------------------------------------


def test_the_seer_alone_learns_whether_one_player_is_a_werewolf():
    game = table()
    s = night(game, deal(game), check=0).state
    s = night(game, day(game, s), check=6).state
    assert [e.to for e in s.log if e.move.kind == "checked"] == [(SEER,), (SEER,)]
    assert args_of(s, "checked") == [(0, 1), (6, 0)]
    assert game.view(s, SEER).checks == ((0, True), (6, False))
    assert all(game.view(s, seat).checks == () for seat in range(8) if seat != SEER)


def test_the_seer_does_not_check_himself_nor_the_dead():
    game = table()
    s = day(game, night(game, deal(game), hunt=6).state)
    while game.legal(s)[0].kind != "check":
        s = game.apply(s, game.legal(s)[0])
    assert {m.args for m in game.legal(s)} == {(), *((j,) for j in (0, 1, 2, 3, 4, 7))}


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
    assert args_of(s, "revealed") == [(0, game.wolf), (6, villager)]
    s = day(game, s, everybody=1)
    s = night(game, s, hunt=WITCH).state
    assert living(s) == {2, 4, 5, 7}
    assert len(args_of(s, "revealed")) == 2
    assert witch not in [role for _, role in args_of(s, "revealed")]


def test_official_the_roles_of_all_dead_are_revealed_the_executed_ones_after_the_last_words():
    game = table("official", talk=True)
    s = day(game, voting(game), everybody=0)
    assert args_of(s, "revealed") == []
    s = game.apply(s, Move("silent"))
    assert args_of(s, "revealed") == [(0, game.wolf)]
    while not args_of(s, "dawn")[1:]:
        legal = game.legal(s)
        s = game.apply(s, Move("hunt", (7,)) if legal[0].kind == "hunt" else legal[0])
    assert args_of(s, "revealed") == [(0, game.wolf), (7, game.role_names.index("Villager"))]


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
        assert args_of(s, "day")[-1] == (number, expected[0])
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
        assert all(args_of(s, kind) == [] for kind in ("vote", "votes")), seat
    s = game.apply(s, Move("vote"))
    assert args_of(s, "votes") == [(1, 7, 7, 7, 7, 7, 7, 7, -1)]
    assert args_of(s, "vote") == []


def test_reference_votes_are_public_as_they_are_cast():
    game = table("reference")
    s = night(game, deal(game)).state
    s = game.apply(game.apply(s, Move("vote", (7,))), Move("vote"))
    assert [(e.seat, e.move.args, e.to) for e in s.log if e.move.kind == "vote"] == [(0, (7,), None), (1, (), None)]


@pytest.mark.parametrize(
    ("votes", "executed"),
    [
        ((7, 7, 7, 0, 0, None, 1, 2), (7,)),
        ((None,) * 8, ()),  # all pass
        ((7, 7, 7, 0, 0, 0, None, None), ()),  # two players tied
        ((7, 7, 7, None, None, None, 0, 1), ()),  # tied with pass
        ((7, 7, None, None, None, 0, 1, 2), ()),  # most pass
    ],
)
@pytest.mark.parametrize("rules", PRESETS)
def test_most_votes_execute_and_a_tie_or_most_passes_nobody(rules, votes, executed):
    game = table(rules)
    s = day(game, night(game, deal(game)).state, *votes)
    assert args_of(s, "executed") == [executed]
    assert args_of(s, "votes") == [(1, *(-1 if vote is None else vote for vote in votes))]
    assert living(s) == set(range(8)) - set(executed)
    assert args_of(s, "night") == [(1,), (2,)]


def test_a_vote_for_oneself_counts_and_the_dead_are_not_voted_for():
    game = table()
    s = night(game, deal(game), hunt=7).state
    assert {m.args for m in game.legal(s)} == {(), *((j,) for j in range(7))}
    s = day(game, s, 0, None, None, None, None, None, 6)
    assert args_of(s, "votes") == [(1, 0, -1, -1, -1, -1, -1, 6, -2)]
    s = day(game, night(game, s).state, 0, None, None, 0, 0, 0, None)
    assert args_of(s, "executed")[-1] == (0,)


def test_the_executed_speaks_last_words_and_then_moves_no_more():
    game = table(talk=True)
    s = day(game, voting(game), everybody=6)
    assert game.actor(s) == 6
    assert not game.view(s, 6).alive[6]
    assert {m.kind for m in game.legal(s)} == set(ACTS)
    s = game.apply(s, Move("accuse", (0,), "It was player_0!"))
    assert args_of(s, "night") == [(1,), (2,)]
    actors = set()
    while not args_of(s, "executed")[1:]:
        actors.add(game.actor(s))
        s = game.apply(s, game.legal(s)[0])
    assert actors == set(range(8)) - {6}


# -- the end ---------------------------------------------------------------------------------------------------

# nights and the votes after them, h hunt, p poison, s save, v the vote of all | who wins, and why; None: the game goes on
SMALL = ("Werewolf", "Witch", *("Villager",) * 4)
ENDS = {
    "the village wins when no wolf lives": ("", "v0", ("village", "wolves_dead")),
    "even if the last wolf is poisoned in a night in which it kills": ("", "h2p0", ("village", "wolves_dead")),
    "the village wins when nobody is left": ("reference", "h2s1 v2 v3 v4 v5 h1p0", ("village", "wolves_dead")),
    "one wolf and one villager go on": ("paper reference", "h1v2 h3v4", None),
    "the wolves win when nobody else lives": ("paper reference", "h1v2 h3v4 h5", ("werewolf", "village_dead")),
    "or, official, at parity": ("official", "h1v2 h3v4", ("werewolf", "parity")),
    "one of three is no parity": ("official", "h1v2 h3", None),
}


@pytest.mark.parametrize("rule", ENDS)
def test_the_game_ends_as_the_rule_says(rule):
    """Seat 0 is the wolf, 1 the witch; the others are villagers."""
    presets, course, end = ENDS[rule]
    for preset in presets.split() or PRESETS:
        game = table(preset, num_players=6, roles=SMALL)
        s = deal(game)
        for turn in course.split():
            acts = {letter: int(seat) for letter, seat in zip(turn[::2], turn[1::2], strict=True)}
            vote = acts.pop("v", None)
            s = night(game, s, **{LETTERS[letter]: seat for letter, seat in acts.items()}).state
            s = s if vote is None else day(game, s, everybody=vote)
        outcome = game.outcome(s)
        assert (outcome and (outcome.winner, outcome.reason)) == end, preset
        assert (game.actor(s) == OVER) == (end is not None)
        if end:
            wolf = 1.0 if end[0] == "werewolf" else -1.0
            assert outcome.returns == (wolf, *(-wolf,) * 5)
            with pytest.raises(IllegalMove, match=rf"the game is over \({end[1]}\)"):
                game.apply(s, Move("vote"))


def test_official_two_of_four_are_parity_and_two_of_five_are_not():
    game = table("official", num_players=6)
    s = night(game, deal(game), hunt=5).state
    assert game.outcome(s) is None
    assert game.outcome(day(game, s, everybody=4)).reason == "parity"


def test_the_winner_is_looked_for_after_the_last_words():
    game = table(num_players=6, roles=SMALL, talk=True)
    s = day(game, voting(game), everybody=0)
    assert game.outcome(s) is None
    assert game.outcome(game.apply(s, Move("claim_role", (0,)))).winner == "village"


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("days", [1, 20])
def test_after_the_last_day_the_game_is_a_draw(rules, days):
    game = table(rules, max_days=days)
    s = deal(game)
    for number in range(days):
        assert game.outcome(s) is None
        assert game.view(s, 0).day == number + 1
        s = day(game, night(game, s).state)
    assert game.outcome(s) == Outcome((0.0,) * 8, "draw", "days")
