"""Werewolf's rules, one by one (decisions 1.7; the points on which presets differ are those of `presets.py`).

The table of eight unless something else is said, and no talk: seats 0-2 werewolves, 3 witch, 4 guard, 5 seer, 6 and 7
villagers; they talk and vote in seat order.
"""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import NATURE, OVER, IllegalMove, Move, Outcome, ParlourError
from parlour.envs.werewolf.options import default_roles
from parlour.envs.werewolf.presets import PLAYERS, PRESETS
from parlour.envs.werewolf.vocabulary import ACTS, WHISPERS

from tests.envs.hidden_roles.played_by_hand import Course

WOLVES, WITCH, GUARD, SEER = (0, 1, 2), 3, 4, 5
NIGHT_KINDS = ("hunt", "protect", "save", "poison", "check")
PASSES = {"save": Move("save", (0,))}


class Village(Course):
    """A game in which the seats have the roles in the order of the box: the wolves first."""

    def __init__(self, rules: str = "paper", order: tuple[int, ...] | None = None, **options: Any) -> None:
        self.game = registry["werewolf_v0"].raw_env(rules=rules, **{"talk": False, **options}).game
        self.state = self.game.initial()
        self.asked: list[tuple[int, str]] = []
        """Who was asked what in the last night."""
        self.do(Move("deal", (*self.game.deck, *(order or range(self.game.seats)))))

    @property
    def now(self) -> str:
        """The kind of the first legal move; empty where no seat is to move."""
        return self.legal[0].kind if self.actor >= 0 else ""

    def night(self, **acts: Any) -> Village:
        """One night: `hunt=6` for all wolves or `hunt=(6, 7, None)` wolf by wolf; what is left out is passed."""
        self.asked = []
        hunts = acts.pop("hunt", None)
        wolves = iter(hunts if isinstance(hunts, tuple) else ())
        while (kind := self.now) in NIGHT_KINDS:
            self.asked.append((self.actor, kind))
            wanted = acts.get(kind)
            if kind == "hunt":
                wanted = next(wolves) if isinstance(hunts, tuple) else hunts
            self.do(PASSES.get(kind, Move(kind)) if wanted is None else Move(kind, (int(wanted),)))
        assert set(acts) <= {kind for _, kind in self.asked}, "an act that was given was not asked for"
        return self

    def day(self, *votes: int | None, everybody: int | None = None) -> Village:
        """One vote: the votes in the order of voting, or one for everybody."""
        given_votes = iter(votes)
        while self.now == "vote":
            vote = next(given_votes) if votes else everybody
            self.do(Move("vote", () if vote is None else (vote,)))
        return self

    def until(self, kind: str) -> Village:
        """First legal moves until one of a kind may be made."""
        while kind not in self.kinds:
            self.do(self.legal[0])
        return self

    @property
    def living(self) -> set[int]:
        return {j for j, alive in enumerate(self.state.standing.alive) if alive}

    @property
    def targets(self) -> set[tuple[int, ...]]:
        return {move.args for move in self.legal}

    def told(self, kind: str, seat: int | None = None) -> list[tuple[int, ...]]:
        """The arguments of all announcements or moves of a kind, those seen by a seat only if one is given."""
        log = self.state.log
        return [e.move.args for e in log if e.move.kind == kind and (seat is None or e.to is None or seat in e.to)]

    def heard_by(self, kind: str) -> list[Any]:
        return [e.to for e in self.state.log if e.move.kind == kind]


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
def test_no_first_night_ends_a_game_of_four_or_five(players):
    for hunted in (None, *range(1, players)):
        assert Village("official", num_players=players).night(hunt=hunted).outcome is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 3}, "num_players 3 is not accepted; accepted: 4..15"),
        ({"num_players": True}, "num_players True is not accepted"),
        ({"rules": "house"}, "rules 'house' is not accepted; accepted: paper, reference, official"),
        ({"talk": 1}, "talk 1 is not accepted; accepted: True, False"),
        ({"max_days": 0}, r"max_days 0 is not accepted; accepted: 1\.\.20"),
        ({"max_days": 21}, "max_days 21 is not accepted"),
        ({"roles": "Werewolf"}, "roles 'Werewolf' is not accepted; accepted: None, hunter, or a list of: Werewolf"),
        (
            {"roles": ("Werewolf", "Mayor", *("Villager",) * 6)},
            "roles 'Mayor' is not accepted; accepted: None, hunter, or a list of: Werewolf",
        ),
        ({"roles": ("Werewolf", *("Villager",) * 6)}, r"are 7; accepted: one for each of 8 players"),
        ({"roles": ("Werewolf", "Seer", "Seer", *("Villager",) * 5)}, "hold 2 x Seer; accepted: at most one"),
        ({"roles": ("Werewolf", "Hunter", "Hunter", *("Villager",) * 5)}, "hold 2 x Hunter; accepted: at most one"),
        ({"roles": "hunter"}, r"are 9; accepted: one for each of 8 players"),
        ({"seer": "card"}, "seer 'card' is not accepted; accepted: side, character"),
        ({"roles": ("Villager",) * 8}, "hold 0 x Werewolf; accepted: 1 to 3"),
        ({"roles": ("Werewolf",) * 4 + ("Villager",) * 4}, "hold 4 x Werewolf; accepted: 1 to 3"),
    ],
)
def test_a_table_that_cannot_be_played_is_refused_with_what_is_accepted(options, message):
    with pytest.raises(ParlourError, match=message):
        registry["werewolf_v0"].raw_env(**options)


