"""Published games become transcripts, move for move; what contradicts the rules or the format is refused whole."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlour.envs import replay
from parlour.envs.aec import GameEnv
from parlour.envs.avalon import GAME
from parlour.envs.avalon import state as avalon
from parlour.envs.avalon.presets import EVIL, side_of
from parlour.envs.core import NATURE, OVER, Move, ParlourError
from parlour.envs.speech import SILENT
from parlour.training.published_games import import_file, transcripts
from parlour.wrappers.record import Recorder

RULES = GAME.build(num_players=6, rules="reference")
ROLES = ("Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Morgana", "Assassin")
MERLIN, GOOD_PLAYER, MORGANA, ASSASSIN = "1", "3", "5", "6"
NUMBERS = [str(number) for number in range(1, 7)]
SEEDS = range(40)
Game = dict[str, Any]


# -- games in the published format -----------------------------------------------------------------------------


def play(choose: Callable[[Any], Move]) -> Iterator[tuple[Any, Move, Any]]:
    state = RULES.initial()
    while RULES.actor(state) != OVER:
        move = choose(state)
        after = RULES.apply(state, move)
        yield state, move, after
        state = after


def chooser(seed: int) -> Callable[[Any], Move]:
    """Choices that make all kinds of games: many rejections or few, short teams, good players that fail, guesses."""
    rng = np.random.default_rng(seed)
    agreeable = (0.25, 0.5, 0.8)[seed % 3]

    def choose(s: Any) -> Move:
        if s.actor == NATURE:
            return RULES.nature(s, rng)
        if s.phase == avalon.TALK:
            return Move(SILENT)
        if s.phase == avalon.VOTE:
            return avalon.APPROVE if rng.random() < agreeable else avalon.REJECT
        if s.phase == avalon.QUEST:
            evil = side_of(RULES.role_names[s.standing.roles[s.actor]]) == EVIL
            return avalon.FAIL if rng.random() < (0.5 if evil else 0.05) else avalon.SUCCESS
        if s.phase == avalon.HUNT and rng.random() < 0.7:
            return avalon.PASS
        legal = RULES.legal(s)
        full = [move for move in legal if len(move.args) == RULES.sizes[s.standing.quest]]
        fit = full if s.phase == avalon.PROPOSE and rng.random() < 0.7 else legal
        return fit[int(rng.integers(len(fit)))]

    return choose


def scripted() -> Callable[[Any], Move]:
    """One game with every case: see the comments. Player 3 leads first; roles as in ROLES."""
    deal = Move("deal", (*(RULES.role_names.index(role) for role in ROLES), 2))
    teams = ["35", "123", "2", "1234", "1234", "1234", "12", "123", "2345"]
    votes = ["aaaddd", "aadddd", "aaaadd", *["adaddd"] * 4, "aaaaaa", "aaaddd"]
    cards = ["ss", "ssf", "ssfs", "sss", "ssfs"]
    moves = {
        avalon.DEAL: iter([deal]),
        avalon.TALK: iter([Move(SILENT)] * 6 * len(teams)),
        avalon.PROPOSE: iter([Move("propose", tuple(int(c) - 1 for c in team)) for team in teams]),
        avalon.VOTE: iter([avalon.APPROVE if c == "a" else avalon.REJECT for c in "".join(votes)]),
        avalon.DRAW: iter([Move("draw", (0, 1, 5)), Move("draw", (0, 1, 2, 3))]),
        avalon.QUEST: iter([avalon.SUCCESS if c == "s" else avalon.FAIL for c in "".join(cards)]),
        # round 3: a wrong guess; none is asked afterwards
        avalon.HUNT: iter([avalon.PASS, avalon.PASS, Move("guess", (1,))]),
    }
    return lambda s: next(moves[s.phase])


def published(steps: list[tuple[Any, Move, Any]], game_id: str = "game_1", side: str = "good") -> Game:
    """A played game as its record."""
    game: Game = {"game_id": game_id, "log_file": "a.json", "source_dir": "a", "index": 1, "ambiguities": []}
    game |= {"proposed_method_side": side, "baseline_side": "evil" if side == "good" else "good", "rounds": []}
    for before, move, after in steps:
        if before.phase == avalon.DEAL:
            game["roles"] = {n: RULES.role_names[r] for n, r in zip(NUMBERS, move.args, strict=False)}
        elif move.kind == SILENT:
            _speak(game["rounds"], before)
        elif move.kind == "propose":
            _propose(game["rounds"][-1]["proposals"][-1], before, move)
        elif move.kind == "vote":
            _vote(game["rounds"][-1], before, move, after)
        elif move.kind == "draw":
            game["rounds"][-1]["quest"] = _quest([j + 1 for j in move.args[::-1]], "random_sample")
        elif move.kind == "card":
            _card(game["rounds"][-1], before, move)
        else:
            _guess(game["rounds"][-1], before, move, after)
        if game["rounds"]:
            game["rounds"][-1]["score_after"] = {"good": after.standing.good, "evil": after.standing.evil}
    outcome = RULES.outcome(steps[-1][2])
    assert outcome is not None
    game |= {"winner": outcome.winner, "win_by": outcome.reason, "final_score": game["rounds"][-1]["score_after"]}
    game["quest_results"] = [one["quest"]["result"] for one in game["rounds"]]
    return game | {"winner_method": "proposed" if outcome.winner == side else "baseline"}


def _speak(rounds: list[Any], s: Any) -> None:
    if len(rounds) <= s.standing.quest:
        number = s.standing.quest + 1
        rounds.append({"round": number, "team_size": (2, 3, 4, 3, 4)[number - 1], "proposals": [], "assassin": None})
    if s.turn == 0:
        rounds[-1]["proposals"].append({"leader": s.actor + 1, "speech_order": []})
    rounds[-1]["proposals"][-1]["speech_order"].append(s.actor + 1)


def _propose(proposal: Game, s: Any, move: Move) -> None:
    short = len(move.args) < (2, 3, 4, 3, 4)[s.standing.quest]
    team = [j + 1 for j in move.args[::-1]]  # leaders name them in any order
    proposal |= {"proposed_team": team, "short": short, "confirm_logged": not short, "votes": {}}


def _vote(one: Game, s: Any, move: Move, after: Any) -> None:
    proposal = one["proposals"][-1]
    proposal["votes"][str(s.actor + 1)] = "agree" if move.args[0] else "disagree"
    approvals = list(proposal["votes"].values()).count("agree")
    goes = after.phase in (avalon.DRAW, avalon.QUEST)
    proposal |= {"approvals": approvals, "vote_passed": approvals >= 3, "executed": goes}
    proposal["forced_by_retry_limit"] = goes and approvals < 3
    if after.phase == avalon.QUEST:
        one["quest"] = _quest(proposal["proposed_team"], "proposal")


def _quest(team: list[int], source: str) -> Game:
    return {"team": team, "team_source": source, "cards": {}}


def _card(one: Game, s: Any, move: Move) -> None:
    quest = one["quest"]
    quest["cards"][str(s.actor + 1)] = {"card": "success" if move.args[0] else "fail", "basis": "text"}
    fails = [card["card"] for card in quest["cards"].values()].count("fail")
    quest |= {"fails_reported": fails, "result": "fail" if fails else "success"}


def _guess(one: Game, s: Any, move: Move, after: Any) -> None:
    named = move.args[0] + 1 if move.args else None
    told = {"player": s.actor + 1, "answer": "yes" if move.args else "no", "answer_basis": "text", "target": named}
    one["assassin"] = told | {"correct": after.standing.reason == "assassination" if move.args else None}


@cache
def _of(seed: int | None) -> tuple[list[tuple[Any, Move, Any]], Game]:
    steps = list(play(scripted() if seed is None else chooser(seed)))
    return steps, published(steps, f"game_{seed}", ("good", "evil")[(seed or 0) % 2])


def played(seed: int | None = None) -> tuple[list[Move], Game]:
    """The moves and the record of a game; the scripted one without a seed."""
    steps, game = _of(seed)
    return [move for _, move, _ in steps], copy.deepcopy(game)


def written(folder: Path, *games: Game) -> Path:
    path = folder / "games.jsonl"
    path.write_text("".join(json.dumps(game) + "\n" for game in games))
    return path


# -- what is imported ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [None, *SEEDS])
def test_a_transcript_holds_the_moves_of_the_game(seed: int | None, tmp_path: Path) -> None:
    moves, game = played(seed)
    (path,) = import_file(written(tmp_path, game), tmp_path / "out")
    transcript = replay.read(path)
    assert path == tmp_path / "out" / f"{game['game_id']}.jsonl"
    assert list(transcript.moves) == moves
    assert transcript.outcome == RULES.outcome(list(replay.states(RULES, transcript.moves))[-1])
    assert list(replay.reenact(transcript, "features"))[-1].move is None


def test_the_generated_games_hold_every_case() -> None:
    games = [played(seed)[1] for seed in SEEDS]
    rounds = [one for game in games for one in game["rounds"]]
    proposals = [proposal for one in rounds for proposal in one["proposals"]]
    asked = [one["assassin"] for one in rounds if one["assassin"]]
    assert {game["winner_method"] for game in games} == {"proposed", "baseline"}
    assert {len(game["rounds"]) for game in games} >= {1, 3, 4, 5}
    assert {one["quest"]["team_source"] for one in rounds} == {"proposal", "random_sample"}
    assert {proposal["approvals"] for proposal in proposals if proposal["forced_by_retry_limit"]} >= {0, 1, 2}
    assert any(proposal["short"] and proposal["forced_by_retry_limit"] for proposal in proposals)
    assert any(proposal["short"] and not proposal["executed"] for proposal in proposals)
    assert {told["correct"] for told in asked} == {None, True, False}
    assert {game["win_by"] for game in games} == {"quests", "assassination"}


def test_the_lines_are_those_of_a_recorder(tmp_path: Path) -> None:
    for seed in (None, 1, 2, 3):
        moves, game = played(seed)
        steps, _ = _of(seed)
        env = Recorder(GameEnv(GAME, RULES), tmp_path / "recorded.jsonl", overwrite=True)
        env.reset(options={"nature": [move for before, move, _ in steps if before.actor == NATURE]})
        for before, move, _ in steps:
            if before.actor != NATURE:
                env.step(RULES.catalogue.index(move))
        env.close()
        (text,) = transcripts(written(tmp_path, game)).values()
        assert text.splitlines()[1:] == (tmp_path / "recorded.jsonl").read_text().splitlines()[1:]


def test_the_header_tells_how_events_were_read(tmp_path: Path) -> None:
    _, game = played()
    game["rounds"][1]["quest"]["cards"][ASSASSIN] |= {"basis": "count", "text_class": "success"}
    game["rounds"][0]["quest"]["cards"]["3"] |= {"basis": "unclear_default", "text_class": "unclear"}
    (path,) = import_file(written(tmp_path, game), tmp_path)
    published = replay.read(path).header["published"]
    assert published["confirm_logged"] == [True, True, False, *[True] * 3, False, True, True]
    assert published["cards"][:5] == [
        ["unclear_default", "unclear"],
        ["text"],
        ["text"],
        ["text"],
        ["count", "success"],
    ]
    assert (published["proposed_method_side"], published["baseline_side"]) == ("good", "evil")


def test_a_yes_without_a_readable_target_is_no_guess_and_he_is_asked_again(tmp_path: Path) -> None:
    moves, game = played()
    game["rounds"][0]["assassin"] |= {"answer": "yes", "answer_basis": "text"}
    (text,) = transcripts(written(tmp_path, game)).values()
    assert text == next(iter(transcripts(written(tmp_path, played()[1])).values()))


def test_the_same_file_gives_the_same_bytes_and_may_be_imported_again(tmp_path: Path) -> None:
    source = written(tmp_path, *(played(seed)[1] for seed in SEEDS))
    first = import_file(source, tmp_path / "a")
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in first]
    assert import_file(source, tmp_path / "a") == first
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in first] == before
    assert [path.read_bytes() for path in import_file(source, tmp_path / "b")] == [data for data, _ in before]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == sorted(path.name for path in first)


def test_blank_lines_and_line_ends_of_other_systems_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"\r\n".join(json.dumps(played(seed)[1]).encode() for seed in (1, 2)) + b"\n\n")
    assert list(transcripts(path)) == ["game_1", "game_2"]


# -- what is refused -------------------------------------------------------------------------------------------


def refusal(folder: Path, *games: Game) -> str:
    """Why a file is refused; nothing may have been written."""
    with pytest.raises(ParlourError) as caught:
        import_file(written(folder, *games), folder / "out")
    assert not (folder / "out").exists()
    message = str(caught.value)
    assert "\n" not in message
    assert "; accepted: " in message
    return message


def put(game: Game, path: str, value: Any) -> None:
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
    ("proposed_method_side", "red", "game game_None", "good, evil"),
    ("baseline_side", "good", "game game_None", "other side"),
    ("rounds", [], "game game_None", "rounds []"),
    ("rounds.1.round", 3, "round 2", "numbered"),
    ("rounds.1.team_size", 4, "round 2", "accepted: 3"),
    ("rounds.0.proposals.0.leader", 7, "round 1, proposal 1", "accepted: 1..6"),
    ("rounds.1.proposals.1.leader", 1, "round 2, proposal 2", "accepted: 5"),
    ("rounds.2.proposals.0.leader", 3, "round 3, proposal 1", "accepted: 6"),
    ("rounds.0.proposals.0.speech_order", [3, 4, 5, 6, 2, 1], "round 1, proposal 1", "leader first"),
    ("rounds.0.proposals.0.speech_order", [3, 4, 5, 6, 1], "round 1, proposal 1", "leader first"),
    ("rounds.0.proposals.0.proposed_team", [3, 3], "round 1, proposal 1", "different"),
    ("rounds.0.proposals.0.proposed_team", [0, 3], "round 1, proposal 1", "1..6"),
    ("rounds.0.proposals.0.proposed_team", [3, 7], "round 1, proposal 1", "1..6"),
    ("rounds.0.proposals.0.proposed_team", [1, 2, 3], "round 1, proposal 1", "1 to 2"),
    ("rounds.0.proposals.0.proposed_team", [3], "round 1, proposal 1", "short"),
    ("rounds.1.proposals.1.short", False, "round 2, proposal 2", "accepted: true"),
    ("rounds.0.proposals.0.short", 0, "round 1, proposal 1", "accepted: false"),
    ("rounds.1.proposals.1.confirm_logged", True, "round 2, proposal 2", "accepted: false"),
    ("rounds.0.proposals.0.votes.#1", "abstain", "round 1, proposal 1, votes", "agree, disagree"),
    ("rounds.0.proposals.0.votes.#7", "agree", "round 1, proposal 1", "1, 2, 3, 4, 5, 6"),
    ("rounds.0.proposals.0.votes", {"1": "agree"}, "round 1, proposal 1", "1, 2, 3, 4, 5, 6"),
    ("rounds.0.proposals.0.votes.#1", "disagree", "round 1, proposal 1", "approvals"),
    ("rounds.0.proposals.0.approvals", 4, "round 1, proposal 1", "accepted: 3"),
    ("rounds.0.proposals.0.vote_passed", False, "round 1, proposal 1", "3 are needed"),
    ("rounds.1.proposals.0.executed", True, "round 2, proposal 1", "1 of 5 proposals"),
    ("rounds.2.proposals.3.executed", False, "round 3, proposal 4", "5 of 5 proposals"),
    ("rounds.2.proposals.3.forced_by_retry_limit", False, "round 3, proposal 4", "accepted: true"),
    ("rounds.3.proposals.0.forced_by_retry_limit", True, "round 4, proposal 1", "accepted: false"),
    ("rounds.1.quest.team_source", "proposal", "round 2, quest", "random_sample"),
    ("rounds.0.quest.team_source", "random_sample", "round 1, quest", "short one only"),
    ("rounds.0.quest.team", [1, 3], "round 1, quest", "[3, 5]"),
    ("rounds.1.quest.team", [1, 2], "round 2, quest", "3 different"),
    ("rounds.1.quest.team", [1, 2, 2], "round 2, quest", "3 different"),
    ("rounds.1.quest.team", [1, 2, 5], "round 2, quest", "1, 2, 5"),
    ("rounds.0.quest.cards.#4", {"card": "success", "basis": "text"}, "round 1, quest", "3, 5"),
    ("rounds.0.quest.cards.#3.card", "maybe", "round 1, quest, cards, 3", "success, fail"),
    ("rounds.0.quest.cards.#3.basis", "guess", "round 1, quest, cards, 3", "text, count"),
    ("rounds.0.quest.cards.#3.basis", "count", "round 1, quest, cards, 3", "success card"),
    ("rounds.2.quest.cards.#3.basis", "count", "round 3, quest, cards, 3", "Loyal Servant"),
    ("rounds.2.quest.cards.#3.basis", "unclear_default", "round 3, quest, cards, 3", "fail card"),
    ("rounds.0.quest.cards.#3.text_class", "fail", "round 1, quest, cards, 3", "accepted: success"),
    ("rounds.0.quest.cards.#5.card", "fail", "round 1, quest", "fails_reported"),
    ("rounds.1.quest.fails_reported", 2, "round 2, quest", "accepted: 1"),
    ("rounds.1.quest.result", "success", "round 2, quest", "1 fail cards"),
    ("rounds.0.assassin", None, "round 1", "guess is unused"),
    ("rounds.0.assassin.player", 5, "round 1, assassin", "accepted: 6"),
    ("rounds.0.assassin.answer", "perhaps", "round 1, assassin", "yes, no"),
    ("rounds.0.assassin.answer_basis", None, "round 1, assassin", "a text"),
    ("rounds.0.assassin.target", 2, "round 1, assassin", "with a no"),
    ("rounds.0.assassin.correct", False, "round 1, assassin", "accepted: null"),
    ("rounds.2.assassin.target", 6, "round 3, assassin", "1, 2, 3, 4, 5"),
    ("rounds.2.assassin.target", 1, "round 3, assassin", "accepted: true"),
    ("rounds.2.assassin.correct", True, "round 3, assassin", "accepted: false"),
    ("rounds.3.assassin", {"player": 6, "answer": "no"}, "round 4", "used before"),
    ("rounds.1.score_after", {"good": 2, "evil": 0}, "round 2", '"evil": 1'),
    ("rounds.1.score_after.evil", True, "round 2", '"evil": 1'),
    ("winner", "good", "round", "accepted: evil"),
    ("win_by", "assassination", "round 5", "accepted: quests"),
    ("quest_results.1", "success", "rounds", '"fail"'),
    ("final_score.good", 3, "round 5", '"good": 2'),
    ("winner_method", "proposed", "game game_None", "evil wins"),
    ("index", "1", "game game_None", "a whole number"),
    ("log_file", 1, "game game_None", "a text"),
    ("ambiguities", [1], "game game_None", "a list of texts"),
]


@pytest.mark.parametrize(("path", "value", "where", "reason"), CONTRADICTIONS)
def test_a_contradiction_is_refused_with_its_place(
    path: str, value: Any, where: str, reason: str, tmp_path: Path
) -> None:
    _, game = played()
    put(game, path, value)
    message = refusal(tmp_path, played(1)[1], game, played(2)[1])
    assert "games.jsonl' line 2, game game_None" in message
    assert where in message
    assert (
        reason.replace("accepted: evil", 'accepted: "evil"').replace("accepted: quests", 'accepted: "quests"')
        in message
    )


def _fields(node: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all fields of a record."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        yield (*way, key)
        if isinstance(value, dict | list):
            yield from _fields(value, (*way, key))


FIELDS = list(_fields(played()[1]))
NAMED = [way for way in FIELDS if isinstance(way[-1], str)]
ANYTHING = st.one_of(
    st.sampled_from([None, True, False, -1, 0, 1, 2, 3, 6, 7, 1.0, 1e400, "", "1", [], {}, [1], {"1": 1}]),
    st.sampled_from(["yes", "no", "agree", "disagree", "success", "fail", "good", "evil", "text", "count", "Merlin"]),
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    ),
)


def _node(game: Game, way: tuple[Any, ...]) -> Any:
    node: Any = game
    for step in way:
        node = node[step]
    return node


@pytest.mark.parametrize("round_", [None, 0, 1, 2])
def test_no_field_may_be_missing(round_: int | None, tmp_path: Path) -> None:
    for way in NAMED:
        if (way[1] if way[0] == "rounds" and len(way) > 1 else None) == round_:
            _, game = played()
            del _node(game, way[:-1])[way[-1]]
            assert str(way[-1]) in refusal(tmp_path, game)


@given(st.sampled_from(FIELDS), ANYTHING)
def test_a_changed_field_is_refused_or_makes_another_legal_game(
    way: tuple[Any, ...], value: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("changed")
    _, game = played()
    _node(game, way[:-1])[way[-1]] = value
    try:
        (path,) = import_file(written(folder, game), folder / "out")
    except ParlourError as error:
        assert "\n" not in str(error)
        assert not (folder / "out").exists()
    else:
        assert list(replay.reenact(replay.read(path), "features"))


def test_rounds_after_the_end_are_refused(tmp_path: Path) -> None:
    _, game = played()
    game["rounds"].append(copy.deepcopy(game["rounds"][4]) | {"round": 6})
    assert "round 6: the game ended before this round" in refusal(tmp_path, game)


def test_a_right_guess_ends_the_game_unscored_and_nothing_may_follow(tmp_path: Path) -> None:
    _, game = next((m, g) for m, g in map(played, SEEDS) if g["win_by"] == "assassination" and len(g["rounds"]) == 2)
    assert len(game["quest_results"]) == 2
    assert sum(game["final_score"].values()) == 1
    assert import_file(written(tmp_path, game), tmp_path)
    game["rounds"].append(copy.deepcopy(played()[1]["rounds"][2]))
    assert "round 3: the game ended before this round, by assassination" in refusal(tmp_path, game)


def test_a_game_that_stops_before_its_end_is_refused(tmp_path: Path) -> None:
    _, game = played()
    game["rounds"].pop()
    assert "round 4: the game stops" in refusal(tmp_path, game)


def test_a_proposal_after_the_executed_one_is_refused(tmp_path: Path) -> None:
    _, game = played()
    game["rounds"][0]["proposals"] *= 2
    assert "round 1, proposal 2: a team of this round goes already" in refusal(tmp_path, game)


def test_a_round_without_an_executed_team_is_refused(tmp_path: Path) -> None:
    _, game = played()
    game["rounds"][1]["proposals"].pop()
    assert "round 2: no team of this round goes" in refusal(tmp_path, game)


def test_the_side_agrees_with_the_name_of_the_game(tmp_path: Path) -> None:
    _, game = played()
    assert "proposed_method_side" in refusal(tmp_path, game | {"game_id": "red_8"})
    assert len(transcripts(written(tmp_path, game | {"game_id": "blue_8"}))) == 1


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "a/b", "a\\b", "../a", "a\n", "ä", "a" * 201, "a b", 1, None]
)
def test_a_name_that_makes_no_file_is_refused(name: Any, tmp_path: Path) -> None:
    _, game = played()
    assert "game_id" in refusal(tmp_path, game | {"game_id": name})


def test_a_name_is_given_once(tmp_path: Path) -> None:
    _, game = played()
    assert "line 3: game_id" in refusal(tmp_path, game, played(1)[1], game)


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
def test_a_file_without_games_is_refused(text: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(text)
    with pytest.raises(ParlourError) as caught:
        import_file(path, tmp_path / "out")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParlourError, match="cannot be read"):
        import_file(tmp_path / "none.jsonl", tmp_path)


def test_other_files_are_not_overwritten_and_nothing_is_written_beside_them(tmp_path: Path) -> None:
    source, out = written(tmp_path, played(1)[1], played(2)[1]), tmp_path / "out"
    out.mkdir()
    (out / "game_2.jsonl").write_text("mine\n")
    with pytest.raises(ParlourError, match=r"game_2\.jsonl' exists"):
        import_file(source, out)
    assert [path.name for path in out.iterdir()] == ["game_2.jsonl"]
    assert (out / "game_2.jsonl").read_text() == "mine\n"


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(ParlourError, match="cannot be written to"):
        import_file(written(tmp_path, played()[1]), tmp_path / "out")


# -- the published games themselves ----------------------------------------------------------------------------


@pytest.fixture
def reference() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("PARLOUR_REFERENCE_DATA", beside)) / "avalon_logs"
    if not (folder / "extracted.jsonl").is_file():
        pytest.skip(
            f"THE PUBLISHED GAMES ARE NOT HERE ({folder}): set PARLOUR_REFERENCE_DATA to the folder around them"
        )
    return folder


def test_the_published_games_replay_to_their_outcomes(reference: Path, tmp_path: Path) -> None:
    records = [json.loads(line) for line in (reference / "extracted.jsonl").read_text().splitlines()]
    paths = import_file(reference / "extracted.jsonl", tmp_path)
    assert [path.stem for path in paths] == [record["game_id"] for record in records]
    for path, record in zip(paths, records, strict=True):
        *_, last = replay.reenact(replay.read(path))
        outcome = replay.read(path).outcome
        assert outcome is not None
        assert (outcome.winner, outcome.reason) == (record["winner"], record["win_by"])
        assert last.move is None
