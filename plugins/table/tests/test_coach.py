"""The coach: hints are those of the exact belief and of the strongest player; costs are those of games played out."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from parlour.envs._template import GAME as COIN
from parlour.envs.avalon.belief import ONLOOKER, AvalonBelief
from parlour.envs.core import Move, Outcome
from parlour.envs.registry import registry
from parlour.policies import make_policy
from parlour.policies.experts.catalogue import expert
from parlour.policies.random import RandomPolicy
from parlour.training.play import rollout
from parlour_table.coach import Coach, adviser_of, costly_moves, played_out
from parlour_table.coached_person import CoachedPerson


class Pupil(RandomPolicy):
    """Plays at random, and keeps the hints with what they were given for."""

    def __init__(self, coach):
        super().__init__()
        self.coach, self.hints = coach, []

    def reset(self, seat, seed):
        super().reset(seat, seed)
        self.coach.reset(seed)

    def act(self, observation, info):
        self.hints.append((info["view"], self.coach.hint(observation, info)))
        return super().act(observation, info)


def coached(game, seed=2, **options):
    env = rollout.table(game, **options)
    base = env.game_env
    pupil = Pupil(Coach(base, 0))
    others = [make_policy("heuristic", game, base.game.config) for _ in range(base.game.seats - 1)]
    rollout.play(env, [pupil, *others], seed)
    return base, pupil.hints


@pytest.mark.parametrize(("seed", "evil"), [(2, False), (7, True)])
def test_a_hint_tells_the_exact_belief_and_the_move_of_the_expert(seed, evil):
    """To an evil player, who knows who is who, it tells what an onlooker believes, about the player's own seat, too."""
    base, hints = coached("avalon_v0", seed)
    assert len(hints) > 3
    for view, hint in hints:
        knows = (ONLOOKER, "", ()) if evil else (view.seat, view.role, view.knows)
        belief = AvalonBelief(view.roles, *knows, guesser=view.guesser)
        for seat, move, to in view.events:
            if to is None or not evil:
                belief.see(seat, *move)
        assert (hint.looks, view.side == "evil") == (evil, evil)
        first = 0 if evil else 1
        chances = {f"player_{seat}": round(100 * chance) for seat, chance in enumerate(belief.evil_chance())}
        assert {seat.seat: seat.percent for seat in hint.seats} == dict(list(chances.items())[first:])
        trained = expert("avalon_v0", base.game.config)
        move = view.legal[int(np.argmax(trained.chances(view)))]
        assert (hint.by, hint.best) == ("expert", base.text.say(move))


def test_no_fact_is_given_that_speaks_against_what_the_belief_says():
    """A clean quest is no reason for "evil with 98 %", nor a failed one for "evil with 2 %"."""
    given = 0
    for seed in range(3, 7):
        for _, hint in coached("avalon_v0", seed)[1]:
            for seat in hint.seats:
                assert seat.percent < 60 or "clean" not in seat.because
                assert seat.percent > 20 or "fail card" not in seat.because
                given += bool(seat.because)
    assert given > 20


@pytest.mark.parametrize(
    ("game", "options", "by"),
    [
        ("avalon_v0", {}, "expert"),
        ("werewolf_v0", {}, "expert"),
        ("avalon_v0", {"num_players": 8}, "heuristic"),
        ("template_v0", {}, "heuristic"),
    ],
)
def test_hints_come_from_the_strongest_player_of_the_table(game, options, by):
    spec = registry[game].spec
    assert adviser_of(spec, spec.build(spec.options(**options)).config)[0] == by


def test_a_game_with_nobody_to_give_hints_says_so_in_one_line():
    class Alone(type(COIN)):
        heuristic = ""

    env = rollout.table("template_v0")
    base = env.game_env
    base.spec = Alone()
    coach = Coach(base, 0)
    env.reset(seed=0)
    lines = coach.hint({}, env.infos[env.agent_selection]).lines()
    assert lines[0] == "Coach:"
    assert len(lines) == 2
    assert lines[1].startswith("  no player comes with this game that could give hints")


class Choice:
    """Two moves, of which the second wins; nature decides nothing."""

    seats, config = 1, {}
    right, wrong = Move("take", (1,)), Move("take", (0,))

    def initial(self):
        return ()

    def actor(self, s):
        return -2 if s else 0

    def legal(self, s):
        return () if s else (self.wrong, self.right)

    def apply(self, s, move):
        return (move,)

    def outcome(self, s):
        return Outcome((1.0 if s == (self.right,) else -1.0,), "", "")

    def view(self, s, seat):
        return SimpleNamespace(seat=seat, legal=self.legal(s), events=())


class Right:
    """Always takes the second move."""

    def __init__(self, view, rng):
        pass

    def act(self, view):
        return view.legal[-1]


class ChoiceSpec(type(COIN)):
    id, sides = "choice_v0", ("one", "other")
    heuristic = f"{__name__}:Right"

    def text(self, game):
        return SimpleNamespace(say=lambda move: f"I take {move.args[0]}.")


def test_a_move_that_loses_a_won_game_costs_all_of_it_and_the_best_move_nothing():
    game, spec = Choice(), ChoiceSpec()
    (costly,) = costly_moves(spec, game, (Choice.wrong,), 0)
    assert (costly.made, costly.better, costly.cost, costly.error) == ("I take 0.", "I take 1.", 2.0, 0.0)
    assert costly.shown.startswith("You: I take 0. ")
    assert replace(costly, when="Quest 1: all vote").shown.startswith("Quest 1: all vote. You: I take 0. ")
    assert costly.shown.endswith("100 points of win rate (plus or minus 0).")
    assert costly_moves(spec, game, (Choice.right,), 0) == []


def test_a_game_played_out_from_a_state_is_the_same_for_the_same_seed():
    env = rollout.table("avalon_v0")
    env.reset(seed=4)
    base = env.game_env
    ends = [played_out(base.spec, base.game, base.state_now, seed) for seed in (0, 0, 1, 2, 3)]
    assert ends[0] == ends[1]
    assert set(np.abs(np.array(ends)).ravel()) == {1.0}


def test_the_terminal_shows_hints():
    env = rollout.table("avalon_v0")
    env.reset(seed=1)
    base, shown = env.game_env, []
    person = CoachedPerson(base, read=lambda _: "1", write=shown.append)
    person.reset(base.seat, 1)
    person.act(env.observe_as(env.agent_selection, "text"), env.infos[env.agent_selection])
    role = next(number for number, line in enumerate(shown) if line.startswith("You are player_"))
    options = next(number for number, line in enumerate(shown) if line.startswith("    1  "))
    assert role < shown.index("Coach:") < options
    assert any("expert would choose: " in line for line in shown)


def test_the_command_plays_a_game_and_tells_what_cost_most(output_of, monkeypatch, tmp_path):
    monkeypatch.setattr("builtins.input", lambda _: "1")
    said = output_of(["coach", "avalon_v0", "-n", "5", "--seed", "3", "--seat", "1", "--out", str(tmp_path)])
    assert "would choose: " in said
    assert "Coach: the decisions that cost most" in said
    assert (tmp_path / "avalon_v0-1.jsonl").exists()


def test_a_seat_that_is_not_there_is_refused(error_of):
    assert "seat 9 is not accepted; accepted: 0..4" in error_of(["coach", "avalon_v0", "-n", "5", "--seat", "9"])
