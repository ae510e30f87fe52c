"""Costs of the modules' actions as a user writes them."""

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
    refused = accept("costs", text, f"{len(COSTS)} numbers, or NAME=NUMBER")
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    named = [part.partition("=") for part in parts if "=" in part]
    if len(parts) != (len(named) if named or not parts else len(COSTS)):
        raise refused
    for name, _, _ in named:
        check_one_of("costs", name, COSTS)
    try:
        if parts and not named:
            return tuple(map(float, parts))
        return tuple((dict(COSTS) | {name: float(value) for name, _, value in named}).values())
    except ValueError:
        raise refused from None
