"""Checkpoints of transformers at our tables: `--policy hf:DIR`. docs/integrations/hf.md says in prose what is tested here."""

from __future__ import annotations

import json
import pickle
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("transformers", reason="transformers is not installed; run scripts/test-integrations hf")

import torch
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.policies import make_policy
from parlour.policies.local_lm import model as drawing
from parlour.policies.local_lm.model import LanguageModel, Prompt, Reply, Sampling
from parlour.policies.local_lm.settings import called
from parlour.training.play import rollout
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.play.runner import GameRunner
from parlour.wrappers import ConversationSeat
from parlour.wrappers.conversation import table

from tests.integrations import tiny_checkpoint
from tests.integrations.pages import run_page
from tests.training.harnesses.bridged_games import TABLES, drawn

torch.set_num_threads(1)
SAMPLED = "temperature=1,max_new_tokens=12"
SMALL = {"num_players": 4, "max_days": 1}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return tiny_checkpoint.write(tmp_path_factory.mktemp("checkpoints") / "tiny")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return tiny_checkpoint.write(tmp_path_factory.mktemp("checkpoints") / "plain", template=None)


@pytest.fixture
def scripted(monkeypatch):
    """A model that says what it is told to, by the number of the turn; keeps the conversations that it was given."""
    asked = []

    def install(words):
        asked.clear()
        monkeypatch.setattr(LanguageModel, "prompt", lambda self, messages: Prompt(tuple(messages)))

        def replies(self, prompts, draws, how):
            asked.extend(prompt.ids for prompt in prompts)
            return [Reply(words(prompt.ids), (1,), (0.0,), True) for prompt in prompts]

        monkeypatch.setattr(LanguageModel, "replies", replies)
        return asked

    return install


# -- what the model is told ------------------------------------------------------------------------------------


def conversed(game, seed, agent, **form):
    """A game at a conversation seat by options that are drawn: what it was told and said, in turn, and its return."""
    seat, rng = ConversationSeat(table(game, **TABLES[game]), agent, **form), np.random.default_rng(seed)
    turns = [("user", seat.reset(seed))]
    while not seat.done:
        turns.append(("assistant", drawn(seat.options, rng)))
        turns.append(("user", seat.say(turns[-1][1])))
    return turns, seat.reward


