"""What a mediator learns that sees more of a question than its state (`HeldOutConfig.sees`)."""

from __future__ import annotations

from typing import Final

from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.vocabulary import SEES
from parlour.policies.agents.mediated_qa.contextual import ContextualModel
from parlour.policies.agents.mediated_qa.joint import MODULES
from parlour.training.learn.mediators.contextual.correlated import correlated_model, regrets
from parlour.training.learn.mediators.contextual.learn import ContextualConfig, learn_contextual
from parlour.training.learn.mediators.held_out import Calibrated, HeldOutConfig
from parlour.training.learn.mediators.learn import GraceConfig

_METHODS: Final = ("quantal", "correlated")


def check_sees(setting: HeldOutConfig, config: GraceConfig) -> None:
    """Raise `ParlourError` where more than the state is seen by another method or learner than can be learned from counts."""
    if setting.sees != SEES[0] and (config.method not in _METHODS or config.learner != "counts"):
        raise ParlourError(
            f"sees {setting.sees!r} with method {config.method} and learner {config.learner}; accepted: method "
            f"{' or '.join(_METHODS)}, and learner counts"
        )


def learn_sees(calibrated: Calibrated, config: GraceConfig) -> ContextualModel | None:
    """The model of what each joint action comes to, where the mediator sees more than the state; None where it does not.

    Raises:
        ParlourError: A method or a learner that is not accepted; too few questions; or scikit-learn is missing.
    """
    setting = calibrated.config
    check_sees(setting, config)
    if calibrated.contexts is None:
        return None
    correlated = config.method == "correlated"
    wanted = ContextualConfig(
        sees=setting.sees,
        joint=setting.joint,
        temperature=0.0 if correlated else config.temperature,
        floor=0.0 if correlated else config.floor,
        folds=config.folds,
        seed=config.seed,
    )
    made = learn_contextual(calibrated.train, calibrated.contexts[: setting.train], setting.payment, wanted)
    if not correlated:
        return made
    return correlated_model(made, individual_costs=config.individual_costs, share=config.share)


def regrets_of(calibrated: Calibrated, config: GraceConfig, model: ContextualModel | None) -> dict[str, float]:
    """What each module would gain by disobeying, at most, by what the model expects: mean over the held-out questions."""
    if model is None or calibrated.contexts is None:
        return {}
    contexts = calibrated.contexts[calibrated.config.train :]
    states = [row.state for row in calibrated.held_out]
    p = model.policy(contexts, states)
    found = regrets(model, contexts, states, p, individual_costs=config.individual_costs, share=config.share)
    return dict(zip(MODULES, found.mean(axis=0).tolist(), strict=True))
