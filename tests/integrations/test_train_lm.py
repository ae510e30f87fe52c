"""A small language model that is made here, imitates and learns (`examples/train_lm.py`), in miniature: credit, games, determinism."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from argparse import Namespace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("transformers", reason="transformers is not installed; run scripts/test-integrations train_lm")

import torch
from parlour.envs.core import ParlourError
from parlour.policies.local_lm.model import LanguageModel, Sampling
from parlour.training.measure.abilities.beliefs import loss
from parlour.training.play.seeds import HELD_OUT, TRAINING
from parlour.wrappers.conversation import ConversationSeat, table
from transformers import AutoTokenizer

SCRIPT = Path(__file__).parents[2] / "examples/train_lm.py"
AVALON_SCRIPT = SCRIPT.with_name("train_lm_avalon.py")
DAYS = {"num_players": 4, "max_days": 2}
SMALL = {"seed": 0, "imitation": 6, "learning": 2, "batch": 2, "longer": 3, "deals": 6}


def loaded(script: Path) -> Any:
    """An example as a module."""
    spec = spec_from_file_location(script.stem, script)
    assert spec is not None
    assert spec.loader is not None
    module: Any = module_from_spec(spec)
    sys.modules[script.stem] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


lm = loaded(SCRIPT)
NETWORK = {"HIDDEN": 32, "HEADS": 2, "INNER": 64}
vars(lm).update(**NETWORK, CONTEXT=512, IMITATED=4, WARM_UP=2, GROUP=2, GAMES_OF_WORDS=60)  # all of it smaller


def train(folder: Path, **changes: int) -> dict[str, Any]:
    games: dict[str, Any] = lm.train(Namespace(out=folder, **{**SMALL, **changes}), **DAYS)
    return games


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run without stages: its tables and its tokenizer."""
    torch.set_num_threads(1)
    return lm.Run(Namespace(out=tmp_path_factory.mktemp("run"), **SMALL), **DAYS)


@pytest.fixture(scope="module")
def model(run: Any) -> Any:
    """After some imitation, so that it says what can be used and what cannot."""
    made = lm.make_model(run.tokens, 0)
    losses = [point["loss"] for point in run.imitate(made, lm.IMITATION, 40)]
    assert np.mean(losses[-5:]) < np.mean(losses[:5])
    return made


@pytest.fixture(scope="module")
def played(run: Any, model: Any) -> list[Any]:
    games: list[Any] = lm.play(model, run.tokens, run.tables, range(12), 0)
    return games


# -- credit ----------------------------------------------------------------------------------------------------


def reply(*, speech: bool = False, canonical: bool = False) -> Any:
    return lm.Reply(1, [5], [-1.0], speech, canonical)


def test_credit_is_half_the_return_over_the_group_and_whether_it_is_canonical_over_the_batch():
    games = [
        lm.SeatGame(7, [], [reply(canonical=True), reply(speech=True), reply(canonical=True)], 1.0),
        lm.SeatGame(7, [], [reply()], -1.0),
        lm.SeatGame(8, [], [reply(), reply(speech=True)], -1.0),
        lm.SeatGame(8, [], [reply(canonical=True)], -1.0),
    ]
    # deal 7: mean return 0; deal 8: mean return -1. Of 5 choices 3 are canonical: .6. Speech has the part of the return alone.
    expected = [[0.5 * 1 + 0.4, 0.5 * 1, 0.5 * 1 + 0.4], [0.5 * -1 - 0.6], [0.0 - 0.6, 0.0], [0.0 + 0.4]]
    for own, wanted in zip(lm.credits_of(games), expected, strict=True):
        assert own == pytest.approx(wanted)


