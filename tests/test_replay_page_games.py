"""What each game shows on a replay page: tables and beliefs, which equal those of the Python API, and who may see what.

The games are recorded here, by heuristics alone; where an agent plays, heuristics answer its questions.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parlour.envs import replay as transcripts
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.mediated_qa.pipeline import generated
from parlour.envs.murder_mystery.belief import PUBLIC, clauses, consistent, worlds
from parlour.envs.murder_mystery.vocabulary.facts import KINDS, Fact, read
from parlour.envs.text import agents_of
from parlour.envs.werewolf.belief import WolfBelief, beliefs_of
from parlour.policies import make_policy
from parlour.policies.agents.murder_mystery.asks import SenseAll
from parlour.policies.agents.murder_mystery.sensors import distance
from parlour.policies.heuristic.avalon import AvalonPlayer
from parlour.policies.heuristic.werewolf import WerewolfPlayer
from parlour.policies.llm.prompt import Templates
from parlour.training.play import rollout
from parlour.training.play.asked import ListeningModel
from parlour.training.play.decisions import models_of
from parlour.training.results.replay_page.build import replay_of
from parlour.training.results.replay_page.model import BeliefLines, Replay
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
    return transcripts.read(folder / f"{game}.jsonl")


GAMES = {
    "avalon_v0": (["heuristic", "avalon_agent"], {"num_players": 6}),
    "werewolf_v0": (["heuristic", "gratr:mode=paper"], {}),
    "murder_mystery_v0": (["heuristic", "questum:mode=score"], {"rounds": 2}),
    "mediated_qa_v0": (["heuristic"], {"questions": 3}),
    "template_v0": (["heuristic"], {}),
}


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[transcripts.Transcript, Replay]]:
    replays = {}
    for game, (players, options) in GAMES.items():
        transcript = recorded(tmp_path_factory.mktemp("games"), game, players, **options)
        replays[game] = transcript, replay_of(transcript)
    return replays


def at(lines: BeliefLines, step: int) -> tuple[float | None, ...] | None:
    """The values that hold at a step; None before the first."""
    return next((values for since, values in reversed(lines.points) if since <= step), None)


def line(replay: Replay, name: str) -> BeliefLines:
    return next(belief for belief in replay.beliefs if belief.id == name)


def same(shown: tuple[float | None, ...] | None, chances: Any, living: Any = None) -> bool:
    """Whether shown values equal chances to 1e-9; of the dead there is none."""
    assert shown is not None
    expected = [None if living is not None and not living[seat] else chance for seat, chance in enumerate(chances)]
    return len(shown) == len(expected) and all(
        a is None if b is None else a is not None and abs(a - b) <= EQUAL for a, b in zip(shown, expected, strict=True)
    )


def views_after(transcript: transcripts.Transcript) -> list[tuple[int, Any, Any]]:
    """(step, rules, state after it) of each line that holds a move."""
    game = transcript.game()
    states = list(transcripts.states(game, transcript.moves))[1:]
    moves = [step for step, entry in enumerate(transcript.entries) if entry.move is not None]
    return [(step, game, state) for step, state in zip(moves, states, strict=True)]


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


def test_the_onlooker_of_avalon_is_shown_what_all_are_shown(games):
    transcript, replay = games["avalon_v0"]
    for step, game, state in views_after(transcript):
        view = game.view(state, 0)
        belief = AvalonBelief(view.roles, -1, "", (), None, view.guesser)
        for seat, (kind, args, words), to in state.log:
            if to is None:
                belief.see(seat, kind, args, words)
        assert same(at(line(replay, "exact evil: everybody"), step), belief.evil_chance())
        assert same(at(line(replay, "exact Merlin: everybody"), step), belief.merlin_chance())


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


def test_the_beliefs_of_aiwolf_are_the_exact_ones_of_each_seat(tmp_path):
    transcript = recorded(tmp_path, "werewolf_v0", ["heuristic"], rules="aiwolf-5")
    replay = replay_of(transcript)
    step, game, state = views_after(transcript)[-1]
    for seat in range(game.seats):
        view = game.view(state, seat)
        beliefs = beliefs_of(view)
        for event in view.events:
            beliefs.see(event, view)
        shown = at(line(replay, f"exact Werewolf: player_{seat}"), step)
        assert same(shown, beliefs.own.wolf_chance(), view.alive)
    assert same(at(line(replay, "exact Seer: everybody"), step), beliefs.onlooker.seer_chance(), view.alive)


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


def test_trust_played_again_is_that_of_the_decisions_as_the_game_was_played(games):
    """Of each turn of each GRATR seat, and of the living alone; what the transcript holds is the same to four digits."""
    transcript, replay = games["werewolf_v0"]
    after = {step: (rules, state) for step, rules, state in views_after(transcript)}
    for seat in (1, 3, 5, 7):
        lines, noted = line(replay, f"played again trust: player_{seat}"), BELIEVED["werewolf_v0", seat]
        steps = [step for step, move in enumerate(replay.steps) if move.seat == seat]
        assert len(steps) == len(noted)
        for step, trust in zip(steps, noted, strict=True):
            rules, state = after[step]
            if trust is not None:
                assert same(at(lines, step), trust, rules.view(state, 0).alive)
        if replay.header.seats[seat].side == "village":
            check_recorded_trust(replay, seat)


def check_recorded_trust(replay: Replay, seat: int) -> None:
    """What the transcript holds of a seat's trust is what is played again, to four digits."""
    again = line(replay, f"played again trust: player_{seat}")
    for step, values in line(replay, f"recorded trust: player_{seat}").points:
        numbers = at(again, step)
        assert numbers is not None
        assert all(a is None or b is None or abs(a - b) < 6e-5 for a, b in zip(values, numbers, strict=True))


