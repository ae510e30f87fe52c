"""The heuristic at a table with an option that it has never met: it plays the legal move that is closest to the one it wants."""

from __future__ import annotations

from typing import Annotated

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.avalon import GAME, AvalonSpec, vocabulary as words
from parlour.envs.avalon.options import AvalonOptions
from parlour.envs.avalon.rules import Avalon
from parlour.envs.core import Move
from parlour.envs.hidden_roles.rules import shown
from parlour.envs.settings import SPARSE
from parlour.envs.spec import RuleInWords
from parlour.policies.heuristic.policy import HeuristicPolicy, closest

OTHERS_GO = "The leader may not be on the team."


class Options(AvalonOptions):
    others_go: Annotated[bool, SPARSE, RuleInWords(OTHERS_GO)] = False
    """Whether the leader has to stay behind."""


class OthersGo(Avalon):
    def _tabulate(self) -> None:
        super()._tabulate()
        for by_leader in self._teams:
            for leader, options in enumerate(by_leader):
                by_leader[leader] = shown(leader, None, [move for move in options.legal if leader not in move.args])


class Spec(AvalonSpec):
    options = Options

    def build(self, options: Options) -> Avalon:
        return OthersGo(options) if options.others_go else Avalon(options)


def test_of_two_legal_teams_the_one_with_more_of_the_wanted_seats_is_chosen():
    wanted = Move(words.TEAM, (0, 1, 2))
    legal = [words.APPROVE, Move(words.TEAM, (0, 3, 4)), Move(words.TEAM, (1, 2, 3))]
    assert closest(wanted, legal) == legal[2]  # shares 1 and 2; (0, 3, 4) shares 0 alone; a vote is no team
    assert closest(wanted, [*legal, wanted]) == wanted


def test_a_sentence_of_an_option_stands_in_the_rules_where_it_is_on():
    on, off = (Spec().build(Options(rules="official", others_go=given)) for given in (True, False))
    assert Spec().text(on).rules.count(OTHERS_GO) == 1
    assert Spec().text(off).rules == GAME.text(GAME.build(GAME.options(rules="official"))).rules


def test_the_heuristic_plays_whole_games_under_a_rule_that_it_does_not_know():
    options = Options(num_players=5, rules="official", talk=False, others_go=True)
    env = GameEnv(Spec(), Spec().build(options), info="full")
    proposals = 0
    for seed in range(5):
        env.reset(seed=seed)
        seats = [HeuristicPolicy() for _ in env.agents]
        for seat, player in enumerate(seats):
            player.reset(seat, seed)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, info = env.last()
            action = None if terminated or truncated else seats[int(agent[7:])].act(observation, info)
            if action is not None and (move := env.game.catalogue[action]).kind == words.TEAM:
                proposals += 1
                assert info["view"].seat not in move.args
            env.step(action)
    assert proposals >= 5
