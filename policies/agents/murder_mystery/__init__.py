"""Questum and PLAYER*: whom to ask, and what, in a murder mystery; and the methods they are compared with."""

from parlour.policies.agents.murder_mystery.agent import (
    AGENTS,
    MysterySeat,
    OcotAgent,
    PlayerStarAgent,
    QuestumAgent,
    SilentAgent,
    ThinkThriceAgent,
    WerewolfAgent,
)
from parlour.policies.agents.murder_mystery.questum.interview import Settings
from parlour.policies.agents.murder_mystery.quiz import Reader, answer_quiz

__all__ = [
    "AGENTS",
    "MysterySeat",
    "OcotAgent",
    "PlayerStarAgent",
    "QuestumAgent",
    "Reader",
    "Settings",
    "SilentAgent",
    "ThinkThriceAgent",
    "WerewolfAgent",
    "answer_quiz",
]