def test_a_trained_gratr_shows_the_trust_that_it_decides_by_and_its_graphs_beside_it(tmp_path):
    """Where both are the same, as by the paper's procedure in the village, there is one."""
    replay = replay_of(recorded(tmp_path, "werewolf_v0", ["heuristic", "gratr"]))
    titles = {belief.id: belief.title for belief in replay.beliefs if belief.source == "played again"}
    village = [seat for seat in (1, 3, 5, 7) if replay.header.seats[seat].side == "village"]
    assert village
    for seat in village:
        assert titles[f"played again trust: player_{seat}"].startswith("trust that it decides by")
        assert titles[f"played again trust graph: player_{seat}"].startswith("trust graph")
        check_recorded_trust(replay, seat)


def test_sensors_played_again_are_those_that_were_read_as_the_game_was_played(games):
    _, replay = games["murder_mystery_v0"]
    lines, noted = line(replay, "played again distance 0: player_1"), BELIEVED["murder_mystery_v0", 1]
    steps = [step for step, move in enumerate(replay.steps) if move.seat == 1]
    read = [(step, far) for step, far in zip(steps, noted, strict=True) if far]
    assert read
    for step, far in read:
        assert at(lines, step) == tuple(far.get(seat) for seat in range(5))
    (sensors,) = [table for table in replay.tables if table.id == "sensors"]
    assert all(row.to == (row.cells[0],) for row in sensors.rows)