def test_the_deal_gives_each_seat_a_role_and_draws_one_order_of_talk():
    game = Village().game
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
        village = Village(preset)
        for acts in nights.split(","):
            seats = {LETTERS[act[0]]: tuple(SEATS[seat] for seat in act[1:]) for act in acts.split()}
            village.day().night(**{kind: aims if len(aims) > 1 else aims[0] for kind, aims in seats.items()})
        assert {kind: village.told(kind) for kind in announced} == announced, preset
        assert village.asked[:4] == [*((wolf, "hunt") for wolf in WOLVES), (GUARD, "protect")]
        assert village.asked[4:] == [(SEER if letter == "c" else WITCH, LETTERS[letter]) for letter in asked], preset
        for kind, seats in {"wolves": WOLVES, "attacked": (WITCH,), "checked": (SEER,)}.items():
            assert set(village.heard_by(kind)) <= {seats}


def test_dead_players_do_not_act():
    """The witch poisons the guard, the wolves kill the seer, a wolf is executed: night 2 has two wolves and a witch."""
    village = Village().night(hunt=SEER, poison=GUARD).day(everybody=0)
    assert village.living == {1, 2, 3, 6, 7}
    assert village.night(hunt=6).asked == [(1, "hunt"), (2, "hunt"), (3, "save")]


def test_roles_that_are_not_in_play_are_skipped():
    village = Village(num_players=6, roles=("Werewolf", *("Villager",) * 5)).night(hunt=1)
    assert village.asked == [(0, "hunt")]
    assert village.living == {0, 2, 3, 4, 5}


# -- the wolves ------------------------------------------------------------------------------------------------


def test_wolves_know_each_other_and_nobody_else_knows_anything():
    fellows = [((("Werewolf",), seats),) for seats in ((1, 2), (0, 2), (0, 1))]
    assert [Village().view(seat).knows for seat in range(8)] == [*fellows, *[()] * 5]


def test_wolves_talk_in_seat_order_before_they_vote_and_only_living_wolves_hear_it():
    village, spoken = Village(talk=True), []
    while village.kinds <= set(WHISPERS):
        spoken.append(village.actor)
        village.do(Move("recommend", (6,), "him!"))
    assert spoken == list(WOLVES)
    assert village.now == "hunt"
    assert village.heard_by("recommend") == [WOLVES] * 3


