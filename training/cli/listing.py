"""`parlour list`: the games and the players. It imports neither rooms that play nor those that learn, so that it starts at once."""

from __future__ import annotations

from typing import Any

from parlour.envs import plugins
from parlour.envs.core import ParlourError
from parlour.envs.registry import ENTRY_POINTS, registry
from parlour.envs.settings import accepted
from parlour.policies import REGISTRY, names_of
from parlour.policies.names import EXPERT
from parlour.training.report.report import Report
from parlour.training.report.result_table import ResultTable


def list_games() -> Report:
    """List the games, their options and the players.

    Example: [bold]parlour list[/bold]
    """
    games = {key: shown for key in registry if (shown := _as_json(key))}
    brought = plugins.brought()
    named = [kind.shown or kind.name for kind in REGISTRY.values()]
    policies = [*named, "a policy.npz of `train seat`", "module:attribute"]
    values = {"games": games, "policies": policies, "plugins": brought}
    return Report("", parts=(*_game_parts(games), *_plugin_parts(brought)), values=values)


def _plugin_parts(brought: dict[str, dict[str, list[str]]]) -> tuple[ResultTable, ...]:
    rows = [
        (package, group.removeprefix("parlour."), ", ".join(names))
        for package, groups in brought.items()
        for group, names in groups.items()
    ]
    return (ResultTable.plain("Plugins", ("package", "brings", "names"), rows, wrap=True),) if rows else ()


def _as_json(game: str) -> dict[str, Any]:
    """Title and options of a game; nothing of one that cannot be loaded."""
    try:
        spec = registry[game].spec
    except ParlourError as error:
        plugins.warn_once(plugins.package_of(plugins.packages(ENTRY_POINTS)[game]), str(error))
        return {}
    return {
        "title": spec.title,
        "options": {name: accepted(field) for name, field in spec.options.model_fields.items()},
    }


def _game_parts(games: dict[str, dict[str, Any]]) -> tuple[ResultTable | str, ...]:
    rows = []
    for key, game in games.items():
        options = "; ".join(f"{option}: {values}" for option, values in game["options"].items())
        rows.append((key, game["title"], options or "none"))
    return (
        ResultTable.plain("Games", ("name", "title", "options"), rows, wrap=True),
        f"Players: {', '.join(names_of('plain'))}, or the path of a policy.npz written by `train seat`",
        f"The trained player that comes with parlour, for some tables: {EXPERT}; see `parlour list experts`",
        f"In each game one of several trained seats: {REGISTRY['mixture'].shown}, a folder with files of `train selfplay`",
        *(f"{kind.about}: {kind.shown or kind.name}" for kind in REGISTRY.values() if kind.about),
        f"Players that ask a model (`--model`; heuristics by default): {', '.join(names_of('asking'))}",
        "The mediator of GRACE: grace:file=POLICY.json, written by `train grace`; its modules: obedient:obedience=0.9",
        f"Players of other libraries, each with its extra: {', '.join(names_of('library'))}; see docs/integrations/players.md",
        "Your own players: module:attribute, a class, a function or an object that answers an observation",
    )
