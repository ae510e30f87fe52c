"""A golden playthrough of AIWolf's Werewolf, its features in numbers, and the beliefs of its replay page."""

import json
import sys
from pathlib import Path

import pytest
from parlour.training.replay.build import replay_of
from parlour_aiwolf.belief import AIWolfBeliefs

from tests.training.replay.test_games import at, line, recorded, same, views_after

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
import playthrough as script

FOLDER = Path(__file__).parent / "playthroughs"
FILE = "aiwolf_v0-5.txt"
TABLE = script.tables(FOLDER)[FILE]


def test_a_game_goes_as_it_went_and_shows_what_sets_the_rules_apart():
    written = (FOLDER / FILE).read_text(encoding="utf-8")
    assert "\n".join(script.playthrough(*TABLE)) == written
    phrases = ("The possessed is no werewolf", "tied vote is repeated", ' says: "Over."', "(taken as: ")
    assert all(phrase in written for phrase in phrases)


def test_features_are_what_trained_networks_read():
    written = json.loads((FOLDER / "features.json").read_text(encoding="utf-8"))[FILE]
    made = script.feature_sums(*TABLE)
    assert made.keys() == written.keys()
    assert all(sums == pytest.approx(written[kind], abs=1e-3) for kind, sums in made.items())


def test_the_beliefs_of_aiwolf_are_the_exact_ones_of_each_seat(tmp_path):
    transcript = recorded(tmp_path, "aiwolf_v0", ["heuristic"], num_players=5)
    replay = replay_of(transcript)
    step, game, state = views_after(transcript)[-1]
    for seat in range(game.seats):
        view = game.view(state, seat)
        beliefs = AIWolfBeliefs(view)
        for event in view.events:
            beliefs.see(event, view)
        shown = at(line(replay, f"exact Werewolf: player_{seat}"), step)
        assert same(shown, beliefs.own.wolf_chance(), view.alive)
    assert same(at(line(replay, "exact Seer: everybody"), step), beliefs.onlooker.seer_chance(), view.alive)
