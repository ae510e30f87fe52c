"""Told truly: whose each decision was, counted from the game, in tables, JSON, transcripts and replay; what follows failures."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from os.path import commonprefix
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, strategies as st
from parlour.envs import replay
from parlour.envs.core import Move
from parlour.envs.language.entries import Entry
from parlour.policies import ChatPlayer, HeuristicPolicy, RandomPolicy
from parlour.policies.base import Policy
from parlour.policies.llm.chat import ChatModel
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.decisions import AskedQuestion, Beginnings, Decisions, made_by, questions
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.meter import Meter
from parlour.policies.llm.transport.request import CallFailed, Completion, Request, Usage
from parlour.training.cli import run
from parlour.training.measure.decision_tables import decision_tables
from parlour.training.play.decisions import PlayedLine, counted, of_transcript
from parlour.training.play.failures import Failures, TooManyFallbacks
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.play.rollout import Episode, GameUnfinished, Unfinished, play, table
from parlour.training.play.runner import GameRunner
from pydantic import TypeAdapter

NO_PLAYER = "As an AI language model, I cannot take part in games of deception."
AVALON = {"num_players": 5, "rules": "official"}


class Stub:
    """A transport whose replies follow one another in a circle: a text, or a reason for which the call fails."""

    def __init__(self, *replies: str | CallFailed) -> None:
        self.replies, self.asked = replies, 0

    def complete(self, request: Request) -> Completion:
        reply = self.replies[self.asked % len(self.replies)]
        self.asked += 1
        if isinstance(reply, CallFailed):
            raise reply
        if reply == OPTION:
            reply = said(option(dict(request.schema or {})))
        finish = "length" if reply == THOUGHT else "stop"
        return Completion((reply,), Usage(100, 10, 60), (finish,), served="stub-7b", dropped=("seed",))


OPTION = "the first option, or a greeting where any words will do"
THOUGHT = "<think>Player 3 was quiet, so"
"""A reply that thinking has used up."""


def option(schema: dict[str, Any]) -> str:
    return str(schema["properties"]["words"].get("enum", ["Good evening."])[0])


def chat(stub: Stub) -> ChatModel:
    return ChatModel(ModelConfig(model="m", base_url="http://stub.example/v1"), Meter(stub, Prices({})))


def said(words: str) -> str:
    return json.dumps({"thoughts": "", "words": words})


class Words(Policy):
    """Says the same whatever it reads."""

    name: ClassVar[str] = "words"
    wants: ClassVar[str] = "text"
    words = NO_PLAYER

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        return self.words


class Raises(RandomPolicy):
    """A player of a user's own, with a fault of its own in some games."""

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.left = 2 if seed % 2 else 10_000

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        self.left -= 1
        if self.left < 0:
            raise KeyError("my own mistake")
        return super().act(observation, info)


def seated(player: Policy, others: type[Policy] = HeuristicPolicy) -> list[Policy]:
    return [player, *(others() for _ in range(4))]


def jobs(folder: Path, games: int, name: str, make: Any, others: Any = ("heuristic", HeuristicPolicy)) -> list[Job]:
    """A player in the first seat, four others beside it."""
    return [Job(seed, ((name, make), *[others] * 4), folder / f"{seed}.jsonl") for seed in range(games)]


def choices(transcript: replay.Transcript, seat: int) -> int:
    """How often a seat had to choose, by the rules: moves of its own where several were legal."""
    game = transcript.game()
    states = replay.states(game, transcript.moves)
    return sum(game.actor(state) == seat and len(game.legal(state)) > 1 for state in states)


# -- counting --------------------------------------------------------------------------------------------------------


def test_questions_are_told_apart_in_the_calls_of_a_turn():
    calls = [
        {"ask": "analyse", "reply": "{}"},
        {"ask": "analyse", "reply": "?", "fault": "no JSON"},
        {"ask": "analyse", "reply": "{}", "cut": 4},
        {"ask": "act", "prompt": [], "fault": "the server is gone"},
        {"ask": "act", "by": "heuristic", "reason": "server", "answer": {}},
        {"ask": "look_up", "answer": {}},  # of the offline model
    ]
    assert questions(calls) == [
        AskedQuestion("analyse", 1, None),
        AskedQuestion("analyse", 2, None, 4),
        AskedQuestion("act", 0, "server"),
        AskedQuestion("look_up", 1, None),
    ]


