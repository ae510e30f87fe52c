"""A small language model that is made here, imitates and learns (`scripts/train_lm.py`), in miniature: credit, games, determinism."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("transformers", reason="transformers is not installed; pip install 'parlour[lm]'")

import torch
from parlour.envs.core import ParlourError
from parlour.policies.local_lm.model import LanguageModel, Sampling
from parlour.training.learn.language_model import learning, measure, report, stages
from parlour.training.learn.language_model.config import (
    ImitationConfig,
    LanguageModelConfig,
    LearningConfig,
    NetworkConfig,
)
from parlour.training.learn.language_model.deals import JudgedReply
from parlour.training.learn.language_model.games import ROOM, Reply, SeatGame, Tables, sample
from parlour.training.learn.language_model.imitation import imitate, optimizer_of, places
from parlour.training.learn.language_model.network import make_model, read_model, save_model, token_logits
from parlour.training.learn.language_model.run import TrainedModel, train
from parlour.training.play.seeds import HELD_OUT, TRAINING
from parlour.wrappers.conversation import ConversationSeat, table
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = Path(__file__).parents[2]
DAYS = {"num_players": 4, "max_days": 2}
MINIATURE = LanguageModelConfig(
    options=DAYS,
    network=NetworkConfig(hidden=32, layers=2, heads=2, inner=64, context=512),
    imitation=ImitationConfig(steps=6, games=4, warm_up=2),
    learning=LearningConfig(steps=2, deals=2, group=2, updates=2),
    longer_steps=3,
    every=1,
    held_out=6,
)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def tables() -> Tables:
    return Tables(MINIATURE, stages.make_tokens(MINIATURE))


@pytest.fixture(scope="module")
def model(tables: Tables) -> Any:
    """After some imitation, so that it says what can be used and what cannot."""
    made = make_model(MINIATURE.network, tables.tokens, 0)
    stages.imitation(made, tables, stages.IMITATION, 25, ImitationConfig(games=8, rate=1e-2), lambda done, total: None)
    return made


# -- credit ----------------------------------------------------------------------------------------------------


def choice(*, canonical: bool, legal: bool = True) -> Reply:
    return Reply(1, (5,), (-1.0,), JudgedReply("", False, legal, canonical))


def speech() -> Reply:
    return Reply(1, (5,), (-1.0,), JudgedReply("", True, True, False))


def test_credit_is_half_the_return_over_the_group_and_whether_it_is_canonical_over_the_batch():
    games = [
        SeatGame(7, [], [choice(canonical=True), speech(), choice(canonical=True)], 1.0),
        SeatGame(7, [], [choice(canonical=False, legal=False)], -1.0),
        SeatGame(8, [], [choice(canonical=False), speech()], -1.0),
        SeatGame(8, [], [choice(canonical=True)], -1.0),
    ]
    # deal 7: mean return 0; deal 8: mean return -1. Of 5 choices 3 are canonical: .6. Speech has the part of the return alone.
    expected = [
        [0.5 * 1 + 0.4, 0.5 * 1, 0.5 * 1 + 0.4],
        [0.5 * -1 - 0.6],
        [0.0 - 0.6, 0.0],
        [0.0 + 0.4],
    ]
    found = learning.credits_of(games, LearningConfig(return_weight=0.5, canonical_weight=1.0))
    for own, wanted in zip(found, expected, strict=True):
        assert own == pytest.approx(wanted)


def test_a_step_of_learning_makes_replies_with_credit_likelier_and_those_with_blame_less_likely(
    tables, model, tmp_path
):
    save_model(model, tables.tokens, tmp_path)
    learner, _ = read_model(tmp_path)
    games = tables.play(learner, [3, 3], [0, 1])
    # all replies of the first game are praised, all of the second blamed
    credit = [[1.0] * len(games[0].replies), [-1.0] * len(games[1].replies)]
    config = LearningConfig(rate=1e-3)
    before = [chance_of(learner, game, tables.tokens.pad) for game in games]
    learning.learn(learner, optimizer_of(learner, config.rate), games, credit, config, config.rate, tables.tokens.pad)
    after = [chance_of(learner, game, tables.tokens.pad) for game in games]
    assert after[0] - before[0] > after[1] - before[1]
    assert after[1] < before[1] or after[0] > before[0]


def chance_of(model: Any, game: SeatGame, pad: int) -> float:
    """Logarithm of the chance of all replies of a game."""
    with torch.no_grad():
        logits = token_logits(model, [game.tokens], [places(game)], pad).log_softmax(-1)
    said = torch.as_tensor([token for one in game.replies for token in one.tokens])
    return float(logits.gather(1, said[:, None]).sum())


def test_imitation_lowers_the_loss_of_the_heuristics_words(tables):
    model = make_model(MINIATURE.network, tables.tokens, 1)
    games, optimizer = tables.teach([1, 2, 3, 4]), optimizer_of(model, 1e-2)
    losses = [imitate(model, optimizer, games, 1e-2, tables.tokens.pad) for _ in range(5)]
    assert losses[-1] < losses[0]


# -- games -----------------------------------------------------------------------------------------------------


def test_chances_of_games_in_flight_are_those_of_the_whole_game_read_at_once(tables, model):
    games = tables.play(model, list(range(12)), list(range(12)))
    assert len({len(game.tokens) for game in games}) > 1  # games of several lengths stood side by side
    for game in games:
        sampled = sum(sum(one.chances) for one in game.replies)
        assert chance_of(model, game, tables.tokens.pad) == pytest.approx(sampled, abs=1e-3)


def test_a_game_does_not_depend_on_the_games_beside_it(tables, model):
    beside = tables.play(model, list(range(12)), list(range(12)))
    (alone,) = tables.play(model, [5], [5])
    assert alone.tokens == beside[5].tokens
    assert alone.reward == beside[5].reward


def test_a_game_of_another_stream_of_draws_is_another_game(tables, model):
    games = tables.play(model, [5] * 8, list(range(8)))
    assert len({tuple(game.tokens) for game in games}) > 1


def test_what_the_model_read_is_what_the_seat_was_told_and_its_return_the_tables(tables, model):
    """The tokens of a game, as the chat template writes the messages of a ConversationSeat on the same deal and words."""
    for game in tables.play(model, list(range(20)), list(range(20))):
        env = table("werewolf_v0", on_bad="default", tries=1, **DAYS)
        env.reset(seed=game.seed)
        base = env.game_env
        wolf = next(agent for agent, seat in base.seat_of.items() if base.view(seat).role == "Werewolf")
        seat = ConversationSeat(env, wolf, list_options=False)
        message, read = seat.reset(game.seed), []
        for one in game.replies:
            read += tables.tokens.message(message)
            assert one.start == len(read)
            read += one.tokens
            message = seat.say(one.judged.words)
        if not seat.done:  # the game was too long for the network
            assert len(game.tokens) > MINIATURE.network.context - ROOM
            seat.leave()
        assert read == game.tokens
        assert seat.reward == game.reward == base.outcome.returns[base.seat_of[wolf]]


def test_the_heuristic_that_is_imitated_says_canonical_words_and_wins_as_the_heuristic_does(tables):
    games = Tables(LanguageModelConfig(), tables.tokens).teach(range(60))
    assert all(one.judged.canonical and one.judged.legal for game in games for one in game.replies)
    assert sum(game.won for game in games) > 36  # it wins about 77 of 100: 46 of 60; fewer than 37 once in 500 tries


def test_sampling_goes_by_the_chances_of_the_tokens():
    # chances 1/2, 1/4, 1/4: draws below .5, below .75 and above
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25]] * 2000))
    tokens, chances = sample(logits, [np.random.default_rng(k) for k in range(2000)])
    shares = np.bincount(tokens, minlength=3) / 2000
    assert shares == pytest.approx([0.5, 0.25, 0.25], abs=0.04)  # 4 standard errors
    assert chances == pytest.approx([np.log(0.5) if token == 0 else np.log(0.25) for token in tokens])
    assert sample(logits, None)[0] == [0] * 2000


# -- what is saved -----------------------------------------------------------------------------------------------


def test_a_saved_model_is_one_that_transformers_reads_with_its_chat_template(tables, model, tmp_path):
    save_model(model, tables.tokens, tmp_path)
    assert (tmp_path / "model.safetensors").exists()
    tokenizer = AutoTokenizer.from_pretrained(str(tmp_path))
    messages = [
        {"role": "user", "content": "player_1 says: hello\n"},
        {"role": "assistant", "content": "I vote for player_1."},
        {"role": "user", "content": "# What you may do now\n"},
    ]
    told = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    ids = tokenizer(told, add_special_tokens=False)["input_ids"]
    tokens = tables.tokens
    own = [*tokens.message(messages[0]["content"]), *tokens.encode("I vote for player_1."), tokens.end]
    assert ids == [*own, *tokens.message(messages[2]["content"])]
    read = AutoModelForCausalLM.from_pretrained(str(tmp_path))
    with torch.no_grad():
        assert torch.equal(read(torch.tensor([ids])).logits, model(torch.tensor([ids])).logits)


def test_a_checkpoint_at_a_table_reads_what_the_model_learned_from_and_answers_as_it_does(tables, model, tmp_path):
    """What `--policy hf:DIR` stands on: the first two messages of games, and the likeliest replies."""
    save_model(model, tables.tokens, tmp_path)
    seated = LanguageModel.load(str(tmp_path))
    how = Sampling(0.0, MINIATURE.network.reply)
    for game in tables.play(model, [1, 2, 3], [0, 0, 0], greedy=True):
        first, second = game.replies[:2]
        told = tables.tokens.decode(game.tokens[: first.start])
        news = tables.tokens.decode(game.tokens[first.start + len(first.tokens) : second.start])
        messages = [("user", told), ("assistant", first.judged.words), ("user", news)]
        prompts = [seated.prompt(messages[:1]), seated.prompt(messages)]
        assert [list(one.ids) for one in prompts] == [game.tokens[: first.start], game.tokens[: second.start]]
        answers = seated.replies(prompts, [np.random.default_rng(0)] * 2, how)
        assert [one.ids for one in answers] == [first.tokens, second.tokens]


@pytest.mark.parametrize("words", ["I vote for player_2.", "Ça va, 狼人?", "player_12 and player_1\n\n", "<|end|>"])
def test_any_words_are_encoded_and_come_back(tables, words):
    found = tables.tokens.encode(words)
    assert tables.tokens.decode(found) == ("" if words == "<|end|>" else words)


# -- runs ------------------------------------------------------------------------------------------------------


FILES = ("imitation.csv", "learning.csv", "longer.csv", "learned/model.safetensors", "longer/model.safetensors")


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "first"
    train(MINIATURE, folder)
    return folder


@pytest.fixture(scope="module")
def found(first_run: Path) -> TrainedModel:
    """Read again from its folder."""
    return train(MINIATURE, first_run)


def of_run(folder: Path) -> list[bytes]:
    games = json.loads((folder / "measured.json").read_text())["games"]
    return [(folder / name).read_bytes() for name in FILES] + [json.dumps(games).encode()]


def test_one_seed_gives_one_run_and_another_seed_another(first_run, tmp_path):
    train(MINIATURE, tmp_path / "again")
    assert of_run(tmp_path / "again") == of_run(first_run)
    train(replace(MINIATURE, seed=1), tmp_path / "other")
    assert all(a != b for a, b in zip(of_run(tmp_path / "other"), of_run(first_run), strict=True))


def test_a_run_goes_on_after_the_last_finished_stage_with_the_same_bytes(first_run, tmp_path):
    train(MINIATURE, tmp_path)
    expected = of_run(first_run)
    for name in ("learned", "longer", "measured"):
        (tmp_path / f"{name}.json").unlink()
    kept = (tmp_path / "imitation.json").read_bytes()  # its times tell whether it was done again
    train(MINIATURE, tmp_path)
    assert of_run(tmp_path) == expected
    assert (tmp_path / "imitation.json").read_bytes() == kept


def test_a_folder_of_another_run_is_refused(first_run):
    with pytest.raises(ParlourError, match="holds a run with another configuration"):
        train(replace(MINIATURE, longer_steps=4), first_run)


def test_held_out_deals_are_met_by_no_stage():
    held_out = stages.held_out_deals(MINIATURE)
    assert len(set(held_out)) == MINIATURE.held_out
    assert all(seed in HELD_OUT for seed in held_out)
    assert all(seed in TRAINING for k in range(5) for seed in stages.seeds_of(0, stages.LEARNING, k, 50))


def test_every_player_meets_the_same_held_out_deals(found):
    assert list(found.games) == ["imitation", "learned", "longer", "learned, greedy", "heuristic", "random"]
    for games in found.games.values():
        assert [game.seed for game in games] == stages.held_out_deals(MINIATURE)


def test_figures_of_a_player_worked_out_by_hand():
    def game(won: bool, choices: int, canonical: int, legal: int) -> measure.MeasuredGame:
        return measure.MeasuredGame(0, won, choices, canonical, legal, 2, 1)

    row = measure.player_row("x", [game(True, 4, 3, 4), game(False, 2, 0, 1), game(True, 4, 4, 4), game(True, 2, 1, 1)])
    assert (row.wins.hits, row.wins.n) == (3, 4)
    assert row.canonical.mean == pytest.approx(8 / 12)
    assert row.legal.mean == pytest.approx(10 / 12)
    assert row.canonical_speech is not None
    assert row.canonical_speech.mean == 0.5
    assert row.clean is not None
    assert row.faulty is not None
    assert (row.clean.hits, row.clean.n) == (2, 2)
    assert (row.faulty.hits, row.faulty.n) == (1, 2)


def test_the_report_tells_gains_over_both_imitations_and_a_row_for_every_player(found):
    text = report.text(found)
    assert "more often than the one of imitation, n = 6 deals" in text
    assert "more often than the one of longer imitation, n = 6 deals" in text
    for name in ("imitation", "learned", "longer", "learned, greedy", "heuristic", "random"):
        assert f"\n| {name} | " in text


def test_the_script_runs(tmp_path):
    budget = ["--imitation", "20", "--learning", "1", "--batch", "1", "--longer", "1", "--deals", "1"]
    command = [sys.executable, str(ROOT / "scripts/train_lm.py"), "--out", str(tmp_path / "run"), *budget]
    subprocess.run(command, check=True, capture_output=True)
    assert "# A small language model at werewolf_v0" in (tmp_path / "run/report.md").read_text()
    assert (tmp_path / "run/learning.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((tmp_path / "run/report.json").read_text())["parameters"] in range(1_000_000, 3_000_001)
