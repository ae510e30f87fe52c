"""Avalon's prose read back is the View itself; any other text is refused; an expert plays by prose what it plays by Views."""

from __future__ import annotations

import re

import pytest
from parlour.envs import registry
from parlour.envs.avalon.prose import AvalonProse
from parlour.envs.core import ParlourError
from parlour.envs.language.text import CHOICE, render
from parlour.envs.testing.table import sampled
from parlour.policies import make_policy
from parlour.policies.by_text import in_words, options_in
from parlour.training.play import rollout

FIVE = {"num_players": 5, "rules": "official", "talk": False}


def test_what_every_seat_reads_is_read_back_as_its_view(avalon, playout):
    """Free words are spoken in a third of the turns that take any."""
    game = avalon.game
    text, read = avalon.spec.text(game), AvalonProse(game)
    for seed in (1, 2):
        for state in sampled(playout(game, seed, words=0.3).states[1:], 40):
            for seat in range(game.seats):
                view = game.view(state, seat)
                assert read(render(text, view)) == view


def changed(prose: str) -> dict[str, str]:
    """Texts that no seat of this table reads."""
    return {
        "another table": prose.replace("Loyal Servant", "2 x Loyal Servant"),
        "another role": prose.replace("Your role is", "Your role is not"),
        "a line too many": prose.replace(CHOICE, f"Moderator: all is well.\n{CHOICE}"),
        "an option too many": f"{prose}- I leave.\n",
        "a section less": prose.partition(CHOICE)[0],
        "no prose": "[GAME] Valid targets: [0], [1]",
    }


@pytest.mark.parametrize("what", changed(""))
def test_any_other_text_is_refused_in_one_line(what):
    env = registry["avalon_v0"].raw_env(**FIVE)
    env.reset(seed=4)
    prose = env.observe(env.agent_selection)["text"]
    with pytest.raises(ParlourError, match=r"cannot be read back; accepted: the whole text of a seat") as caught:
        AvalonProse(env.game)(changed(prose)[what])
    assert "\n" not in str(caught.value)


def test_an_expert_says_by_prose_alone_what_it_plays_by_views(small_expert):
    config = small_expert("avalon_v0", **FIVE)
    by_view, by_prose = (make_policy("expert", "avalon_v0", config) for _ in range(2))
    env = rollout.table("avalon_v0", **FIVE)
    for seed in range(5):
        env.reset(seed=seed)
        for policy in (by_view, by_prose):
            policy.reset(0, seed)
        while env.game_env.outcome is None:
            agent = env.agent_selection
            text, info = env.observe(agent)["text"], env.infos[agent]
            number = by_view.act({}, info)
            said = in_words(by_prose, text, options_in(text))
            assert said == info["options"][info["legal"].index(number)]
            env.step(said)
        assert not any(info.get("replaced") for info in env.infos.values())


def test_a_game_whose_prose_cannot_be_read_back_has_no_expert_by_words(small_expert):
    policy = make_policy("expert", "werewolf_v0", small_expert("werewolf_v0"))
    assert not policy.reads_prose
    with pytest.raises(KeyError, match=re.escape("observation")):
        policy.act({"text": "", "action_mask": []}, {"legal": ()})