def test_a_step_of_learning_makes_replies_with_credit_likelier_and_those_with_blame_less_likely(run, played):
    learner = lm.make_model(run.tokens, 0)
    games = lm.play(learner, run.tokens, run.tables, [3, 3], 1)
    credited = [(game, [gain] * len(game.replies)) for game, gain in zip(games, (1.0, -1.0), strict=True)]
    before = [log_prob_of(learner, game, run.tokens.pad) for game in games]
    optimizer = torch.optim.AdamW(learner.parameters(), **lm.ADAM)
    lm.descend(learner, optimizer, lm.policy_loss(learner, credited), 1e-3)
    after = [log_prob_of(learner, game, run.tokens.pad) for game in games]
    assert after[0] - before[0] > after[1] - before[1]
    assert after[1] < before[1] or after[0] > before[0]


def log_prob_of(model: Any, game: Any, pad: int) -> float:
    """Of all replies of a game, read at once."""
    with torch.no_grad():
        logits = lm.token_logits(model, [game], pad).log_softmax(-1)
    said = torch.as_tensor([token for reply in game.replies for token in reply.tokens])
    return float(logits.gather(1, said[:, None]).sum())


# -- games -----------------------------------------------------------------------------------------------------


def test_log_probs_of_games_side_by_side_are_those_of_each_whole_game(run, model, played):
    assert len({len(game.tokens) for game in played}) > 1  # games of several lengths stood side by side
    for game in played:
        sampled = sum(sum(reply.log_probs) for reply in game.replies)
        assert log_prob_of(model, game, run.tokens.pad) == pytest.approx(sampled, abs=1e-3)


def test_a_game_of_another_seed_of_draws_is_another_game(run, model, played):
    again, other = (lm.play(model, run.tokens, run.tables, range(12), draws) for draws in (0, 1))
    assert [game.tokens for game in again] == [game.tokens for game in played]
    assert [game.tokens for game in other] != [game.tokens for game in played]


def test_what_the_model_read_is_what_the_seat_was_told_and_its_return_the_tables(run, played):
    """The tokens of a game, as the chat template writes the messages of a ConversationSeat on the same deal and words."""
    for game in played:
        env = table("werewolf_v0", on_bad="default", tries=1, **DAYS)
        env.reset(seed=game.seed)
        base = env.game_env
        wolf = next(agent for agent, seat in base.seat_of.items() if base.view(seat).role == "Werewolf")
        seat = ConversationSeat(env, wolf, list_options=False)
        message, read = seat.reset(game.seed), []
        for turn in game.replies:
            read += run.tokens.message(message)
            assert turn.start == len(read)
            read += turn.tokens
            message = seat.say(run.tokens.decode(turn.tokens))
        if not seat.done:  # the game was too long for the network
            assert len(game.tokens) > lm.CONTEXT - lm.ROOM
            seat.leave()
        assert read == game.tokens
        assert seat.reward == game.reward == base.outcome.returns[base.seat_of[wolf]]


def test_the_heuristic_that_is_imitated_says_canonical_words_and_wins_as_the_heuristic_does(run):
    at = lm.RoleTable({"num_players": 4})
    games = [lm.taught(at, run.tokens, seed) for seed in range(60)]
    assert all(reply.canonical for game in games for reply in game.replies)
    assert sum(game.reward > 0 for game in games) > 36  # it wins about 77 of 100; fewer than 37 of 60 once in 500 tries


@pytest.mark.parametrize("words", ["I vote for player_2.", "Ça va, 狼人?", "player_12 and player_1\n\n", "<|end|>"])
def test_any_words_are_encoded_and_come_back(run, words):
    ids = run.tokens.encode(words)
    assert run.tokens.decode(ids) == ("" if words == "<|end|>" else words)


# -- runs ------------------------------------------------------------------------------------------------------


MODELS = ("imitation", "learned", "longer")


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("runs") / "first"
    return folder, train(folder)


def of_run(folder: Path) -> list[bytes]:
    return [(folder / name / "model.safetensors").read_bytes() for name in MODELS]


def test_one_seed_gives_one_run_which_goes_on_after_the_last_finished_stage(first_run, tmp_path):
    folder, games = first_run
    train(tmp_path)
    (tmp_path / "learned.json").unlink()
    kept = (tmp_path / "imitation.json").read_bytes()  # its times tell whether it was done again
    assert [[game.tokens for game in own] for own in train(tmp_path).values()] == [
        [game.tokens for game in own] for own in games.values()
    ]
    assert of_run(tmp_path) == of_run(folder)
    assert (tmp_path / "imitation.json").read_bytes() == kept


