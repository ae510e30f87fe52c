"""Amnesia and scores of Werewolf, rule by rule, and the same counted from transcripts of our own table."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from parlour.envs import replay
from parlour.envs.core import Move, ParlourError
from parlour.envs.werewolf.vocabulary import ROLES, side_of
from parlour.policies import RandomPolicy
from parlour.training.measure.werewolf import measures, transcripts
from parlour.training.measure.werewolf.amnesia import IDENTITY, OBJECTIVE, WAYS, Count, Turn, amnesia, forgot
from parlour.training.measure.werewolf.scores import (
    PUBLISHED,
    performance,
    reasoning,
)
from parlour.training.play import rollout
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.play.runner import GameRunner
from parlour.training.records.werewolf.played import DayVote, Judgement

# Seats 0 and 1 are wolves, 2 is the seer, 3 the witch, 4 a villager.
SEATS = ("Werewolf", "Werewolf", "Seer", "Witch", "Villager")
WOLF_KNOWS = {1: "werewolf", 2: "village", 3: "village", 4: "village"}
SEER_KNOWS = {0: "werewolf", 4: "village"}
NUMBER = {role: number for number, role in enumerate(ROLES)}
GOOD, EVIL = 0, 1


def shown(seat: int, move: Move, certain: dict[int, str] | None = None, *judged: Judgement) -> list[tuple[str, str]]:
    """The kinds of amnesia that one turn shows, and where."""
    counted = amnesia(SEATS, ROLES, [Turn(seat, move, certain or {}, judged)])
    return [(kind, way) for kind in (IDENTITY, OBJECTIVE) for way in WAYS if getattr(counted[seat], kind)[way].hits]


# -- what a player says ----------------------------------------------------------------------------------------

SAID: list[tuple[str, int, Move, list[str]]] = [
    ("a villager claims to be the werewolf", 4, Move("claim_role", (NUMBER["Werewolf"],)), [IDENTITY]),
    ("a villager claims a power", 4, Move("claim_role", (NUMBER["Guard"],)), [IDENTITY]),
    ("a witch claims another power", 3, Move("claim_role", (NUMBER["Seer"],)), [IDENTITY]),
    ("a witch claims her power", 3, Move("claim_role", (NUMBER["Witch"],)), []),
    ("a witch hides behind a villager", 3, Move("claim_role", (NUMBER["Villager"],)), []),
    ("a wolf claims to be the seer", 0, Move("claim_role", (NUMBER["Seer"],)), []),
    ("a wolf gives itself away", 0, Move("claim_role", (NUMBER["Werewolf"],)), [OBJECTIVE]),
    ("a villager reports a check", 4, Move("report", (0, EVIL)), [IDENTITY]),
    ("a seer reports what it saw", 2, Move("report", (0, EVIL)), []),
    ("a seer clears the wolf it found", 2, Move("report", (0, GOOD)), [OBJECTIVE]),
    ("a seer slanders whom it cleared", 2, Move("report", (4, EVIL)), [OBJECTIVE]),
    ("a seer invents a check", 2, Move("report", (1, GOOD)), []),
    ("a seer defends the wolf it found", 2, Move("defend", (0,)), [OBJECTIVE]),
    ("a seer accuses the wolf it found", 2, Move("accuse", (0,)), []),
    ("a seer accuses whom it cleared", 2, Move("accuse", (4,)), [OBJECTIVE]),
    ("a villager accuses another", 4, Move("accuse", (3,)), []),
    ("a wolf accuses its fellow", 0, Move("accuse", (1,)), [OBJECTIVE]),
    ("a wolf reports its fellow evil", 0, Move("report", (1, EVIL)), [OBJECTIVE]),
    ("a wolf reports a villager evil", 0, Move("report", (4, EVIL)), []),
    ("a wolf reports its fellow good", 0, Move("report", (1, GOOD)), []),
    ("a wolf defends a villager", 0, Move("defend", (4,)), []),
    ("a wolf proposes its fellow as the victim", 0, Move("recommend", (1,)), [OBJECTIVE]),
    ("a wolf proposes itself as the victim", 0, Move("recommend", (0,)), [IDENTITY]),
    ("a wolf proposes the seer as the victim", 0, Move("recommend", (2,)), []),
]


@pytest.mark.parametrize(("seat", "move", "kinds"), [row[1:] for row in SAID], ids=[row[0] for row in SAID])
def test_what_is_said(seat: int, move: Move, kinds: list[str]) -> None:
    certain = {0: WOLF_KNOWS, 2: SEER_KNOWS}.get(seat, {})
    assert shown(seat, move, certain) == [(kind, "said") for kind in kinds]


def test_silence_without_words_says_nothing() -> None:
    turns = [Turn(4, Move("silent"), {}), Turn(4, Move("silent", (), "hm"), {}), Turn(4, Move("accuse", (0,)), {})]
    assert amnesia(SEATS, ROLES, turns)[4].identity["said"] == Count(0, 2)


# -- what it does and judges -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["vote", "hunt", "poison"])
def test_harm_to_oneself_and_to_a_certain_ally(kind: str) -> None:
    assert shown(0, Move(kind, (0,)), WOLF_KNOWS) == [(IDENTITY, "done")]
    assert shown(0, Move(kind, (1,)), WOLF_KNOWS) == [(OBJECTIVE, "done")]
    assert shown(0, Move(kind, (4,)), WOLF_KNOWS) == []
    assert shown(2, Move(kind, (4,)), SEER_KNOWS) == [(OBJECTIVE, "done")]
    assert shown(2, Move(kind, (3,)), SEER_KNOWS) == []
    assert shown(2, Move(kind, ()), SEER_KNOWS) == []


def test_only_choices_of_a_player_count_and_harmless_ones_are_no_amnesia() -> None:
    moves = [Move("protect", (4,)), Move("check", (4,)), Move("vote", ()), Move("save", (1,))]
    assert amnesia(SEATS, ROLES, [Turn(4, move, {}) for move in moves])[4].identity["done"] == Count(0, 2)


def test_judgements_of_oneself_and_of_whom_one_is_certain() -> None:
    speech = Move("silent")
    assert shown(2, speech, SEER_KNOWS, Judgement(2, False)) == [(IDENTITY, "judged")]
    assert shown(2, speech, SEER_KNOWS, Judgement(0, True)) == [(OBJECTIVE, "judged")]
    assert shown(2, speech, SEER_KNOWS, Judgement(4, False)) == [(OBJECTIVE, "judged")]
    assert shown(2, speech, SEER_KNOWS, Judgement(1, True), Judgement(0, False), Judgement(2, True)) == []
    assert shown(0, speech, WOLF_KNOWS, Judgement(1, False)) == [(OBJECTIVE, "judged")]


def test_shares_add_up_over_seats_and_ways() -> None:
    turns = [
        Turn(0, Move("vote", (1,)), WOLF_KNOWS),
        Turn(0, Move("accuse", (1,)), WOLF_KNOWS, (Judgement(1, True),)),
        Turn(2, Move("vote", (0,)), SEER_KNOWS),
    ]
    share = forgot(amnesia(SEATS, ROLES, turns), OBJECTIVE)
    assert share is not None
    assert (share.hits, share.n) == (2, 4)
    assert forgot(amnesia(SEATS, ROLES, []), OBJECTIVE) is None


# -- scores ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "weight"), [("Werewolf", "1/2"), ("Witch", "3/2"), ("Guard", "3/2"), ("Seer", "3/2"), ("Villager", "1")]
)
def test_performance_by_table_3(role: str, weight: str) -> None:
    w = Fraction(weight)
    enemy = "Seer" if role == "Werewolf" else "Werewolf"
    assert performance(role, True, []) == 5
    assert performance(role, False, [enemy, enemy, role]) == w
    assert performance(role, True, [enemy, role], PUBLISHED) == 5 + 2 * w


def test_a_judgement_of_oneself_does_not_count() -> None:
    assert reasoning(0, SEATS, (Judgement(1, True), Judgement(0, True), Judgement(2, True))) == 1


# -- transcripts -----------------------------------------------------------------------------------------------


class Judging(RandomPolicy):
    """Plays at random and takes all players with an even number for allies, except one of whom it is unsure."""

    def notes(self) -> dict[str, Any]:
        return {"beliefs": [None if seat == 3 else 0.5 if seat % 2 == 0 else -0.25 for seat in range(8)]}


SURE = tuple(Judgement(seat, seat % 2 == 0) for seat in range(8) if seat != 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("games")
    env = rollout.table("werewolf_v0")
    makers = (("judging", Judging), ("random", RandomPolicy))
    jobs = []
    for seed in range(6):
        env.reset(seed=seed)
        wolves = [env.game_env.view(seat).side == "werewolf" for seat in range(8)]
        players = tuple(makers[wolf == (seed % 2 == 0)] for wolf in wolves)
        jobs.append(Job(seed, players, out / f"game-{seed}.jsonl"))
    GameRunner().play(env, jobs)
    return out


def test_transcripts_are_counted_as_records_are(folder: Path) -> None:
    measured = measures.of_directory(folder)["all"]
    assert measured["games"] == measured["wins_werewolf"] + measured["wins_village"] == 6
    judging, other = measured["methods"]["judging"], measured["methods"]["random"]
    assert judging["as_wolves"]["n"] == judging["as_leaders"]["n"] == 3
    assert judging["TWR"]["hits"] + other["TWR"]["hits"] == 6
    assert other["reasoning"]["total"] is None
    seats = sum(measured["methods"]["judging"]["performance"][role]["n"] for role in judging["performance"])
    assert judging["reasoning"]["total"]["n"] == 7 * seats


def test_what_was_forgotten_is_told_by_kind_and_way_and_shown_in_the_table(folder: Path) -> None:
    directory = measures.of_directory(folder)
    (table,) = measures.tables(directory)
    shown = {(measure, of): cells for measure, of, *cells in table.rows}
    assert table.headings[:2] == ("measure", "of")
    for place, method in enumerate(table.headings[2:]):
        amnesia = directory["all"]["methods"][method]["amnesia"]
        assert list(amnesia) == list(measures.KINDS)
        for kind, ways in amnesia.items():
            assert list(ways) == list(measures.WAYS)
            for way, rate in ways.items():
                cell = shown[f"{kind} amnesia", way][place]
                assert cell is None if rate is None else (cell.hits, cell.n) == (rate["hits"], rate["n"])
    assert any(
        rate for of in directory["all"]["methods"].values() for ways in of["amnesia"].values() for rate in ways.values()
    )


def test_votes_and_judgements_are_those_of_the_moves(folder: Path) -> None:
    path = folder / "game-0.jsonl"
    seen = transcripts.read_transcript(path)
    assert seen is not None
    lines = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    votes = [line for line in lines if line.get("move", [""])[0] == "vote" and line["move"][1]]
    assert [DayVote(int(line["seat"][-1]), line["move"][1][0]) for line in votes] == list(seen.game.votes or ())
    deal = lines[0]["move"][1][:8]
    assert [role == "Werewolf" for role in seen.game.roles] == [number == 0 for number in deal]
    judge = next(seat for seat, judged in enumerate(seen.game.judgements) if judged)
    assert seen.game.judgements[judge] == tuple(judgement for judgement in SURE if judgement.target != judge)


def test_a_seat_is_certain_of_what_its_view_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of nobody, but for the wolves' fellows, the seer's checks and revealed roles, at the time of each move."""
    kept: list[Turn] = []
    monkeypatch.setattr(transcripts, "amnesia", lambda _roles, _names, turns: kept.extend(turns) or ())
    known = dict.fromkeys(ROLES, 0)
    for path in sorted(folder.iterdir()):
        kept.clear()
        seen, transcript = transcripts.read_transcript(path), replay.Transcript.read(path)
        assert seen is not None
        game: Any = transcript.game()
        states = list(replay.states(game, transcript.moves))
        turns = [k for k, entry in enumerate(transcript.entries) if entry.seat >= 0]
        for turn, k in zip(kept, turns, strict=True):
            assert turn.certain == by_view(game, game.view(states[k], turn.seat), seen.game.roles)
            assert turn.judged == (SURE if "beliefs" in transcript.lines[k] else ())
            known[seen.game.roles[turn.seat]] += len(turn.certain)
    assert all(known[role] for role in ("Werewolf", "Seer", "Villager"))


