"""TRL: GRPOTrainer plays whole games by tools (environment_factory) and by our rollout_func: docs/integrations/trl.md.

Models are tiny and made on the spot; in the tests of tools, what a model writes comes from a script in place of its
`generate`, or from a model that was taught one call; the rest, from the parsing of a call to the update of the weights, is
TRL's own.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests import ROOT

os.environ["HF_HUB_OFFLINE"] = "1"  # before the hub's package is imported: no test may reach for it
pytest.importorskip("trl", reason="trl is not installed; run scripts/test-integrations trl")

import torch
from datasets import Dataset
from parlour.envs.core import ParlourError
from parlour.policies.files import read_json
from parlour.training.harnesses import trl
from parlour.training.harnesses.sessions import Sessions, SessionSettings
from parlour.training.harnesses.social import end_of_talk
from parlour.training.harnesses.trl import GAME_OVER, PROMPT, GameRollout, environments, game_reward, usable_share
from parlour.wrappers.conversation import ConversationSeat, table
from transformers import LlamaForCausalLM
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen2_5_chat_template

from tests.integrations.pages import run_page
from tests.integrations.tiny_chat_models import PLAIN_TEMPLATE, ScriptedLlama, imitate, llama_config, tokenizer_of
from tests.training.harnesses.talked_games import (
    TABLES,
    aec_return,
    first_messages,
    seat_maker,
    seat_of,
    told_what_its_view_holds,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")

CALL = '<tool_call>\n{"name": "say", "arguments": {"words": "%s"}}\n</tool_call>'


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # tiny steps wait for other threads longer than they compute
    yield
    torch.set_num_threads(before)


def trained(
    folder: Path, model: Any, tokenizer: Any, rows: list[Any], settings: dict[str, Any], **more: Any
) -> GRPOTrainer:
    """A trainer after its steps."""
    fixed = {"use_cpu": True, "bf16": False, "gradient_checkpointing": False, "report_to": "none", "seed": 5}
    fixed |= {"disable_tqdm": True, "logging_steps": 1, "save_strategy": "no"}
    args = GRPOConfig(output_dir=str(folder), **fixed, **settings)
    data = Dataset.from_list(rows)
    trainer = GRPOTrainer(model=model, args=args, train_dataset=data, processing_class=tokenizer, **more)
    trainer.train()
    return trainer


# -- tools ---------------------------------------------------------------------------------------------------------


class Seen:
    """A reward function that keeps what it is handed, and adds nothing."""

    __name__ = "seen"

    def __init__(self) -> None:
        self.games: list[dict[str, Any]] = []

    def __call__(self, prompts: Any, completions: Any, environments: Any, **row: Any) -> list[float]:
        for k, (prompt, completion, environment) in enumerate(zip(prompts, completions, environments, strict=True)):
            texts = [prompt[-1]["content"].removeprefix(PROMPT)]
            texts += [message["content"] for message in completion if message["role"] == "tool"]
            kept = {
                key: values[k]
                for key, values in row.items()
                if isinstance(values, list) and len(values) == len(prompts)
            }
            done, said = environment.done, environment.said
            reward = environment.get_reward()
            kept |= {"told": texts, "said": said, "done": done, "reward": reward, "faults": dict(environment.faults)}
            self.games.append(kept)
        return [0.0] * len(prompts)


def options_in(prompt: str) -> list[str]:
    """The options that the last message of a prompt lists."""
    return re.findall(r"^- (.*)$", prompt[prompt.rindex("<|im_start|>user") :], re.MULTILINE)


def scripted(script: Any, context: int = 4096) -> ScriptedLlama:
    tokenizer = tokenizer_of([*first_messages(), *[PROMPT, CALL, qwen2_5_chat_template] * 3], qwen2_5_chat_template)
    torch.manual_seed(0)
    model = ScriptedLlama(llama_config(tokenizer, context=context))
    model.tokenizer, model.script = tokenizer, script
    return model


def calling_drawn_options(seed: int) -> Any:
    rng = np.random.default_rng(seed)

    def script(prompt: str) -> str:
        options = options_in(prompt)
        return CALL % options[int(rng.integers(len(options)))] if options else "Well played."

    return script


def test_a_hundred_whole_games_by_tools_have_the_rewards_of_the_environment_and_tell_what_the_view_holds(tmp_path):
    """Five GRPO steps of 20 games: three tables as environments of one trainer, drawn options through TRL's own tool loop."""
    tables = {game: Sessions(SessionSettings(game=game, seat=seat_of(game), options=TABLES[game])) for game in TABLES}
    data = [
        {**row, "environment": game}
        for number, game in enumerate(
            ["template_v0", "mediated_qa_v0", "template_v0", "werewolf_v0", "mediated_qa_v0"] * 10
        )
        for row in trl.tool_rows(1, seed=number)
    ]
    model, seen = scripted(calling_drawn_options(1)), Seen()
    before = [weights.clone() for weights in model.parameters()]
    settings = {
        "max_steps": 5,
        "per_device_train_batch_size": 4,
        "gradient_accumulation_steps": 5,
        "num_generations": 2,
    }
    settings |= {"max_completion_length": 4000, "learning_rate": 1e-3, "shuffle_dataset": False}
    factory = {game: environments(sessions, 4000) for game, sessions in tables.items()}
    more = {"environment_factory": factory, "reward_funcs": [seen]}
    trainer = trained(tmp_path, model, model.tokenizer, data, settings, **more)
    assert len(seen.games) == 100
    for play in seen.games:
        game, seed, said = play["environment"], play["seed"], play["said"]
        assert play["done"]
        assert play["reward"] == aec_return(game, seed, seat_of(game), said)
        assert play["told"][-1].endswith(f"{GAME_OVER}\n")
        texts = [*play["told"][:-1], play["told"][-1].removesuffix(f"{GAME_OVER}\n")]
        told_what_its_view_holds(game, seed, seat_of(game), said, texts)
        assert not any(play["faults"].values())
    steps = [line for line in trainer.state.log_history if "reward" in line]
    assert len(steps) == 5
    for number, line in enumerate(steps):
        batch = seen.games[20 * number : 20 * number + 20]
        assert line["rewards/GameEnvironment/mean"] == pytest.approx(
            np.mean([play["reward"] for play in batch]), rel=1e-5
        )
        assert line["tools/call_frequency"] == pytest.approx(np.mean([len(play["said"]) for play in batch]), rel=1e-5)
        assert line["tools/failure_frequency"] == 0
    assert any(not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))


