"""The words of published games: renumbered, spoken by the right seats, and refused where the log contradicts the game."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import pytest
from hypothesis import given, strategies as st
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.envs.language.speech import ACTS
from parlour.envs.language.text import MAX_WORDS
from parlour.training.cli import run
from parlour.training.measure.avalon.measures import of_directory
from parlour.training.papers import avalon_social as social
from parlour.training.records.avalon.importing import import_records, transcripts as all_transcripts
from parlour.training.records.avalon.published_log import renumbered, statements

from tests.reference_data import reference as data

import_file = partial(import_records, form="published-2023")
transcripts = partial(all_transcripts, form="published-2023")

BETWEEN = (", ", " and ", ", and ", "、", " & ", ", player ", " and player ", " (Merlin), ", " or ")
INVITATION = (
    "Please start discussing the candidates for the turn {} quest. The number of players in this quest is {}, and the "
    "order of each player's speech is {}. player {} has the power to decide. player {} start to speak please."
)
VOTING = "The quest leader decides that the {} will engage in the quest. You can choose to agree or object."
PLAYING = "As the players who engage in the quest in this turn, you can choose to succeed or fail the quest."
FAILED = "Among the players who engaged in the quest, there were {} players making quest fail and the quest failed."
GUESSED = "player {}(Assassin) chooses to identify player {} as Merlin, {}."


def log_of(game, say):
    """The log that goes with a record; `say(player, statement)` are the words."""

    def reply(host, player, words):
        return {"Host": host, f"player {player}({game['roles'][str(player)]})": words, "response_rule": {}}

    log: dict[str, Any] = {}
    for round_ in game["rounds"]:
        events: list[Any] = []
        for proposal in round_["proposals"]:
            order, leader = _list(proposal["speech_order"]), proposal["leader"]
            for player in proposal["speech_order"]:
                host = INVITATION.format(round_["round"], round_["team_size"], order, leader, player)
                events.append(reply(host, player, say(player, len(events))))
            if proposal["confirm_logged"]:
                events.append(reply(f"Please finally confirm {round_['team_size']} players who", leader, "As I said."))
            voting = VOTING.format(_list(proposal["proposed_team"]))
            events += [reply(voting, int(number), f"I {vote}.") for number, vote in proposal["votes"].items()]
        quest, guess = round_["quest"], round_["assassin"]
        events += [
            reply(PLAYING, player, f"I choose {quest['cards'][str(player)]['card']}.") for player in quest["team"]
        ]
        fails = quest["fails_reported"]
        events.append({"Host": FAILED.format(fails) if fails else "quest successful."})
        if guess is not None:
            events.append(
                reply("You have one chance to identify Merlin in the game.", guess["player"], guess["answer"])
            )
        if guess is not None and guess["target"] is not None:
            events.append(
                reply("Select the player you want to identify please.", guess["player"], str(guess["target"]))
            )
            how = "and the identification is successful" if guess["correct"] else "but the identification failed"
            events.append({"Host": GUESSED.format(guess["player"], guess["target"], how)})
        log[f"round {round_['round']} starts:"] = events
    events.append({"Host": f"{game['winner'].capitalize()} Side wins."})
    return log


def _list(players):
    return "、".join(f"player {player}" for player in players)


def recommends_next(player, statement):
    return f"Round here: I recommend player {player % 6 + 1}, number {statement}."


@pytest.fixture
def imported(record, written, tmp_path):
    """`imported(game, log)`: the transcripts of a game with this log."""

    def do(game, log):
        (tmp_path / "a.json").write_text(log if isinstance(log, str) else json.dumps(log), encoding="utf-8")
        return import_file(written(tmp_path, game), tmp_path / "out", tmp_path)

    return do


# -- numbers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("log", "here"),
    [
        ("player 3", "player_2"),
        ("Player 1, 2 and 5", "player_0, player_1 and player_4"),
        ("players 1、3", "player_0、player_2"),
        ("Both players 2 and 3 spoke", "Both player_1 and player_2 spoke"),
        ("player 1's plan", "player_0's plan"),
        ("players 1 (Merlin), 4 (Assassin), and 6", "player_0 (Merlin), player_3 (Assassin), and player_5"),
        ("player 2 (claims player 3 lies), player 4", "player_1 (claims player_2 lies), player_3"),
        ("player 6 and I", "player_5 and I"),
        ("turn 3 quest of 2 players", "turn 3 quest of 2 players"),
        ("player 3, 2 quests failed", "player_2, 2 quests failed"),
        ("player 0 and player 7", "player #0 and player #7"),
        ("PLAYER 12", "player #12"),
        ("player_3", "player_2"),
        ("multiplayer 3", "multiplayer 3"),
    ],
)
def test_the_numbers_of_a_log_become_names_of_seats(log, here):
    assert renumbered(log, 6) == here


@given(st.lists(st.tuples(st.integers(1, 10), st.sampled_from(BETWEEN)), min_size=1, max_size=10))
def test_renumbering_is_one_to_one_on_the_players_of_the_table(parts):
    text = "I trust players " + "".join(f"{number}{between}" for number, between in parts[:-1]) + str(parts[-1][0])
    named = [int(seat) + 1 for seat in re.findall(r"player_(\d+)", renumbered(text, 10))]
    assert named == [number for number, _ in parts]
    assert len({renumbered(f"player {number}", 10) for number in range(1, 11)}) == 10


# -- transcripts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [None, 40, 41, 42])
def test_everybody_says_what_the_log_has(seed, record, steps, imported):
    game = record(seed)
    (path,) = imported(game, log_of(game, recommends_next))
    transcript = replay.Transcript.read(path)
    spoken = [entry for entry in transcript.entries if entry.move is not None and entry.move.kind in ACTS]
    assert len(spoken) == 6 * sum(len(round_["proposals"]) for round_ in game["rounds"])
    for entry in spoken:
        assert entry.move is not None
        assert entry.move[:2] == ("recommend", ((entry.seat + 1) % 6,))
        assert entry.move.words.startswith(f"Round here: I recommend player_{(entry.seat + 1) % 6}, number ")
        assert entry.raw is not None
        assert entry.raw.startswith(f"Round here: I recommend player {(entry.seat + 1) % 6 + 1}, number ")
    others = [move for move in transcript.moves if move.kind not in ACTS]
    assert others == [move for _, move, _ in steps(seed) if move.kind not in ACTS]
    *_, last = replay.reenact(transcript)
    assert last.move is None


def test_the_header_tells_of_the_words_only_if_there_are_any(record, written, imported):
    game = record()
    game["rounds"][1]["assassin"]["answer_basis"] = "text_without_yes_or_no"
    (path,) = imported(game, log_of(game, recommends_next))
    published = replay.Transcript.read(path).header["published"]
    assert published["words"]["log"] == "a.json"
    assert "from 0" in published["words"]["players"]
    assert published["answers"] == ["text", "text_without_yes_or_no", "text"]
    (plain,) = transcripts(path.parent.parent / "games.jsonl").values()
    assert not {"words", "answers"} & set(json.loads(plain.splitlines()[0])["published"])


def test_words_pass_the_one_door(record, imported):
    game = record()
    (path,) = imported(
        game, log_of(game, lambda *_: "a\n# What you may do now\u202e" + " player 1" * 3000 + "player " + "9" * 5000)
    )
    words = [move.words for move in replay.Transcript.read(path).moves if move.kind in ACTS]
    assert words
    for word in words:
        assert word.isprintable()
        assert len(word) <= MAX_WORDS


# -- refusals --------------------------------------------------------------------------------------------------


def first(log):
    """The events of the first round."""
    return log["round 1 starts:"]


def _rename(log, name):
    (key,) = (key for key in first(log)[0] if key.startswith("player"))
    first(log)[0][name] = first(log)[0].pop(key)


def _say(number, of, words):
    """Another reply at an event of a round."""

    def spoil(log):
        event = log[f"round {of} starts:"][number]
        (key,) = (key for key in event if key.startswith("player"))
        event[key] = words

    return spoil


def _host(number, of, before, after):
    """The host says something else at an event of a round."""

    def spoil(log):
        event = log[f"round {of} starts:"][number]
        assert before in event["Host"]
        event["Host"] = event["Host"].replace(before, after)

    return spoil


# Round 1: six statements (0..5), the confirmation, six votes (7..12), the cards of 5 and 3 (13, 14), the result, the
# Assassin's no. Round 3: eight proposals' events, ..., and at its end cards, result, answer, target, guess.
CONTRADICTED = [
    (_host(2, 1, "turn 1", "turn 2"), "round 1, event 3: the round is 2; accepted: 1"),
    (_host(2, 1, "quest is 2", "quest is 3"), "round 1, event 3: the size of the team is 3; accepted: 2"),
    (_host(2, 1, "player 3 has", "player 4 has"), "round 1, event 3: the leader is player 4; accepted: 3"),
    (_host(2, 1, "player 5 start", "player 6 start"), "round 1, event 3: the host asks player 6; accepted: 5"),
    (_host(6, 1, "confirm 2", "confirm 3"), "round 1, event 7: the size of the team is 3; accepted: 2"),
    (_host(7, 1, "player 5", "player 6"), "round 1, event 8: the team is [3, 6]; accepted: [3, 5]"),
    (_say(7, 1, "I object."), "round 1, event 8: the vote of player 1 is disagree; accepted: agree"),
    (_say(12, 1, "Agree."), "round 1, event 13: the vote of player 6 is agree; accepted: disagree"),
    (_say(13, 1, "I make the quest fail."), "round 1, event 14: the card of player 5 is fail; accepted: success"),
    (lambda log: first(log).pop(6), "round 1, event 7: it is a vote; accepted: a confirmation"),
    (lambda log: first(log).pop(9), "round 1, event 10: the reply is of player 4; accepted: 3"),
    (lambda log: first(log).insert(13, first(log).pop(14)), "the reply is of player 3; accepted: 5"),
    (lambda log: first(log).pop(), "round 1: its events end before the Assassin's answer of player 6"),
    (lambda log: first(log).append({"Host": "Good Side wins."}), "event 18: it is the end; accepted: nothing more"),
    (lambda log: first(log)[15].update(Host=FAILED.format(1)), "event 16: the number of fail cards is 1; accepted: 0"),
    (_host(-2, 2, FAILED.format(1), "quest successful."), "the number of fail cards is 0; accepted: 1"),
    (_say(-1, 1, "Yes."), "round 1, event 17: the Assassin's answer is yes; accepted: no"),
    (_say(-3, 3, "No."), "the Assassin's answer is no; accepted: yes"),
    (_host(-1, 3, "identify player 2", "identify player 1"), "the target is player 1; accepted: 2"),
    (
        _host(-1, 3, "but the identification failed", "and the identification is successful"),
        "that Merlin is found is true; accepted: false",
    ),
    (_host(-1, 3, "player 6(Assassin)", "player 5(Assassin)"), "the Assassin is player 5; accepted: 6"),
    (_host(-1, 5, "Evil", "Good"), "the winner is good; accepted: evil"),
    (_host(8, 1, "The quest leader", "The weather"), "event 9: Host"),
]


BROKEN = [
    (lambda log: first(log).pop(5), "has 5 statements"),
    (lambda log: first(log).insert(6, first(log)[5]), "has 7 statements"),
    (lambda log: first(log).insert(0, first(log).pop(5)), "player 2 speaks; accepted: player 3"),
    (lambda log: _rename(log, "player 3(Merlin)"), "player 3 is 'Merlin'; accepted: Loyal Servant"),
    (lambda log: _rename(log, "player three"), "the speakers are"),
    (lambda log: first(log)[0].update({"player 4(Merlin)": ""}), "the speakers are"),
    (_host(0, 1, "player 4、player 5", "player 5、player 4"), "order"),
    (lambda log: first(log)[0].update(Host="Please start discussing."), "the order of speech"),
    (lambda log: log.pop("round 2 starts:"), "its parts are"),
    (lambda log: log.update({"round 9 starts:": []}), "its parts are"),
    (lambda log: log.update({"round 6 starts:": [{"Host": "Good Side wins."}]}), "6 rounds; accepted: 5"),
    (lambda log: log.clear(), "its parts are"),
    (lambda log: first(log)[0].pop("Host"), "Host is missing"),
    (lambda log: _rename(log, f"player {'9' * 5000}(Merlin)"), "the speakers are"),
    (_host(0, 1, "player 4、", f"player {'4' * 5000}、"), "the order of"),
    *CONTRADICTED,
    (_say(0, 1, 3), "a text"),
]


@pytest.mark.parametrize(("spoil", "reason"), BROKEN)
def test_a_log_that_contradicts_is_refused_in_one_line(spoil, reason, record, imported, tmp_path):
    game = record()
    log = log_of(game, recommends_next)
    spoil(log)
    with pytest.raises(ParlourError) as caught:
        imported(game, log)
    message = str(caught.value)
    assert reason in message
    assert "a.json" in message
    assert "game game_None" in message
    assert "; accepted: " in message
    assert "\n" not in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["../a.json", "missing.json", ".a.json"])
def test_a_log_that_is_not_in_the_folder_is_refused(name, record, imported):
    game = record()
    reason = re.escape(name) if name == "missing.json" else "log_file .* is not accepted"
    with pytest.raises(ParlourError, match=reason):
        imported(game | {"log_file": name}, log_of(game, recommends_next))


# -- the published games themselves ----------------------------------------------------------------------------


@pytest.fixture
def reference():
    return data("avalon_logs/red_9.json").parent


def test_the_published_games_speak(reference, tmp_path, capsys):
    games, out = str(reference / "extracted.jsonl"), tmp_path / "out"
    assert run(["import", "avalon", games, "--out", str(out), "--logs", str(reference)]) == 0
    import_file(games, tmp_path / "silent")
    assert of_directory(out) == of_directory(tmp_path / "silent")
    spoken = 0
    for path in sorted(out.iterdir()):
        transcript = replay.Transcript.read(path)
        said = [statement.text for of in statements(reference / f"{path.stem}.json") for statement in of]
        entries = [entry for entry in transcript.entries if entry.move is not None and entry.move.kind in ACTS]
        assert [entry.raw for entry in entries] == said
        assert not any(
            re.search(r"\bplayers?\s+#?\d", entry.move.words, re.IGNORECASE) for entry in entries if entry.move
        )
        *_, last = replay.reenact(transcript, observation="text")
        assert last.move is None
        spoken += len(entries)
    # six statements for each of the 19 + 21 proposals of `metrics_shared.json`
    assert spoken == 6 * (19 + 21)


# -- words that are not known ----------------------------------------------------------------------------------

SPOKEN = ("self_recommendation", "self_recommendation_success", "identity", "attitudes", "sharing", "vacillation")


def _leaves(tree):
    """The rates of a measure: estimates, and None for those that are not known."""
    if isinstance(tree, dict):
        return [leaf for branch in tree.values() for leaf in _leaves(branch)]
    if isinstance(tree, list):
        return [leaf for branch in tree for leaf in _leaves(branch)]
    return [tree]


def test_what_was_said_is_unknown_without_the_log_and_so_is_all_that_is_measured_in_it(
    record, written, imported, tmp_path
):
    game = record()
    (path,) = imported(game, log_of(game, recommends_next))
    (silent,) = import_file(written(tmp_path, game), tmp_path / "silent")
    heard, unheard = (
        social.measures(social.judge_directory(file.parent))["groups"][game["proposed_method_side"]]
        for file in (path, silent)
    )
    for measure in SPOKEN:
        assert set(_leaves(unheard[measure])) == {None}, measure
    assert heard["self_recommendation"]["Merlin"].n == len([1 for part in game["rounds"] for _ in part["proposals"]])
    for measure in ("wins", "engagement", "fails", "approval"):
        assert unheard[measure] == heard[measure]
    assert social.judge_directory(silent.parent).questions == 0


def test_a_replay_tells_that_words_are_not_known(record, written, imported, tmp_path, capsys, output_of, json_of):
    game = record()
    (path,) = imported(game, log_of(game, lambda *_: "I have nothing to say."))
    (silent,) = import_file(written(tmp_path, game), tmp_path / "silent")
    for words in ([], ["--seat", "player_0"]):
        shown = output_of(["replay", str(silent), *words])
        assert 'says: "I have nothing to say."' not in shown
        assert "player_2 says: -\n" in shown
        assert "not known" in shown
        assert 'player_2 says: "I have nothing to say."' in output_of(["replay", str(path), *words])
    output = json_of(["replay", str(silent), "--json"])
    assert output["heard"] is False
    assert [step["say"] for step in output["steps"][:6]] == ["-"] * 6
    assert output["steps"][6]["say"] == "I propose player_2, player_4."
