"""A calibration priced by what its actions used: other costs, without asking anything again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from parlour.training.learn.mediators.simulate import Simulated
from parlour.training.learn.mediators.simulate import table as table_of

if TYPE_CHECKING:
    from parlour.envs.mediated_qa.vocabulary import Payment
    from parlour.training.learn.mediators.held_out import Calibrated


def priced(calibrated: Calibrated, costs: tuple[float, ...]) -> Calibrated:
    """The same questions at other costs of the published actions."""
    config = replace(calibrated.config, costs=costs)
    train, held_out = (paid(rows, config.payment) for rows in (calibrated.train, calibrated.held_out))
    table = replace(table_of(train, config.joint, costs=costs), thresholds=calibrated.table.thresholds)
    return replace(calibrated, config=config, train=train, held_out=held_out, table=table)


def paid(rows: tuple[Simulated, ...], payment: Payment) -> tuple[Simulated, ...]:
    """The same questions with the net utilities of another payment."""
    return tuple(replace(row, utilities=row.net(payment)) for row in rows)
