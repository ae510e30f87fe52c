"""`--noise`: readers who err at known rates. What is drawn from what, what is misread for what, and where it is told."""

from __future__ import annotations

import json

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.agents.avalon import notes as avalon
from parlour.policies.agents.avalon.asks import Analyse, Summarise
from parlour.policies.agents.avalon.seat import AvalonSelfInfo
from parlour.policies.agents.murder_mystery import scene as mystery
from parlour.policies.agents.murder_mystery.scene import Talk, sentences
from parlour.policies.agents.spoken import ReadClaims
from parlour.policies.agents.werewolf import notes
from parlour.policies.agents.werewolf.asks import Infer
from parlour.policies.agents.werewolf.gratr.asks import AskIdentity, AskIntent
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.situation import WerewolfSelfInfo, WerewolfSituation
from parlour.policies.llm.ask import ASKS
from parlour.policies.llm.make import NoisyModel
from parlour.policies.llm.model import OfflineModel, RequestContext, SeatModel
from parlour.policies.llm.noise import MisreadingModel, ReadingNoise
from parlour.policies.registry import import_players
from parlour.training import cli

ACCUSES = HeardMessage(day=1, speaker=2, text="I accuse player_3 of being evil.")
ROLES = ["Werewolf", "Werewolf", "Werewolf", "Witch", "Guard", "Seer", "Villager", "Villager"]
ME = WerewolfSelfInfo(seat=0, role="Villager", side="village", roles=ROLES, fellows=[])
NOW = WerewolfSituation(does="vote", day=1, alive=list(range(8)), wolves=[], innocent=[], checks=[], attacked=None)


def ear(words, game=1, seat=0, question="q"):
    return MisreadingModel(ReadingNoise.parse(words), game, seat, question)


def noisy(words):
    return NoisyModel(OfflineModel(), ReadingNoise.parse(words))


# -- the setting -----------------------------------------------------------------------------------------------


def test_the_words_of_a_noise_are_read_and_written():
    noise = ReadingNoise.parse("misread=.1, miss=0.05,overconfident=0.2,forget=.02,each=reading,players=gratr+chat")
    assert noise == ReadingNoise(0.1, 0.05, 0.2, 0.02, "reading", ("gratr", "chat"))
    assert str(noise) == "misread=0.1,miss=0.05,overconfident=0.2,forget=0.02,each=reading,players=gratr+chat"
    assert ReadingNoise.parse(str(noise)) == noise
    assert not ReadingNoise.parse("misread=0,each=reading")
    assert str(ReadingNoise.parse("misread=0,each=reading")) == ""


@pytest.mark.parametrize(
    "words",
    ["misread=1.5", "misread=-0.1", "misread=nan", "misread=often", "misread", "loud=1", "miss=.1,miss=.2", "each=day"],
)
def test_other_words_are_refused_in_one_line(words):
    with pytest.raises(ParlourError, match="is not accepted; accepted: ") as refused:
        ReadingNoise.parse(words)
    assert "\n" not in str(refused.value)


# -- what is drawn from what ------------------------------------------------------------------------------------


def test_the_same_sentence_is_not_misread_alike_in_every_game_or_by_every_seat():
    by_game = [ear("misread=0.3", game=game).misreads("Day 1: ...") for game in range(2000)]
    by_seat = [ear("misread=0.3", seat=seat).misreads("Day 1: ...") for seat in range(2000)]
    # four standard deviations of a share of 2000 at 0.3: 4 * sqrt(0.3 * 0.7 / 2000) = 0.041
    assert abs(np.mean(by_game) - 0.3) < 0.041
    assert abs(np.mean(by_seat) - 0.3) < 0.041
    assert by_game == [ear("misread=0.3", game=game).misreads("Day 1: ...") for game in range(2000)]


def test_an_error_is_made_once_for_a_statement_or_at_each_reading():
    lines = [f"statement {k}" for k in range(400)]
    once, again = ([ear("misread=0.5", question=q).misreads(line) for line in lines] for q in ("first", "second"))
    assert once == again
    once, again = (
        [ear("misread=0.5,each=reading", question=q).misreads(x) for x in lines] for q in ("first", "second")
    )
    assert 140 < sum(a == b for a, b in zip(once, again, strict=True)) < 260  # a half, plus or minus six deviations


