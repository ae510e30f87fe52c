"""Costs of the modules' actions as a user writes them: nine numbers, or some by name."""

from __future__ import annotations

from parlour.envs.core import accept, check_one_of
from parlour.policies.agents.mediated_qa.joint import COSTS


def stated(text: str | None) -> tuple[float, ...]:
    """The costs of the nine actions, in the order of `joint.COSTS`; those that are not named are the published run's.

    >>> stated("retrieve_deep=4,run_nli_check=0.5")
    (1.0, 4.0, 0.0, 2.0, 5.0, 2.0, 0.0, 0.5, 0.0)

    Raises:
        ParlourError: There are neither nine numbers nor names with numbers.
    """
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    named = [part.partition("=") for part in parts if "=" in part]
    if parts and not named:
        numbers = [_number(text, part) for part in parts]
        if len(numbers) != len(COSTS):
            raise accept("costs", text, f"{len(COSTS)} numbers, or NAME=NUMBER")
        return tuple(numbers)
    if len(named) < len(parts):
        raise accept("costs", text, f"{len(COSTS)} numbers, or NAME=NUMBER")
    for name, _, _ in named:
        check_one_of("costs", name, COSTS)
    return tuple((dict(COSTS) | {name: _number(text, value) for name, _, value in named}).values())


def _number(text: str | None, part: str) -> float:
    try:
        return float(part)
    except ValueError:
        raise accept("costs", text, f"{len(COSTS)} numbers, or NAME=NUMBER") from None