ONE_STEP = {"max_steps": 1, "per_device_train_batch_size": 4, "num_generations": 4}


def one_step(folder: Path, script: Any, game: str, seed: int = 3, most: int = 1500) -> list[dict[str, Any]]:
    """Four games of one deal in a step of GRPO."""
    model, seen = scripted(script), Seen()
    sessions = Sessions(SessionSettings(game=game, seat=seat_of(game), options=TABLES[game]))
    more = {"environment_factory": environments(sessions, most), "reward_funcs": [seen]}
    trained(
        folder, model, model.tokenizer, trl.tool_rows(1, seed=seed), {**ONE_STEP, "max_completion_length": most}, **more
    )
    return seen.games


@pytest.mark.parametrize(
    "words",
    ["I would rather not say.", CALL.replace("words", "sentence") % "Hm.", CALL.replace('"say"', '"fold"') % "Hm."],
    ids=["no call", "no such argument", "no such tool"],
)
def test_a_model_that_is_silent_or_calls_what_there_is_not_leaves_its_game_to_the_tables_rules(tmp_path, words):
    for play in one_step(tmp_path, lambda prompt: words, "template_v0", most=300):
        assert not play["done"]
        assert play["said"] == ()
        assert play["reward"] == aec_return("template_v0", 3, "player_1", (), left=True)
        assert play["faults"]["replaced"] == 1


def test_a_game_that_does_not_fit_into_the_completion_is_played_to_its_end_without_the_seat(tmp_path):
    for play in one_step(tmp_path, lambda prompt: CALL % options_in(prompt)[0], "werewolf_v0", seed=1, most=120):
        assert not play["done"]
        assert play["faults"]["replaced"] > 0
        assert play["reward"] == aec_return("werewolf_v0", 1, "player_0", play["said"], left=True)


