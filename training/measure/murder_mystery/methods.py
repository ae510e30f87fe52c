"""The methods that are compared: who the civilians are, and what the quiz may be answered from.

Questum (section 4.1) and PLAYER* (section 3). PP and OP play no game: they are the start and the end of the search, the
own script alone and everybody's scripts. PLAYER* calls them SSA and FSA.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from parlour.envs.core import accept
from parlour.envs.murder_mystery.cases.case import Case
from parlour.policies import make_policy
from parlour.policies.agents.murder_mystery import AGENTS
from parlour.policies.agents.murder_mystery.questum.interview import PLANNED
from parlour.policies.agents.murder_mystery.quiz import Scripts


@dataclass(frozen=True)
class MysteryMethod:
    """One method. Murderers play by the same procedure in all of them (section 4.3)."""

    name: str
    label: str
    """What the papers call it."""
    policy: str
    """Policy of all seats, with its settings; empty if no game is played."""
    scripts: Scripts
    """What is read at the quiz."""


QUESTUM, PLANNER, PLAYER_STAR, WEREWOLF, OCOT, THINKTHRICE = (
    MysteryMethod("questum", "Questum", "questum:mode=score", "own+dialogue"),
    MysteryMethod("questum", "Questum as a planner", "questum:mode=plan", "own+dialogue"),
    MysteryMethod("player_star", "PLAYER*", "player_star", "own+dialogue"),
    MysteryMethod("mystery_werewolf", "Werewolf", "mystery_werewolf", "own+dialogue"),
    MysteryMethod("mystery_ocot", "O-CoT", "mystery_ocot", "own+dialogue"),
    MysteryMethod("mystery_thinkthrice", "ThinkThrice", "mystery_thinkthrice", "own+dialogue"),
)
PP: Final = MysteryMethod("pp", "PP", "", "own")
OP: Final = MysteryMethod("op", "OP", "", "all")
METHODS: Final = {method.name: method for method in (PLANNER, PLAYER_STAR, WEREWOLF, OCOT, THINKTHRICE, PP, OP)}
"""By name, as a command takes them: `questum` is the player's default there, and the paper's procedure in the papers' tables."""


def method_of(name: str) -> MysteryMethod:
    """A method by name; also one of the agents with settings, such as `questum:prune=no`. Raises `ParlourError`."""
    if name in METHODS:
        return METHODS[name]
    if not is_agent(name):
        raise accept("method", name, (*METHODS, "an agent of murder mysteries with settings, as in questum:prune=no"))
    return MysteryMethod(name, name, name, "own+dialogue")


def is_agent(policy: str) -> bool:
    """Whether a policy is one of the agents, with settings or without."""
    return policy.partition(":")[0] in {agent.name for agent in AGENTS}


def is_prose(case: Case) -> bool:
    """Whether a case states no facts that a planner can read."""
    return not case.vocabulary.places


def by_score(policies: Mapping[str, str], cases: Sequence[Case]) -> tuple[list[str], str]:
    """The names of planners, of policies by name, that play some cases by score; and that in a sentence, empty if there are none."""
    prose = sum(map(is_prose, cases))
    chosen = {
        name: getattr(make_policy(policy, "murder_mystery_v0", {}), "chosen", None)
        for name, policy in policies.items()
        if is_agent(policy)
    }
    planning = [name for name, settings in chosen.items() if prose and getattr(settings, "mode", "") in PLANNED]
    said = (
        f"{', '.join(planning)}: {prose} of {len(cases)} cases are prose and state no facts that the planner can read, so that it "
        "plays them by score, with sensors and pruner (`mode=score`)."
    )
    return planning, said if planning else ""
