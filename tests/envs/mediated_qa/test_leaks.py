"""What a module may not know changes nothing that it gets, and nothing from outside passes for the moderator.

Two episodes are played side by side that differ only in what a seat cannot know: the question (for a module), and the
recommendations to the others and their choices. Until nature tells what came of it, the seat's prose, numbers, mask,
info and view are the same, byte for byte.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import Move
from parlour.envs.language.speech import quote
from parlour.envs.language.text import AmbiguousMove, UnreadableMove, clean
from parlour.envs.mediated_qa.vocabulary import Joint
from parlour.envs.testing.spoof import SPOOFS as GENERAL
from parlour.policies import ObedientModule

from tests.envs.testing.reaching import everything

KINDS = ("retrieve", "generate", "verify")
SETTINGS: dict[str, Any] = {"observation": "both", "info": "full", "render_mode": "ansi"}


def opened(**options: Any) -> Any:
    return registry["mediated_qa_v0"].raw_env(**{"joint": "all", **options}, **SETTINGS)


def question(number: int, signal: int = 4) -> Move:
    return Move("question", (number, signal), f"What is {number}?")


def test_the_mediator_does_not_learn_of_choices_before_nature_tells():
    for choices in product(range(3), range(4)):
        env = opened()
        env.reset(options={"nature": [question(1)]})
        env.play(Move("advise", (0, 0, 0)))
        before = everything(env, 0)
        for kind, choice in zip(KINDS, choices, strict=False):
            env.play(Move(kind, (choice,)))
            assert everything(env, 0) == before


def test_recommendations_stay_private_for_good():
    """Two episodes with the same choices and results, and other recommendations: what a module and the public see is equal."""
    texts = []
    for advice in (Joint(0, 3, 1), Joint(0, 1, 0)):
        env = opened(questions=2)
        results = [
            Move("retrieved", (0, 1), "A: b."),
            Move("answered", (1, 1), "c"),
            Move("checked", (0, 1)),
            Move("judged", (1, 0), "c"),
        ]
        env.reset(options={"nature": [question(1), *results, question(2)]})
        for move in (
            Move("advise", tuple(advice)),
            Move("retrieve", (0,)),
            Move("generate", (1,)),
            Move("verify", (0,)),
        ):
            env.play(move)
        assert env.agent_selection == "mediator"
        texts.append(everything(env, 1))
    assert texts[0] == texts[1]


SPOOFS = {key: words for key, words in GENERAL.items() if clean(words)}


@pytest.mark.parametrize("words", SPOOFS.values(), ids=SPOOFS)
def test_words_from_outside_stay_in_their_own_quoted_lines(words):
    """Question, evidence, answer and right answer may come from anywhere; each fills one line, in quotation marks."""
    texts = []
    for said in (words, "plain"):
        env = opened(questions=2)
        nature = [
            Move("question", (1, 4), said),
            Move("retrieved", (0, 1), said),
            Move("answered", (0, 1), said),
            Move("checked", (1, 0)),
            Move("judged", (1, 0), said),
            question(2),
        ]
        env.reset(options={"nature": nature})
        for move in (Move("advise", (0, 0, 1)), Move("retrieve", (0,)), Move("generate", (0,)), Move("verify", (1,))):
            env.play(move)
        texts.append([env.observe(agent)["text"] for agent in env.possible_agents])
        assert all(env.observation_space(agent).contains(env.observe(agent)) for agent in env.possible_agents)
    for seat, (spoofed, plain) in enumerate(zip(*texts, strict=True)):
        ours, theirs = spoofed.split("\n"), plain.split("\n")
        assert len(spoofed.splitlines()) == len(ours) - 1
        assert len(ours) == len(theirs)
        different = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
        assert len(different) == (5 if seat == 0 else 4)
        assert all(a == b.replace('"plain"', quote(clean(words))) for a, b in different)


# -- words of the seats ----------------------------------------------------------------------------------------


def at(seat: int) -> tuple[Any, Any]:
    env = opened()
    env.reset(options={"nature": [question(1)]})
    for move in (Move("advise", (1, 0, 0)), Move("retrieve", (0,)), Move("generate", (0,)))[:seat]:
        env.play(move)
    return env.text, env.view(seat)


@pytest.mark.parametrize(
    ("seat", "words", "args"),
    [
        (0, "Let us retrieve_deep, then generate_consistency and run_nli_check.", (1, 1, 0)),
        (0, "shallow, refuse, skip check", (0, 3, 1)),
        (0, "Deep search; answer from the evidence; run the check with NLI.", (1, 0, 0)),
        (1, "I will not follow: retrieve_shallow", (0,)),
        (1, "deep please", (1,)),
        (1, "no retrieval", (2,)),
        (2, "I'd answer from memory", (2,)),
        (2, "generate_parametric", (2,)),
        (2, "I refuse_to_generate", (3,)),
        (3, "not run_nli_check", (1,)),
        (3, "skip check", (1,)),
    ],
)
def test_free_words_are_read(seat, words, args):
    text, view = at(seat)
    assert text.parse(words, view).args == args


@pytest.mark.parametrize(
    ("seat", "words", "error"),
    [
        (0, "retrieve_deep", UnreadableMove),
        (0, "deep or shallow, generate, skip_check", AmbiguousMove),
        (1, "hello", UnreadableMove),
        (2, "generate or refuse", AmbiguousMove),
    ],
)
def test_words_that_cannot_be_used_say_what_is_accepted(seat, words, error):
    text, view = at(seat)
    with pytest.raises(error, match="accepted"):
        text.parse(words, view)


def test_a_joint_action_that_is_not_offered_is_refused():
    text, view = at(0)
    with pytest.raises(Exception, match="one of the joint actions listed"):
        text.parse("skip_retrieval, generate, run_nli_check", view)


def test_unusable_words_count_as_the_fallback_and_as_obedience():
    rng = np.random.default_rng(0)
    text, view = at(0)
    assert text.default("?", view, rng) == Move("advise", (0, 3, 1))
    for seat, action in ((1, 1), (2, 0), (3, 0)):
        text, view = at(seat)
        assert text.default("?", view, rng).args == (action,)


def test_obedient_modules_obey_and_others_now_and_then():
    env = opened()
    followed = {1.0: 0, 0.5: 0}
    for obedience in followed:
        player = ObedientModule(obedience)
        for seed in range(60):
            env.reset(options={"nature": [question(1)]})
            env.play(Move("advise", (2, 2, 1)))
            player.reset(1, seed)
            followed[obedience] += env.game.catalogue[player.act(None, env.infos["retriever"])].args == (2,)
    assert followed[1.0] == 60
    assert 25 < followed[0.5] < 55
