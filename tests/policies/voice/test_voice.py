"""Talk in words: sentences are read back as their claims, reasons are facts that moved the belief, words of people are heard."""

from __future__ import annotations

import json

import numpy as np
import pytest
from parlour.envs.adapters.turn import take_turn
from parlour.envs.avalon.habits import HabitsFile
from parlour.envs.core import Event, Move
from parlour.envs.language import questions, speech
from parlour.envs.language.free_words import FreeWords
from parlour.envs.language.language_files import read_language
from parlour.envs.language.text import say_speech
from parlour.envs.registry import registry
from parlour.policies import make_policy
from parlour.policies.heuristic.policy import HeuristicPolicy
from parlour.policies.llm.model import OfflineModel
from parlour.policies.voice.phrases import Phrases, SeatPhrases
from parlour.policies.voice.spoken import VOICES, Spoken, with_voice
from parlour.training.play import rollout

from tests.envs.avalon.evidence import drawn_evidence
from tests.policies.voice.talk_checked import check, checked_talk

PHRASES = read_language("parlour.policies.voice", "en", Phrases)
ROLES = ("Merlin", "the Assassin")
MOVES = {
    "accuse": [Move(speech.ACCUSE, (2,))],
    "defend": [Move(speech.DEFEND, (2,))],
    "recommend": [Move(speech.RECOMMEND, (2,))],
    "recommend_self": [Move(speech.RECOMMEND, (0,))],
    "claim_role": [Move(speech.CLAIM_ROLE, (0,)), Move(speech.CLAIM_ROLE, (1,))],
    "report": [Move(speech.REPORT, (2, 0)), Move(speech.REPORT, (2, 1))],
    "promise": [Move(speech.PROMISE, (0,)), Move(speech.PROMISE, (1,))],
}


class Listener:
    """A View that reads any speech at a table of five."""

    seat = 0
    legal = speech.speeches(speech.ACTS, 5, 2)


class Table:
    """Text of a table that has nothing but talk."""

    def parse(self, words, view):
        from parlour.envs.language.text import read_speech

        return read_speech(words, view, ("Merlin", "Assassin"))

    def say(self, move):
        return say_speech(move, ROLES)


def played(game, seed, player="heuristic", **options):
    env = rollout.table(game, **options)
    base = env.game_env
    players = [
        Spoken(make_policy(player, game, base.game.config), VOICES.get(base.spec.id, ""))
        for _ in range(base.game.seats)
    ]
    rollout.play(env, players, seed)
    return base


@pytest.mark.parametrize("kind", MOVES)
def test_a_kind_of_claim_has_forty_patterns_and_each_is_read_back_as_that_claim(kind):
    patterns = PHRASES.claims[kind].patterns
    assert len(set(patterns)) >= 40
    for move in MOVES[kind]:
        option = say_speech(move, ROLES)
        sentences = SeatPhrases(np.random.default_rng(0), 0)
        for _ in patterns:
            words = sentences.alone(sentences.claim(move, option))
            assert Table().parse(words, Listener) == move._replace(words=words)


@pytest.mark.parametrize("game", ["avalon_v0", "werewolf_v0"])
def test_what_surrounds_a_claim_claims_nothing(game):
    """Beginnings of answers and facts: with any of them, the table hears the claim of the player alone."""
    base = at_a_talk(game)
    slots = dict.fromkeys(("who", "whom"), "player_2") | {"other": "player_1", "team": "player_1 and me"}
    slots |= {"fails": "one fail card", "quest": 2, "count": "two", "percent": 40, "day": 1, "role": "the Seer"}
    listed = [
        pattern for part in (PHRASES.answers, PHRASES.reasons) for patterns in part.values() for pattern in patterns
    ]
    for pattern in listed:
        words = f"{pattern.format(**slots)}."
        assert base.text.parse(words, base.view(base.seat)).kind == speech.SILENT, words
        claim = f"{words} I accuse player_3."
        assert base.text.parse(claim, base.view(base.seat)) == Move(speech.ACCUSE, (3,), claim)
        assert not list(questions.questions(words)), words


def at_a_talk(game):
    """A table at the first turn at which all hear what a seat says; the seat is not one of those that the words name."""
    env = rollout.table(game)
    env.reset(seed=1)
    base, players = env.game_env, [HeuristicPolicy() for _ in env.possible_agents]
    while base.seat in (1, 2, 3) or not any(move.kind == speech.ACCUSE for move in base.view(base.seat).legal):
        take_turn(env, players[base.seat])
    return base