def test_another_seed_gives_another_run_and_a_folder_of_another_run_is_refused(first_run, tmp_path):
    train(tmp_path, seed=1)
    assert all(a != b for a, b in zip(of_run(tmp_path), of_run(first_run[0]), strict=True))
    with pytest.raises(ParlourError, match="holds a run with another configuration"):
        train(tmp_path, seed=1, longer=4)


def test_every_player_meets_the_same_held_out_deals_in_which_no_stage_learns(first_run):
    folder, games = first_run
    assert list(games) == ["imitation", "learned", "longer", "learned, greedy", "heuristic"]
    deals = lm.seeds_of(0, lm.MEASURED, 0, 6, HELD_OUT)
    assert len(set(deals)) == 6
    assert all(seed in HELD_OUT for seed in deals)
    assert all(seed in TRAINING for k in range(5) for seed in lm.seeds_of(0, lm.LEARNING, k, 50))
    assert all([game.seed for game in own] == deals for own in games.values())
    text = (folder / "report.md").read_text()
    assert "more often than imitation, n = 6 deals" in text
    assert "more often than longer imitation, n = 6 deals" in text
    assert all(f"\n| {name} | " in text for name in games)


def test_a_checkpoint_at_a_table_reads_what_the_model_learned_from_and_answers_as_it_does(first_run, run):
    """What `--policy hf:DIR` stands on: the chat template, the first two messages of games, and the likeliest replies."""
    folder = first_run[0] / "learned"
    seated, tokens = LanguageModel.load(str(folder)), run.tokens
    how = Sampling(0.0, lm.REPLY)
    for game in lm.play(lm.LlamaForCausalLM.from_pretrained(str(folder)), tokens, run.tables, [1, 2, 3], None):
        first, second = game.replies[:2]
        prompt = tokens.decode(game.tokens[: first.start])
        news = tokens.decode(game.tokens[first.start + len(first.tokens) : second.start])
        messages = [("user", prompt), ("assistant", tokens.decode(first.tokens)), ("user", news)]
        prompts = [seated.prompt(messages[:1]), seated.prompt(messages)]
        assert list(prompts[0].ids) == game.tokens[: first.start]
        if first.tokens[-1] == tokens.end:  # a reply that was cut off is closed by the template
            assert list(prompts[1].ids) == game.tokens[: second.start]
        answers = seated.replies(prompts, [np.random.default_rng(0)] * 2, how)
        assert list(answers[0].ids) == first.tokens
    ids = AutoTokenizer.from_pretrained(str(folder)).apply_chat_template(
        [{"role": "user", "content": "hello\n"}], add_generation_prompt=True, tokenize=False
    )
    assert ids == "<|user|>hello\n<|end|><|assistant|>"


def test_the_command_runs_with_a_network_of_a_million_parameters(tmp_path):
    budget = ["--imitation", "20", "--learning", "1", "--batch", "1", "--longer", "1", "--deals", "1"]
    subprocess.run([sys.executable, str(SCRIPT), "--out", str(tmp_path / "run"), *budget], check=True)
    assert "# A small language model at werewolf_v0" in (tmp_path / "run/report.md").read_text()
    assert json.loads((tmp_path / "run/learned.json").read_text())["curve"][0]["games"] == 8
    weights = runpy.run_path(str(SCRIPT))["LlamaForCausalLM"].from_pretrained(str(tmp_path / "run/learned"))
    assert sum(own.numel() for own in weights.parameters()) in range(1_000_000, 3_000_001)


