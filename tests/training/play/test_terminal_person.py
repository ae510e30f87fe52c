"""A person at the terminal: words are shown as they are heard before they are said."""

from __future__ import annotations

from parlour.envs.core import Move
from parlour.envs.language import speech
from parlour.envs.language.entries import TextAction
from parlour.training.play import rollout
from parlour.training.play.terminal_person import TerminalPerson


def terminal(answers, seed=1):
    """The first talk of a person at the terminal: what was shown, and the action."""
    env = rollout.table("avalon_v0")
    env.reset(seed=seed)
    base, shown, left = env.game_env, [], iter(answers)
    person = TerminalPerson(base, read=lambda _: next(left), write=shown.append)
    person.reset(base.seat, seed)
    action = person.act(env.observe_as(env.agent_selection, "text"), env.infos[env.agent_selection])
    return base, shown, action


def test_the_terminal_shows_what_words_are_heard_as_before_they_are_said():
    words = "I'd bench player_2, it looks shaky"
    _, shown, action = terminal([words, ""])
    assert shown[-1] == "Heard as: I accuse player_2 of being evil."
    assert action == TextAction(Move(speech.ACCUSE, (2,), words), words)


def test_at_the_terminal_other_words_or_an_option_may_follow():
    _, shown, action = terminal(["lovely weather", "I trust player_2", ""])
    assert shown[-2:] == [
        "Heard as: no claim; your words are said as they are",
        "Heard as: I trust that player_2 is good.",
    ]
    assert action.move.kind == speech.DEFEND
    base, _, action = terminal(["lovely weather", "1"])
    assert base.game.catalogue[action] == base.view(base.seat).legal[0]
