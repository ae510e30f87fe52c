"""`deceit=0..1`: werewolves by heuristic that lie, vote with the village, and turn late. Without it nothing changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from parlour.envs import replay
from parlour.envs.core import NATURE, ParlourError
from parlour.envs.language import speech
from parlour.envs.werewolf.vocabulary import BALLOT, WEREWOLF
from parlour.policies import GratrAgent, WindowAgent, make_policy
from parlour.policies.heuristic.werewolf import Liar, lies, turns
from parlour.training import cli
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder

GAME = "werewolf_v0"
SPOKEN = (speech.REPORT, speech.ACCUSE, speech.DEFEND, speech.CLAIM_ROLE, speech.SILENT)
AGENTS = ("gratr", "werewolf_window", "werewolf_rag", "werewolf_rerank")


def game(path, seed, wolves, villagers=None):
    """One game of eight: who sits as a werewolf, and who on the other seats."""
    env = Recorder(table(GAME, num_players=8, rules="paper"), path, overwrite=True)
    env.reset(seed=seed)
    base = env.unwrapped
    names = [wolves if base.view(seat).role == WEREWOLF else villagers or wolves for seat in range(8)]
    play(env, [make_policy(name, GAME, base.game.config) for name in names], seed)
    return replay.Transcript.read(path)


def decisions(path, seeds, wolves, villagers=None) -> Iterator[tuple[int, object, object, object]]:
    """All that players do in games: seat, move, the state before it, and the rules."""
    for seed in seeds:
        transcript = game(path, seed, wolves, villagers)
        rules = transcript.game()
        states = list(replay.states(rules, transcript.moves))
        for state, entry in zip(states, transcript.entries, strict=False):
            if entry.seat != NATURE:
                yield entry.seat, entry.move, state, rules


def roles(rules, state):
    return [rules.view(state, seat).role for seat in range(8)]


# -- the rule ------------------------------------------------------------------------------------------------------


def test_a_seer_is_answered_by_a_counter_claim_then_a_fellow_is_cleared_then_the_trusted_framed():
    given = Liar(trusted=3, rivals=(4, 5), suspected=1, told=(), fellow_sees=False)
    said = [(lie.kind, lie.args) for lie in lies(given)]
    assert said == [
        (speech.REPORT, (5, 1)),  # the seer who spoke last
        (speech.REPORT, (4, 1)),
        (speech.REPORT, (1, 0)),
        (speech.REPORT, (3, 1)),
        (speech.ACCUSE, (3,)),
    ]
    assert lies(given._replace(told=(5, 4, 1)))[0].args == (3, 1)


def test_two_werewolves_are_not_both_seers():
    given = Liar(trusted=3, rivals=(4,), suspected=1, told=(), fellow_sees=True)
    assert [(lie.kind, lie.args) for lie in lies(given)] == [(speech.ACCUSE, (4,)), (speech.ACCUSE, (3,))]


def test_the_vote_turns_when_one_more_death_gives_the_werewolves_half():
    assert [turns(3, villagers) for villagers in (6, 5, 4, 3)] == [False, False, True, True]


# -- without it ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heuristic", *AGENTS])
def test_without_deceit_games_are_the_same_byte_for_byte(tmp_path, name):
    for seed in (1, 2):
        game(tmp_path / "a.jsonl", seed, name)
        game(tmp_path / "b.jsonl", seed, f"{name}:deceit=0")
        assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.parametrize("name", ["heuristic", *AGENTS])
def test_the_village_does_not_lie(tmp_path, name):
    plain, village, wolves = (
        game(tmp_path / "game.jsonl", 2, *names).moves
        for names in ((name,), (name, f"{name}:deceit=1"), (f"{name}:deceit=1", name))
    )
    assert village == plain != wolves


# -- with it ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["heuristic", "gratr"])
def test_the_first_werewolf_to_speak_by_day_reports_a_false_check(tmp_path, name):
    """Always, where all its words are lies; without deceit now and then."""
    shares = {}
    for deceit in (0, 1):
        first = {}
        for number, seed in enumerate(range(1, 7)):
            for seat, move, state, rules in decisions(tmp_path / "g.jsonl", [seed], f"{name}:deceit={deceit}", name):
                wolf = [role == WEREWOLF for role in roles(rules, state)]
                if wolf[seat] and move.kind in SPOKEN and number not in first:
                    first[number] = move.kind == speech.REPORT and bool(move.args[1]) != wolf[move.args[0]]
        shares[deceit] = sum(first.values()) / len(first)
    assert shares[0] < shares[1] == 1


@pytest.mark.parametrize("name", ["heuristic", "gratr"])
def test_lying_werewolves_vote_for_fellows_early_and_never_late(tmp_path, name):
    against_fellows = {False: 0, True: 0}
    for seat, move, state, rules in decisions(tmp_path / "g.jsonl", range(6, 12), f"{name}:deceit=1", name):
        wolf = [role == WEREWOLF for role in roles(rules, state)]
        alive = rules.view(state, seat).alive
        if move.kind == BALLOT and move.args and wolf[seat] and wolf[move.args[0]]:
            wolves = sum(a and w for a, w in zip(alive, wolf, strict=True))
            against_fellows[turns(wolves, sum(alive) - wolves)] += 1
    assert against_fellows[False] > 0
    if name == "heuristic":
        assert against_fellows[True] == 0  # agents give up a fellow who is lost, as they do without deceit


@pytest.mark.parametrize("name", ["heuristic", *AGENTS])
def test_a_seed_repeats_its_lies(tmp_path, name):
    first, again = (game(tmp_path / "game.jsonl", 4, f"{name}:deceit=0.5").moves for _ in range(2))
    assert first == again


# -- how it is given ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["heuristic", *AGENTS])
@pytest.mark.parametrize("value", ["2", "-0.1", "much", "nan"])
def test_other_values_are_refused_in_one_line(name, value):
    with pytest.raises(ParlourError, match=r"deceit .* is not accepted; accepted: "):
        make_policy(f"{name}:deceit={value}", GAME, {})


def test_a_game_without_lies_by_rule_refuses_it(capsys):
    assert cli.run(["play", "avalon_v0", "--players", "5", "--policy", "heuristic:deceit=0.5"]) == 2
    assert "takes no deceit; accepted: heuristic" in capsys.readouterr().err


def test_agents_are_saved_with_their_deceit(tmp_path):
    for kind in (GratrAgent, WindowAgent):
        kind(deceit=0.25).save(tmp_path / "player.json")
        assert kind.load(tmp_path / "player.json").chosen.deceit == 0.25
        assert "deceit" not in kind().settings()
    assert make_policy("heuristic:deceit=0.5", GAME, {}).name == "heuristic"