REASONS = ("timeout", "content_filter", "refused", "server", "context")
FAILING = {
    "thinking that uses up the budget": ((OPTION, *[THOUGHT] * 3), {"length"}),
    "a content filter": ((OPTION, CallFailed("filtered", "content_filter")), {"content_filter"}),
    "requests that hang": ((*[OPTION] * 19, CallFailed("no answer", "timeout")), {"timeout"}),
    "every reason": (tuple(CallFailed(why, why) for why in REASONS), set(REASONS)),  # type: ignore[arg-type]
    "prose": ((NO_PLAYER,), {"invalid"}),
    "nothing": (("",), {"empty"}),
}


@pytest.mark.parametrize("what", FAILING)
def test_the_counts_add_up_to_the_number_of_decisions(what, tmp_path):
    replies, reasons = FAILING[what]
    model = chat(Stub(*replies))
    total = Decisions()
    for job in jobs(tmp_path, 3, "chat @ m", lambda: ChatPlayer(model), ("random", RandomPolicy)):
        episode = GameRunner().play_each(table("avalon_v0", **AVALON), [job], lambda _, game: game)[0]
        transcript = replay.Transcript.read(job.transcript)
        made = episode.decisions[0]
        assert made.decisions + made.talk == choices(transcript, 0)
        assert of_transcript(transcript) == episode.decisions
        total += made
    asked = total.questions["chat.take_turn"]
    assert set(total.heuristic) <= reasons == set(asked.heuristic)
    assert total.own + sum(total.heuristic.values()) + sum(total.replaced.values()) == total.decisions > 20
    total_count = model.meter.taken.total
    assert (total_count.asked, total_count.heuristic) == (asked.asked, asked.heuristic)
    assert model.meter.taken.decisions == total


def test_a_decision_that_was_asked_again_is_the_players_own(tmp_path):
    # good, prose, good, prose, ...: the first question is answered at once, each other one by its second reply
    model = chat(Stub(OPTION, NO_PLAYER))
    env = table("template_v0")
    player = ChatPlayer(model)
    episode = play(env, [player, RandomPolicy()], 0)
    assert episode.decisions[0].questions["chat.take_turn"].asked == 1
    assert episode.decisions[0].requests == 1
    assert (episode.decisions[0].prompt, episode.decisions[0].cached, episode.decisions[0].completion) == (100, 60, 10)
    assert (episode.decisions[0].served, episode.decisions[0].dropped) == (("stub-7b",), ("seed",))
    again = play(env, [RandomPolicy(), ChatPlayer(chat(Stub(NO_PLAYER, OPTION)))], 0).decisions[1]
    assert (again.first, again.again, again.requests) == (0, 1, 2)


def test_a_choice_of_the_heuristic_is_not_the_models_because_the_model_words_it():
    # the agent of Avalon chooses by `act`, then words its choice by `respond`
    chosen = {"ask": "avalon_agent.act", "by": "heuristic", "reason": "timeout", "decides": True, "answer": {}}
    worded = {"ask": "avalon_agent.respond", "reply": "{}"}
    analysed = {"ask": "avalon_agent.analyse", "by": "heuristic", "reason": "length", "answer": {}}
    assert made_by([analysed, chosen, worded]) == {"by": "heuristic", "reason": "timeout"}
    assert made_by([analysed, worded]) == {}  # what prepares a decision is none
    vote = Move("vote", (1,))
    refused = PlayedLine(Entry(0, None, (0,), "?", "unreadable"), {"calls": [chosen, worded]}, 2, talk=False)
    taken = PlayedLine(Entry(0, vote, None, "I approve the team."), {"calls": [worded]}, 2, talk=False)
    (made,) = counted([refused, taken], 1)
    assert (made.heuristic, made.refused) == ({"timeout": 1}, {"unreadable": 1})
    (own,) = counted([refused._replace(notes={"calls": [worded]}), taken], 1)
    assert (own.again, own.decisions) == (1, 1)


