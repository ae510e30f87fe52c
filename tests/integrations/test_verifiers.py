"""verifiers: models by script play whole games through its interceptions; rewards, words and ends are those of our own table.

The model is an OpenAI-compatible server on loopback, which keeps all that it was asked. docs/integrations/verifiers.md says in
prose what is tested here.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import ROOT

pytest.importorskip("verifiers", reason="verifiers is not installed; run scripts/test-integrations verifiers")

import verifiers.v1 as vf
from aiohttp import web
from parlour.envs import replay
from parlour.envs.adapters.turn import take_turn
from parlour.envs.language.headings import headings_of
from parlour.envs.language.text import OPTION, render
from parlour.envs.registry import lookup
from parlour.training.harnesses.verifiers import ChatConfig, GamesConfig, GamesTaskset, TableConfig, TableEnv
from parlour.training.play import seeds
from parlour.wrappers import Conversation
from parlour.wrappers.conversation import table
from parlour.wrappers.opponents import seated

from tests.integrations.pages import run_page
from tests.training.harnesses.bridged_games import TABLES
from tests.training.harnesses.one_stub import GAMES, by_endpoint, dealt, same_games, seat_of, stub_words

CARD = ROOT / "examples" / "verifiers" / "parlour_v1"
SILENT = {"num_players": 5, "talk": False}
"""Options of Avalon at which any words but a move are words that cannot be used."""
Said = Callable[[list[dict[str, Any]]], dict[str, Any] | str | None]
"""The messages of a request -> the words of the reply, or the message; None: the connection is cut."""
SOUND = vf.AgentConfig(runtime=vf.SubprocessConfig())
"""The agents of `TableConfig`, to change."""


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory) -> Iterator[Path]:
    """The environment's own package, installed as anybody would."""
    folder = tmp_path_factory.mktemp("environment")
    shutil.copytree(CARD, folder / "source")
    words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*words, "--target", str(folder / "site"), str(folder / "source")], check=True)
    sys.path.insert(0, str(folder / "site"))
    yield folder / "site"
    sys.path.remove(str(folder / "site"))


def one_of_its_options(messages: list[dict[str, Any]]) -> str:
    """An option that the last message lists, drawn by it."""
    message = messages[-1]["content"]
    options = [line.removeprefix(OPTION) for line in message.splitlines() if line.startswith(OPTION)]
    return options[int(np.random.default_rng(zlib.crc32(message.encode()) + len(messages)).integers(len(options)))]


