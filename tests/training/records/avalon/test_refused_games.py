"""A published game that contradicts the rules or the format is refused with its place, and nothing is written."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.training.records.avalon.importing import import_records, transcripts as all_transcripts

import_file = partial(import_records, form="published-2023")
transcripts = partial(all_transcripts, form="published-2023")


def put(game, path, value):
    """Set a field; in the path, numbers are places in a list and `#1` is player 1."""
    *way, last = path.split(".")
    node: Any = game
    for step in way:
        node = node[int(step) if isinstance(node, list) else step.removeprefix("#")]
    node[int(last) if isinstance(node, list) else last.removeprefix("#")] = value


# The scripted game: round 1 a 3-3 tie goes; round 2 a rejection, then a short team; round 3 is forced by the limit
# (two short teams among four proposals); the wrong guess comes after it.
CONTRADICTIONS = [
    ("roles.#1", "Lady of the Lake", "game game_None", '"Lady of the Lake"'),
    ("roles.#1", "Loyal Servant", "game game_None", "each of these once"),
    ("roles.#5", "Minion", "game game_None", '"Minion"'),
    ("index", 10**30, "game game_None", "0..999999"),
    ("index", True, "game game_None", "0..999999"),
    ("source_dir", "battle03-blue-strategy-3-style-specific-0_game_7", "game game_None", "the number of index 1"),
    ("log_file", "blue_7.json", "game game_None", "the number of index 1"),
    ("rounds.0.assassin.answer", "yes", "round 1, assassin", "target null is not accepted; accepted: 1, 2"),
    ("rounds.1.round", 3, "round 2", "numbered"),
    ("rounds.0.proposals.0.leader", 7, "round 1, proposal 1", "accepted: 1..6"),
    ("rounds.1.proposals.1.leader", 1, "round 2, proposal 2", "accepted: 5"),
    ("rounds.2.proposals.0.leader", 3, "round 3, proposal 1", "accepted: 6"),
    ("rounds.0.proposals.0.speech_order", [3, 4, 5, 6, 2, 1], "round 1, proposal 1", "leader first"),
    ("rounds.0.proposals.0.proposed_team", [3, 3], "round 1, proposal 1", "different"),
    ("rounds.0.proposals.0.proposed_team", [0, 3], "round 1, proposal 1", "1..6"),
    ("rounds.0.proposals.0.proposed_team", [3, 7], "round 1, proposal 1", "1..6"),
    ("rounds.0.proposals.0.proposed_team", [1, 2, 3], "round 1, proposal 1", "0 to 2"),
    ("rounds.0.proposals.0.proposed_team", [3], "round 1, proposal 1", "short"),
    ("rounds.0.proposals.0.short", 0, "round 1, proposal 1", "accepted: false"),
    ("rounds.0.proposals.0.votes.#7", "agree", "round 1, proposal 1", "1, 2, 3, 4, 5, 6"),
    ("rounds.0.proposals.0.votes.#1", "disagree", "round 1, proposal 1", "approvals"),
    ("rounds.1.quest.team_source", "proposal", "round 2, quest", "random_sample"),
    ("rounds.0.quest.team", [1, 3], "round 1, quest", "[3, 5]"),
    ("rounds.1.quest.team", [1, 2, 2], "round 2, quest", "3 different"),
    ("rounds.1.quest.team", [1, 2, 5], "round 2, quest", "1, 2, 5"),
    ("rounds.0.quest.cards.#4", {"card": "success", "basis": "text"}, "round 1, quest", "3, 5"),
    ("rounds.0.quest.cards.#3.basis", "count", "round 1, quest, cards, 3", "success card"),
    ("rounds.2.quest.cards.#3.basis", "count", "round 3, quest, cards, 3", "Loyal Servant"),
    ("rounds.2.quest.cards.#3.basis", "unclear_default", "round 3, quest, cards, 3", "fail card"),
    ("rounds.0.quest.cards.#3.text_class", "fail", "round 1, quest, cards, 3", "accepted: success"),
    ("rounds.1.quest.result", "success", "round 2, quest", "1 fail cards"),
    ("rounds.2.assassin.target", 6, "round 3, assassin", "1, 2, 3, 4, 5"),
    ("rounds.2.assassin.target", 1, "round 3, assassin", "accepted: true"),
    ("rounds.2.assassin.correct", True, "round 3, assassin", "accepted: false"),
    ("rounds.3.assassin", {"player": 6, "answer": "no"}, "round 4", "used before"),
    ("rounds.1.score_after.evil", True, "round 2", '"evil": 1'),
    ("ambiguities", [1], "game game_None", "a list of texts"),
]


@pytest.mark.parametrize(("path", "value", "where", "reason"), CONTRADICTIONS)
def test_a_contradiction_is_refused_with_its_place(path, value, where, reason, record, refusal):
    game = record()
    put(game, path, value)
    message = refusal(record(1), game, record(2))
    assert "games.jsonl' line 2, game game_None" in message
    assert where in message
    assert reason in message


@pytest.mark.parametrize(
    ("basis", "card", "said", "accepted"),
    [
        ("text", "success", "success", True),
        ("text", "success", "unclear", False),
        ("text", "fail", "fail", True),
        ("text", "fail", "success", False),
        ("count", "fail", "success", True),  # evil said success, and the count tells of its fail
        ("count", "fail", "unclear", True),
        ("count", "fail", "fail", False),
        ("unclear_default", "success", "unclear", True),
        ("unclear_default", "success", "success", False),
    ],
)
def test_what_a_reply_may_have_said_of_a_card(basis, card, said, accepted, record, written, refusal, tmp_path):
    game = record()
    cards = [played for at in game["rounds"] for played in at["quest"]["cards"].values() if played["card"] == card]
    evil = [
        played
        for at in game["rounds"]
        for number, played in at["quest"]["cards"].items()
        if played["card"] == card and game["roles"][number] in ("Morgana", "Assassin")
    ]
    (evil or cards)[0].update(basis=basis, text_class=said)
    if accepted:
        assert len(transcripts(written(tmp_path, game))) == 1
    else:
        assert f"read by {basis}" in refusal(game)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda rounds: rounds.append(rounds[4] | {"round": 6}), "round 6: the game ended before this round"),
        (lambda rounds: rounds.pop(), "round 4: the game stops"),
        (
            lambda rounds: rounds[0].update(proposals=rounds[0]["proposals"] * 2),
            "round 1, proposal 2: a team of this round goes already",
        ),
        (lambda rounds: rounds[1]["proposals"].pop(), "round 2: no team of this round goes"),
    ],
    ids=["after the end", "before the end", "after the executed team", "without an executed team"],
)
def test_rounds_that_are_not_those_of_the_game_are_refused(edit, reason, record, refusal):
    game = record()
    edit(game["rounds"])
    assert reason in refusal(game)


def test_the_round_that_ends_by_a_right_guess_is_not_scored_and_the_last(record, written, refusal, tmp_path):
    games = [record(seed) for seed in range(40, 80)]
    game = next(game for game in games if game["win_by"] == "assassination" and len(game["rounds"]) == 2)
    assert len(game["quest_results"]) == 2
    assert sum(game["final_score"].values()) == 1
    assert transcripts(written(tmp_path, game))
    longer = game["rounds"] + record()["rounds"][2:3]
    assert "round 3: the game ended before this round, by assassination" in refusal(game | {"rounds": longer})
    put(game, "rounds.1.score_after", {"good": 1, "evil": 1})
    assert "round 2: score_after" in refusal(game)


def test_the_side_agrees_with_the_name_of_the_game(record, written, refusal, tmp_path):
    assert "proposed_method_side" in refusal(record() | {"game_id": "red_8"})
    for name in ("blue_8", "red_8b", "redder_8"):  # the last two are names of another kind
        assert len(transcripts(written(tmp_path, record() | {"game_id": name}))) == 1


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "a/b", "a\\b", "../a", "a\n", "ä", "a" * 201, "a b", 1, None]
)
def test_a_name_that_makes_no_file_is_refused(name, record, refusal):
    assert "game_id" in refusal(record() | {"game_id": name})


def test_a_name_is_given_once(record, refusal):
    assert "line 3: game_id" in refusal(record(), record(1), record())
    assert "line 2: game_id" in refusal(record(1), record(2) | {"game_id": "GAME_1"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "holds no game"),
        (b"\n \n", "holds no game"),
        (b"{", "line 1 cannot be read"),
        (b"\xff\xfe{}", "line 1 cannot be read"),
        (b"\n[1]\n", "line 2: [1]"),
        (b'{"game_id": "a", "game_id": "b"}\n', "'game_id' stands twice"),
        (b"[" * 100_000, "line 1 cannot be read"),
        (b'{"index": ' + b"9" * 5000 + b"}", "line 1 cannot be read"),
        (b"{}", "line 1: game_id is missing"),
    ],
)
def test_a_file_without_games_is_refused(text, reason, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(text)
    with pytest.raises(ParlourError) as caught:
        import_file(path, tmp_path / "out")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ParlourError, match="cannot be read"):
        import_file(tmp_path / "none.jsonl", tmp_path)


def test_other_files_are_not_overwritten_and_nothing_is_written_beside_them(record, written, tmp_path):
    source, out = written(tmp_path, record(1), record(2)), tmp_path / "out"
    out.mkdir()
    (out / "game_2.jsonl").write_text("mine\n")
    with pytest.raises(ParlourError, match=r"game_2\.jsonl' exists"):
        import_file(source, out)
    assert [path.name for path in out.iterdir()] == ["game_2.jsonl"]
    assert (out / "game_2.jsonl").read_text() == "mine\n"


def test_a_folder_that_cannot_be_made_is_refused(record, written, tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(ParlourError, match="cannot be written to"):
        import_file(written(tmp_path, record()), tmp_path / "out")
