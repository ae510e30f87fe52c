"""Avalon by modules that ask a model: the six-module agent, the agent it is compared with, and what they learn."""

from parlour.policies.avalon_agent.agent import AvalonAgent
from parlour.policies.avalon_agent.baseline import BaselineAgent, Pool
from parlour.policies.avalon_agent.experience import Experience, Lesson

__all__ = ["AvalonAgent", "BaselineAgent", "Experience", "Lesson", "Pool"]
