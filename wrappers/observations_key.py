"""ObservationsKey: the numbers stand under `observations`, beside `action_mask`, and there is no prose.

PettingZoo says `observation`; some learners with masks look for the plural.
"""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from parlour.envs.core import ParlourError
from parlour.wrappers.base import ParallelShapeWrapper, Shape, ShapeWrapper


class _Plural(Shape):
    @staticmethod
    def shaped_space(space: spaces.Space[Any]) -> spaces.Space[Any]:
        if not isinstance(space, spaces.Dict) or not {"observation", "action_mask"} <= set(space.spaces):
            raise ParlourError(
                "ObservationsKey needs numbers and a mask; accepted: observation='features', action='index'"
            )
        return spaces.Dict({"action_mask": space["action_mask"], "observations": space["observation"]})

    @staticmethod
    def shaped(observed: Any) -> Any:
        return {"action_mask": observed["action_mask"], "observations": observed["observation"]}


class ObservationsKey(_Plural, ShapeWrapper):
    """Observations of an AEC environment become `{"observations": Box, "action_mask": Box}`.

    Raises:
        ParlourError: The environment has no numbers among its observations, or no mask.
    """


class ParallelObservationsKey(_Plural, ParallelShapeWrapper):
    """The same for an environment in which all seats step at once."""