def test_what_an_environment_cannot_deal_is_refused():
    made = environments(Sessions(SessionSettings(game="template_v0")), 100)()
    with pytest.raises(ParlourError, match=r"no game was dealt yet; accepted: reset\(\)"):
        made.say("I guess heads.")
    with pytest.raises(ParlourError, match="a row without seed is not accepted"):
        made.reset(prompt=[])
    with pytest.raises(ParlourError, match="max_completion_length"):
        environments(Sessions(SessionSettings(game="template_v0")), 0)()


# -- rollout_func --------------------------------------------------------------------------------------------------


def plain(words: list[str], width: int = 8, context: int = 4096) -> tuple[Any, Any]:
    """A random model whose template knows no tools, and its tokenizer."""
    tokenizer = tokenizer_of(words, PLAIN_TEMPLATE)
    torch.manual_seed(0)
    return LlamaForCausalLM(llama_config(tokenizer, width, context=context)), tokenizer


def as_trainer(model: Any, tokenizer: Any, most: int) -> Any:
    """What a rollout asks of a trainer."""
    unwrapped = SimpleNamespace(unwrap_model=lambda model: model)
    args = SimpleNamespace(temperature=1.0, max_completion_length=most)
    return SimpleNamespace(model=model, processing_class=tokenizer, accelerator=unwrapped, args=args)


ONCE = {"on_bad": "default", "tries": 1}


def check_rollout(game: str, seeds: list[int], made: dict[str, list[Any]], tokenizer: Any) -> None:
    """Rewards are the environment's; the game's tokens are what the seat was told, and all others the model's."""
    for k, seed in enumerate(seeds):
        said, left = made["said"][k], made["left"][k]
        assert made["game_reward"][k] == aec_return(game, seed, seat_of(game), said, left=left, **ONCE)
        ids, own = made["completion_ids"][k], made["env_mask"][k]
        assert len(ids) == len(own) == len(made["logprobs"][k]) > 0
        assert all((chance < 0) == bool(mine) for chance, mine in zip(made["logprobs"][k], own, strict=True))
        tokens = made["prompt_ids"][k] + [token for token, mine in zip(ids, own, strict=True) if not mine]
        messages = re.findall(r"<\|im_start\|>user\n(.*?)<\|im_end\|>", tokenizer.decode(tokens), re.DOTALL)
        ours = seat_maker(game, **ONCE)()
        texts = [ours.reset(seed), *(ours.say(words) for words in said)]
        assert messages == (texts[:-1] if said and not left else texts[: len(said)] or texts[:1])
        if not left:
            told_what_its_view_holds(game, seed, seat_of(game), said, texts, **ONCE)


@pytest.mark.parametrize("game", TABLES)
def test_a_hundred_whole_games_by_rollout_have_the_rewards_of_the_environment(game):
    """34 games at each of three tables, by a random model whose words are of no use: the table's rules move for it."""
    model, tokenizer = plain(first_messages())
    rollout = GameRollout(seat_maker(game, **ONCE), max_new_tokens=4, at_once=17)
    model.train()
    batch = rollout([row["prompt"] for row in trl.rollout_rows(34, seed=50)], as_trainer(model, tokenizer, 3000))
    assert model.training
    check_rollout(game, list(range(50, 84)), batch, tokenizer)
    assert not any(batch["left"])
    over_before_a_move = [k for k, said in enumerate(batch["said"]) if not said]
    assert all(sum(batch["env_mask"][k]) == 0 for k in over_before_a_move)
    assert sum(map(len, batch["said"])) >= 34 - len(over_before_a_move)
    assert (game == "werewolf_v0") == bool(over_before_a_move)  # killed in the first night


