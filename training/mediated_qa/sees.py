"""What a mediator learns that sees more of a question than its state (`HeldOutConfig.sees`)."""

from __future__ import annotations

from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.vocabulary import SEES
from parlour.policies.agents.mediated_qa.contextual import ContextualModel
from parlour.training.mediated_qa.contextual.learn import ContextualConfig, learn_contextual
from parlour.training.mediated_qa.held_out import Calibrated, HeldOutConfig
from parlour.training.mediated_qa.learn import GraceConfig


def check_sees(setting: HeldOutConfig, config: GraceConfig) -> None:
    """Raise `ParlourError` where more than the state is seen by another method than quantal response from counts."""
    if setting.sees != SEES[0] and (config.method, config.learner) != ("quantal", "counts"):
        raise ParlourError(f"sees {setting.sees!r} goes with method quantal and learner counts; accepted: these")


def learn_sees(calibrated: Calibrated, config: GraceConfig) -> ContextualModel | None:
    """The model of what each joint action comes to, where the mediator sees more than the state; None where it does not.

    Raises:
        ParlourError: Another method than quantal response from counts; too few questions; or scikit-learn is missing.
    """
    setting = calibrated.config
    check_sees(setting, config)
    if calibrated.contexts is None:
        return None
    wanted = ContextualConfig(
        sees=setting.sees,
        joint=setting.joint,
        temperature=config.temperature,
        floor=config.floor,
        folds=config.folds,
        seed=config.seed,
    )
    return learn_contextual(calibrated.train, calibrated.contexts[: setting.train], setting.payment, wanted)