def test_what_is_forgotten_stays_forgotten_and_grows_by_the_day():
    # one half a day: 0 on the day itself, then 1/2, 3/4
    lines = [f"statement {k}" for k in range(1000)]
    by_day = [{line for line in lines if ear("forget=0.5").misses(line, days)} for days in range(3)]
    assert by_day[0] == set()
    assert by_day[1] < by_day[2]
    assert abs(len(by_day[1]) - 500) < 65  # four deviations: 4 * sqrt(1000 / 4) = 63
    assert abs(len(by_day[2]) - 750) < 55


# -- Werewolf ---------------------------------------------------------------------------------------------------


OTHERS = (0, 1, 4, 5, 6, 7)
"""Neither who speaks nor whom it is about."""


def test_half_of_the_misread_accusations_are_defences():
    contrary = ["trust" in notes.one_heard(ACCUSES, ear("misread=1", game=game), 8, 1).text for game in range(1000)]
    assert abs(np.mean(contrary) - 0.5) < 0.07


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("I checked player_3: evil.", {*(f"I checked player_{k}: evil." for k in OTHERS), "I checked player_3: good."}),
        ("I am Seer.", {"I am Villager.", "I am Witch.", "I am Guard."}),
        (ACCUSES.text, {*(f"I accuse player_{k} of being evil." for k in OTHERS), "I trust that player_3 is good."}),
    ],
)
def test_a_misread_statement_stays_of_its_kind(said, heard):
    statement = HeardMessage(day=1, speaker=2, text=said)
    texts = {notes.one_heard(statement, ear("misread=1", game=game), 8, 1).text for game in range(300)}
    assert texts == heard


def test_facts_deeds_and_ones_own_words_are_heard_as_they_are():
    safe = [
        ACCUSES.model_copy(update={"speaker": 0}),
        HeardMessage(day=1, speaker=-1, text="player_3 was the Seer."),
        HeardMessage(day=1, speaker=2, text="I vote for player_3.", act=True),
    ]
    assert notes.as_heard(safe, ear("misread=1,miss=1,forget=1"), 8, day=5) == safe
    assert notes.as_heard([*safe, ACCUSES], ear("miss=1"), 8, day=1) == safe


def test_both_questions_of_gratr_and_the_windows_mishear_a_statement_alike():
    model = noisy("misread=0.5")
    misheard = []
    for game in range(60):
        context = RequestContext("player_0", 7, game=game, player="gratr")
        noted = model.answer(AskIntent(players=8, statement=ACCUSES), context).calls[0].get("noise", {}).get("misheard")
        who = AskIdentity(me=ME, wolves=[], innocent=[], trust=0.0, statement=ACCUSES)
        window = Infer(me=ME, now=NOW, messages=[ACCUSES], found=[])
        for question in (who, window):
            called = model.answer(question, context._replace(sample=11)).calls[0]
            assert called.get("noise", {}).get("misheard") == noted
        misheard.append(noted is not None)
    assert 15 < sum(misheard) < 45


def test_the_answer_follows_from_what_was_heard():
    question = AskIntent(players=8, statement=ACCUSES)
    for game in range(20):
        context = RequestContext("player_0", 7, game=game, player="gratr")
        (meant,) = noisy("misread=1").answer(question, context).value.intents
        assert (meant.intent, meant.target) != ("attack", 3)
        assert noisy("miss=1").answer(question, context).value.intents == []


def test_overstated_scores_are_the_highest_and_overstated_trust_is_full():
    context = RequestContext("player_0", 7, game=1, player="gratr")
    plain, sure = OfflineModel(), noisy("overconfident=1")
    assert [model.answer(AskIntent(players=8, statement=ACCUSES), context).value.intents[0].score for model in (plain, sure)] == [6, 10]  # fmt: skip
    window = Infer(me=ME, now=NOW, messages=[ACCUSES], found=[])
    trust = [opinion.trust for opinion in plain.answer(window, context).value.opinions]
    opinions = sure.answer(window, context).value.opinions
    assert any(0 < abs(value) < 1 for value in trust)
    assert [value.trust for value in opinions] == [float(np.sign(value)) for value in trust]
    assert all(opinion.stance == "adversary" for opinion in opinions if opinion.trust < 0)


def test_seats_that_err_do_not_share_what_they_hear():
    model = noisy("misread=0.5")
    seats = [SeatModel(model, seat, seed=4, player="gratr") for seat in (0, 1, 4, 5, 6, 7)]
    for other in seats[1:]:
        other.shared = seats[0].shared
    answers = {str(seat.ask_shared([AskIntent(players=8, statement=ACCUSES)])[0].intents) for seat in seats}
    assert len(answers) > 1


# -- other games --------------------------------------------------------------------------------------------------


