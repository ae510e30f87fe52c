"""Single points of Avalon's rules that a table may have of its own, and another role than the Assassin that names Merlin."""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs import batch
from parlour.envs.avalon import GAME
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.core import NATURE, Knowledge, Move, ParlourError
from parlour.policies.agents.avalon.lines import introduction_of
from parlour.policies.agents.avalon.seat import AvalonSituation

from tests.envs.hidden_roles.played_by_hand import A, AvalonPlay, D, G, M, N, O, P, S

FIVE = (M, S, S, A, N)
SIX = (M, P, S, S, G, D)


def refused(**options: Any) -> str:
    with pytest.raises(ParlourError) as error:
        GAME.build(GAME.options(**options))
    assert "\n" not in str(error.value)
    return str(error.value)


def lines(play: AvalonPlay, seat: int) -> list[str]:
    """What a seat has read, line by line."""
    return [play.text.line(event).removesuffix("\n") for event in play.view(seat).events]


def test_the_config_names_an_option_only_where_it_was_given():
    plain = {"num_players": 6, "rules": "official", "roles": [M, P, S, S, G, A], "talk": True}
    assert GAME.build(GAME.options(num_players=6, rules="official")).config == plain
    given = {"guesser": G, "sizes": [2, 2, 2, 3, 3], "two_fails": False}
    assert GAME.build(GAME.options(num_players=6, rules="official", **given)).config == plain | given
    assert (
        GAME.build(GAME.options(num_players=6, rules="official", **given | {"sizes": (2, 2, 2, 3, 3)})).config
        == plain | given
    )


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"rules": "multi_round"}, "rules 'multi_round' is not accepted; accepted: paper, reference, official"),
        ({"two_fails": 1}, "two_fails 1 is not accepted; accepted: None, True, False"),
        ({"sizes": [2, 3]}, "sizes (2, 3) is not accepted; accepted: None, or a list of 5, each 1..10"),
        ({"sizes": "23234"}, "sizes '23234' is not accepted; accepted: None, or a list of 5, each 1..10"),
        ({"sizes": [2, 3, 4, 3, 7]}, "sizes (2, 3, 4, 3, 7) is not accepted; accepted: None, or 5 whole numbers 1..6"),
        ({"sizes": [0, 3, 4, 3, 4]}, "sizes 0 is not accepted; accepted: None, or a list of 5, each 1..10"),
        ({"sizes": [2, 3.0, 4, 3, 4]}, "sizes 3.0 is not accepted; accepted: None, or a list of 5, each 1..10"),
        (
            {"guesser": M},
            "guesser 'Merlin' is not accepted; accepted: None, Morgana, Assassin, Mordred, Oberon, Minion",
        ),
        ({"majority": "two thirds"}, "majority 'two thirds' is not accepted; accepted: None, half, strict"),
        ({"hunt": "never"}, "hunt 'never' is not accepted; accepted: None, each_quest, end"),
        ({"guesser": O}, "hold 0 x Oberon; accepted: exactly one, or another guesser"),
        ({"roles": SIX, "rules": "official"}, "hold 0 x Assassin; accepted: exactly one, or another guesser"),
        ({"num_players": 7, "roles": (M, P, S, S, D, N, N), "guesser": N}, "hold 2 x Minion"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(options, reason):
    assert reason in refused(**options)


def test_two_fails_and_sizes_are_options():
    play = AvalonPlay((M, P, S, S, G, A, N), "paper", two_fails=True, sizes=(2, 3, 3, 4, 4))
    assert play.game.fails_needed == (1, 1, 1, 2, 1)
    play = AvalonPlay((M, P, S, S, G, A, N), "official", two_fails=False, sizes=(1, 2, 3, 4, 7), talk=False)
    assert (play.game.fails_needed, play.game.sizes) == ((1, 1, 1, 1, 1), (1, 2, 3, 4, 7))
    assert {len(move.args) for move in play.legal} == {1}


@pytest.mark.parametrize(
    ("rules", "options", "goes"),
    [
        ("paper", {}, True),
        ("paper", {"majority": "strict"}, False),
        ("official", {}, False),
        ("official", {"majority": "half"}, True),
    ],
)
def test_three_of_six_votes_approve_a_team_where_half_is_a_majority(rules, options, goes):
    """Appendices A.1 and A.2 of arXiv 2310.14985: more than half; its games: half."""
    play = AvalonPlay((*SIX[:5], A), rules, talk=False, **options).propose(0, 1).vote(1, 1, 1, 0, 0, 0)
    assert play.announced("votes") == [(int(goes), 1, 1, 1, 0, 0, 0)]
    assert play.legal[0].kind == ("card" if goes else "propose")
    assert f"A team needs {3 if goes else 4} of 6 votes." in play.text.rules


@pytest.mark.parametrize(
    ("rules", "options", "at_end"),
    [("paper", {}, False), ("paper", {"hunt": "end"}, True), ("official", {"hunt": "each_quest"}, False)],
)
def test_merlin_is_named_after_each_quest_or_at_the_end(rules, options, at_end):
    play = AvalonPlay((*SIX[:5], A), rules, talk=False, **options).quest(0, 1)
    assert (play.legal[0].kind == "guess") != at_end
    assert play.view(0).guess_at_end == at_end
    if at_end:
        play.quest(0, 1, 2).quest(0, 1, 2, 3)
        assert (play.actor, {move.kind for move in play.legal}) == (5, {"guess"})


@pytest.mark.parametrize("options", [{"majority": "strict"}, {"hunt": "end"}])
def test_a_table_with_another_majority_or_hunt_is_played_by_scalar_rules(options):
    pytest.importorskip("numba")
    assert type(batch.make("avalon_v0", num_envs=2, **options)) is batch.ScalarTables


@pytest.mark.parametrize(("kind", "rules"), [("propose", "paper"), ("vote", "official"), ("card", "reference")])
def test_words_beside_a_team_a_vote_or_a_card_are_not_heard(kind, rules):
    """The move counts, its words are left out, and all is as if they had not been there."""
    moves = {"propose": Move("propose", (0, 1)), "vote": Move("vote", (1,)), "card": Move("card", (1,))}
    states = []
    for words in ("", "I am Merlin."):
        play = AvalonPlay((M, P, S, S, G, A), rules, talk=False)
        if kind != "propose":
            play.propose(0, 1)
        if kind == "card":
            play.vote(1, 1, 1, 1, 1, 1)
        states.append(play.do(moves[kind]._replace(words=words)).state)
    assert states[0] == states[1]


def test_words_behind_a_sentence_are_passed_over():
    play = AvalonPlay(FIVE, "official", talk=False)
    assert play.text.parse("I propose player_0, player_2. They did well.", play.view(0)) == Move("propose", (0, 2))
    play.propose(0, 1)
    assert play.text.parse("I approve the team. They did well.", play.view(0)) == Move("vote", (1,))


# -- another guesser -----------------------------------------------------------------------------------------------


def test_another_guesser_hunts_after_each_quest_too():
    """Rules of the paper, with Morgana instead of the Assassin."""
    play = AvalonPlay((M, P, S, S, G, A), "paper", guesser=G, talk=False).quest(0, 1)
    assert (play.actor, play.legal[0].kind) == (4, "guess")
    assert play.text.ask(play.legal) == "You are Morgana: guess who Merlin is. You have one guess in the game."
    play.do(Move("guess", (1,)))
    assert lines(play, 0)[-3:-1] == [
        "Moderator: player_4, Morgana, guesses that player_1 is Merlin. The guess is wrong.",
        "Moderator: Score: good 1, evil 0.",
    ]
    assert play.view(0).good == 1


def test_who_names_merlin_wrongly_holds_the_role_that_does():
    """Six players with Morgana as guesser: she has named a servant, and Percival knows which of his two is Merlin."""
    roles = (M, P, S, S, G, A)
    onlooker = AvalonBelief(roles, -1, "", (), guesser=G)
    onlooker.see(NATURE, "exposed", (4, 2, 0))
    assert onlooker.evil_chance()[4] == pytest.approx(1)
    assert onlooker.merlin_chance()[2] == pytest.approx(0)
    knows = (Knowledge((M, G), (0, 4)),)
    for guesser, chance in ((G, 1.0), (A, 0.5)):  # not the Assassin: he was not shown to Percival
        percival = AvalonBelief(roles, 1, P, knows, guesser=guesser)
        percival.see(NATURE, "exposed", (4, 2, 0))
        assert percival.merlin_chance()[0] == pytest.approx(chance)


def test_batch_kernels_refuse_another_guesser_after_each_quest_and_scalar_games_play_it():
    pytest.importorskip("numba")
    kernels, options = batch.kernels_of(GAME), {"rules": "paper", "guesser": G}
    with pytest.raises(ParlourError, match=r"^guesser of kernels of Avalon 'Morgana' is not accepted; accepted: Assas"):
        kernels(GAME, num_envs=2, **options)
    tables = batch.make("avalon_v0", num_envs=2, **options)
    assert type(tables) is batch.ScalarTables
    turns = tables.reset(seed=1)
    assert turns.mask.any(axis=1).all()


@pytest.mark.parametrize("options", [{"sizes": (1, 2, 3, 3, 4), "two_fails": False}, {"guesser": G}])
def test_batch_kernels_have_other_sizes_one_fail_and_another_guesser_at_the_end(options):
    pytest.importorskip("numba")
    assert type(batch.make("avalon_v0", num_envs=2, rules="official", **options)) is batch.kernels_of(GAME)


@pytest.mark.parametrize("guesser", ["Morgana", "the Assassin"])
def test_the_turn_of_a_guesser_is_told_in_lines_that_are_read_back(guesser):
    fields = {"quest": 3, "proposal": 1, "limit": 5, "last_rejection_loses": False, "leader": 0, "team": [0, 1]}
    fields |= {"size": 2, "fails_needed": 1, "good": 3, "evil": 0}
    now = AvalonSituation(does="guess", guesser=guesser, **fields)
    told = now.model_dump()
    assert told[0] == f"You are {guesser}: you may guess who Merlin is."
    assert AvalonSituation.model_validate(told) == now


def test_roles_are_introduced_by_who_names_merlin():
    assert introduction_of("Assassin") == "You know your teammates. You may guess once who Merlin is."
    assert introduction_of("Mordred", "Mordred").endswith("Merlin did not see you. You may guess once who Merlin is.")
    assert introduction_of("Assassin", "Morgana") == "You know your teammates."
    assert introduction_of("Merlin", "Morgana") == "You saw who is evil. If Morgana finds you, good loses."