# -- a seat of Avalon with five players (examples/train_lm_avalon.py) ------------------------------------------------


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The example, runs without stages for two sorts of opponents, and an untrained model."""
    module = loaded(AVALON_SCRIPT)  # sets sizes of its own
    vars(lm).update(**NETWORK, CONTEXT=1024)
    torch.set_num_threads(1)
    runs = {
        who: module.Run(Namespace(out=tmp_path_factory.mktemp(who), seed=0, role=role, opponents=who, batch=1, deals=4))
        for who, role in (("heuristic", "Loyal Servant"), ("itself", "Loyal Servant"))
    }
    yield Namespace(module=module, runs=runs, model=lm.make_model(runs["heuristic"].tokens, 0))
    lm.CONTEXT = 512


def avalon_games(five: Any, who: str, seeds: list[int], *, everybody: bool) -> list[Any]:
    run = five.runs[who]
    games: list[Any] = five.module.play(five.model, run.tokens, run.tables, seeds, 0, everybody=everybody)
    return games


@pytest.mark.parametrize(("who", "everybody"), [("heuristic", False), ("itself", True)])
def test_what_is_kept_from_turn_to_turn_gives_the_log_probabilities_of_reading_the_whole_game(five, who, everybody):
    games = avalon_games(five, who, [1, 2, 3], everybody=everybody)
    assert len(games) == (15 if everybody else 3)
    with torch.no_grad():
        logits = lm.token_logits(five.model, games, five.runs[who].tokens.pad)
    said = torch.as_tensor([token for game in games for reply in game.replies for token in reply.tokens])
    again = logits.log_softmax(-1).gather(1, said[:, None])[:, 0]
    kept = torch.as_tensor([x for game in games for reply in game.replies for x in reply.log_probs])
    assert torch.allclose(again, kept, atol=1e-4)


def test_a_model_against_itself_has_every_seat_and_only_good_ones_are_asked_who_is_evil(five):
    games = avalon_games(five, "itself", [1, 2], everybody=True)
    for deal in (games[:5], games[5:]):
        assert [game.agent for game in deal] == [f"player_{seat}" for seat in range(5)]
        assert sum(game.reward for game in deal) in (1.0, -1.0)  # three good and two evil seats
        for seat, game in enumerate(deal):
            assert game.asked == ([] if game.evil[seat] else [other for other in range(5) if other != seat])
            assert game.evil[seat] or sum(game.truth) == 2


def test_the_loss_of_a_belief_is_that_of_the_measures_and_a_step_along_it_raises_the_truth(five):
    """The question is asked beside play: the game's tokens stay as they are."""
    tokens = five.runs["heuristic"].tokens
    games = avalon_games(five, "heuristic", [1, 2, 3, 4], everybody=False)
    before = [list(game.tokens) for game in games]
    learner = lm.make_model(tokens, 1)
    value = five.module.belief_loss(learner, tokens, games).item()
    stated = five.module.belief_logits(learner, tokens, games).sigmoid().tolist()
    assert value == pytest.approx(loss(stated, [own for game in games for own in game.truth]), abs=1e-5)
    optimizer = torch.optim.AdamW(learner.parameters(), **lm.ADAM)
    for _ in range(5):
        lm.descend(learner, optimizer, five.module.belief_loss(learner, tokens, games), 1e-3)
    assert five.module.belief_loss(learner, tokens, games).item() < value
    assert [game.tokens for game in games] == before


def test_the_ablation_gives_every_model_the_same_time_and_deals_and_repeats_nothing(five, tmp_path):
    budget = {"imitation": 1, "learning": 1, "batch": 1, "deals": 3}
    chosen = Namespace(out=tmp_path, seed=0, role="Loyal Servant", opponents="heuristic", **budget)
    scores = five.module.train(chosen)
    assert list(scores) == ["imitation", "longer", "game", "deduction"]
    assert all(len(own["won"]) == 3 and own["skill"] for own in scores.values())
    spent = [json.loads((tmp_path / f"{name}.json").read_text())["processor_seconds"] for name in scores]
    assert all(seconds >= 1 for seconds in spent)
    text, kept = (tmp_path / "report.md").read_text(), (tmp_path / "game.json").read_bytes()
    assert all(f"\n| {name} | " in text for name in scores)
    assert five.module.train(chosen) == scores
    assert ((tmp_path / "report.md").read_text(), (tmp_path / "game.json").read_bytes()) == (text, kept)