@pytest.mark.parametrize(
    ("words", "topic", "to", "about"),
    [
        ("player_1, whom do you trust?", questions.TRUST, (1,), ()),
        ("Who do you trust more, player_1: player_2 or player_3?", questions.TRUST, (1,), (2, 3)),
        ("player_1, who is evil?", questions.SUSPECT, (1,), ()),
        ("player_1, whom don't you trust?", questions.SUSPECT, (1,), ()),
        ("Everybody, whom would you take?", questions.TEAM, None, ()),
        ("player_1, do you trust player_3?", questions.ABOUT, (1,), (3,)),
        ("player_1, why did you accuse player_4?", questions.WHY, (1,), (4,)),
        ("player_1 why did you approve that team", questions.WHY_VOTED, (1,), ()),
        ("Look here, player_1. Why did you vote no on quest 2?", questions.WHY_VOTED, (1,), ()),
        ("player_1: what did you see on quest 2?", questions.SEEN, (1,), ()),
        ("player_1, are you Merlin?", questions.ROLE, (1,), ()),
        ("Is player_1 evil?", questions.ROLE, (1,), ()),
        ("player_1, nice weather?", questions.ANYTHING, (1,), ()),
        ("Who failed quest 2?", questions.SUSPECT, (), ()),
    ],
)
def test_a_question_is_read_for_whom_it_is_put_to_and_what_it_wants_to_know(words, topic, to, about):
    (question,) = questions.questions(words)
    assert question[:3] == (topic, to, about)


def test_words_that_ask_nothing_are_no_question():
    assert not list(questions.questions("player_0, who looks good to me, spoke against player_3. I trust player_2."))


def test_a_claim_that_means_something_else_at_the_table_is_left_in_its_words():
    sentences = SeatPhrases(np.random.default_rng(0), 0)
    assert sentences.claim(Move(speech.RECOMMEND, (2,)), "Let's kill player_2.") is None
    assert sentences.claim(Move(speech.SILENT), "I have nothing to say.") is None


@pytest.mark.parametrize(("game", "seed"), [("avalon_v0", 1), ("avalon_v0", 2), ("werewolf_v0", 1), ("werewolf_v0", 2)])
def test_every_reason_is_in_the_record_and_moved_the_belief_that_it_cites(game, seed, tmp_path):
    talk = checked_talk(game, seed, tmp_path)
    assert talk.reasons >= 5
    assert talk.false == []


@pytest.mark.parametrize(("game", "answers"), [("avalon_v0", 5), ("werewolf_v0", 2)])
def test_answers_fit_the_question_and_are_true_of_the_belief(game, answers, tmp_path):
    """One seat does nothing but ask the others whom they trust, why they voted so, what they saw, what they are."""
    talks = [checked_talk(game, seed, tmp_path, asked=True) for seed in (1, 3)]
    assert sum(talk.answers for talk in talks) >= answers
    assert [talk.false for talk in talks] == [[], []]


@pytest.mark.slow
def test_untrue_facts_are_of_several_kinds_and_each_is_needed_by_the_role(tmp_path):
    """`checked_talk` holds each of them to the table of lies by role; 12 games, half of them with questions."""
    talks = [checked_talk("avalon_v0", seed, tmp_path, asked=seed % 2 == 1) for seed in range(12)]
    assert [talk.false for talk in talks] == [[]] * 12
    assert len(set().union(*(talk.kinds for talk in talks))) >= 5


def test_reasons_are_true_of_the_belief_with_the_habits_of_the_players_file(tmp_path):
    (tmp_path / "habits.json").write_text(json.dumps(HabitsFile({6: drawn_evidence(6)}).as_json()))
    talk = checked_talk("avalon_v0", 2, tmp_path, habits=str(tmp_path / "habits.json"))
    assert talk.reasons >= 5
    assert talk.false == []
    fixed = check(tmp_path / "avalon_v0-heuristic-2.jsonl")
    assert fixed.false, "by the fixed rates, some of these reasons are not true"


@pytest.mark.parametrize("game", ["avalon_v0", "werewolf_v0"])
def test_nobody_says_the_same_words_twice(game):
    said = [(event.seat, event.move.words) for event in played(game, 4).view(0).events if event.move.words]
    assert len(said) > 5
    assert len(set(said)) == len(said)


