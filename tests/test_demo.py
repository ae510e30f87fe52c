"""The demo's section on networks for all seats of Avalon: the expert where there is one, and a small network by self-play."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import pairwise

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import ParlourError
from parlour.policies import TrainedSeat, experts
from parlour.policies.experts import ExpertCard, Points
from parlour.training import demo
from parlour.training.demo import avalon_networks
from parlour.training.demo.avalon import GAME
from parlour.training.selfplay.config import SelfplayConfig

QUICK = demo.DemoConfig(steps=1, selfplay_steps=600, games=10)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where experts are: an empty folder in place of that of the package."""
    made = tmp_path / "data"
    made.mkdir()
    monkeypatch.setattr(experts, "DATA", made)
    return made


def write_expert(folder):
    """An untrained network with a card, for the demo's table."""
    raw = registry[GAME].raw_env(features="summary", **avalon_networks.SILENT_TABLE)
    rng, sizes = np.random.default_rng(0), (raw.encoder.size, 8, len(raw.game.catalogue))
    layers = [(rng.normal(size=(b, a)).astype(np.float32), np.zeros(b, np.float32)) for a, b in pairwise(sizes)]
    seat = TrainedSeat(GAME, raw.game.config, layers, features="summary", sample=True)
    path = folder / "small.npz"
    seat.save(path)
    points = Points(0.0, -1.0, 1.0, 2000)
    digest = sha256(path.read_bytes()).hexdigest()
    config = json.loads(json.dumps(dict(raw.game.config)))
    card = ExpertCard("small", GAME, config, digest, "summary", "none", 0, 0, 0.0, "2026-01-01", points, points)
    card.write(folder / "small.json")


def test_the_small_network_learns_with_the_defaults_of_train_selfplay_but_for_how_much():
    run, defaults = avalon_networks.selfplay_config(demo.DemoConfig()), SelfplayConfig()
    amounts = {"steps", "imitation_steps", "updates", "validation_deals", "deals", "test_deals", "shown"}
    assert {name for name, value in vars(run).items() if value != getattr(defaults, name)} <= amounts
    assert run.steps == 1_000_000
    assert run.test_deals == 2000


def test_without_an_expert_one_line_says_so_and_a_network_is_trained(folder, tmp_path):
    assert "parlour.training.demo.avalon_networks:avalon_networks_section" in registry["avalon_v0"].spec.demo
    found = avalon_networks.avalon_networks_section(tmp_path / "out", QUICK)
    assert found.markdown.count("None played: there is no expert for avalon_v0") == 1
    assert "no expert: there is no expert for avalon_v0" in found.summary
    assert not list((tmp_path / "out").glob("games-expert-*.csv"))
    assert "![The curve](selfplay/curve.png)" in found.markdown
    for name in ("curve.png", "policy.npz", "report.md"):
        assert (tmp_path / "out" / "selfplay" / name).stat().st_size > 0
    assert found.numbers["selfplay"]["steps"] >= QUICK.selfplay_steps
    assert json.dumps(found.numbers)


def test_the_expert_of_the_table_is_measured_as_whole_sides_and_in_one_seat(folder, tmp_path):
    write_expert(folder)
    found = avalon_networks.avalon_networks_section(tmp_path / "out", QUICK)
    sides, seat = found.numbers["expert"]
    # 10 deals at least: as whole sides each gives two games with two rows each, in one seat one game for each candidate
    assert (sides["design"], sides["games"]) == ("team", 40)
    assert (seat["design"], seat["games"]) == ("single", 20)
    for report in (sides, seat):
        assert report["table"]["talk"] is False
        total = next(one for one in report["comparisons"] if one["side"] == "all")
        assert (total["a"], total["b"]) == ("expert", "heuristic")
    assert "expert - heuristic, whole sides:" in found.summary
    assert "expert - heuristic, one seat:" in found.summary
    assert "None played" not in found.markdown
    assert found.markdown.count("| expert - heuristic | all |") == 2


def test_the_amount_of_self_play_is_a_setting_of_the_demo():
    with pytest.raises(ParlourError, match=r"selfplay_steps 0 is not accepted"):
        demo.DemoConfig(selfplay_steps=0)
