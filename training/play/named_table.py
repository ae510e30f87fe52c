"""Which table a command plays at: the one its options name, else the one its policy files were trained for, else the default."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from typing import Any, Final

from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError, in_short
from parlour.envs.language.text import describe
from parlour.envs.registry import build, checked_options, known, lookup
from parlour.envs.spec import GameSpec
from parlour.policies.registry import options_of, table_of

DEFAULT_GAME: Final = "avalon_v0"
"""The game of a command that names none, and whose players know none."""


def named_table(game: str | None, options: Mapping[str, Any], players: Iterable[str]) -> tuple[str, dict[str, Any]]:
    """The game, and its options; what neither they nor a policy file say is the game's own default.

    Args:
        game: Name of the game; None: that of the policy files, else `DEFAULT_GAME`.
        options: Options of the game that were named.
        players: Names of policies. A policy file and a mixture know their table; others sit at any.

    Raises:
        ParlourError: Two files are of different tables, a file is of another table than the one named, it holds no trained
            seat, or it names a table that opens a file.
    """
    players = list(players)
    tables = {player: table for player in players if (table := table_of(player)) is not None}
    if not tables:
        needed = ChainMap(dict(options), *map(dict, map(options_of, players)))
        return game or DEFAULT_GAME, dict(needed)
    first, (own, config) = next(iter(tables.items()))
    for player, table in tables.items():
        if plain(table) != plain((own, config)):
            raise ParlourError(
                f"{first} was trained for {_shown(own, config)}, {player} for {_shown(*table)}; accepted: policies of one table"
            )
    trained = f"{first} was trained for {_shown(own, config)}"
    spec = known(own).spec if game is None else lookup(game).spec
    if spec.id != own:
        raise ParlourError(f"{trained}, not for {spec.id}; accepted: {own}, or no game")
    if checked_options(spec, config).opens() is not None:
        raise ParlourError(f"{trained}, a table that opens a file; accepted: the game's options by --set")
    if not _agrees(spec, config, options):
        raise ParlourError(f"{trained}, not with {in_short(describe(options))}; accepted: its options, or none")
    return game or own, dict(build(spec, config).config)


def _agrees(spec: GameSpec, config: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Whether these options are those of the configuration."""
    try:
        return bool(plain(build(spec, {**config, **options}).config) == plain(build(spec, config).config))
    except ParlourError:
        return not options


def _shown(game: str, config: Mapping[str, Any]) -> str:
    return f"{in_short(game)} with {in_short(describe(config))}"