def test_a_dead_wolf_hears_no_more():
    village = Village().night().day(everybody=0).night(hunt=7)
    assert village.told("wolves", 0) == [()]  # of the first night
    assert village.told("wolves", 1) == village.told("wolves", 2) == [(), (7,)]


def test_a_lone_wolf_does_not_talk():
    assert Village(num_players=6, roles=("Werewolf", *("Villager",) * 5), talk=True).now == "hunt"


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_a_tied_hunt_is_drawn_among_the_tied_nobody_being_one_of_them(rules):
    village = Village(rules).do(Move("hunt", (6,)), Move("hunt"), Move("hunt", (7,)))
    game, s = village.game, village.state
    assert village.actor == NATURE
    drawn = Counter(game.nature(s, np.random.default_rng(seed)).args for seed in range(300))
    assert set(drawn) == {(), (6,), (7,)}
    assert min(drawn.values()) > 70  # of 100 expected; standard deviation 8.2
    for bad in (Move("draw", (0,)), Move("draw", (6, 7)), Move("hunt", (6,)), Move("draw", (-2,))):
        with pytest.raises(IllegalMove, match="draws none of the tied"):
            game.apply(s, bad)
    for args in ((7,), ()):
        village.state = game.apply(s, Move("draw", args))
        assert village.told("wolves") == [args]


@pytest.mark.parametrize(("rules", "allowed"), [("paper", True), ("reference", True), ("official", False)])
def test_wolves_may_hunt_wolves_but_in_official(rules, allowed):
    assert Village(rules).targets == {(), *((j,) for j in range(0 if allowed else 3, 8))}


@pytest.mark.parametrize(("rules", "seen"), [("paper", False), ("reference", True), ("official", False)])
def test_reference_later_wolves_see_earlier_votes(rules, seen):
    village = Village(rules).do(Move("hunt", (6,)))
    sees = [bool(village.told("hunt", seat)) for seat in range(8)]
    assert sees == [True, seen, seen, *[False] * 5]


# -- guard and seer --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["paper", "official"])
@pytest.mark.parametrize("between", [7, None])
def test_the_guard_does_not_protect_the_same_player_in_two_nights_running(rules, between):
    village = Village(rules).night(protect=6).day().until("protect")
    assert village.targets == {(), *((j,) for j in range(8) if j != 6)}
    with pytest.raises(IllegalMove, match=r"protect \[6\] is not accepted"):
        village.do(Move("protect", (6,)))
    # another one in between, or nobody: then he may again
    village.do(Move("protect", () if between is None else (between,))).night().day().night(hunt=6, protect=6)
    assert 6 in village.living


def test_the_seer_alone_learns_whether_one_player_is_a_werewolf():
    village = Village().night(check=0).day().night(check=6)
    assert village.told("checked") == [(0, 1), (6, 0)]
    assert village.heard_by("checked") == [(SEER,), (SEER,)]
    checks = [village.view(seat).checks for seat in range(8)]
    assert checks == [((0, True), (6, False)) if seat == SEER else () for seat in range(8)]


def test_the_seer_does_not_check_himself_nor_the_dead():
    assert Village().night(hunt=6).day().until("check").targets == {(), *((j,) for j in (0, 1, 2, 3, 4, 7))}


def test_what_a_power_has_left_or_did_is_seen_by_its_holder_alone():
    """What else nobody learns of others is checked for all games at once, by `test_redeal.py`."""
    village = Village().night(protect=6, poison=7)
    powers = {seat: (view.antidote, view.poison, view.guarded) for seat in range(8) if (view := village.view(seat))}
    assert powers == dict.fromkeys(range(8), (None, None, None)) | {WITCH: (True, False, None), GUARD: (None, None, 6)}


# -- dawn ------------------------------------------------------------------------------------------------------


