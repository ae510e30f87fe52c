"""MaskInInfo: the observation is a bare Box of numbers; the action mask is in `info["action_mask"]` alone.

For learners that take no dictionary, or that look for masks in `infos`.
"""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from parlour.envs.core import ParlourError
from parlour.wrappers.base import ParallelShapeWrapper, Shape, ShapeWrapper


class _Bare(Shape):
    @staticmethod
    def shaped_space(space: spaces.Space[Any]) -> spaces.Space[Any]:
        if not isinstance(space, spaces.Dict) or "observation" not in space.spaces:
            raise ParlourError("MaskInInfo needs numbers to show; accepted: environments with observation='features'")
        return space["observation"]

    @staticmethod
    def shaped(observed: Any) -> Any:
        return observed["observation"]


class MaskInInfo(_Bare, ShapeWrapper):
    """Observations `{"observation": Box, "action_mask", ...}` of an AEC environment become the Box.

    Raises:
        ParlourError: The environment has no numbers among its observations.
    """


class ParallelMaskInInfo(_Bare, ParallelShapeWrapper):
    """The same for an environment in which all seats step at once."""
