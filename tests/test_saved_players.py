"""A saved player that asks a model is loaded without its file deciding where questions and keys go, or what is opened."""

from __future__ import annotations

import json

import pytest
from parlour.envs.core import ParlourError
from parlour.policies import ChatPlayer
from parlour.policies.agents.seat import LEADS
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


@pytest.mark.parametrize(
    "leads",
    [
        {"base_url": "http://evil.example/v1"},
        {"key_env": "SECRET"},
        {"cache": "/tmp/x"},
        {"prompts": "/tmp"},
        {"prices": "/tmp/x"},
    ],
)
def test_what_a_file_names_is_not_used_unasked(saved, leads):
    ((name, value),) = leads.items()
    assert name in LEADS
    with pytest.raises(
        ParlourError, match=f"has {name} '{value}': what a file names is not used unasked; accepted: load"
    ):
        ChatPlayer.load(saved(**leads))


def test_a_model_that_is_given_takes_the_place_of_the_one_in_the_file(saved):
    mine = make_model(ModelConfig())
    assert ChatPlayer.load(saved(base_url="http://evil.example/v1"), mine).model is mine


def test_a_player_saved_with_the_offline_model_is_loaded_as_it_was(tmp_path):
    ChatPlayer(OfflineModel()).save(tmp_path / "p.json")
    assert isinstance(ChatPlayer.load(tmp_path / "p.json").model, OfflineModel)
