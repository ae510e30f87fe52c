"""A small language model that is made here, imitates and learns (`examples/train_lm.py`), in miniature: credit, games, determinism."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import ROOT

pytest.importorskip("transformers", reason="transformers is not installed; run scripts/test-integrations train_lm")

import torch
from parlour.policies.local_lm.model import LanguageModel, Sampling
from parlour.wrappers.conversation import ConversationSeat, table
from transformers import AutoTokenizer

SCRIPT = ROOT / "examples/train_lm.py"
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
    return lm.Stages(Namespace(out=tmp_path_factory.mktemp("run"), **SMALL), **DAYS)


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
