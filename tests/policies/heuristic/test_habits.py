"""`heuristic:habits=FILE`: the heuristic that believes by habits learned from records."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from parlour.envs import replay
from parlour.envs.avalon import GAME
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.habits import HabitsFile, read_habits
from parlour.envs.core import ParlourError
from parlour.policies import make_policy
from parlour.policies.trained import TrainedSeat
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder

from tests.envs.avalon.evidence import drawn_evidence

TABLE = {"num_players": 5, "rules": "official"}


@pytest.fixture
def file(tmp_path):
    """Habits of five and six players that nobody learned from."""
    path = tmp_path / "habits.json"
    path.write_text(json.dumps(HabitsFile({n: drawn_evidence(n) for n in (5, 6)}).as_json()))
    return path


def moves(policy, path, seed=1, **options):
    env = Recorder(table("avalon_v0", **(TABLE | options)), path, overwrite=True)
    config = env.unwrapped.game.config
    play(env, [make_policy(policy, "avalon_v0", config) for _ in range(config["num_players"])], seed)
    return replay.Transcript.read(path).moves


def test_it_plays_by_its_file(file, tmp_path):
    with_habits = [moves(f"heuristic:habits={file}", tmp_path / "game.jsonl", seed) for seed in range(4)]
    assert with_habits == [moves(f"heuristic:habits={file}", tmp_path / "game.jsonl", seed) for seed in range(4)]
    assert with_habits != [moves("heuristic", tmp_path / "game.jsonl", seed) for seed in range(4)]


def test_it_can_be_sent_to_other_processes(file, tmp_path):
    policy = pickle.loads(pickle.dumps(make_policy(f"heuristic:habits={file}", "avalon_v0", {})))
    env = Recorder(table("avalon_v0", **TABLE), tmp_path / "sent.jsonl")
    play(env, [policy, *(make_policy(f"heuristic:habits={file}", "avalon_v0", {}) for _ in range(4))], 1)
    assert replay.Transcript.read(tmp_path / "sent.jsonl").moves == moves(
        f"heuristic:habits={file}", tmp_path / "here.jsonl"
    )


@pytest.mark.parametrize(
    ("settings", "game", "said"),
    [
        ("habits=nowhere.json", "avalon_v0", "nowhere.json"),
        ("mood=bad", "avalon_v0", "mood"),
        ("habits", "avalon_v0", "key=value"),
        ("habits={file}", "werewolf_v0", "no habits of werewolf_v0"),
    ],
)
def test_what_is_not_accepted_is_refused_before_the_first_game(settings, game, said, file):
    with pytest.raises(ParlourError, match=said) as error:
        make_policy(f"heuristic:{settings.format(file=file)}", game, {})
    assert "\n" not in str(error.value)


def test_a_table_that_the_file_does_not_know_is_refused(file):
    with pytest.raises(ParlourError, match="7 players are not in"):
        make_policy(f"heuristic:habits={file}", "avalon_v0", {"num_players": 7})


# -- beliefs as features -----------------------------------------------------------------------------------------


def test_features_hold_the_chances_of_the_file(file, tmp_path):
    # the same game seen twice: the numbers differ only in the chances, and those are the heuristic's own
    env = Recorder(table("avalon_v0", **TABLE), tmp_path / "seen.jsonl")
    play(env, [make_policy("heuristic", "avalon_v0", {}) for _ in range(5)], 2)
    transcript = replay.Transcript.read(tmp_path / "seen.jsonl")
    rules = transcript.game()
    plain, learned = GAME.encoder(rules).of_seat("belief"), GAME.encoder(rules).of_seat(f"belief:habits={file}")
    assert plain.names == learned.names
    differs = False
    for state in replay.states(rules, transcript.moves):
        view = rules.view(state, 1)
        if view.role:
            belief = AvalonBelief(view.roles, 1, view.role, view.knows, read_habits(file).of(5), view.guesser)
            for seat, (kind, args, words), _ in view.events:
                belief.see(seat, kind, args, words)
            numbers = dict(zip(learned.names, learned(view), strict=True))
            assert [numbers[f"mine: evil {place}"] for place in ("me", "+1", "+2", "+3", "+4")] == pytest.approx(
                [*belief.evil_chance()[1:], belief.evil_chance()[0]], abs=1e-6
            )
            differs |= not np.array_equal(plain(view), learned(view))
    assert differs


def test_a_saved_player_remembers_its_habits(file, tmp_path):
    features = f"belief:habits={file}"
    env = table("avalon_v0", **TABLE, features=features, observation="features")
    game = env.unwrapped.game
    size, actions = GAME.encoder(game).of_seat(features).size, len(game.catalogue)
    layers = [(np.zeros((actions, size), np.float32), np.zeros(actions, np.float32))]
    TrainedSeat("avalon_v0", game.config, layers, features=features).save(tmp_path / "seat.npz")
    loaded = TrainedSeat.load(tmp_path / "seat.npz")
    assert loaded.features == features
    play(env, [TrainedSeat.load(tmp_path / "seat.npz") for _ in range(5)], 0)


@pytest.mark.parametrize(
    "setting", ["summary:habits={file}", "belief:habits=", "belief:mood=1", "record:habits={file}"]
)
def test_settings_that_features_do_not_have_are_refused_in_one_line(setting, file):
    with pytest.raises(ParlourError, match="accepted: belief:habits=FILE"):
        table("avalon_v0", **TABLE, features=setting.format(file=file))
    with pytest.raises(ParlourError, match="features"):
        table("werewolf_v0", features=f"belief:habits={file}")
