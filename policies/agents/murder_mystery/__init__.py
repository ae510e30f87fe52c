"""Questum and PLAYER*: agents that choose questions in a murder mystery; and the baselines."""

from parlour.policies.agents.murder_mystery.agent import (
    AGENTS,
    MysteryNoneAgent,
    MysteryOCoTAgent,
    MysterySeat,
    MysteryThinkThriceAgent,
    MysteryWerewolfAgent,
    PlayerStarAgent,
    QuestumAgent,
)
from parlour.policies.agents.murder_mystery.questum.interview import InterviewSettings
from parlour.policies.agents.murder_mystery.quiz import Reader

__all__ = [
    "AGENTS",
    "InterviewSettings",
    "MysteryNoneAgent",
    "MysteryOCoTAgent",
    "MysterySeat",
    "MysteryThinkThriceAgent",
    "MysteryWerewolfAgent",
    "PlayerStarAgent",
    "QuestumAgent",
    "Reader",
]