def test_what_says_no_more_than_any_other_words_is_talk_and_no_decision():
    made = play(table("avalon_v0", **AVALON), seated(Words()), 1).decisions[0]
    assert made.talk > 0
    assert (made.own, made.decisions) == (0, sum(made.replaced.values()))
    # three words are refused for each decision that the table makes in the end
    assert sum(made.refused.values()) == 3 * made.replaced["default"]


@given(st.lists(st.text(alphabet="ab", max_size=6), max_size=8))
def test_a_prompt_shares_most_with_a_neighbour_in_alphabetical_order(prompts):
    seen = Beginnings()
    for number, prompt in enumerate(prompts):
        longest = max((len(commonprefix([prompt, other])) for other in prompts[:number]), default=0)  # noqa: RUF071
        assert seen.shared(prompt) == longest


def test_the_beginnings_of_a_game_are_those_of_all_seats():
    def asked(user: str) -> dict[str, Any]:
        prompt = [{"role": "system", "content": "rules"}, {"role": "user", "content": user}]
        return {"ask": "chat.take_turn", "prompt": prompt, "reply": "{}", "cost": None}

    seen = Beginnings()
    first = Decisions.of_calls([asked("night 1")], seen)
    assert (first.characters, first.shared) == (13, 0)  # "rules", a line break, "night 1"
    second = Decisions.of_calls([asked("night 2"), asked("night 2, day")], seen)
    assert (second.characters, second.shared) == (13 + 18, 12 + 13)
    assert Decisions.of_calls([{"ask": "chat.take_turn", "answer": {}}], seen).characters == 0


# -- tables, JSON, report --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", [NO_PLAYER, said(NO_PLAYER)], ids=["prose", "JSON"])
def test_no_decision_of_a_model_that_refuses_to_play_is_its_own(reply, double, capsys):
    double.otherwise = lambda body: double.Said(double.completion(reply))
    command = ["evaluate", "avalon_v0", "--players", "5", "--policy", "chat", "--policy", "random", "--games", "4"]
    command += ["--model", "m", "--base-url", double.url, "--price", "1,2"]
    assert run([*command, "--json"]) == 2
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    player = data["players"]["chat @ m"]
    assert (player["own"], player["own_share"]) == (0, 0.0)
    assert player["decisions"] == sum((player.get("heuristic") or player["replaced"]).values()) > 10
    assert (player["models"], player["served"]) == (["m at 127.0.0.1"], ["m"])
    assert player["prompt"] == 10 * player["requests"]
    assert data["own"]["chat @ m"]["all"] == {"own": 0, "decisions": player["decisions"]}
    assert data["comparisons"][0]["own"]["chat @ m"]["own"] == 0
    assert data["players"]["random"]["own_share"] == 1.0
    assert f"{player['decisions']} decisions: 0 its own (0.0 %)" in captured.err
    assert "valid replies" not in captured.err
    assert captured.err.splitlines()[-1].startswith("parlour: 'm' ")
    assert run(command) == 2
    out = " ".join(capsys.readouterr().out.split())
    assert "chat @ m † │ all" in out
    assert "† more than 5% of the decisions in this row were not the player's own" in out
    assert "† no result of chat @ m (0.0 % its own decisions): " in out
    assert "random │ all" in out
    assert f"chat @ m † │ {player['decisions']} │ 0.0 %" in out


# -- transcripts -----------------------------------------------------------------------------------------------------


@pytest.fixture
def marked(double, tmp_path, capsys):
    """The transcript of a game in which heuristics made all decisions of player_0 and the table those of player_1."""
    double.otherwise = lambda body: double.Said(double.completion(NO_PLAYER))
    words = "play avalon_v0 --players 5 --policy player_0=chat --seed 3 --model m --base-url"
    command = [*words.split(), double.url, "--out", str(tmp_path)]
    assert run(command) == 2
    capsys.readouterr()
    return tmp_path / "avalon_v0-1.jsonl"