@pytest.mark.parametrize("game", sorted(TABLES))
@pytest.mark.parametrize("listed", ["true", "false"])
def test_the_messages_are_those_of_a_conversation_and_the_return_is_the_seats(game, listed, checkpoint, scripted):
    """Ten games of each table and form, a hundred in all; the heuristic plays the others."""
    env = rollout.table(game, **TABLES[game])
    base = env.game_env
    own = make_policy(f"hf:{checkpoint},list_options={listed}", game, base.game.config)
    for seed in range(10):
        seat = seed % len(base.possible_agents)
        turns, reward = conversed(game, seed, base.possible_agents[seat], list_options=listed == "true")
        requests = scripted(lambda messages, turns=turns: turns[len(messages)][1])
        players = [make_policy("heuristic", game, base.game.config) for _ in base.possible_agents]
        players[seat] = own
        episode = rollout.play(env, players, seed)
        assert requests == [tuple(turns[: 2 * k + 1]) for k in range(len(turns) // 2)]
        assert episode.returns[seat] == reward
        assert not any(episode.faults[base.possible_agents[seat]].values())


# -- its words -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["checkpoint", "plain"])
def test_a_model_that_says_nothing_of_use_plays_whole_games_by_the_tables_rules(form, request):
    """Random weights: no words are understood, but by luck; each is cut off at 12 tokens or ends by itself."""
    folder = request.getfixturevalue(form)
    env = rollout.table("werewolf_v0", **SMALL)
    players = [make_policy(f"hf:{folder},{SAMPLED}", "werewolf_v0", env.game_env.game.config) for _ in range(4)]
    episode = rollout.play(env, players, 2)
    assert sum(sum(faults.values()) for faults in episode.faults.values()) > 0
    assert sum(decision.requests for decision in episode.decisions) > 0
    assert sum(made.completion for made in episode.decisions) <= 12 * sum(made.requests for made in episode.decisions)


def test_thoughts_and_signs_are_no_words(checkpoint):
    model = LanguageModel.load(checkpoint)
    row = drawing.Drawing((1,), np.random.default_rng(0), 0.0)
    for written, words in (
        ("<think>I am evil.</think> I approve.<|end|>", "I approve."),
        ("hm</think>I approve.", "I approve."),
        ("<think>I am evil", ""),
        ("[THINK]I am evil.[/THINK]I approve.", "I approve."),
        ('<seed:think budget="3">I am evil', ""),
        ("  \n ", ""),
    ):
        row.ids[:] = model.tokenizer(written, add_special_tokens=False)["input_ids"]
        assert model._reply(row).words == words


def test_the_plain_form_ends_with_the_line(plain):
    """Without a template: the words after `> `, up to the end of the line."""
    model = LanguageModel.load(plain)
    assert not model.has_template
    ids = model.prompt([("user", "Vote.\n- Yes.\n"), ("assistant", "Yes."), ("user", "Vote.\n")]).ids
    assert model.tokenizer.decode(ids) == "Vote.\n- Yes.\n> Yes.\nVote.\n> "
    row = drawing.Drawing((1,), np.random.default_rng(0), 0.0)
    row.ids[:] = model.tokenizer("\nYes.\nVote.")["input_ids"]
    assert model._line_ends(row.ids)
    assert not model._line_ends(model.tokenizer("\nYes.")["input_ids"])
    assert model._reply(row).words == "Yes."


# -- chance ----------------------------------------------------------------------------------------------------


def prompts_of(lengths, seed=5):
    rng = np.random.default_rng(seed)
    return [Prompt(tuple(int(token) for token in rng.integers(3, 300, size=length))) for length in lengths]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_reply_does_not_depend_on_what_else_is_asked(checkpoint, temperature):
    """Eleven prompts of 5 to 205 tokens: alone, in batches of 4 and all at once, in another order too."""
    prompts, how = prompts_of(range(5, 206, 20)), Sampling(temperature, 16)

    def replies(model, numbers):
        rngs = [np.random.default_rng(number) for number in numbers]
        return dict(zip(numbers, model.replies([prompts[k] for k in numbers], rngs, how), strict=True))

    words = [
        {k: (reply.words, reply.ids, reply.ended) for k, reply in by_number.items()}
        for by_number in (
            {k: v for number in range(11) for k, v in replies(LanguageModel.load(checkpoint), [number]).items()},
            replies(LanguageModel.load(checkpoint, batch=4), list(range(11))),
            replies(LanguageModel.load(checkpoint, batch=16), list(reversed(range(11)))),
        )
    ]
    assert words[0] == words[1] == words[2]
    assert len({ids for _, ids, _ in words[0].values()}) > 3


def test_where_two_tokens_are_close_the_row_alone_decides(checkpoint, monkeypatch):
    """Whatever the batch says within half of `CLOSE`: scores are shifted by noise of that size, the tokens stay."""
    prompts, how = prompts_of([30] * 8), Sampling(1.0, 16)
    rngs = lambda: [np.random.default_rng(k) for k in range(8)]  # noqa: E731
    model = LanguageModel.load(checkpoint)
    expected = [reply.ids for reply in model.replies(prompts, rngs(), how)]
    monkeypatch.setattr(drawing, "CLOSE", 0.2)
    computed, shaken = drawing.OwnDraws.__call__, np.random.default_rng(0)

    def noisy(self, input_ids, scores):
        return computed(self, input_ids, scores + torch.from_numpy(shaken.uniform(-0.04, 0.04, scores.shape)).float())

    monkeypatch.setattr(drawing.OwnDraws, "__call__", noisy)
    assert [reply.ids for reply in model.replies(prompts, rngs(), how)] == expected
    monkeypatch.setattr(drawing, "CLOSE", 0.0)
    assert [reply.ids for reply in model.replies(prompts, rngs(), how)] != expected


def test_tokens_are_drawn_from_the_models_distribution(checkpoint):
    """2,000 draws of one token at temperature 1: frequencies within 5 standard errors; log-probabilities as computed."""
    model, (prompt,) = LanguageModel.load(checkpoint, batch=500), prompts_of([6])
    with torch.no_grad():
        chance = torch.softmax(model.model(torch.tensor([prompt.ids])).logits[0, -1].double(), -1).numpy()
    replies = model.replies([prompt] * 2000, [np.random.default_rng(k) for k in range(2000)], Sampling(1.0, 1))
    seen = np.bincount([reply.ids[0] for reply in replies], minlength=len(chance)) / 2000
    assert np.all(np.abs(seen - chance) < 5 * np.sqrt(chance * (1 - chance) / 2000) + 1e-3)
    for reply in replies[:20]:
        assert reply.logprobs[0] == pytest.approx(np.log(chance[reply.ids[0]]), abs=1e-4)


def transcripts(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.jsonl"))}


@pytest.mark.parametrize("how", ["temperature=0", "temperature=1"])
def test_a_seed_gives_the_same_game_whatever_else_is_in_flight(checkpoint, tmp_path, how):
    """Four games one by one, and three at once with a batch of two; transcripts byte for byte."""
    env = rollout.table("werewolf_v0", **SMALL)
    config = env.game_env.game.config

    def played(folder, batch, workers):
        maker = partial(make_policy, f"hf:{checkpoint},{how},max_new_tokens=8,batch={batch}", "werewolf_v0", config)
        seats = tuple(("hf", maker) for _ in range(4))
        GameRunner(workers=workers).play(env, [Job(seed, seats, folder / f"{seed}.jsonl") for seed in range(4)])
        return transcripts(folder)

    assert played(tmp_path / "alone", 1, 1) == played(tmp_path / "together", 2, 3)


# -- room ------------------------------------------------------------------------------------------------------


def test_a_full_context_leaves_out_the_oldest_turns_and_says_so(checkpoint, tmp_path):
    env = rollout.table("avalon_v0", num_players=5)
    own = make_policy(f"hf:{checkpoint},{SAMPLED},context=1500", "avalon_v0", env.game_env.game.config)
    prompts, ask = [], own.language_model.replies
    own.language_model.replies = lambda p, *rest: prompts.extend(p) or ask(p, *rest)
    others = [make_policy("heuristic", "avalon_v0", {}) for _ in range(4)]
    try:
        episode = rollout.play(env, [own, *others], 0)
    finally:
        del own.language_model.replies
    assert all(len(prompt.ids) + 12 <= 1500 for prompt in prompts)
    assert episode.decisions[0].cut > 0
    first = own._turns[0].heading
    for prompt in prompts:
        assert own.language_model.tokenizer.decode(prompt.ids).startswith(f"<|user|>{first}")
    assert "earlier lines left out)" in own.language_model.tokenizer.decode(prompts[-1].ids)


def test_a_context_without_room_for_the_last_message_is_told(checkpoint):
    env = rollout.table("avalon_v0", num_players=5)
    own = make_policy(f"hf:{checkpoint},max_new_tokens=8,context=100", "avalon_v0", {})
    others = [make_policy("heuristic", "avalon_v0", {}) for _ in range(4)]
    with pytest.raises(ParlourError, match="does not fit into the model's context"):
        rollout.play(env, [own, *others], 0)
    with pytest.raises(ParlourError, match=r"context 5000 is not accepted; accepted: 1\.\.4096"):
        make_policy(f"hf:{checkpoint},context=5000", "avalon_v0", {})


# -- files -----------------------------------------------------------------------------------------------------


class Bomb:
    def __reduce__(self):
        return (Path.touch, (Path("unpickled"),))


def copied(checkpoint, tmp_path):
    return Path(shutil.copytree(checkpoint, tmp_path / "copy"))


def refused(folder, match):
    with pytest.raises(ParlourError, match=match):
        make_policy(f"hf:{folder}", "avalon_v0", {})


def test_nothing_pickled_is_read(checkpoint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = copied(checkpoint, tmp_path)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb()))
    refused(folder, r"holds no weights as \*\.safetensors; accepted: safetensors alone")
    assert not (tmp_path / "unpickled").exists()


def test_no_code_of_the_folder_is_run(checkpoint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = copied(checkpoint, tmp_path)
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text("from pathlib import Path\nPath('imported').touch()\n")
    refused(folder, "cannot be used as a causal language model")
    assert not (tmp_path / "imported").exists()


def test_damaged_and_missing_weights_are_told(checkpoint, tmp_path):
    folder = copied(checkpoint, tmp_path)
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    refused(folder, "cannot be used as a causal language model")
    config = json.loads((folder / "config.json").read_text())
    weights.write_bytes(whole)
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    refused(folder, "holds no weights for model.layers.1")
    (folder / "adapter_config.json").write_text("{}")
    refused(folder, "holds an adapter")
    refused(tmp_path / "nowhere", r"holds no config\.json")


# -- commands --------------------------------------------------------------------------------------------------


def test_evaluate_plays_games_in_flight_and_names_the_player(checkpoint, tmp_path, json_of):
    out = tmp_path / "games"
    command = f"evaluate werewolf_v0 --players 4 --set max_days=1 --policy hf:{checkpoint},{SAMPLED} --policy random --games 4 --json"
    report = json_of([*command.split(), "--out", str(out)])
    name = called({"dir": checkpoint, "temperature": "1", "max_new_tokens": "12"})
    assert list(report["rates"]) == [name, "random"]
    headers = [json.loads(file.read_text().splitlines()[0]) for file in sorted(out.glob("*.jsonl"))]
    assert sum(name in header["players"].values() for header in headers) == 4
    for file in out.glob("*.jsonl"):
        replay.Transcript.read(file)


def test_the_pages_example_runs(checkpoint, tmp_path, monkeypatch):
    """Its block of Python, with a checkpoint at models/tiny."""
    shutil.copytree(checkpoint, tmp_path / "models" / "tiny")
    monkeypatch.chdir(tmp_path)
    played = run_page("hf")["played"]
    assert [game.seed for game in played] == list(range(8))
    assert any(game.replies for game in played)
