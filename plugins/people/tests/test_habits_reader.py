"""Evidence of Avalon, `train habits --reader`: the kernels of its loss, the belief that goes by it, and the run by date."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.evidence import EventScores
from parlour.envs.avalon.habits import (
    CLASSES,
    EVIDENCE_CARDS,
    EVIDENCE_TEAMS,
    EVIDENCE_VOTES,
    HabitsFile,
    LearnedHabits,
    PublicEvidence,
    read_habits,
)
from parlour.envs.avalon.vocabulary import MERLIN, VOTES
from parlour.envs.core import ParlourError
from parlour.policies import make_policy
from parlour.training.runs.run import Run
from parlour_people.habits.avalon import read, read_often
from parlour_people.habits.avalon_fit import AVALON
from parlour_people.habits.avalon_reader import loss_of, unpacked, watched_games
from parlour_people.habits.run import HabitsConfig, learn_habits

from tests.training.replay.recorded_games import record

ROLES = {
    5: ["Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin"],
    7: ["Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Assassin", "Mordred", "Oberon"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Games of five with two evil roles that know each other, and of seven with Mordred and Oberon."""
    made = tmp_path_factory.mktemp("games")
    for seed in range(12):
        players = (5, 7)[seed % 2]
        options = {"rules": "official", "talk": False, "num_players": players, "roles": ROLES[players]}
        record(made / f"{seed:02}.jsonl", "avalon_v0", seed, **options)
    return made


@pytest.fixture(scope="module")
def games(folder):
    return AVALON.games_in(folder)


def drawn(seed=0, scale=0.2):
    """Any evidence, and its coefficients in one array."""
    rng = np.random.default_rng(seed)
    size = len(CLASSES) * (len(EVIDENCE_VOTES) + len(EVIDENCE_TEAMS)) + len(EVIDENCE_CARDS)
    packed = rng.normal(size=size) * scale
    votes, teams, cards = unpacked(packed)
    return PublicEvidence(tuple(map(tuple, votes)), tuple(map(tuple, teams)), tuple(cards)), packed


def posterior_losses(game, habits):
    """-log of the chance of the true side and Merlin after each vote and each quest, by the belief of an onlooker."""
    belief = AvalonBelief(game.key().roles, -1, "", (), habits)
    true = (belief.evil == game.evil).all(axis=1) & (belief.merlin[:, game.roles.index(MERLIN)] == 1)
    losses = []
    for seat, (kind, args, _), _ in game.events:
        if kind in ("guess", "exposed"):
            break
        belief.see(seat, kind, args)
        if kind in (VOTES, "fails"):
            losses.append(-np.log(belief.weights[true].sum()))
    return losses


@pytest.mark.slow
def test_the_loss_is_that_of_the_belief_of_an_onlooker(games):
    evidence, packed = drawn()
    loss, _ = loss_of(watched_games(games))(packed)
    by_belief = sum(sum(posterior_losses(game, LearnedHabits(evidence=evidence))) for game in games)
    assert loss == pytest.approx(by_belief, rel=1e-9)


@pytest.mark.slow
def test_the_gradient_is_that_of_the_loss(games):
    loss = loss_of(watched_games(games))
    _, packed = drawn(1)
    _, slope = loss(packed)
    rng = np.random.default_rng(2)
    for at in rng.choice(np.flatnonzero(slope), 12, replace=False):
        step = np.zeros_like(packed)
        step[at] = 1e-5
        assert (loss(packed + step)[0] - loss(packed - step)[0]) / 2e-5 == pytest.approx(slope[at], rel=1e-4, abs=1e-5)


def test_evidence_comes_back_from_a_habits_file(tmp_path):
    evidence, _ = drawn(3)
    written = HabitsFile({5: LearnedHabits(evidence=evidence)})
    path = tmp_path / "habits.json"
    path.write_text(json.dumps(written.as_json()))
    assert read_habits(path).of(5).evidence == evidence


def test_more_fails_than_evil_members_rule_a_deal_out(games):
    evidence, _ = drawn(4)
    key = games[0].key()
    scores = EventScores(key, evidence)
    scores.lead(0)
    scores.team(0, (0, 1))
    values = scores.cards((0, 1), 1, None)
    belief = AvalonBelief(key.roles, -1, "", ())
    clean = belief.evil[:, [0, 1]].sum(axis=1) == 0
    assert (values[clean] == -30).all()
    assert (values[~clean] > -30).all()


def test_a_seat_learns_nothing_from_its_own_vote_and_team(games):
    evidence, _ = drawn(5)
    roles = games[0].key().roles
    for mine in ((1,), (0,)):
        belief = AvalonBelief(roles, 2, "Loyal Servant", (), LearnedHabits(evidence=evidence))
        belief.see(-1, "leads", (0, 2, 2, 0, 1))
        before = belief.log_weights
        belief.see(2, "propose", (1, 2))
        assert (belief.log_weights == before).all()
        chances = belief.own_chances("vote", mine)
        assert chances is not None
        assert ((chances > 0) & (chances <= 1)).all()


def test_a_copy_of_a_belief_sees_for_itself(games):
    evidence, _ = drawn(6)
    key = games[0].key()
    events = [(seat, kind, args) for seat, (kind, args, _), _ in games[0].events]
    first = AvalonBelief(key.roles, -1, "", (), LearnedHabits(evidence=evidence))
    for event in events[:4]:
        first.see(*event)
    kept = first.copied()
    for event in events[4:9]:
        first.see(*event)
    for event in events[4:9]:
        kept.see(*event)
    assert np.allclose(first.weights, kept.weights)


def test_reads_are_taken_after_each_quest_and_after_each_vote(games):
    kinds = [move.kind for _, move, _ in games[0].events]
    quests, votes = read_often(games[0], AVALON.fixed)
    assert quests == read(games[0], AVALON.fixed)
    assert (len(quests), len(votes)) == (kinds.count("score"), kinds.count("votes"))
    assert all(a.round < b.round for a, b in pairwise(votes))
    assert 0 < votes[0].merlin < 1


@pytest.mark.slow
def test_a_run_holds_out_the_last_games_and_its_habits_play(folder, tmp_path):
    config = HabitsConfig(source=str(folder), last=0.25, reader=True, folds=2)
    result = learn_habits(config, Run(tmp_path / "first"))
    assert result.as_json()["games"] == 9
    groups = [entry for entry in result.tested if entry["players"] == "all"]
    assert [entry["habits"] for entry in groups] == ["chance", "default", "learned, reader"]
    assert groups[1]["games"] == 3
    often = [entry for entry in result.often if entry["players"] == "all"]
    assert often[0]["quests"] > groups[1]["quests"]
    assert groups[2]["merlin"] is not None
    habits = tmp_path / "first" / "habits.json"
    player = make_policy(f"heuristic:habits={habits}", "avalon_v0", {"num_players": 5})
    assert player is not None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"last": 0.0}, r"\blast\b"),
        ({"last": 0.2, "test": "x"}, "one of them"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, message):
    with pytest.raises(ParlourError, match=message):
        HabitsConfig(**settings)