@asynccontextmanager
async def model(said: Said):
    """The address of a model by script, and what it was asked: trace -> the messages of its last request."""
    asked: dict[str, list[dict[str, Any]]] = {}

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        asked[request.headers["X-Session-ID"]] = body["messages"]
        words = said(body["messages"])
        if words is None:
            request.transport.close()
            return web.Response()
        message = words if isinstance(words, dict) else {"role": "assistant", "content": words}
        reply = {"id": "c", "object": "chat.completion", "created": 0, "model": body["model"]}
        return web.json_response(reply | {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/v1", asked
    finally:
        await runner.cleanup()


def episodes(
    said: Said, number: int, at: Mapping[str, Any] | None = None, **games: Any
) -> tuple[list[vf.Episode], Any]:
    """The first games of a taskset, all at once, and what the model was asked."""
    config = TableConfig(taskset=GamesConfig(id="parlour-v1", **games), **at or {})

    async def play() -> tuple[list[vf.Episode], Any]:
        env = TableEnv(config)
        async with model(said) as (url, asked), env.serving():
            client = vf.EvalClientConfig(base_url=url, api_key_var="NOBODYS_KEY")
            context = vf.ModelContext(client=client, model="by-script", sampling=vf.SamplingConfig())
            slots = [slot for task in env.taskset.take(number) for slot in env.slots(task)]
            return await asyncio.gather(*(env.run_slot(slot, context) for slot in slots)), asked

    return asyncio.run(play())


def messages(trace: vf.Trace) -> list[tuple[str, str]]:
    """What a seat was told and what it said, in order, as (role, words)."""
    assert len(trace.branches) <= 1  # one conversation, never begun anew; none of a seat that had no turn
    return [(message.role, message.content) for branch in trace.branches for message in branch.messages]


def returns_of(data: Any, words: dict[str, list[str]]) -> dict[str, float]:
    """The returns in the AEC environment on the seed of a game, where the seats say these words, in their order."""
    env = lookup(data.game).env(action="text", on_bad=data.on_bad, tries=data.tries, info="full", **data.options)
    env.reset(seed=data.seed)
    players = dict(zip(env.possible_agents, seated(data.opponents, env.unwrapped), strict=True))
    for seat, player in players.items():
        player.reset(env.unwrapped.seat_of[seat], data.seed)
    left = {seat: list(word) for seat, word in words.items()}
    while env.unwrapped.outcome is None:
        seat = env.agent_selection
        if seat in left:
            env.step(left[seat].pop(0))
        else:
            take_turn(env, players[seat])
    assert not any(left.values())
    return dict(zip(env.possible_agents, env.unwrapped.outcome.returns, strict=True))


def same_game(episode: vf.Episode, asked: dict[str, Any]) -> None:
    """The game is that of our own table: the same news to each seat and to its model, the same returns, no more than the Views."""
    assert episode.ok, episode.errors
    data, traces = episode.task.data, {trace.info["seat"]: trace for trace in episode.traces}
    assert list(traces) == list(data.seats)
    conversations = {seat: messages(trace) for seat, trace in traces.items()}
    said = {seat: [words for role, words in talk if role == "assistant"] for seat, talk in conversations.items()}
    returns = returns_of(data, said)
    ours = Conversation(table(data.game, **data.options), data.seats, data.opponents)
    ours.reset(data.seed)
    expected: dict[str, list[tuple[str, str]]] = defaultdict(list)
    while (seat := ours.agent) is not None:
        expected[seat] += [("user", ours.hear(seat)), ("assistant", said[seat][len(expected[seat]) // 2])]
        ours.say(expected[seat][-1][1])
    for seat, trace in traces.items():
        assert conversations[seat] == expected[seat]
        assert [(message["role"], message["content"]) for message in asked.get(trace.id, ())] == expected[seat][:-1]
        assert trace.info["last_message"] == ours.hear(seat)
        assert (trace.rewards["return"].score, trace.reward) == (returns[seat], returns[seat])
        lines = view_lines(ours, seat)
        all_told = "".join(words for role, words in conversations[seat] if role == "user") + trace.info["last_message"]
        assert [line for line in all_told.splitlines() if line in set(lines)] == lines


def view_lines(talk: Conversation, seat: str) -> list[str]:
    """The record in a seat's View, by lines."""
    base = talk.game_env
    own, headings = render(base.text, base.view(base.seat_of[seat])), headings_of(base.text)
    return own[own.index(headings.record) + len(headings.record) : own.rindex(headings.choice)].splitlines()


@pytest.mark.parametrize("game", TABLES)
def test_five_games_of_one_model_with_itself_are_those_of_the_aec_environment(game):
    played, asked = episodes(one_of_its_options, 5, game=game, options=TABLES[game])
    for episode in played:
        same_game(episode, asked)


@pytest.mark.parametrize("game", TABLES)
def test_one_model_plays_the_same_hundred_games_here_and_behind_an_endpoint(game, tmp_path):
    settings = {"game": game, "options": TABLES[game], "seats": "each", "seed": dealt(1)[0]}
    played, _ = episodes(stub_words, GAMES, {"transcripts": tmp_path}, **settings)
    assert [(episode.task.data.seed, episode.task.data.seats) for episode in played] == [
        (seed, (seat_of(game, k),)) for k, seed in enumerate(dealt(GAMES))
    ]
    rewards = [episode.traces[0].reward for episode in played]
    same_games(by_endpoint(game, GAMES, tmp_path / "endpoint"), game, tmp_path, rewards)


def test_two_models_at_one_table_and_only_one_of_them_is_trained():
    opponent = SOUND.model_copy(update={"model": "the-other"})
    played, _ = episodes(
        one_of_its_options, 3, {"opponent": opponent}, game="avalon_v0", seats="each", opponents="opponent"
    )
    for number, episode in enumerate(played):
        assert episode.ok
        agents = {trace.info["seat"]: trace.agent for trace in episode.traces}
        assert list(agents) == table("avalon_v0").possible_agents
        for seat, agent in agents.items():
            own = seat == f"player_{number}"
            assert (agent.name, agent.trainable) == (("player", True) if own else ("opponent", False))
            assert agent.config.model == ("by-script" if own else "the-other")


# -- words that cannot be used, silence, limits, lost connections ------------------------------------------------


def test_a_model_that_is_out_of_its_limits_says_nothing_any_more_and_its_game_ends_by_the_rules():
    player = SOUND.model_copy(update={"max_turns": 2})
    played, _ = episodes(
        lambda _: "Hm.",
        3,
        {"player": player},
        game="avalon_v0",
        options=SILENT,
        seats="player_1,player_4",
        on_bad="default",
    )
    for episode in played:
        assert episode.ok
        data, moves = episode.task.data, {trace.info["seat"]: trace.metrics["replaced"] for trace in episode.traces}
        assert [trace.num_turns for trace in episode.traces] == [2, 2]
        assert [trace.metrics["left"] for trace in episode.traces] == [1.0, 1.0]
        assert min(moves.values()) > 2  # the table went on moving for them: avalon has a vote for every team
        silent = {seat: ["Hm."] * 2 + [""] * int(number - 2) for seat, number in moves.items()}
        assert {trace.info["seat"]: trace.reward for trace in episode.traces}.items() <= returns_of(
            data, silent
        ).items()


def test_a_connection_that_is_cut_ends_no_game_and_no_other_one():
    def cut(messages: list[dict[str, Any]]) -> str | None:
        gone = messages[0]["content"].startswith("# Who you are\nYou are player_3") and len(messages) > 2
        return None if gone else one_of_its_options(messages)

    player = SOUND.model_copy(update={"harness": ChatConfig(id="parlour-v1", max_retries=0)})
    played, _ = episodes(cut, 4, {"player": player}, game="werewolf_v0", options=TABLES["werewolf_v0"])
    assert [episode.ok for episode in played] == [all(trace.ok for trace in episode.traces) for episode in played]
    assert False in [episode.ok for episode in played]
    for episode in played:
        by_seat = {trace.info["seat"]: trace for trace in episode.traces}
        assert list(by_seat) == list(episode.task.data.seats)
        for seat, trace in by_seat.items():
            assert trace.metrics["left"] == float(not trace.ok)
            assert seat == "player_3" or trace.ok
            result = "You won" if trace.reward > 0 else "You lost"
            assert trace.info["last_message"].count(f"{result}: ") == 1
        errors = [error.type for error in by_seat["player_3"].errors]
        assert errors in ([], ["ProviderError"])


# -- listening and speaking --------------------------------------------------------------------------------------


def test_listening_and_speaking_are_rewards_beside_the_return_and_change_no_game():
    """The model states 0.5 of everybody, the night's belief of a Loyal Servant among five: its listening is 0.0."""

    def states(messages: list[dict[str, Any]]) -> str:
        words = messages[-1]["content"]
        if words.startswith("Privately, and without a move"):
            return words.split("such as ")[1].rstrip(".\n")
        return one_of_its_options(messages)

    games = {"game": "avalon_v0", "options": {"num_players": 5}, "seats": "each"}
    without, _ = episodes(states, 5, **games)
    played, _ = episodes(states, 5, listening=True, speaking=True, **games)
    roles = set()
    for episode, plain in zip(played, without, strict=True):
        assert episode.ok, episode.errors
        ((trace,), (before,)) = episode.traces, plain.traces
        conversation = messages(trace)
        assert conversation[: len(messages(before))] == messages(before)
        assert trace.rewards["return"].score == before.rewards["return"].score
        assert set(before.rewards) == {"return"}
        role = re.search(r"Your role is ([A-Z][a-z ]*[A-Za-z]*) \(", conversation[0][1]).group(1)  # type: ignore[union-attr]
        evil = "(evil)" in conversation[0][1].splitlines()[1]
        roles.add(evil)
        assert set(trace.rewards) == {"return", "speaking"} | (set() if evil else {"listening"})
        if not evil:
            assert trace.metrics["belief_read"] == 1.0
            assert role != "Loyal Servant" or trace.rewards["listening"].score == pytest.approx(0.0)
            assert (
                role != "Merlin" or trace.rewards["listening"].score < -0.6
            )  # he knew: -log 0.5 = 0.69 against about 0
    assert roles == {True, False}


# -- settings, and the command -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"game": "chess"}, "game 'chess' is not accepted; accepted: "),
        ({"options": {"num_players": 99}}, "99 is not accepted; accepted: "),
        ({"seats": "player_9"}, "seats 'player_9' is not accepted; accepted: all, each, player_0, "),
        ({"seats": "player_1,player_1"}, "seats 'player_1,player_1' is not accepted; accepted: all, each, "),
        ({"opponents": "nobody"}, "'nobody' is not accepted; accepted: "),
        ({"on_bad": "shrug"}, "on_bad 'shrug' is not accepted; accepted: "),
        ({"tries": 0}, "tries 0 is not accepted; accepted: "),
        ({"seed": seeds.VALIDATION.stop}, "seed 1610612736 is not accepted; accepted: 0 to 1,610,612,735, or"),
        (
            {"game": "werewolf_v0", "listening": True},
            "game of listening and speaking 'werewolf_v0' is not accepted; accepted: avalon_v0",
        ),
    ],
)
def test_settings_that_are_not_accepted_are_refused_before_anything_is_played(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GamesConfig(id="parlour-v1", **given)


@pytest.mark.parametrize("purpose", [seeds.TRAINING, seeds.VALIDATION, seeds.HELD_OUT])
def test_a_taskset_counts_seeds_on_and_ends_at_the_last_one_for_the_same_purpose(purpose):
    last = (purpose.stop - 2, purpose.stop - 1)
    taskset = GamesTaskset(GamesConfig(id="parlour-v1", seed=last[0]))
    assert [(task.data.name, task.data.seed) for task in taskset] == [(f"avalon_v0#{seed}", seed) for seed in last]


def test_the_command_finds_the_installed_environment_and_writes_traces_and_transcripts(installed, tmp_path):
    """`vf-eval`, with the seats of one model and a folder for transcripts; a game is over as its transcript says."""
    words = [
        "parlour-v1",
        "-n",
        "2",
        "--no-push",
        "--no-rich",
        "--model",
        "by-script",
        "--env.taskset.game",
        "template_v0",
    ]
    words += ["--env.transcripts", str(tmp_path / "games")]
    paths = [str(installed), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]

    async def run() -> bytes:
        async with model(one_of_its_options) as (url, _):
            command = [str(Path(sys.executable).parent / "vf-eval"), *words, "--client.base-url", url]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=tmp_path,
                env=environment,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            output, _ = await process.communicate()
            assert process.returncode == 0, output.decode()
            return output

    asyncio.run(run())
    (written,) = (tmp_path / "outputs").rglob("traces.jsonl")
    rows = [json.loads(line) for line in written.read_text().splitlines()]
    assert [len(episode["traces"]) for episode in rows] == [2, 2]
    for episode in rows:
        (transcript,) = (tmp_path / "games").glob(f"template_v0-{episode['task']['data']['seed']}-*.jsonl")
        game = replay.Transcript.read(transcript)
        assert [trace["rewards"]["return"]["score"] for trace in episode["traces"]] == list(game.outcome.returns)
        assert set(game.header["players"].values()) == {"by-script"}


def test_the_code_of_the_page_runs():
    names = run_page("verifiers")

    async def played() -> list[vf.Episode]:
        async with model(one_of_its_options) as (url, _):
            return await names["play"](url, "by-script")

    assert [len(episode.traces) for episode in asyncio.run(played()) if episode.ok] == [1, 1]
