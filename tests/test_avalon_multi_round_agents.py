"""Players that ask a model, at the tables of `multi_round`: they play all phases, and are told who names Merlin and what is said."""

from __future__ import annotations

import pytest
from parlour.policies import make_policy
from parlour.policies.agents.avalon.lines import introduction_of
from parlour.policies.agents.avalon.seat import AvalonSituation
from parlour.training.play import rollout


@pytest.mark.parametrize("name", ["avalon_agent", "avalon_baseline", "chat"])
def test_offline_agents_play_consultation_and_guess_without_a_fault(name):
    """Such agents in the even seats, heuristics in the odd ones, until an agent has consulted and one has guessed."""
    made = set[str]()
    for seed in range(30):
        table = rollout.table("avalon_v0", num_players=7, rules="multi_round")
        game = table.unwrapped.game
        players = [make_policy("heuristic" if seat % 2 else name, "avalon_v0", dict(game.config)) for seat in range(7)]
        episode = rollout.play(table, players, seed)
        assert not any(count for faults in episode.faults.values() for count in faults.values())
        state = game.initial()
        for move in table.unwrapped.moves:
            if game.actor(state) % 2 == 0:
                made.add(move.kind)
            state = game.apply(state, move)
        if {"consult", "guess"} <= made:
            return
    raise AssertionError("no agent came to the guess")


def test_the_turn_of_another_guesser_is_told_in_lines_that_are_read_back():
    told = {"quest": 3, "proposal": 1, "limit": 5, "last_rejection_loses": False, "leader": 0, "team": [0, 1]}
    told |= {"size": 2, "fails_needed": 1, "good": 3, "evil": 0}
    for does, guesser, line in (
        ("guess", "Morgana", "You are Morgana: you may name Merlin."),
        ("guess", "the Assassin", "You are the Assassin: you may name Merlin."),
        ("consult", "the Assassin", "Speak to the other evil players alone, about who Merlin is."),
    ):
        now = AvalonSituation(does=does, guesser=guesser, **told)
        lines = now.model_dump()
        assert lines[0] == line
        assert AvalonSituation.model_validate(lines) == now


def test_roles_are_introduced_by_who_names_merlin():
    assert introduction_of("Assassin") == "You are evil, know your fellows, and may name Merlin once."
    assert introduction_of("Mordred", "Mordred").endswith("Merlin did not see you. You may name Merlin once.")
    assert introduction_of("Assassin", "Morgana") == "You are evil and know your fellows."
    assert introduction_of("Merlin", "Morgana") == "You saw who is evil. If Morgana finds out who you are, good loses."