def test_by_night_nobody_sees_who_has_died_before_dawn():
    village = Village().do(*(Move("hunt", (6,)),) * 3, Move("protect"), Move("save", (0,)), Move("poison", (7,)))
    assert village.view(6).alive == (True,) * 8
    assert village.do(Move("check")).living == set(range(6))


@pytest.mark.parametrize("rules", ["paper", "reference"])
def test_roles_are_revealed_only_after_the_first_night(rules):
    village = Village(rules).night(hunt=6, poison=0)
    first = [(0, village.game.wolf), (6, village.game.role_names.index("Villager"))]
    assert village.told("revealed") == first
    village.day(everybody=1).night(hunt=WITCH)
    assert village.living == {2, 4, 5, 7}
    assert village.told("revealed") == first


def test_official_the_roles_of_all_dead_are_revealed_the_executed_ones_after_the_last_words():
    village = Village("official", talk=True).until("vote").day(everybody=0)
    executed, killed = (0, village.game.wolf), (7, village.game.role_names.index("Villager"))
    assert village.told("revealed") == []
    assert village.do(Move("silent")).told("revealed") == [executed]
    village.until("hunt").night(hunt=7)
    assert village.told("revealed") == [executed, killed]


# -- the day ---------------------------------------------------------------------------------------------------


def test_the_living_speak_once_and_then_vote_in_the_order_drawn_with_the_roles_every_day():
    order = (5, 0, 7, 2, 4, 6, 1, 3)
    village = Village(order=order, talk=True)
    for number in (1, 2):
        village.until("hunt").night(hunt=7 if number == 1 else None)
        expected = [j for j in order if j != 7]
        assert village.told("day")[-1] == (number, expected[0])
        for kind in ("silent", "vote"):
            seen = []
            while village.now == kind and len(seen) < 7:
                seen.append(village.actor)
                village.do(village.legal[0])
            assert seen == expected


def test_everybody_may_say_any_claim_about_others():
    kinds = Counter(move.kind for move in Village(talk=True).until("report").legal)
    # 7 others to accuse and to defend, 5 roles to claim, 7 others to report as good or evil
    assert kinds == {"silent": 1, "accuse": 7, "defend": 7, "claim_role": 5, "report": 14}
    assert tuple(kinds) == ACTS


@pytest.mark.parametrize(
    "options", [{"rules": "paper"}, {"rules": "official"}, {"rules": "reference", "votes": "together"}]
)
def test_votes_are_secret_until_all_are_in(options):
    village = Village(**options).night()
    for seat in range(7):
        village.do(Move("vote", (7,)))
        assert village.told("vote") == village.told("votes") == [], seat
    village.do(Move("vote"))
    assert village.told("votes") == [(1, 7, 7, 7, 7, 7, 7, 7, -1)]
    assert village.told("vote") == []


@pytest.mark.parametrize("options", [{"rules": "reference"}, {"rules": "paper", "votes": "as_cast"}])
def test_votes_are_public_as_they_are_cast(options):
    s = Village(**options).night().do(Move("vote", (7,)), Move("vote")).state
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
    village = Village(rules).night().day(*votes)
    assert village.told("executed") == [executed]
    assert village.told("votes") == [(1, *(-1 if vote is None else vote for vote in votes))]
    assert village.living == set(range(8)) - set(executed)
    assert village.told("night") == [(1,), (2,)]


def test_a_vote_for_oneself_counts_and_the_dead_are_not_voted_for():
    village = Village().night(hunt=7)
    assert village.targets == {(), *((j,) for j in range(7))}
    village.day(0, None, None, None, None, None, 6)
    assert village.told("votes") == [(1, 0, -1, -1, -1, -1, -1, 6, -2)]
    assert village.night().day(0, None, None, 0, 0, 0, None).told("executed")[-1] == (0,)


