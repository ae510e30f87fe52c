"""What each game shows on a replay page: tables and beliefs, which equal those of the Python API, and who may see what.

The games are recorded here, by heuristics alone; where an agent plays, heuristics answer its questions.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parlour.envs import replay as transcripts
from parlour.envs.language.entries import TextAction
from parlour.envs.language.free_words import FreeWords
from parlour.envs.language.text import agents_of
from parlour.envs.murder_mystery.belief import PUBLIC, clauses, consistent, worlds
from parlour.envs.murder_mystery.vocabulary.facts import KINDS, Fact, read
from parlour.envs.werewolf.belief import WolfBelief
from parlour.policies import make_policy
from parlour.policies.agents.murder_mystery.sensors import distance
from parlour.policies.heuristic.avalon import AvalonPlayer
from parlour.policies.heuristic.werewolf import WerewolfPlayer
from parlour.training.play import rollout
from parlour.training.play.decisions import models_of
from parlour.training.replay.build import replay_of
from parlour.training.replay.model import BeliefLines, Replay
from parlour.wrappers.record import Recorder

EQUAL = 1e-9


BELIEVED: dict[tuple[str, int], list[Any]] = {}
"""(game, seat) -> what an agent believed after each of its turns, as the game was played."""


def note_beliefs(game: str, seat: int, player: Any) -> None:
    """Note what an agent believes after each of its turns."""
    act, noted = player.act, BELIEVED.setdefault((game, seat), [])

    def acts(observation: Any, info: dict[str, Any]) -> Any:
        action = act(observation, info)
        if player.name == "gratr":
            noted.append(list(player.standing or player.graph.trust) if player.graph is not None else None)
        elif player.name == "questum":
            noted.append(
                {seat: distance(summary.readings) for (_, seat), summary in player.procedure.summaries.items()}
            )
        return action

    player.act = acts


def recorded(folder: Path, game: str, players: list[str], seed: int = 1, **options: Any) -> transcripts.Transcript:
    """A game played by players who take turns at the seats."""
    table = rollout.table(game, **options)
    base = table.game_env
    named = [players[seat % len(players)] for seat in range(base.game.seats)]
    seated = [make_policy(name, game, base.game.config) for name in named]
    for seat, player in enumerate(seated):
        note_beliefs(game, seat, player)
    header = {"players": dict(zip(agents_of(base.game), named, strict=True)), "models": models_of(seated)}
    env = Recorder(table, folder / f"{game}.jsonl", header=header)
    rollout.play(env, seated, seed)
    env.close()
    return transcripts.Transcript.read(folder / f"{game}.jsonl")


GAMES = {
    "avalon_v0": (["heuristic", "avalon_agent"], {"num_players": 6}),
    "werewolf_v0": (["heuristic", "gratr:mode=grounded"], {}),
    "murder_mystery_v0": (["heuristic", "questum:mode=score"], {"rounds": 2}),
    "mediated_qa_v0": (["heuristic"], {"questions": 3}),
    "template_v0": (["heuristic"], {}),
}


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[transcripts.Transcript, Replay]]:
    replays = {}
    BELIEVED.clear()  # a process may run the tests more than once
    for game, (players, options) in GAMES.items():
        transcript = recorded(tmp_path_factory.mktemp("games"), game, players, **options)
        replays[game] = transcript, replay_of(transcript)
    return replays


def at(lines: BeliefLines, step: int) -> tuple[float | None, ...] | None:
    """The values that hold at a step; None before the first."""
    return next((values for since, values in reversed(lines.points) if since <= step), None)


def line(replay: Replay, name: str) -> BeliefLines:
    return next(belief for belief in replay.beliefs if belief.id == name)


def same(shown: tuple[float | None, ...] | None, chances: Any, living: Any = None, within: float = EQUAL) -> bool:
    """Whether shown values equal chances, to 1e-9 by default; of the dead there is none."""
    assert shown is not None
    expected = [None if living is not None and not living[seat] else chance for seat, chance in enumerate(chances)]
    return len(shown) == len(expected) and all(
        a is None if b is None else a is not None and abs(a - b) <= within for a, b in zip(shown, expected, strict=True)
    )


def views_after(transcript: transcripts.Transcript) -> list[tuple[int, Any, Any]]:
    """(step, rules, state after it) of each line that holds a move."""
    game = transcript.game()
    states = list(transcripts.states(game, transcript.moves))[1:]
    moves = [step for step, entry in enumerate(transcript.entries) if entry.move is not None]
    return [(step, game, state) for step, state in zip(moves, states, strict=True)]


# -- tables ----------------------------------------------------------------------------------------------------------


def test_a_day_of_werewolf_says_whom_the_hunter_shot(tmp_path):
    shown = []
    for seed in range(6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        transcript = recorded(folder, "werewolf_v0", ["heuristic"], seed, num_players=9, roles="hunter")
        (days,) = (table for table in replay_of(transcript).tables if table.id == "days")
        assert days.columns[-1].title == "shot"
        shots = [entry.move.args for entry in transcript.entries if entry.move and entry.move.kind == "shoot"]
        assert {row.cells[-1] for row in days.rows} - {None} == set(shots)
        shown += shots
    assert any(shown)


# -- beliefs equal those of the Python API ---------------------------------------------------------------------------


def test_the_beliefs_of_avalon_are_those_of_the_heuristic_that_reads_the_same_view(games):
    transcript, replay = games["avalon_v0"]
    for step, game, state in views_after(transcript):
        for seat in range(game.seats):
            view = game.view(state, seat)
            player = AvalonPlayer(view, np.random.default_rng(0))
            player.read(view)
            who = f"player_{seat}"
            assert same(at(line(replay, f"exact evil: {who}"), step), player.belief.evil_chance())
            if view.side == "evil":
                assert same(at(line(replay, f"exact Merlin: {who}"), step), player.belief.merlin_chance())


def test_the_beliefs_of_werewolf_are_those_of_the_heuristic_and_end_with_the_life_of_their_player(games):
    transcript, replay = games["werewolf_v0"]
    onlooker: WolfBelief | None
    for step, game, state in views_after(transcript):
        for seat in range(game.seats):
            view = game.view(state, seat)
            player = WerewolfPlayer(view, np.random.default_rng(0))
            player._read(view)
            shown = at(line(replay, f"exact Werewolf: player_{seat}"), step)
            assert same(shown, player.belief.wolf_chance(), view.alive)
            onlooker = player.onlooker
            if onlooker is not None:
                shown = at(line(replay, "exact Werewolf: everybody"), step)
                assert same(shown, onlooker.wolf_chance(), view.alive)
                assert same(at(line(replay, "exact Seer: everybody"), step), onlooker.seer_chance(), view.alive)


def test_the_worlds_that_are_left_in_a_mystery_are_those_of_the_solver(games):
    """All speak in facts here but the agents, whose words are read as the heuristic reads them: their facts are events, too."""
    transcript, replay = games["murder_mystery_v0"]
    game = transcript.game()
    *_, (last, _, state) = views_after(transcript)
    view = game.view(state, 0)
    statements = {(PUBLIC, fact) for fact in (*view.public, *view.facts)}
    for seat, (kind, args, words), _ in view.events:
        if kind == "tell" and seat:
            statements.add((seat, Fact(KINDS[args[0]], tuple(args[1:]))))
        elif words and seat:
            statements |= {(seat, fact) for fact in read(words, view.vocabulary, seat)}
    every = [world for world in worlds(5, 0) if world.murderer]  # player_0 is innocent and knows it
    left = [world.murderer for world in consistent(clauses(statements, 5), every)]
    assert left
    shown = at(line(replay, "exact murderer of 0: player_0"), last)
    assert same(shown, [left.count(seat) / len(left) for seat in range(5)])


def test_the_graph_s_trust_is_that_of_the_decisions_and_ends_with_the_life_of_its_player(games):
    """By the paper's procedure the village decides by the graph's trust; a note keeps six digits of it."""
    transcript, replay = games["werewolf_v0"]
    after = {step: (rules, state) for step, rules, state in views_after(transcript)}
    for seat in (1, 3, 5, 7):
        lines, noted = line(replay, f"trust graph: player_{seat}"), BELIEVED["werewolf_v0", seat]
        steps = [step for step, move in enumerate(replay.steps) if move.seat == seat]
        assert len(steps) == len(noted)
        for step, trust in zip(steps, noted, strict=True):
            rules, state = after[step]
            if trust is not None and replay.header.seats[seat].side == "village":
                assert same(at(lines, step), trust, rules.view(state, 0).alive, within=1e-6)


@pytest.mark.parametrize("player", ["gratr", "gratr:mode=grounded @ offline"])
def test_each_gratr_seat_shows_a_judged_chain_for_each_day_it_decides_in(tmp_path, player):
    """Whatever the header calls the player: the chains are noted when the decision is made."""
    transcript = recorded(tmp_path, "werewolf_v0", [player.partition(" ")[0]], seed=3)
    header = {**transcript.header, "players": {f"player_{seat}": player for seat in range(8)}}
    replay = replay_of(replace(transcript, header=header))
    (chains,) = [table for table in replay.tables if table.id == "chains"]
    shown = {(row.cells[0], row.cells[1]) for row in chains.rows}
    assert all(row.to == (row.cells[0],) for row in chains.rows)
    decided = [
        (entry.seat, moment[1])
        for entry, line in zip(transcript.entries, transcript.lines, strict=True)
        for moment in line.get("graph", {}).get("moments", ())
    ]
    assert {*decided} - shown <= {decided[0]}  # who speaks first has heard nothing


@pytest.mark.parametrize(
    "spoil",
    [
        lambda note: note["now"].append(10**6),
        lambda note: note.update(players=10**9),
        lambda note: note["moments"][0][3].__setitem__(0, 7),
        lambda note: note["moments"][0][2].pop(),
        lambda note: note["beliefs"][0].__setitem__(0, 7),
        lambda note: note["beliefs"][0].__setitem__(3, float("nan")),
        lambda note: note["evidence"].append([1, 99, 0, "x", 0.5]),
        lambda note: note.clear(),
    ],
)
def test_a_spoiled_note_ends_the_graph_of_its_seat_and_of_no_other(tmp_path, spoil):
    transcript = recorded(tmp_path, "werewolf_v0", ["gratr"], num_players=5)
    lines = copy.deepcopy(transcript.lines)
    seat, note = next(
        (e.seat, line["graph"]) for e, line in zip(transcript.entries, lines, strict=True) if "graph" in line
    )
    spoil(note)
    shown = {belief.holder for belief in replay_of(replace(transcript, lines=lines)).beliefs if "graph" in belief.id}
    assert seat not in shown
    assert shown


def test_sensors_are_those_that_were_read_as_the_game_was_played(games):
    _, replay = games["murder_mystery_v0"]
    lines, noted = line(replay, "recorded distance 0: player_1"), BELIEVED["murder_mystery_v0", 1]
    steps = [step for step, move in enumerate(replay.steps) if move.seat == 1]
    read = [(step, far) for step, far in zip(steps, noted, strict=True) if far]
    assert read
    for step, far in read:
        assert at(lines, step) == tuple(far.get(seat) for seat in range(5))
    (sensors,) = [table for table in replay.tables if table.id == "sensors"]
    assert all(row.to == (row.cells[0],) for row in sensors.rows)


def test_the_chances_of_a_planner_are_those_of_its_decisions(tmp_path):
    replay = replay_of(recorded(tmp_path, "murder_mystery_v0", ["questum"], rounds=2))
    for belief in (belief for belief in replay.beliefs if belief.id.startswith("recorded chance")):
        for _, values in belief.points:
            assert values[belief.holder] is None  # the own seat is no suspect
            assert sum(value or 0.0 for value in values) == pytest.approx(1.0, abs=1e-5)
    assert any(belief.id.startswith("recorded chance") for belief in replay.beliefs)


@pytest.mark.parametrize(
    "notes", [{"sensors": 3}, {"sensors": [{"victim": [], "about": {}, "readings": 1}]}, {"chances": {"x": 1}}]
)
def test_foreign_notes_about_others_are_left_out(games, notes):
    transcript, _ = games["murder_mystery_v0"]
    lines = tuple(
        {**{k: v for k, v in line.items() if k not in ("sensors", "chances")}, **notes} for line in transcript.lines
    )
    replay = replay_of(replace(transcript, lines=lines))
    assert {belief.source for belief in replay.beliefs} == {"exact"}


# -- who is told what ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_the_lines_of_a_seat_are_those_of_its_view_and_everybodys_are_the_public_record(games, game):
    """At each step, in the order of the View, in the words of its text."""
    transcript, replay = games[game]
    text = transcripts.text_of(transcript)
    for step, rules, state in views_after(transcript):
        public = [text.line(event).removesuffix("\n") for event in state.log if event.to is None]
        assert [line.text for line in replay.lines if line.step <= step and line.to is None] == public
        for seat in range(rules.seats):
            expected = [text.line(event).removesuffix("\n") for event in rules.view(state, seat).events]
            lines = [line for line in replay.lines if line.step <= step and (line.to is None or seat in line.to)]
            assert [line.text for line in lines] == expected


def test_words_without_a_claim_stand_as_at_the_table_and_a_claim_behind_its_words(tmp_path):
    """As people read them while they play: a question is not "taken as: I have nothing to say"."""
    words = ("player_3, why do you trust player_1?", "player_1 is the assassin!")
    base = rollout.table("avalon_v0", num_players=5)
    table = Recorder(base, tmp_path / "game.jsonl")
    table.reset(seed=1)
    speakers = []
    for said in words:
        view = base.game_env.view(base.game_env.seat)
        speakers.append(view.seat)
        table.step(TextAction(FreeWords(base.game_env.text).read(said, view), said))
    table.close()
    lines = [line.text for line in replay_of(transcripts.Transcript.read(tmp_path / "game.jsonl")).lines]
    assert f'player_{speakers[0]} says: "{words[0]}"' in lines
    assert f'player_{speakers[1]} says: "{words[1]}" (taken as: I accuse player_1 of being evil.)' in lines


@pytest.mark.parametrize("game", GAMES)
def test_what_a_seat_knows_of_itself_is_the_first_section_of_its_text(games, game):
    """Its text holds it at that step; the rules of the table stand in the header, once."""
    transcript, replay = games[game]
    text = transcripts.text_of(transcript)
    last = {person.seat: person for person in replay.who}
    *_, (_, rules, state) = views_after(transcript)
    for seat in range(rules.seats):
        prose = text.who(rules.view(state, seat))
        assert prose.strip() == "\n".join(filter(None, (last[seat].text, replay.header.rules))).strip() or (
            prose.startswith(last[seat].text) and prose.rstrip().endswith(replay.header.rules)
        )


def test_a_secret_vote_is_nobodys_until_the_votes_are_shown_and_a_quest_card_is_its_seats_alone(games):
    """Avalon: the vote of a seat stands in its own step, which nobody sees, and in the row of its team once all have voted."""
    _, replay = games["avalon_v0"]
    votes = [step for step, move in enumerate(replay.steps) if move.kind == "vote"]
    assert votes
    assert all(replay.steps[step].whom == () for step in votes)
    assert all(line.to == () for line in replay.lines if line.kind == "vote")
    (teams,) = [table for table in replay.tables if table.id == "teams"]
    shown = [row for row in teams.rows if row.cells[3][0] is not None]
    assert min(row.step for row in shown) == votes[5]  # six seats vote, and then it is shown
    (cards,) = [table for table in replay.tables if table.id == "cards"]
    assert cards.rows
    assert all(row.to == (row.cells[1],) for row in cards.rows)


@pytest.mark.parametrize(("game", "kind", "count"), [("avalon_v0", "vote", "votes"), ("werewolf_v0", "vote", "votes")])
def test_the_last_of_simultaneous_votes_stands_before_their_count(games, game, kind, count):
    """Each secret vote has a line, also the last one, whose step holds the count too."""
    _, replay = games[game]
    votes = [step for step, move in enumerate(replay.steps) if move.kind == kind]
    of_votes = [[line for line in replay.lines if line.step == step] for step in votes]
    assert votes
    assert [lines[0].seat for lines in of_votes] == [replay.steps[step].seat for step in votes]
    assert all(
        lines[0].to == () and replay.steps[step].said in lines[0].text
        for lines, step in zip(of_votes, votes, strict=True)
    )
    assert {line.kind for lines in of_votes for line in lines[1:]} >= {count}


def test_scripts_and_the_truth_are_not_for_everybody(games):
    _, replay = games["murder_mystery_v0"]
    briefing, *scripts, truth = replay.documents
    assert briefing.to is None
    assert [script.to for script in scripts] == [(0,), (1,), (2,), (3,), (4,)]
    assert truth.to == ()
    assert "murdered by Vera Lindqvist (player_2)" in truth.text


def test_a_module_is_shown_what_was_recommended_to_it_and_not_to_others(games):
    """Mediated questions: rows for the mediator hold no choice of a module, rows for a module its own alone."""
    _, replay = games["mediated_qa_v0"]
    (table,) = [table for table in replay.tables if table.id == "questions"]
    modules = {"retriever": 1, "generator": 2, "verifier": 3}
    for row in table.rows:
        _, module, recommended, chosen, *_ = row.cells
        assert recommended
        assert row.to in ((0,), (modules[module],))
        assert row.to != (0,) or not chosen
    assert {row.key for row in table.rows} == {f"{number}.{seat}" for number in (1, 2, 3) for seat in (1, 2, 3)}
