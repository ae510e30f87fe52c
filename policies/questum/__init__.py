"""Questum and PLAYER*: whom to ask, and what, in a murder mystery; and the methods they are compared with."""

from parlour.policies.questum.agent import (
    AGENTS,
    MysterySeat,
    OcotAgent,
    PlayerStarAgent,
    QuestumAgent,
    SilentAgent,
    ThinkThriceAgent,
    WerewolfAgent,
)
from parlour.policies.questum.interview import Settings
from parlour.policies.questum.quiz import Reader, answer_quiz

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
