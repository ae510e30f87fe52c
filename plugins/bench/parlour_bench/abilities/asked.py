"""Players are asked at moments of recorded games what they believe (`Policy.state_belief`).

A network states no belief. For it stands the exact posterior if the others play like the network, the heuristic, or anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from parlour.envs.core import ParlourError
from parlour.policies import Policy, asks_a_model, make_policy
from parlour.policies.experts.catalogue import card_for
from parlour.policies.llm.at_once import at_once
from parlour.policies.llm.decisions import Decisions
from parlour.policies.search.particles import Deduction
from parlour.policies.trained import TrainedSeat
from parlour.training.runs.progress import Stage

from parlour_bench.abilities.stated import BeliefMoment
from parlour_bench.suite import network_at

Stated = tuple[float, ...]
"""The chances of the other seats."""


def stated_by(
    player: str, moments: Sequence[BeliefMoment], model: Any, progress: Callable[..., None]
) -> tuple[list[Stated], Decisions]:
    """What a player states at each moment, and what its questions took.

    Raises:
        ParlourError: The player fits a table not at all, or states no beliefs.
    """
    asking = asks_a_model(player)
    policies = (
        [make_policy(player, *moment.table, model) for moment in moments]
        if asking
        else _shared_policies(player, moments, model)
    )
    stage, done = Stage(f"{player}: beliefs", len(moments), "questions"), 0
    networks = [policy for policy in policies if isinstance(policy, TrainedSeat)]
    if networks and len(networks) == len(policies):
        return concluded(networks, moments, partial(progress, stage)), Decisions()
    stated: list[Stated] = []
    decisions = Decisions()
    together = model.concurrency if asking and model.waits else 1
    for start in range(0, len(moments), together):
        some = list(zip(policies[start : start + together], moments[start : start + together], strict=True))
        stated += [job.result() for job in at_once([partial(_state, player, *job) for job in some], together)]
        for policy, _ in some:
            decisions += Decisions.of_calls(policy.notes().get("calls", ()))
        done += len(some)
        progress(stage, done)
    return stated, decisions


def _shared_policies(player: str, moments: Sequence[BeliefMoment], model: Any) -> list[Policy]:
    """One for each table: a network need not be read again."""
    tables = {repr(moment.table): moment.table for moment in moments}
    policies = {key: make_policy(player, *table, model) for key, table in tables.items()}
    return [policies[repr(moment.table)] for moment in moments]


def _state(player: str, policy: Policy, moment: BeliefMoment) -> Stated:
    policy.reset(moment.seat, moment.seed)
    stated = policy.state_belief({"text": moment.text}, dict(moment.info))
    if stated is None:
        raise ParlourError(
            f"{player!r} states no beliefs; accepted: a player that asks a model, expert, heuristic, random"
        )
    return moment.others(stated)


_deduction = lru_cache(maxsize=8)(Deduction)


def concluded(
    networks: Sequence[TrainedSeat], moments: Sequence[BeliefMoment], counted: Callable[[int], None]
) -> list[Stated]:
    """The posterior at each moment for players like a network, the heuristic and others.

    Args:
        networks: The network at each moment.
        moments: In each game in order.
        counted: Called with the number of moments that are done.

    Raises:
        ParlourError: A table has no array tables.
    """
    of_seat: dict[tuple[str, str, int], list[int]] = {}
    for number, moment in enumerate(moments):
        of_seat.setdefault((moment.game, moment.opponent, moment.seat), []).append(number)
    stated: list[Stated] = [()] * len(moments)
    done = 0
    for numbers in of_seat.values():
        first, network = moments[numbers[0]], networks[numbers[0]]
        network.reset(first.seat, first.seed)
        views = [moments[number].info["view"] for number in numbers]
        by_view = _deduction(network, first.info["side"]).chances(views, network.rng)
        for number, chances in zip(numbers, by_view, strict=True):
            stated[number] = first.others(chances.tolist())
        done += len(numbers)
        counted(done)
    return stated


def with_exact(moments: Sequence[BeliefMoment], progress: Callable[..., None]) -> list[BeliefMoment]:
    """Moments with their exact posteriors, for players like the expert, the heuristic and others. Moments of tables without an expert are left out.

    Args:
        moments: In each game in order.
        progress: Counts the moments.
    """
    experts = {repr(moment.table): moment.table for moment in moments if card_for(*moment.table) is not None}
    networks = {key: network_at(*table) for key, table in experts.items()}
    kept = [moment for moment in moments if repr(moment.table) in networks]
    counted = partial(progress, Stage("exact posteriors in Werewolf", len(kept), "questions"))
    exact = concluded([networks[repr(moment.table)] for moment in kept], kept, counted)
    return [replace(moment, exact=chances) for moment, chances in zip(kept, exact, strict=True)]