def test_the_executed_speaks_last_words_and_then_moves_no_more():
    village = Village(talk=True).until("vote").day(everybody=6)
    assert village.actor == 6
    assert not village.view(6).alive[6]
    assert village.kinds == set(ACTS)
    village.do(Move("accuse", (0,), "It was player_0!"))
    assert village.told("night") == [(1,), (2,)]
    actors = set()
    while not village.told("executed")[1:]:
        actors.add(village.actor)
        village.do(village.legal[0])
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
        village = Village(preset, num_players=6, roles=SMALL)
        for turn in course.split():
            acts = {letter: int(seat) for letter, seat in zip(turn[::2], turn[1::2], strict=True)}
            vote = acts.pop("v", None)
            village.night(**{LETTERS[letter]: seat for letter, seat in acts.items()})
            if vote is not None:
                village.day(everybody=vote)
        outcome = village.outcome
        assert (outcome and (outcome.winner, outcome.reason)) == end, preset
        assert (village.actor == OVER) == (end is not None)
        if outcome and end:
            wolf = 1.0 if end[0] == "werewolf" else -1.0
            assert outcome.returns == (wolf, *(-wolf,) * 5)
            with pytest.raises(IllegalMove, match=rf"the game is over \({end[1]}\)"):
                village.do(Move("vote"))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_view_has_the_rules_of_its_table(preset):
    game, rules = registry["werewolf_v0"].raw_env(rules=preset).game, PRESETS[preset]
    view = game.view(game.initial(), 0)
    assert view.parity == (rules.wolves_win == "parity")
    assert view.reveals_all == (rules.reveals == "all")
    assert view.guard_may_repeat == rules.guard_may_repeat


def test_official_two_of_four_are_parity_and_two_of_five_are_not():
    village = Village("official", num_players=6).night(hunt=5)
    assert village.outcome is None
    assert village.day(everybody=4).outcome.reason == "parity"


def test_the_winner_is_looked_for_after_the_last_words():
    village = Village(num_players=6, roles=SMALL, talk=True).until("vote").day(everybody=0)
    assert village.outcome is None
    assert village.do(Move("claim_role", (0,))).outcome.winner == "village"


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("days", [1, 20])
def test_after_the_last_day_the_game_is_a_draw(rules, days):
    village = Village(rules, max_days=days)
    for number in range(days):
        assert village.outcome is None
        assert village.view().day == number + 1
        village.night().day()
    assert village.outcome == Outcome((0.0,) * 8, "draw", "days")


# -- the hunter (decisions 1.7) --------------------------------------------------------------------------------

HUNTER = 5
"""His seat at the table of nine: wolves 0-2, witch 3, seer 4, villagers 6-8."""


def hunters(rules: str = "paper", **options: Any) -> Village:
    return Village(rules, **{"num_players": 9, "roles": "hunter", **options})


def since_dawn(village: Village) -> list[tuple[str, tuple[int, ...]]]:
    """What everybody was shown since the last morning."""
    kinds = [event.move.kind for event in village.state.log]
    last = len(kinds) - 1 - kinds[::-1].index("dawn")
    return [(event.move.kind, event.move.args) for event in village.state.log[last:] if event.to is None]


def test_the_usual_table_with_a_hunter_has_nine_seats_and_no_guard():
    roles = ("Werewolf",) * 3 + ("Witch", "Seer", "Hunter") + ("Villager",) * 3
    assert hunters().game.roles == roles
    assert hunters().game.config["roles"] == list(roles)
    assert hunters(roles=roles[::-1]).game.roles == roles


def test_a_hunter_whom_the_wolves_kill_shoots_before_the_day_begins():
    village = hunters("official").night(hunt=HUNTER)
    assert (village.actor, village.kinds) == (HUNTER, {"shoot"})
    assert village.targets == {(), *((j,) for j in range(9) if j != HUNTER)}
    village.do(Move("shoot", (0,)))
    assert since_dawn(village)[:5] == [
        ("dawn", (1, HUNTER)),
        ("revealed", (HUNTER, 3)),
        ("hunter", (HUNTER,)),
        ("shoot", (0,)),
        ("revealed", (0, 0)),
    ]
    assert village.living == set(range(9)) - {0, HUNTER}
    assert village.heard_by("shoot") == [None]
    assert village.now == "vote"


