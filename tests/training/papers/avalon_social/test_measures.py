"""The social measures count what they say they count: worked examples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from parlour.envs import replay
from parlour.envs.core import Move, ParlourError, given_up
from parlour.envs.language.entries import Entry
from parlour.envs.replay import Transcript
from parlour.policies.llm.ask import Ask
from parlour.policies.llm.model import Answered, Model, OfflineModel, RequestContext
from parlour.training.papers import avalon_social as social
from parlour.training.papers.avalon_social.questions import Attitude, Disclosure, SelfProposal, Sharing
from parlour.training.papers.avalon_social.responses import at_the_table, of_models

from tests.training.measure.avalon.transcripts import NOTHING, cards, game, parts, proposal, words, write


def of(*transcripts: Transcript, group: str = "all") -> dict[str, Any]:
    measured: dict[str, Any] = social.measures(social.judge(transcripts))["groups"][group]
    return measured


# -- worked examples -------------------------------------------------------------------------------------------


def test_self_recommendation_succeeds_if_the_next_voted_team_has_the_speaker() -> None:
    # Merlin offers himself twice: the first team is his, the second is not. Percival offers himself once, in vain, and is
    # on the next team, for which he did not speak. Morgana's offer is followed by no vote.
    measured = of(
        game(
            *proposal((0, 2), "aadddd", Move("recommend", (0,)), Move("recommend", (1,))),
            *proposal((1, 3), "aadddd", NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, words("I suggest myself.")),
            *[NOTHING, NOTHING, words("I recommend player_4 and player_0.")],
        )
    )
    assert parts(measured["self_recommendation"]["Merlin"]) == (2, 2)
    assert parts(measured["self_recommendation_success"]["Merlin"]) == (1, 2)
    assert parts(measured["self_recommendation"]["Percival"]) == (1, 2)
    assert parts(measured["self_recommendation_success"]["Percival"]) == (0, 1)
    assert parts(measured["self_recommendation"]["Morgana"]) == (1, 3)
    assert measured["self_recommendation_success"]["Morgana"] is None
    assert parts(measured["self_recommendation"]["Loyal Servant"]) == (0, 6)
    assert measured["self_recommendation_success"]["Loyal Servant"] is None


def test_identity_is_what_a_seat_first_tells_in_the_first_round() -> None:
    # Round 1, two proposals: Merlin is silent, then says he is Merlin; Percival feigns a servant, then tells the truth;
    # one servant tells, the other never does; Morgana claims to be Merlin. In round 2 the Assassin tells: too late.
    second = [words("As Percival, I agree."), NOTHING, NOTHING, NOTHING, NOTHING, words("I am Merlin.")]
    measured = of(
        game(
            *proposal(
                (0, 1),
                "aadddd",
                NOTHING,
                Move("claim_role", (2,)),
                Move("claim_role", (2,)),
                NOTHING,
                words("I am Merlin."),
            ),
            *proposal((0, 1), "aaaaaa", *second),
            *cards("ss"),
            Move("guess"),
            *[NOTHING, NOTHING, NOTHING, words("As the Assassin, I speak.")],
        )
    )["identity"]
    expected = {
        role: [parts(measured[role][measure]) for measure in ("self-disclosure", "camouflage", "withholding")]
        for role in measured
    }
    assert expected == {
        "Merlin": [(1, 1), (0, 1), (0, 1)],
        "Percival": [(0, 1), (1, 1), (0, 1)],
        "Loyal Servant": [(1, 2), (0, 2), (1, 2)],
        "Morgana": [(0, 1), (1, 1), (0, 1)],
        "Assassin": [(0, 1), (0, 1), (1, 1)],
    }


def test_attitudes_count_every_turn_with_every_other_seat() -> None:
    # Merlin accuses Morgana; Percival trusts a servant and wants the Assassin off: of his two pairs with servants one is
    # teamwork; of a servant's four pairs (two servants, one turn each) with good seats other than servants none is.
    said = (Move("accuse", (4,)), words("I trust player_2. We should exclude player_5."), Move("defend", (3,)))
    attitudes = of(game(*proposal((0, 1), "aadddd", *said)))["attitudes"]
    assert [parts(attitudes["Merlin"]["Morgana"][stance]) for stance in ("teamwork", "confrontation", "neutral")] == [
        (0, 1),
        (1, 1),
        (0, 1),
    ]
    assert [
        parts(attitudes["Percival"]["Loyal Servant"][stance]) for stance in ("teamwork", "confrontation", "neutral")
    ] == [
        (1, 2),
        (0, 2),
        (1, 2),
    ]
    assert parts(attitudes["Percival"]["Assassin"]["confrontation"]) == (1, 1)
    # a servant's pairs with servants: the other one, not itself
    assert parts(attitudes["Loyal Servant"]["Loyal Servant"]["teamwork"]) == (1, 2)
    assert "Merlin" not in attitudes["Merlin"]
    assert parts(attitudes["Loyal Servant"]["Merlin"]["neutral"]) == (2, 2)


def test_sharing_is_the_share_of_what_the_night_showed_that_was_told_in_the_first_round() -> None:
    # Merlin, who saw Morgana and the Assassin, names Morgana twice in round 1, and the Assassin in round 2; Percival, who
    # saw Merlin and Morgana, says that one of both is Merlin.
    hint = words("player_0 and player_4 raised a hand, so one of them is Merlin.")
    measured = of(
        game(
            *proposal((0, 1), "aadddd", Move("accuse", (4,)), hint),
            *proposal((0, 1), "aaaaaa", NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, words("player_4 is evil.")),
            *cards("ss"),
            Move("guess"),
            *[NOTHING] * 4,
            Move("accuse", (5,)),
        )
    )["sharing"]
    assert {role: parts(measured[role]) for role in measured} == {"Merlin": (1, 2), "Percival": (2, 2)}


def test_vacillation_is_teamwork_round_by_round() -> None:
    # Servants (player_2, player_3). Round 1: player_2 trusts player_0 and player_4: of 2 x 3 pairs with good 1, of 2 x 2
    # with evil 1. Round 2 (player_1 leads): player_3 has nobody's trust to give before the record stops; player_2 trusts
    # player_3. Percival trusts Merlin in round 2.
    measured = of(
        game(
            *proposal((0, 1), "aaaaaa", NOTHING, NOTHING, words("I trust player_0 and player_4.")),
            *cards("ss"),
            Move("guess"),
            Move("defend", (0,)),
            Move("defend", (3,)),
        )
    )["vacillation"]
    assert [parts(share) for share in measured["Loyal Servant"]["good"]] == [(1, 6), (1, 3), None, None, None]
    assert [parts(share) for share in measured["Loyal Servant"]["evil"]] == [(1, 4), (0, 2), None, None, None]
    assert [parts(share) for share in measured["Percival"]["Merlin"]] == [(0, 1), (1, 1), None, None, None]
    assert [parts(share) for share in measured["Percival"]["Morgana"]] == [(0, 1), (0, 1), None, None, None]


def test_nothing_to_count_is_none_and_unfinished_games_are_left_out() -> None:
    whole = game(*proposal((0, 1), "aadddd"))
    measures = social.measures(social.judge([game(), replace(whole, outcome=None)]))
    assert measures["unfinished"] == 1
    assert measures["groups"]["all"]["self_recommendation"]["Merlin"] is None
    assert measures["groups"]["all"]["identity"]["Merlin"]["withholding"] is None
    assert measures["groups"]["all"]["valid_responses"] == {"table": None, "model": None}
    assert parts(measures["groups"]["all"]["sharing"]["Merlin"]) == (0, 2)


def test_a_player_is_measured_by_the_seats_it_played() -> None:
    # "mine" plays Merlin and Morgana in the first game, which good wins, and Percival in the second, which evil wins.
    first = {f"player_{seat}": "mine" if seat in (0, 4) else "other" for seat in range(6)}
    second = {f"player_{seat}": "mine" if seat == 1 else "other" for seat in range(6)}
    said = (Move("recommend", (0,)), Move("recommend", (1,)))
    games = [
        game(*proposal((0, 1), "aaaaaa", *said), Move("card", (1,)), players=first),
        game(*proposal((0, 1), "aadddd", *said), players=second, winner="evil"),
        game(*proposal((0, 1), "aadddd", *said)),
    ]
    players = social.measures(social.judge(games))["players"]
    assert list(players) == ["mine", "other"]
    assert players["mine"]["seats"] == 3
    assert {side: parts(players["mine"]["wins"][side]) for side in ("good", "evil")} == {"good": (1, 2), "evil": (0, 1)}
    assert {side: parts(players["other"]["wins"][side]) for side in ("good", "evil")} == {
        "good": (1, 2),
        "evil": (1, 2),
    }
    assert {role: parts(share) for role, share in players["mine"]["self_recommendation"].items()} == {
        "Merlin": (1, 1),
        "Percival": (1, 1),
        "Morgana": (0, 1),
    }
    assert parts(players["mine"]["engagement"]["Merlin"]) == (1, 1)
    assert parts(players["mine"]["engagement"]["Morgana"]) == (0, 1)
    assert parts(players["mine"]["fails"]["Merlin"]) == (0, 1)
    assert parts(players["mine"]["approval"]["Merlin"]) == (6, 6)
    assert parts(players["other"]["approval"]["Merlin"]) == (2, 6)


# -- responses -------------------------------------------------------------------------------------------------


def test_valid_responses_of_a_game_played_here() -> None:
    # Merlin's first words cannot be used, then he speaks. Percival's words cannot be used three times and a move is made
    # in his place: three invalid responses, and that move is none.
    whole = game(*proposal((0, 1), "aadddd"))
    deal, merlin, percival, *others = whole.entries
    entries = (
        deal,
        Entry(0, None, (0,), "?", "unreadable"),
        merlin._replace(raw="Nothing."),
        *[Entry(1, None, (1,), "?", "illegal")] * 3,
        percival,
        *others,
        Entry(0, None, None, None, "forfeit"),
    )
    measured = of(replace(whole, entries=entries))["valid_responses"]
    assert parts(measured["table"]) == (12, 16)  # 6 statements, a team and 6 votes, less Percival's statement
    assert measured["model"] is None
    by_seat = at_the_table(replace(whole, entries=entries))
    assert [statement.valid for statement in by_seat if statement.seat == 1] == [False, False, False, True]


def test_valid_responses_of_a_published_game() -> None:
    # Two proposals, the first not confirmed; cards from the text and by count; an unclear answer of the Assassin.
    notes = {"proposed_method_side": "good", "confirm_logged": [False, True], "cards": [["text"], ["count", "success"]]}
    moves = [
        *proposal((0,), "aadddd"),
        *proposal((0, 5), "aaaaaa", words("Hello.")),
        *cards("sf"),
    ]
    moves.append(Move("guess"))
    silent = of(game(*moves, published=notes), group="good")["valid_responses"]["table"]
    assert parts(silent) == (12 + 1 + 1, 12 + 2 + 2)  # votes, teams, cards
    spoken = notes | {"words": {"log": "a.json"}, "answers": ["text_without_yes_or_no"]}
    measured = of(game(*moves, published=spoken), group="good")["valid_responses"]["table"]
    assert parts(measured) == (12 + 1 + 1 + 1 + 0, 12 + 2 + 2 + 12 + 1)  # and statements, one with words, and an answer
    with pytest.raises(ParlourError, match="too few moves 'guess'"):
        of(game(*moves, published=spoken | {"answers": []}), group="good")


def test_replies_of_models_are_counted_where_a_transcript_holds_them(tmp_path: Path) -> None:
    unfinished = game(*proposal((0, 1), "aadddd"))
    given_up_by_1 = (*unfinished.entries, Entry(1, None, None, None, "forfeit"))  # the next leader
    whole = replace(unfinished, entries=given_up_by_1, outcome=given_up(6, 1))
    calls: dict[int, Any] = {
        1: [{"ask": "x", "prompt": [], "reply": "no", "fault": "no JSON"}, {"ask": "x", "prompt": [], "reply": "{}"}],
        2: [{"ask": "x", "answer": {}}],
        3: [{"ask": "x", "prompt": [], "reply": "{}"}],
    }
    read = replay.Transcript.read(write(tmp_path / "game.jsonl", whole, calls))
    assert read.entries == whole.entries
    assert [tuple(of_model) for of_model in of_models(read)] == [(0, False), (0, True), (2, True)]
    measured = social.measures(social.judge_directory(tmp_path))["groups"]["all"]["valid_responses"]
    assert parts(measured["model"]) == (2, 3)


# -- judges ----------------------------------------------------------------------------------------------------


def test_the_judge_is_asked_at_temperature_0():
    assert {of.temperature for of in (Attitude, SelfProposal, Disclosure, Sharing)} == {0.0}


class Contrary(Model):
    """Says that everybody proposes himself and tells the truth about himself; falls back on one question."""

    name = "contrary"
    is_language_model: ClassVar[bool] = False

    def __init__(self) -> None:
        self.asked: list[Ask[Any]] = []

    def answer(self, question: Any, context: RequestContext) -> Answered[Any]:
        self.asked.append(question)
        assert context.seat == "judge"
        value = OfflineModel().answer(question, context).value
        if question.kind == "social.self_proposal":
            value = value.model_copy(update={"proposes_self": True})
        if question.kind == "social.identity":
            value = value.model_copy(update={"identity": "self-disclosure"})
        return Answered(value, reason="invalid" if question.kind == "social.sharing" else None)

    def settings(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("workers", [1, 3])
def test_a_model_judges_free_words_once_each_and_claims_need_none(workers: int) -> None:
    said = (words("Hello."), Move("recommend", (1,)), words("Hello."))
    model = Contrary()
    played = game(
        *proposal((0, 1), "aadddd", *said),
        *proposal((0, 1), "aadddd", NOTHING, NOTHING, *said[2:], NOTHING, NOTHING, said[0]),
    )
    judged = social.judge([played], model, workers)
    measured = social.measures(judged)["groups"]["all"]
    # player_0 and player_2 said it in the first proposal; in the second, which player_1 leads, player_3 and player_0
    assert len(model.asked) == judged.questions == len(set(model.asked)) == 3 * 3 + 1
    assert {question.words for question in model.asked} == {"Hello."}
    assert (judged.model, judged.fallbacks) == ("contrary", 1)
    assert parts(measured["self_recommendation"]["Merlin"]) == (2, 2)
    assert parts(measured["self_recommendation"]["Loyal Servant"]) == (2, 4)
    assert parts(measured["self_recommendation"]["Percival"]) == (1, 2)
    assert parts(measured["identity"]["Loyal Servant"]["self-disclosure"]) == (2, 2)


def test_workers_must_be_some() -> None:
    with pytest.raises(ParlourError, match="workers 0"):
        social.judge([game()], workers=0)
