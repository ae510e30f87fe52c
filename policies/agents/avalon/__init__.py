"""Avalon by modules that ask a model: the six-module agent, the agent it is compared with, and what they learn."""

from parlour.policies.agents.avalon.agent import AvalonAgent
from parlour.policies.agents.avalon.baseline import BaselineAgent, Pool
from parlour.policies.agents.avalon.experience import Experience, Lesson

__all__ = ["AvalonAgent", "BaselineAgent", "Experience", "Lesson", "Pool"]
