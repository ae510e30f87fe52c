"""Pages of games, players, commands and settings, from the specs, classes and settings models behind them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pkgutil import walk_packages
from tempfile import TemporaryDirectory
from typing import Any

from parlour.envs.registry import GAMES, registry
from parlour.envs.replay import Transcript
from parlour.envs.settings import Settings, accepted, descriptions
from parlour.policies import FOREIGN, REGISTRY, make_policy
from parlour.policies.llm.ask import ASKS
from parlour.training import learn, measure
from parlour.training.cli import COMMANDS, GROUPS, command_of
from parlour.training.papers.reproduce import listed
from parlour.training.play import rollout
from parlour.training.play.parallel.concurrent_games import play_recorded
from parlour.training.replay.write import replay_html
from parlour.training.report.result_table import markdown_table
from rich.text import Text

SEED = 7


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table whose cells may hold anything."""
    cells = ([" ".join(str(cell).split()).replace("|", "\\|").replace("<", "\\<") for cell in row] for row in rows)
    return markdown_table(headings, cells)


def options(model: type[Settings]) -> str:
    """The fields of a settings model as a table."""
    rows = list(_rows(model, None))
    return table(("setting", "default", "accepted", "meaning"), rows) if rows else "It has no settings."


def _rows(model: type[Settings], made: Settings | None) -> Iterator[Sequence[object]]:
    """A row for each field; those of an inner model stand among them."""
    for name, field in model.model_fields.items():
        value = getattr(made, name) if made else field.get_default(call_default_factory=True)
        if isinstance(value, Settings):
            yield from _rows(type(value), value)
        else:
            default = "needed" if field.is_required() else f"`{value}`" if value != "" else "none"
            yield f"`{name}`", default, accepted(field), descriptions(model)[name]


# -- games -----------------------------------------------------------------------------------------------------


def games() -> str:
    """For each game: options, kinds of actions, the first observation, a recorded game."""
    parts = ["# Options, actions, recorded games", "[Cards](../cards/README.md) have the rules."]
    for name in GAMES:
        env = registry[name].raw_env(info="full", observation="both")
        env.reset(seed=SEED)
        said: dict[str, list[str]] = {}
        for move in env.game.catalogue:
            said.setdefault(move.kind, []).append(env.spec.text(env.game).say(move))
        rows = [(f"`{kind}`", len(sentences), sentences[0]) for kind, sentences in said.items()]
        parts += [
            f"## {env.spec.title}",
            options(env.spec.options),
            table(("kind of move", "actions", "sentence of the first"), rows),
            f"First observation, `env.reset(seed={SEED})`:",
            f"~~~text\n{env.observe(env.agent_selection)['text'].rstrip()}\n~~~",
            f'<p><a href="../replays/{name}.html">A game of the heuristics</a>, as a page of <code>parlour replay</code></p>',
        ]
    return "\n\n".join(parts)


def recorded(name: str) -> str:
    """The page of a recorded game."""
    with TemporaryDirectory() as folder:
        path, env = f"{folder}/{name}-{SEED}.jsonl", rollout.table(name)
        game = env.unwrapped.game
        seats = [make_policy("heuristic", name, game.config) for _ in range(game.seats)]
        play_recorded(env, seats, ["heuristic"] * game.seats, SEED, path)
        return replay_html(Transcript.read(path))


# -- players ---------------------------------------------------------------------------------------------------


def players() -> str:
    """For each named player: what it is, its settings, its questions to a model."""
    parts = ["# Settings and questions of players", "Settings follow a name: `gratr:rho=0.9,gamma=0.1`."]
    for name in REGISTRY.here():
        parts += [f"## {name}", *_player(name)]
    return "\n\n".join(parts)


def _player(name: str) -> Iterator[str]:
    kind = REGISTRY[name]
    if name in FOREIGN:
        yield f"Module: {{py:mod}}`parlour.policies.adapters.{name}`. It needs the extra `{kind.extra or name}`."
    else:
        yield f"Class: {{py:class}}`{kind.cls.__name__} <{kind.cls.__module__}.{kind.cls.__qualname__}>`."
        yield first_sentence(inspect.getdoc(kind.cls))
    yield options(kind.settings_for())
    folder = "" if name in FOREIGN else kind.cls.__module__.rpartition(".")[0]
    asks = [ask for ask, made in ASKS.items() if kind.asks and made.__module__.rpartition(".")[0] == folder]
    if asks:
        yield "Questions (`parlour show question KIND`): " + ", ".join(f"`{ask}`" for ask in asks) + "."


def first_sentence(doc: str | None) -> str:
    """The first sentence of a docstring."""
    first = " ".join((doc or "").partition("\n\n")[0].split())
    return re.sub(r"(?<=[.?!]) [A-Z`].*", "", first)


# -- commands --------------------------------------------------------------------------------------------------


def commands() -> str:
    """Each command, with all its options."""
    parts = ["# Command line", "A TOML file for `--config` sets the same options, by their names without `--`."]
    for group, about in GROUPS.items():
        parts += [f"## parlour {group}".rstrip(), about]
        for words in (words for words in COMMANDS if _group(words) == group):
            command = command_of(words)
            own, _, _ = Text.from_markup(command.help or "").plain.partition("\n\nSee also: ")
            text, _, example = own.partition("Example: ")
            rows = [(_names(param), *_shown(param)) for param in command.params]
            parts += [f"### parlour {words}", text.strip().replace("<", "\\<")]
            parts += [f"~~~console\n{example.strip()}\n~~~"] if example else []
            parts += [table(("option", "default", "what it is"), rows)] if rows else []
    return "\n\n".join(parts)


def _group(words: str) -> str:
    """The group under whose heading a command stands: one whose first words are a command stands below that command."""
    parent = words.rpartition(" ")[0]
    return parent if parent in GROUPS else ""


def _names(param: Any) -> str:
    named = param.param_type_name == "option"
    names = [*param.opts, *param.secondary_opts] if named else [param.name.upper()]
    return ", ".join(f"`{name}`" for name in names) + (f" {param.metavar}" if param.metavar else "")


def _shown(param: Any) -> tuple[str, str]:
    about = Text.from_markup(getattr(param, "help", None) or "").plain
    if isinstance(param.show_default, str):
        return param.show_default, about
    given = "required" if param.required else param.default
    return "" if given in (None, (), "", False) else f"`{given}`", about


# -- settings and papers ---------------------------------------------------------------------------------------


def settings() -> str:
    """The settings models of trainers and measurements; those of games and players are on their own pages."""
    parts = ["# Settings of trainers and measurements", "Frozen models, checked when they are made, saved with a run."]
    for package in (learn, measure):
        for info in walk_packages(package.__path__, f"{package.__name__}."):
            for name, model in vars(import_module(info.name)).items():
                if isinstance(model, type) and issubclass(model, Settings) and model.__module__ == info.name:
                    parts += [f"## {name}", f"{{py:class}}`{info.name}.{name}`", options(model)]
    return "\n\n".join(parts)


def papers() -> str:
    """All tables and figures of `parlour reproduce`."""
    rows = [(f"`{name}`", *more) for name, *more in listed()]
    return table(("`parlour reproduce`", "place", "content", "status", "games + practice"), rows)