def test_five_steps_of_grpo_by_rollout_train_on_the_environments_rewards(tmp_path):
    """A tiny model taught to accuse and to vote samples its words, which the table can use or not."""
    game = "template_v0"
    sentences = ["I guess heads.", "I guess tails."]
    model, tokenizer = plain([*first_messages(), *sentences * 3], width=16)
    first = seat_maker(game)().reset(0)
    asked = tokenizer.apply_chat_template(
        [{"role": "user", "content": first}], add_generation_prompt=True, return_dict=False
    )
    imitate(
        model,
        [(asked, [*tokenizer(sentence)["input_ids"], tokenizer.eos_token_id]) for sentence in sentences],
        40,
        rate=4e-3,
    )
    played: list[tuple[list[int], dict[str, list[Any]]]] = []
    rollout = GameRollout(seat_maker(game, **ONCE), max_new_tokens=8)

    def kept(prompts: Any, trainer: Any) -> dict[str, list[Any]]:
        batch = rollout(prompts, trainer)
        played.append(([trl.seed_of(prompt) for prompt in prompts], {k: list(v) for k, v in batch.items()}))
        return batch

    before = [weights.clone() for weights in model.parameters()]
    settings = {"max_steps": 5, "per_device_train_batch_size": 8, "num_generations": 4}
    settings |= {"max_completion_length": 200, "learning_rate": 1e-2}
    more = {"rollout_func": kept, "reward_funcs": [game_reward, usable_share]}
    trainer = trained(tmp_path, model, tokenizer, trl.rollout_rows(20), settings, **more)
    assert len(played) == 5
    logged = [line for line in trainer.state.log_history if "reward" in line]
    for (seeds, made), line in zip(played, logged, strict=True):
        assert seeds[:4] == [seeds[0]] * 4  # a group has one deal
        check_rollout(game, seeds, made, tokenizer)
        assert line["rewards/game_reward/mean"] == pytest.approx(np.mean(made["game_reward"]), rel=1e-5)
    assert any(not refused for _, made in played for refused in made["refused"])
    assert any(not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))


def test_rows_leave_out_deals_that_end_before_the_seats_first_turn():
    """In Werewolf, a seat that is killed in the first night never speaks: TRL would train on an empty completion."""
    make = seat_maker("werewolf_v0", **ONCE)
    seat, speaks = make(), []
    for seed in range(40, 60):
        seat.reset(seed)
        speaks += [] if seat.done else [seed]
    assert 8 < len(speaks) < 20
    rows = trl.rollout_rows(8, make, seed=40)
    assert [trl.seed_of(row["prompt"]) for row in rows] == speaks[:8]
    assert [row["seed"] for row in trl.tool_rows(8, make, seed=40)] == speaks[:8]
    model, tokenizer = plain(first_messages())
    batch = GameRollout(make, max_new_tokens=4)([row["prompt"] for row in rows], as_trainer(model, tokenizer, 3000))
    assert all(sum(own) > 0 for own in batch["env_mask"])


def test_a_seed_gives_the_same_completions():
    model, tokenizer = plain(first_messages())
    prompts = [row["prompt"] for row in trl.rollout_rows(4)]
    trainer = as_trainer(model, tokenizer, 500)
    made = [GameRollout(seat_maker("template_v0"), max_new_tokens=6, seed=n)(prompts, trainer) for n in (7, 7, 8)]
    assert made[0] == made[1]
    assert made[0]["completion_ids"] != made[2]["completion_ids"]


@pytest.mark.parametrize(("most", "context"), [(20, 4096), (3000, 460)], ids=["completion", "context"])
def test_a_seat_leaves_a_game_for_which_there_is_no_room(most, context):
    model, tokenizer = plain(first_messages(), context=context)
    rollout = GameRollout(seat_maker("werewolf_v0", **ONCE), max_new_tokens=4)
    batch = rollout([row["prompt"] for row in trl.rollout_rows(4, seed=60)], as_trainer(model, tokenizer, most))
    assert any(batch["left"])
    assert all(len(ids) <= most for ids in batch["completion_ids"])
    check_rollout("werewolf_v0", list(range(60, 64)), batch, tokenizer)