def test_sensors_of_a_language_model_are_read_from_the_transcript(tmp_path):
    """Each question of a seat whose model is not the offline one stands with its prompt and reply; it is not run once more."""
    model = ListeningModel(SenseAll.kind)
    table = rollout.table("murder_mystery_v0", rounds=2)
    base = table.game_env
    seated = [make_policy("questum:mode=score", "murder_mystery_v0", base.game.config, model) for _ in range(5)]
    env = Recorder(table, tmp_path / "game.jsonl", header={"players": {"player_0": "questum:mode=score"}})
    rollout.play(env, seated, 1)
    env.close()
    exchanges = [exchange for exchange in model.heard if exchange.context.seat == "player_0"]
    lines = [json.loads(text) for text in (tmp_path / "game.jsonl").read_text("utf-8").splitlines()]
    for entry in lines:
        for call in entry.get("calls", ()) if entry.get("seat") == "player_0" else ():
            if call["ask"] == SenseAll.kind:
                call |= {"prompt": exchanges.pop(0).messages(Templates()), "reply": json.dumps(call.pop("answer"))}
    assert not exchanges
    (tmp_path / "game.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    replay = replay_of(transcripts.read(tmp_path / "game.jsonl"))
    (sensors,) = [table for table in replay.tables if table.id == "sensors"]
    assert {row.cells[0] for row in sensors.rows} == {0}
    procedure = seated[0].procedure
    last = line(replay, "recorded distance 0: player_0")
    assert last.source == "recorded"
    expected = {seat: distance(summary.readings) for (_, seat), summary in procedure.summaries.items()}
    assert last.points[-1][1] == tuple(expected.get(seat) for seat in range(5))


def test_a_player_that_is_another_one_than_the_header_says_is_not_followed(tmp_path):
    """A game of heuristics whose header calls them GRATR: moves come out otherwise, and no trust is shown then."""
    transcript = recorded(tmp_path, "werewolf_v0", ["heuristic"])
    header = dict(transcript.header)
    header["players"] = dict.fromkeys(header["players"], "gratr")
    header["models"] = {agent: {"model": "offline"} for agent in header["players"]}
    beliefs = replay_of(replace(transcript, header=header)).beliefs
    alike = {belief.holder for belief in beliefs if belief.source == "played again"}
    assert len(alike) <= 2  # a seat with few turns may have made just those moves by chance


@pytest.mark.parametrize(
    "named", ["os:system", "random", "../policy.npz", "gratr:nothing=1", "gratr:rho=x", 7, None, "clone:x"]
)
def test_nothing_is_imported_or_opened_for_a_name_in_a_header(tmp_path, named):
    transcript = recorded(tmp_path, "werewolf_v0", ["heuristic"], num_players=5)
    header = {**transcript.header, "models": {f"player_{seat}": {"model": "offline"} for seat in range(5)}}
    header["players"] = {f"player_{seat}": named for seat in range(5)}
    replay = replay_of(replace(transcript, header=header))
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


def test_who_is_dead_and_since_when(games):
    """Werewolf: by the View that all have; a line of a belief about the dead ends where they do."""
    transcript, replay = games["werewolf_v0"]
    alive = dict(replay.alive)
    for step, rules, state in views_after(transcript):
        living = next(now for since, now in sorted(alive.items(), reverse=True) if since <= step)
        assert living == tuple(map(int, rules.view(state, 0).alive))
    for seat, card in enumerate(replay.header.seats):
        if card.died is not None:
            for belief in replay.beliefs:
                assert all(values[seat] is None for step, values in belief.points if step >= card.died)
                assert any(values[seat] is not None for _, values in belief.points) or seat == belief.holder


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


def test_the_path_through_the_documents_is_the_service_s_own(games):
    transcript, replay = games["mediated_qa_v0"]
    config = transcript.game().config
    service = generated(config["corpus_seed"], config["corpus_size"], config["difficulty"], config["normalisation"])
    assert replay.graphs
    for graph in replay.graphs:
        number = transcript.entries[graph.step].move.args[0]
        assert next(label for label, kind in graph.nodes if kind == "Document") in [
            service.graph.text[node] for node in service.starts(number)
        ]
        titles = {label for label, _ in graph.nodes}
        assert {graph.nodes[node][0] for node in graph.path} <= titles
        assert all((a, b) in {edge[:2] for edge in graph.edges} or (b, a) in {edge[:2] for edge in graph.edges}
                   for a, b in zip(graph.path, graph.path[1:], strict=False))  # fmt: skip
