"""The demo: a game to watch first, what comes next, one report with replays; its section on networks for all seats of Avalon."""

from __future__ import annotations

import json
from hashlib import sha256
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure
from parlour.envs import registry, replay
from parlour.envs.core import ParlourError
from parlour.policies import TrainedSeat, experts
from parlour.policies.experts import ExpertCard, Points
from parlour.training.cli import run
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.papers import demo
from parlour.training.papers.demo import avalon_networks
from parlour.training.papers.demo.avalon import GAME
from parlour.training.papers.demo.first_game import first_game
from parlour.training.papers.demo.section import Picture
from parlour.training.results import plots

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
    raw = registry[GAME].raw_env(features="summary", **avalon_networks.TABLE)
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
    assert "parlour.training.papers.demo.avalon_networks:avalon_networks_section" in registry["avalon_v0"].spec.demo
    section = avalon_networks.avalon_networks_section(tmp_path / "out", QUICK)
    assert section.markdown.count("None played: there is no expert for avalon_v0") == 1
    assert "no expert: there is no expert for avalon_v0" in section.summary
    assert not list((tmp_path / "out").glob("games-expert-*.csv"))
    assert section.picture.path == "selfplay/curve.png"
    assert "the small network as a whole side" in section.verdict.lower()
    assert "expert" not in section.verdict
    for name in ("curve.png", "policy.npz", "report.md"):
        assert (tmp_path / "out" / "selfplay" / name).stat().st_size > 0
    assert section.numbers["selfplay"]["steps"] >= QUICK.selfplay_steps
    assert json.dumps(section.numbers)


def test_the_expert_of_the_table_is_measured_as_whole_sides_and_in_one_seat(folder, tmp_path):
    write_expert(folder)
    section = avalon_networks.avalon_networks_section(tmp_path / "out", QUICK)
    sides, seat = section.numbers["expert"]
    # 10 deals at least: as whole sides each gives two games with two rows each, in one seat one game for each candidate
    assert (sides["design"], sides["games"]) == ("team", 40)
    assert (seat["design"], seat["games"]) == ("single", 20)
    for report in (sides, seat):
        assert report["table"] == {"game": GAME, **json.loads(json.dumps(dict(registry[GAME].raw_env().game.config)))}
        total = next(comparison for comparison in report["comparisons"] if comparison["side"] == "all")
        assert (total["a"], total["b"]) == ("expert", "heuristic")
    assert "whole sides: expert is" in section.summary
    assert "one seat:" in section.summary
    assert "expert as a whole side" in section.verdict
    assert "None played" not in section.markdown
    assert section.markdown.count("| expert - heuristic | all |") == 2


def test_the_amount_of_self_play_is_a_setting_of_the_demo():
    with pytest.raises(ParlourError, match=r"selfplay_steps 0 is not accepted"):
        demo.DemoConfig(selfplay_steps=0)


# -- the whole ---------------------------------------------------------------------------------------------------


def small_parts(log):
    """Two parts that take no time: one that records a game and knows how long it takes, and a function of somebody else's."""

    def make(out, config):
        log.append(config)
        table = [["| player | win rate |", "|---|---|", "| one | 0.5 |"]]
        text = "\n".join(["## A part", "", *table[0], ""])
        plots.save(Figure(), out / "part" / "small.png")
        shown = Picture("part/small.png", "A small picture")
        games = (first_game(out / "part", config),)
        return demo.Section("small", text, "a summary", {"rate": 0.5}, games, "It is small.", "The part", shown)

    def other(out, config):
        return demo.Section("other", "## Another part\n", "another summary", {})

    known = demo.DemoPart("Small: nothing much", make, lambda config: config.games / 10)
    return [known, demo.DemoPart("theirs:other", other)]


@pytest.fixture
def whole(tmp_path, monkeypatch, capsys):
    """The demo with the small parts, run with `--quick`: its folder, what was told, and the amounts of the part."""
    amounts = []
    monkeypatch.setattr(demo, "parts", lambda: small_parts(amounts))
    out = tmp_path / "out"
    assert run(["demo", "--quick", "--games", "4200", "--out", str(out)]) == 0
    captured = capsys.readouterr()
    return out, captured.err.splitlines(), captured.out, amounts


def test_a_game_is_named_first_then_what_comes_next_and_how_long_it_takes(whole):
    """420 games, a tenth of 4,200, take the small part 42 s; of the other nobody knows."""
    out, lines, shown, _ = whole
    page = out / "first-game" / "avalon_v0-1.html"
    assert lines == [
        f"A game with an expert at the table, to watch in a browser: {page}",
        "Next: 2 parts, about 40 s in all on two quiet cores.",
        "[1/2] Small: nothing much: about 40 s",
        "[2/2] theirs:other",
    ]
    assert f"The report: {out / 'index.html'}" in shown.splitlines()
    assert shown.splitlines()[-1] == "The part: It is small."


def test_the_report_is_one_page_with_tables_and_replays(whole):
    out, _, _, _ = whole
    text = (out / "index.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    for what in ("<h2>A part</h2>", "<h2>Another part</h2>", "<table", "<h2>Replays</h2>"):
        assert what in text
    for name in ("first-game/avalon_v0-1.html", "part/first-game/avalon_v0-1.html"):
        assert f'href="{name}"' in text
        assert (out / name).read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads((out / "numbers.json").read_text()) == {"small": {"rate": 0.5}, "other": {}}
    # verdicts of the sections first, then their pictures; the other part has neither
    lines = [line for line in (out / "report.md").read_text(encoding="utf-8").splitlines() if line]
    assert lines[1:3] == ["> - **The part:** It is small.", "![A small picture](part/small.png)"]
    assert {"## A part", "## Replays"} < set(lines[3:])
    assert text.index("It is small.") < text.index('<img alt="A small picture"') < text.index("<h2>")


def test_quick_does_a_tenth(whole):
    """Of 4,200 games 420, of the defaults 40,960 and 100,000 decisions; of 20 games not less than the least, 10."""
    ((config,),) = whole[3:]
    assert (config.games, config.steps, config.selfplay_steps) == (420, 40_960, 100_000)
    assert demo.DemoConfig(games=20, quick=True).amounts().games == 10
    assert demo.DemoConfig().amounts() == demo.DemoConfig()


def test_every_part_of_parlour_says_what_it_does_and_how_long_it_takes():
    config = demo.DemoConfig()
    for part in demo.parts():
        assert ": " in part.title
        assert 0 < part.seconds(config.__class__(quick=True).amounts()) <= part.seconds(config)


def test_the_first_game_has_the_expert_in_the_first_seat_and_is_the_same_for_a_seed(tmp_path):
    first, other = (first_game(tmp_path / name, demo.DemoConfig(seed=3)) for name in "ab")
    assert first.read_bytes() == other.read_bytes()
    transcript = replay.read(first)
    assert list(transcript.header["players"].values()) == ["expert"] + ["heuristic"] * 5
    assert transcript.outcome is not None