def test_prompts_without_seed_and_tokenizers_without_template_are_refused():
    model, tokenizer = plain(first_messages())
    rollout = GameRollout(seat_maker("template_v0"))
    with pytest.raises(ParlourError, match=r"prompt 'Play\.' is not accepted; accepted: "):
        rollout(["Play."], as_trainer(model, tokenizer, 100))
    tokenizer.chat_template = None
    with pytest.raises(ParlourError, match="a tokenizer without chat_template is not accepted"):
        rollout(['{"seed": 1}'], as_trainer(model, tokenizer, 100))


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, tokenizer = plain(first_messages())
    model.save_pretrained("checkpoint")
    tokenizer.save_pretrained("checkpoint")
    tokenizer.chat_template = qwen2_5_chat_template
    model.save_pretrained("tool-checkpoint")
    tokenizer.save_pretrained("tool-checkpoint")
    run_page("trl")


# -- the example -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 4], ids=["all weights", "an adapter"])
def test_the_example_measures_trains_and_measures_again_and_resumes(tmp_path, monkeypatch, rank):
    if rank:
        pytest.importorskip("peft", reason="peft is not installed")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import train_trl

    model, tokenizer = plain(first_messages())
    model.save_pretrained(tmp_path / "checkpoint")
    tokenizer.save_pretrained(tmp_path / "checkpoint")
    settings = train_trl.Settings(
        str(tmp_path / "checkpoint"), steps=2, deals=2, group=4, reply=6, held_out=3, lora_rank=rank, rate=1e-2
    )
    text = train_trl.main(settings, tmp_path / "run")
    before, after = (read_json(tmp_path / "run" / f"{name}.json") for name in ("before", "after"))
    assert before["deals"] == after["deals"]
    assert len(before["returns"]) == len(after["usable"]) == 3
    assert text == (tmp_path / "run" / "report.md").read_text()
    steps = [line for line in read_json(tmp_path / "run" / "curve.json")["steps"] if "reward" in line]
    assert len(steps) == 2
    trained = LlamaForCausalLM.from_pretrained(tmp_path / "run" / "model")
    moved = zip(model.parameters(), trained.parameters(), strict=True)
    differed = any(line["reward_std"] > 0 for line in steps)  # within a deal; otherwise there is nothing to learn
    assert any(not torch.equal(old, new) for old, new in moved) == differed
    assert train_trl.main(settings, tmp_path / "run") == text
    with pytest.raises(ParlourError, match="--at-once 3 is not accepted; accepted: a divisor of 8 games a step"):
        train_trl.main(replace(settings, at_once=3), tmp_path / "other")


# -- listening and speaking ----------------------------------------------------------------------------------------


def avalon() -> ConversationSeat:
    return ConversationSeat(table("avalon_v0", num_players=5, **ONCE), "player_1", list_options=False)


def test_a_rollout_with_social_rewards_asks_good_seats_after_the_game_and_keeps_the_question_from_the_moves():
    """By a random model, whose answers cannot be read: prior - 6.9078. Only the end of the completions differs from that without."""
    model, tokenizer = plain([avalon().reset(0)])
    prompts = [row["prompt"] for row in trl.rollout_rows(8, seed=3)]
    trainer = as_trainer(model, tokenizer, 4000)
    without = GameRollout(avalon, max_new_tokens=4)(prompts, trainer)
    batch = GameRollout(avalon, max_new_tokens=4, social=True)(prompts, trainer)
    assert set(batch) - set(without) == {"listening", "speaking"}
    assert trl.listening_reward([], **batch) == batch["listening"]
    assert trl.speaking_reward([], **batch) == batch["speaking"] == [0.0] * 8  # it claimed nothing
    for k in range(8):
        seat = avalon()
        seat.reset(3 + k)
        for words in batch["said"][k]:
            seat.say(words)
        end = end_of_talk(seat)
        longer = batch["completion_ids"][k][len(without["completion_ids"][k]) :]
        assert batch["completion_ids"][k][: len(without["completion_ids"][k])] == without["completion_ids"][k]
        assert batch["game_reward"][k] == without["game_reward"][k]
        assert batch["listening"][k] == (end.listening("") if end.good else None)
        assert (end.question in tokenizer.decode(longer)) == end.good
    assert {item is None for item in batch["listening"]} == {True, False}