def test_a_hunter_who_is_executed_shoots_after_last_words_before_the_night():
    village = hunters("official", talk=True).until("vote").day(everybody=HUNTER)
    assert village.now == "silent"
    village.do(Move("silent"))
    assert (village.actor, village.kinds) == (HUNTER, {"shoot"})
    village.do(Move("shoot", (1,)))
    assert since_dawn(village)[-6:] == [
        ("silent", ()),
        ("revealed", (HUNTER, 3)),
        ("hunter", (HUNTER,)),
        ("shoot", (1,)),
        ("revealed", (1, 0)),
        ("night", (2,)),
    ]


def test_who_passes_shoots_nobody_and_has_shown_the_card():
    village = hunters().night().day().night(hunt=HUNTER).do(Move("shoot"))
    assert (village.told("hunter"), village.told("revealed")) == ([(HUNTER,)], [])
    assert village.living == set(range(9)) - {HUNTER}
    assert village.heard_by("shoot") == [None]


@pytest.mark.parametrize(
    "acts", [{"poison": HUNTER}, {"hunt": HUNTER, "save": 0, "poison": HUNTER}, {"hunt": HUNTER, "save": 1}]
)
def test_a_hunter_who_is_poisoned_or_saved_does_not_shoot(acts):
    village = hunters().night(**acts)
    assert (HUNTER in village.living) == (acts.get("save") == 1)
    assert village.now == "vote"
    assert village.told("hunter") == []


def test_paper_shows_who_was_shot_on_the_first_morning_and_nobody_later():
    assert hunters().night(hunt=HUNTER).do(Move("shoot", (6,))).told("revealed") == [(HUNTER, 3), (6, 4)]
    assert hunters().night().day(everybody=HUNTER).do(Move("shoot", (6,))).told("revealed") == []
    assert hunters().night().day().night(hunt=HUNTER).do(Move("shoot", (6,))).told("revealed") == []


@pytest.mark.parametrize(("shot", "end"), [((0,), ("village", "wolves_dead")), ((), ("werewolf", "parity"))])
def test_the_winner_is_looked_for_after_the_shot(shot, end):
    """The wolf 0 and the villager 4 are left of five when the hunter 1 dies: parity, unless he shoots the wolf."""
    village = hunters("official", num_players=5, roles=("Werewolf", "Hunter", *("Villager",) * 3))
    village.night(hunt=2).day(everybody=3).night(hunt=1)
    assert village.outcome is None
    outcome = village.do(Move("shoot", shot)).outcome
    assert (outcome.winner, outcome.reason) == end


def test_a_shot_on_the_last_day_comes_before_the_draw():
    village = hunters(max_days=1).night().day(everybody=HUNTER).do(Move("shoot", (0,)))
    assert (0 in village.living, village.outcome.reason) == (False, "days")


def test_action_numbers_of_a_table_with_a_hunter_begin_as_without():
    with_guard = ("Werewolf", "Werewolf", "Guard", "Seer", *("Villager",) * 3)
    with_hunter = tuple("Hunter" if role == "Guard" else role for role in with_guard)
    first, other = (Village(num_players=7, roles=roles).game.catalogue for roles in (with_guard, with_hunter))
    assert other[: len(first)] == first
    assert [move.kind for move in other[len(first) :]] == ["shoot"] * 8


# -- what the seer sees ----------------------------------------------------------------------------------------


def test_a_seer_sees_the_side_or_the_character():
    for options, seen in (({}, (3, 0)), ({"seer": "character"}, (3, 0, 1))):
        village = Village(**options).night(check=WITCH)
        assert village.told("checked", SEER) == [seen]
        assert village.heard_by("checked") == [(SEER,)]
        assert village.view(SEER).checks == ((WITCH, False),)