def by_view(game: Any, view: Any, roles: tuple[str, ...]) -> dict[int, str]:
    """The sides of which a seat is certain, from its View and, for the wolves, from the deal."""
    if view.side == "werewolf":
        return {seat: side_of(role) for seat, role in enumerate(roles) if seat != view.seat}
    revealed = {
        args[0]: side_of(game.role_names[args[1]]) for _, (kind, args, _), _ in view.events if kind == "revealed"
    }
    checked = {seat: "werewolf" if wolf else "village" for seat, wolf in view.checks}
    return {seat: side for seat, side in (revealed | checked).items() if seat != view.seat}


def edited(game: Path, path: Path, edit: Callable[[list[Any]], Any]) -> Path:
    """A transcript of which lines are changed."""
    lines = [json.loads(line) for line in game.read_text().splitlines()]
    edit(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_beliefs_by_name_and_unfinished_games(folder: Path, tmp_path: Path) -> None:
    game = folder / "game-1.jsonl"
    stance = {None: ["unsure", 0.1], 0.5: ["ally", 0.5], -0.25: ["adversary", -0.25]}

    def by_name(lines: list[Any]) -> None:
        for line in lines[1:]:
            if "beliefs" in line:
                line["beliefs"] = {f"player_{seat}": stance[belief] for seat, belief in enumerate(line["beliefs"])}

    named = edited(game, tmp_path / "named.jsonl", by_name)
    assert transcripts.read_transcript(named) == transcripts.read_transcript(game)
    edited(game, tmp_path / "short.jsonl", lambda lines: lines.pop())
    assert measures.of_directory(tmp_path)["unfinished"] == 1


BELIEFS = r"bad\.jsonl': beliefs .* accepted: for each player a stance"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        *(
            (lambda lines, beliefs=beliefs: lines[2].update(beliefs=beliefs), BELIEFS)
            for beliefs in ([0.5], "x", {"player_9": 1.0}, [None] * 7 + [["friend", 1]], 3)
        ),
        (lambda lines: lines[-1]["outcome"].update(winner="draw"), "is not the one of the moves"),
        (lambda lines: lines.pop(3), "bad.jsonl"),
        (lambda lines: lines[0].update(players=3), "players 3 is not accepted"),
        (lambda lines: lines[0].update(game="avalon_v0"), "game 'avalon_v0' is not accepted; accepted: werewolf_v0"),
    ],
)
def test_a_transcript_that_contradicts_itself_is_refused(edit: Any, message: str, folder: Path, tmp_path: Path) -> None:
    path = edited(folder / "game-0.jsonl", tmp_path / "bad.jsonl", edit)
    with pytest.raises(ParlourError, match=message):
        transcripts.read_transcript(path)
