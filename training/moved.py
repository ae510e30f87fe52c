"""Modules by their names of version 0.2: imported under their new names, with a `DeprecationWarning`, for one version."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final
from warnings import warn

_ROOT: Final = "parlour.training."
_EMPTIED: Final = frozenset((_ROOT + "avalon", _ROOT + "werewolf"))
"""Packages whose modules went to several rooms."""
_SAME_NAME: Final = {
    "play": "rollout failures decisions recorded_calls moments stored_games heard single_seat seeds asked extras parallel "
    "live_table",
    "measure": "statistics evaluate pairs arena benchmark murder_mystery werewolf.measures werewolf.scores "
    "werewolf.amnesia werewolf.transcripts werewolf.played werewolf.trust_scores werewolf.trust_picture",
    "learn": "checkpoints examples experts batch ppo selfplay",
    "results": "learning_curve plots display decision_tables runs pages replay_page",
    "records": "json_objects werewolf.published",
    "papers": "demo reproduce",
}
"""Room -> modules and packages that went there under their own names."""
_RENAMED: Final = {
    "avalon.metrics": "measure.avalon",
    "avalon.analysis": "measure.analysis",
    "avalon.habits": "learn.habits",
    "avalon.clone": "learn.clone",
    "avalon.practice": "learn.practice",
    "avalon.records": "records.avalon",
    "avalon.social": "papers.avalon_social",
    "hyperopt": "learn.tuning",
    "mediated_qa": "learn.mediators",
    "mediated_qa.contextual": "learn.mediators.contextual",
    "murder_mystery.tuning": "learn.tuning.questum",
    "tables": "learn.ppo.env_process",
    "werewolf.habits": "learn.habits.werewolf",
    "werewolf.habits_run": "learn.habits.run",
    "werewolf.records": "records.werewolf",
    "werewolf.reliability_episodes": "learn.reliability.episodes",
    "werewolf.result_store": "records.werewolf.published",
    "werewolf.tuning": "learn.tuning.gratr",
}
_MERGED: Final = {
    "learn.clone.choices": "avalon.clone.config",
    "learn.clone.run": "avalon.clone.models avalon.clone.fit",
    "learn.clone.report": "avalon.clone.model_names avalon.clone.scores",
    "learn.habits.avalon": "avalon.habits.cases avalon.habits.games avalon.habits.words",
    "learn.habits.avalon_fit": "avalon.habits.fit avalon.habits.votes avalon.habits.weights",
    "learn.habits.report": "avalon.habits.scores",
    "learn.habits.learner": "avalon.habits.priors avalon.habits.validate",
    "learn.habits.run": "avalon.habits.config",
    "learn.mediators.calibrated_run": "mediated_qa.explain mediated_qa.private_costs",
    "learn.mediators.baselines": "mediated_qa.contextual.ceiling mediated_qa.usable",
    "learn.mediators.contextual": "mediated_qa.contextual.correlated mediated_qa.contextual.fit mediated_qa.contextual.learn "
    "mediated_qa.contextual.systems mediated_qa.sees",
    "learn.mediators.corpus_check": "mediated_qa.question_picture",
    "learn.mediators.costs": "mediated_qa.usage",
    "learn.mediators.experiment": "mediated_qa.priced",
    "learn.batch.networks": "batch.players",
    "learn.mediators.learn": "mediated_qa.quantal",
    "learn.mediators.quantities": "mediated_qa.leave_one_out",
    "learn.mediators.readers": "mediated_qa.forecast",
    "learn.tuning.problem": "hyperopt.config hyperopt.space",
    "learn.tuning.report": "hyperopt.pictures hyperopt.result",
    "learn.tuning.run": "hyperopt.surface",
    "learn.tuning.study": "hyperopt.measure hyperopt.trials",
    "learn.reliability.run": "werewolf.reliability_fit werewolf.reliability_run",
    "learn.ppo.trainer": "ppo.phases ppo.sb3",
    "learn.ppo.vec": "ppo.batch_vec",
    "learn.selfplay.collect": "selfplay.belief_reward selfplay.recorded",
    "learn.selfplay.crossplay": "selfplay.ratings",
    "learn.selfplay.learn": "selfplay.exploiters",
    "learn.selfplay.run": "selfplay.repeats selfplay.role_beliefs",
    "learn.selfplay.report": "selfplay.population selfplay.pictures selfplay.tables",
    "results.progress": "progress_lines",
    "records.avalon": "avalon.records.reading avalon.records.stored",
    "records.avalon.published_log": "avalon.records.published_words",
    "records.in_words": "avalon.records.in_words werewolf.in_words",
}
"""Module -> old names of those that were merged into it."""
MOVED: Final = {
    **{old: f"{room}.{old}" for room, names in _SAME_NAME.items() for old in names.split()},
    **_RENAMED,
    **{old: new for new, names in _MERGED.items() for old in names.split()},
}
"""Old name of a module or package -> new one, both within `parlour.training`."""


def new_name(name: str) -> str | None:
    """The new name of a module; None if it was not moved.

    >>> new_name("parlour.training.rollout"), new_name("parlour.training.arena.run"), new_name("parlour.training.cli")
    ('parlour.training.play.rollout', 'parlour.training.measure.arena.run', None)
    """
    parts = name.removeprefix(_ROOT).split(".") if name.startswith(_ROOT) else []
    for end in range(len(parts), 0, -1):
        new = MOVED.get(".".join(parts[:end]))
        if new is not None:
            return _ROOT + ".".join([new, *parts[end:]])
    return None


class MovedModules:
    """Finds modules under their old names. Satisfies importlib's `MetaPathFinder` and `Loader`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        loader: Any = self  # no base class: importlib.abc costs a tenth of the start of `parlour --help`
        if fullname in _EMPTIED:
            return ModuleSpec(fullname, loader, is_package=True)
        return None if new_name(fullname) is None else ModuleSpec(fullname, loader)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        new = new_name(name)
        if new is None:
            return
        warn(f"{name} is deprecated; import {new}", DeprecationWarning, stacklevel=2)
        moved = sys.modules[name] = import_module(new)
        if any(old.startswith(name.removeprefix(_ROOT) + ".") for old in MOVED):
            moved.__dict__.setdefault("__path__", [])  # it was a package: names below it are still looked for