def test_a_transcript_says_which_moves_are_not_the_players_own(marked):
    transcript = replay.Transcript.read(marked)
    assert transcript.header["models"] == {"player_0": {"model": "m", "server": "127.0.0.1"}}
    for entry, line in zip(transcript.entries, transcript.lines, strict=True):
        by = (line.get("by"), line.get("reason"))
        assert by == (("heuristic", "invalid") if entry.seat == 0 else (None, None))
        if entry.seat == 0:
            assert {call.get("served") for call in line["calls"]} == {"m", None}
    players = transcript.closing["players"]
    assert players["player_0"]["own_share"] == 0.0
    assert players["player_1"]["own_share"] == 1.0
    assert "seconds" not in json.dumps(transcript.closing)


def test_a_folder_of_prompts_is_recorded_by_name_and_digest(double, tmp_path, capsys):
    double.otherwise = lambda body: double.Said(double.completion(NO_PLAYER))
    words = "play avalon_v0 --players 5 --policy player_0=chat --seed 3 --model m --base-url"
    called = []
    for folder, text in (("first", "Be brief."), ("second", "Be kind.")):
        prompts = tmp_path / folder / "mine"
        (prompts / "en").mkdir(parents=True)
        (prompts / "en" / "chat.take_turn.md").write_text(text, "utf-8")
        out = tmp_path / folder / "out"
        assert run([*words.split(), double.url, "--prompts", str(prompts), "--out", str(out), "--json"]) == 2
        player = json.loads(capsys.readouterr().out)[0]["players"]["player_0"]
        header = replay.Transcript.read(out / "avalon_v0-1.jsonl").header
        called.append(header["models"]["player_0"]["prompts"])
        assert player["models"] == [f"m at 127.0.0.1, prompts {called[-1]}"]
        assert json.loads((out / "avalon_v0-play.json").read_text("utf-8"))["prompts"] == called[-1]
        assert str(tmp_path) not in json.dumps(header)
    assert [name.split()[0] for name in called] == ["mine", "mine"]
    assert called[0] != called[1]


def test_replay_says_it_behind_each_move(marked, json_of, output_of):
    out = output_of(["replay", str(marked)])
    moves = [line for line in out.splitlines() if line.startswith(("player_", "(secretly)", "Privately"))]
    for line in moves:
        own = "player_0 says" not in line and "player_0:" not in line and "player_0 proposes" not in line
        assert line.endswith("[by the heuristic: invalid]") != own, line
    assert "player_0: chat @ m †" in out
    output = json_of(["replay", str(marked), "--json"])
    by = Counter((step["agent"], step.get("by")) for step in output["steps"])
    assert by["player_0", "heuristic"] == output["players"]["player_0"]["heuristic"]["invalid"] > 0
    assert by["player_0", None] == by["player_1", "heuristic"] == 0


# -- when a player fails ---------------------------------------------------------------------------------------------


def unanswered(k: int) -> ChatModel:
    """A model whose k-th call fails, and no other."""
    return chat(Stub(*[OPTION] * (k - 1), CallFailed("slow", "timeout"), *[OPTION] * 999))


