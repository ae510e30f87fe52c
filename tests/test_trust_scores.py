"""Trust as a probability: the scores on worked numbers, the readers at the same moments, the yardstick that knows the noise."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from parlour.envs import speech
from parlour.envs.core import Event, Move
from parlour.policies import make_policy
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.noise import ReadingNoise
from parlour.training.measure.werewolf import trust_scores as scores
from parlour.training.papers import noisy_bayes
from parlour.training.papers.cells import ReproductionSetting
from parlour.training.papers.gratr_trust import gratr_trust
from parlour.training.papers.gratr_trust_games import certain, judgements, noise_of
from parlour.training.papers.noisy_bayes import NoisyBayes
from parlour.training.play import rollout

GAME = "werewolf_v0"
READERS = ("gratr", "werewolf_window")


@pytest.fixture
def eight():
    return rollout.table(GAME, num_players=8, rules="paper")


def judged(eight, seed=5, noise=None, player="werewolf_window"):
    model = make_model(ModelConfig(noise=noise))
    config = eight.game_env.game.config
    make = {reader: partial(make_policy, reader, GAME, config, model) for reader in (*READERS, player)}
    return judgements(eight, seed, make[player], {reader: make[reader] for reader in READERS}, noise_of(model))


# -- scores on worked numbers ---------------------------------------------------------------------------------------


def test_the_log_loss_of_certainty_of_a_coin_and_of_an_error():
    chance, ally = np.array([0.5, 0.9, 0.9]), np.array([1.0, 1.0, 0.0])
    # -ln 0.5, -ln 0.9, -ln 0.1
    assert scores.log_loss(chance, ally) == pytest.approx([0.6931, 0.1054, 2.3026], abs=1e-4)


def test_stated_chances_that_come_true_as_often_as_stated_have_no_calibration_error():
    chance = np.array([0.75] * 4 + [0.25] * 4)
    assert scores.calibration_error(chance, np.array([1, 1, 1, 0, 1, 0, 0, 0.0])) == 0
    # all true: three quarters off by a quarter each in the first bin, by three quarters in the second: (1 + 3) / 8
    assert scores.calibration_error(chance, np.ones(8)) == pytest.approx(0.5)


def test_the_curve_is_found_again():
    rng = np.random.default_rng(1)
    trust = rng.uniform(-1, 1, 40000)
    ally = (rng.random(40000) < 1 / (1 + np.exp(-(0.3 + 1.5 * trust)))).astype(float)
    curve = scores.fitted(trust, ally)
    assert curve(np.array([0.0, 1.0])) == pytest.approx([1 / (1 + np.exp(-0.3)), 1 / (1 + np.exp(-1.8))], abs=0.01)


def test_a_deal_is_scored_by_the_other_deals():
    """Trust that is right on even deals and wrong on odd ones: each half is scored by the curve of the other."""
    trust = np.tile([0.9, -0.9], 40)
    deals = np.repeat(np.arange(40), 2)
    ally = np.where(deals % 2 == 0, trust > 0, trust < 0).astype(float)
    assert (scores.log_loss(scores.cross_fitted(trust, ally, deals), ally) > 0.69).all()


def test_the_boldest_are_those_farthest_from_one_half():
    chance = np.array([0.5, 0.95, 0.1, 0.6])
    assert scores.boldest(chance, 0.5).tolist() == [False, True, True, False]
    assert scores.boldest(chance, 1.0).all()


def test_means_are_of_deals_and_not_of_judgements():
    assert scores.by_deal(np.array([1.0, 1.0, 1.0, 0.0]), np.array([1, 1, 1, 2])).tolist() == [1.0, 0.0]


# -- readers at the same moments --------------------------------------------------------------------------------------


def test_all_judge_the_same_living_players_whom_the_observer_does_not_know(eight):
    rows = judged(eight)
    assert len(rows) > 50
    assert all(len(row.trust) == len(READERS) + 1 for row in rows)
    assert all(-1 <= trust <= 1 for row in rows for trust in row.trust)
    views = [eight.game_env.view(seat) for seat in range(8)]
    assert all(row.ally == (views[row.target].side != "werewolf") for row in rows)
    assert all(views[row.observer].side != "werewolf" and row.observer != row.target for row in rows)
    seer = next(view for view in views if view.role == "Seer")
    assert {seer.seat, *(seat for seat, _ in seer.checks)} <= certain(seer)


def test_readers_change_nothing_in_the_game_and_a_seed_repeats_them(eight):
    assert judged(eight, 7) == judged(eight, 7)
    config = eight.game_env.game.config
    played = eight.game_env.moves[:]
    rollout.play(eight, [make_policy("werewolf_window", GAME, config) for _ in range(8)], 7)
    assert eight.game_env.moves == played


# -- the yardstick ------------------------------------------------------------------------------------------------------


def accused(view, times):
    """A view in which others accused player 7 so often, one after another."""
    said = [Event(seat, Move(speech.ACCUSE, (7,)), None) for seat in (1, 2, 3, 4)[:times]]
    return view._replace(events=(*view.events, *said))


def dealt(eight):
    """A villager's view before anything was said, of a table where players 0 and 7 are others."""
    for seed in range(50):
        eight.reset(seed=seed)
        view = eight.game_env.view(0)
        if view.role == "Villager":
            return view, seed
    raise AssertionError("no villager in fifty deals")


def test_without_noise_it_is_the_belief_of_the_heuristic(eight):
    from parlour.envs.werewolf.belief import SeatBeliefs

    view, seed = dealt(eight)
    later = accused(view, 3)
    plain = SeatBeliefs(view, onlooker=False)
    for event in later.events:
        plain.see(event, later)
    trust = NoisyBayes(view, seed, ReadingNoise()).trust(later)
    assert trust == pytest.approx((1 - 2 * plain.own.wolf_chance()).tolist())


def test_words_that_may_be_misread_count_less(eight, monkeypatch):
    view, seed = dealt(eight)
    monkeypatch.setattr(noisy_bayes.notes, "one_heard", lambda message, *_: message)  # here all is heard as said
    rates = [ReadingNoise(misread=rate) for rate in (0.0, 0.2, 0.5)]
    trusts = [NoisyBayes(view, seed, noise).trust(accused(view, 4))[7] for noise in rates]
    start = NoisyBayes(view, seed, ReadingNoise()).trust(view)[7]
    # who is accused is trusted more: werewolves accuse the village, and the village is right little more often than not
    assert trusts[0] > 0.4 > start
    assert all(a > b for a, b in pairwise([*trusts, start]))


def test_the_table_tells_all_readers_and_the_noise(output_of):
    asked = ["reproduce", "gratr-trust", "--games", "2", "--noise", "misread=0.1", "--against", "werewolf_window"]
    text = " ".join(output_of(asked).split())
    for part in ("GRATR", "history window", "Bayes, noise known", "log loss", "boldest 25%", "noise misread=0.1"):
        assert part in text


def test_the_player_that_is_named_plays_the_games_with_its_settings():
    """Werewolves that lie play other games: as a reader, a player is asked what it believes, and `deceit` would do nothing."""
    name = ReproductionSetting(games=2, against="werewolf_window:deceit=1")
    lying, honest = (gratr_trust("gratr-trust", case) for case in (name, replace(name, against="werewolf_window")))
    assert "played once by werewolf_window:deceit=1 at every seat" in lying.remarks[0]
    assert lying.remarks[0].split("; ")[1] != honest.remarks[0].split("; ")[1]  # how many judgements there were