def test_avalon_talk_is_misread_and_facts_are_not():
    facts = [
        "player_1 proposes the team player_2, player_3.",
        "Quest 2 fails. Fail cards: 1.",
        'player_0 accuses player_2: "Me"',
    ]
    assert avalon.as_heard(facts, ear("misread=1,miss=1"), 5) == facts
    line = 'player_1 accuses player_2: "I saw it"'
    lines = {avalon.as_heard([line], ear("misread=1", game=game), 5)[0] for game in range(200)}
    assert lines == {f"player_1 accuses player_{k}" for k in (0, 3, 4)} | {"player_1 defends player_2"}
    team = {avalon.as_heard(["player_1 recommends player_2"], ear("misread=1", game=game), 5)[0] for game in range(200)}
    assert team == {f"player_1 recommends player_{k}" for k in (0, 3, 4)}
    assert avalon.as_heard([line], ear("miss=1"), 5) == []


def test_avalon_talk_of_earlier_rounds_is_forgotten_when_rounds_are_summed_up():
    roles = ["Merlin", "Servant", "Servant", "Morgana", "Assassin"]
    me = AvalonSelfInfo.model_construct(**dict.fromkeys(AvalonSelfInfo.model_fields) | {"seat": 0, "roles": roles})
    now = ["player_3 defends player_4"]
    fields = {"me": me, "facts": [], "summary": "player_1 accuses player_2\nwords", "messages": now}
    kept = Summarise.model_construct(**fields).misheard(ear("forget=1"))
    assert (kept.summary, kept.messages) == ("words", now)
    assert Analyse.model_construct(**fields).misheard(ear("forget=1")).summary == fields["summary"]


def test_a_murder_mystery_answer_is_about_another_player_or_not_heard():

    class SomeScene:
        players = ("Ann", "Ben", "Cy")
        say = sentences("en")

    talk = Talk(asker="Ann", speaker="Ben", victim="Hugh", question="Where?", answer="Ben saw Cy in the attic.")
    (own,) = mystery.as_heard([talk], ear("misread=1,miss=1"), SomeScene(), "Ben")
    assert own == talk
    answers = {mystery.as_heard([talk], ear("misread=1", game=k), SomeScene(), "Ann")[0].answer for k in range(60)}
    assert answers == {"Ann saw Cy in the attic.", "Ben saw Ann in the attic."}
    (missed,) = mystery.as_heard([talk], ear("miss=1"), SomeScene(), "Ann")
    assert missed.answer == SomeScene.say.nothing


def test_the_questions_that_read_words_of_others_are_these():
    import_players()
    reading = {kind for kind, ask in ASKS.items() if ask.reads() and not kind.startswith("questum.")}
    assert reading >= {"gratr.intent", "gratr.identity", "werewolf.infer", "werewolf.reflect", "werewolf.speak"}
    assert reading >= {"werewolf.choose", "avalon_agent.analyse", "avalon_agent.answer_table", ReadClaims.kind}
    assert not reading & {"werewolf.rerank", "avalon_agent.weigh", "grace.generate", "chat.take_turn"}


# -- whole games ----------------------------------------------------------------------------------------------------


def test_the_transcript_tells_the_noise_and_what_was_misheard(tmp_path):
    asked = ["play", "werewolf_v0", "--players", "8", "--policy", "gratr", "--json", "--noise", "misread=0.5"]
    assert cli.run([*asked, "--out", str(tmp_path)]) == 0
    (file,) = tmp_path.glob("*.jsonl")
    header, *lines = map(json.loads, file.read_text().splitlines())
    assert {model["model"] for model in header["models"].values()} == {"offline, noise misread=0.5"}
    assert set(header["players"].values()) == {"gratr @ offline, noise misread=0.5"}
    changed = [call["noise"] for line in lines for call in line.get("calls", []) if "noise" in call]
    assert changed
    assert all(said != heard for line in changed for said, heard in line["misheard"])


def test_every_table_names_the_noise(tmp_path, capsys):
    asked = ["werewolf_v0", "--players", "8", "--policy", "gratr", "--against", "werewolf_window", "--design", "team"]
    assert cli.run(["evaluate", *asked, "--games", "2", "--noise", "misread=0.2"]) == 0
    assert "gratr @ offline, noise misread=0.2" in capsys.readouterr().out.replace("\n", "")
    command = ["gratr-2", "--games", "2", "--against", "werewolf_window", "--noise", "misread=0.2"]
    assert cli.run(["reproduce", *command, "--out", str(tmp_path / "r")]) == 0
    assert "heuristics (no language model), noise misread=0.2" in " ".join(capsys.readouterr().out.split())