def test_a_run_can_stop_at_a_call_that_fails_and_its_transcript_is_whole(tmp_path):
    model = unanswered(3)
    played = jobs(tmp_path, 3, "chat @ m", lambda: ChatPlayer(model))
    with pytest.raises(GameUnfinished, match=r"player_0: the model did not answer chat.take_turn \(timeout\)"):
        GameRunner(failures=Failures(on_failure="stop")).play_each(
            table("avalon_v0", **AVALON), played, lambda _, game: game
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.jsonl"]
    transcript = replay.Transcript.read(tmp_path / "0.jsonl")
    assert transcript.outcome is None
    last = transcript.closing
    assert (last["unfinished"], last["seat"]) == (
        "player_0: the model did not answer chat.take_turn (timeout)",
        "player_0",
    )
    assert last["calls"][-1]["reason"] == "timeout"
    assert of_transcript(transcript)[0].questions["chat.take_turn"].heuristic == {"timeout": 1}
    assert last["players"]["player_0"] == of_transcript(transcript)[0].as_json()


@pytest.mark.parametrize("workers", [1, 3])
def test_games_in_which_a_player_raises_can_be_skipped_and_are_told_apart(workers, tmp_path):
    played = jobs(tmp_path, 4, "mine", Raises, ("random", RandomPolicy))
    skipped: dict[int, Unfinished] = {}
    results = GameRunner(workers=workers, failures=Failures(on_failure="skip-game")).play_each(
        table("avalon_v0", **AVALON), played, lambda number, game: (number, game.seed), skip=skipped.__setitem__
    )
    assert results == [(0, 0), (2, 2)]
    assert {number: game.why for number, game in skipped.items()} == dict.fromkeys(
        (1, 3), "player_0: KeyError: 'my own mistake'"
    )
    assert "'my own mistake'" in replay.Transcript.read(tmp_path / "1.jsonl").closing["unfinished"]
    assert replay.Transcript.read(tmp_path / "2.jsonl").outcome is not None


def test_skipped_games_are_in_no_rate_and_are_told(capsys, output_of, json_of, monkeypatch):
    from parlour import policies

    monkeypatch.setitem(policies.REGISTRY, "raises", policies.PolicyKind("raises", Raises))
    command = ["evaluate", "avalon_v0", "--players", "5", "--policy", "heuristic", "--policy", "raises", "--games", "6"]
    output = json_of([*command, "--on-failure", "skip-game", "--json"])
    odd = [game for game in output["unfinished"] if game["why"].endswith("KeyError: 'my own mistake'")]
    assert len(odd) == len(output["unfinished"]) == 3
    assert output["rates"]["raises"]["all"]["n"] == output["comparisons"][0]["result"]["n"] == 3
    assert output["rates"]["heuristic"]["all"]["n"] == 6
    assert "not finished, and not counted: seed" in output_of([*command, "--on-failure", "skip-game"])
    play_them = ["play", "avalon_v0", "--players", "5", "--policy", "player_0=raises", "--games", "2", "--seed", "0"]
    whole, cut = json_of([*play_them, "--on-failure", "skip-game", "--json"])
    assert ("winner" in whole, cut["unfinished"]) == (True, "player_0: KeyError: 'my own mistake'")


def test_a_run_ends_when_too_many_decisions_were_not_a_players_own(tmp_path, capsys):
    kept: list[Episode] = []
    with pytest.raises(TooManyFallbacks, match=r"'words': (\d+) of \1 decisions \(100.0%\) were not its own") as error:
        GameRunner(failures=Failures(max_fallback=0.2)).play_each(
            table("avalon_v0", **AVALON), jobs(tmp_path, 20, "words", Words), lambda _, game: kept.append(game)
        )
    made = sum(game.decisions[0].decisions for game in kept)
    assert str(made) in str(error.value)
    assert made >= 20 > made - kept[-1].decisions[0].decisions  # after the first game with which there are 20
    assert all(replay.Transcript.read(path).outcome is not None for path in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) == len(kept)


@pytest.mark.parametrize(
    "call",
    [
        {"usage": {"prompt": None, "cached": None, "completion": None}},
        {"usage": {"prompt": 0, "cached": 0, "completion": 0}, "dropped": ["usage"]},  # as before 2026-12
    ],
)
def test_tokens_that_a_server_did_not_report_are_unknown_in_decisions(call):
    known = {"ask": "chat", "reply": "{}", "usage": {"prompt": 5, "cached": 0, "completion": 2}, "cost": 0.1}
    made = Decisions.of_calls([known, {"ask": "chat", "reply": "{}", "cost": None, **call}]) + Decisions.of_calls(
        [known]
    )
    assert (made.prompt, made.cached, made.completion, made.tokens, made.dollars) == (None,) * 5
    told = made.as_json()
    assert [told[name] for name in ("prompt", "cached", "completion", "dollars")] == [None] * 4
    assert TypeAdapter(Decisions).validate_json(json.dumps(asdict(made))) == made
    (_, table, _) = decision_tables({"chat": made})
    row = dict(zip(table.headings, table.texts()[0], strict=True))
    assert [row[heading] for heading in ("tokens in", "cached", "out", "dollars")] == ["unknown"] * 4