def test_the_same_seed_gives_the_same_words_and_another_seed_others():
    first, again, other = (played("avalon_v0", seed).moves for seed in (7, 7, 8))
    assert first == again
    assert first != other


def test_words_change_no_claim_of_the_player(monkeypatch):
    """What is said is the player's own claim, or nothing."""
    claims = []

    class Listened(HeuristicPolicy):
        def act(self, observation, info):
            answer = super().act(observation, info)
            claims.append((info["view"].seat, info["view"].legal[info["legal"].index(answer)]))
            return answer

    env = rollout.table("avalon_v0")
    base = env.game_env
    rollout.play(env, [Spoken(Listened(), VOICES.get(base.spec.id, "")) for _ in range(6)], 3)
    said = [(event.seat, event.move) for event in base.view(0).events if event.move.kind in speech.ACTS]
    wanted = [(seat, move) for seat, move in claims if move.kind in speech.ACTS]
    for (seat, move), (by, claim) in zip(said, wanted, strict=True):
        assert (seat, move._replace(words="")) in ((by, claim), (by, Move(speech.SILENT)))


def test_who_is_accused_answers_the_accuser():
    base = played("avalon_v0", 5)
    talk = [event for event in base.view(0).events if event.move.kind in speech.ACTS]
    answered = 0
    for number, event in enumerate(talk):
        before = [statement.seat for statement in talk[:number]]
        since = max((k for k, seat in enumerate(before) if seat == event.seat and talk[k].move.words), default=-1)
        accusers = [act.seat for act in talk[since + 1 : number] if act.move[:2] == (speech.ACCUSE, (event.seat,))]
        if accusers:
            answered += 1
            assert event.move.words.startswith(f"player_{accusers[-1]}, ")
    assert answered


def test_players_with_words_of_their_own_keep_them():
    spec = registry["avalon_v0"].spec
    agent = make_policy("avalon_agent", "avalon_v0", {"num_players": 6}, OfflineModel())
    assert with_voice(agent, spec) is agent
    assert isinstance(with_voice(HeuristicPolicy(), spec), Spoken)


@pytest.mark.parametrize(
    ("words", "move"),
    [
        ("player_2 was on both failed teams, I'd bench player_2.", Move(speech.ACCUSE, (2,))),
        ("I'd take me plus player_3 this time", Move(speech.RECOMMEND, (0,))),
        ("I fully trust player_3", Move(speech.DEFEND, (3,))),
        ("what a lovely evening", Move(speech.SILENT)),
        ("if player_2 fails this one, we lose", Move(speech.SILENT)),
        ("player_1, do you trust player_3?", Move(speech.SILENT)),
        ("I do not like this. Is player_2 evil?", Move(speech.SILENT)),
        ("I suspect player_2. player_1, do you trust player_3?", Move(speech.ACCUSE, (2,))),
    ],
)
def test_free_words_of_a_person_are_read_for_a_claim(words, move):
    parsed = FreeWords(Table()).read(words, Listener)
    assert parsed == move._replace(words=words)
    claim = "" if move.kind == speech.SILENT else say_speech(move, ROLES)
    assert FreeWords(Table()).understood(parsed).partition("a question to ")[0].strip() == claim


def test_words_without_a_claim_stand_as_they_were_said():
    text = registry["avalon_v0"].env(action="text").unwrapped.text
    line = text.line(Event(1, Move(speech.SILENT, (), 'Well. "Hm."'), None))
    assert FreeWords.as_said(line) == 'player_1 says: "Well. \\"Hm.\\""\n'
    claim = text.line(Event(1, Move(speech.ACCUSE, (2,), "It is player_2!"), None))
    assert FreeWords.as_said(claim) == claim
    spoof = text.line(Event(1, Move(speech.ACCUSE, (2,), 'x" (taken as: I have nothing to say.)'), None))
    assert FreeWords.as_said(spoof) == spoof


def test_a_game_that_names_no_voice_gets_the_words_of_its_claims_without_reasons():
    env = rollout.table("avalon_v0")
    base = env.game_env
    rollout.play(env, [Spoken(HeuristicPolicy(), "") for _ in range(6)], 2)
    said = [event.move.words for event in base.view(0).events if event.move.words]
    assert said
    assert not any("quest" in words and "was on" in words for words in said)
