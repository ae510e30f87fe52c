"""A saved player that asks a model is loaded without its file deciding where questions and keys go, or what is opened."""

from __future__ import annotations

import json

import pytest
from parlour.envs.core import ParlourError
from parlour.policies import ChatPlayer
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.model import OfflineModel


@pytest.fixture
def saved(tmp_path):
    """A player for a model of a provider in a file; what its model is saved with can be changed."""
    path = tmp_path / "player.json"
    ChatPlayer(OfflineModel()).save(path)

    def change(**settings):
        stored = json.loads(path.read_text())
        stored["settings"]["model"] |= {"model": "any", **settings}
        path.write_text(json.dumps(stored))
        return path

    return change


@pytest.mark.parametrize("name", ["base_url", "key_env", "cache", "prompts", "prices"])
def test_what_a_file_names_is_not_used_unasked_but_a_model_that_is_given_is(saved, name):
    path = saved(**{name: "/tmp/x"})
    why = f"has {name} '/tmp/x': what a file names is not used unasked; accepted: load"
    with pytest.raises(ParlourError, match=why):
        ChatPlayer.load(path)
    mine = make_model(ModelConfig())
    assert ChatPlayer.load(path, mine).model is mine


def test_a_player_saved_with_the_offline_model_is_loaded_as_it_was(tmp_path):
    ChatPlayer(OfflineModel()).save(tmp_path / "p.json")
    assert isinstance(ChatPlayer.load(tmp_path / "p.json").model, OfflineModel)
