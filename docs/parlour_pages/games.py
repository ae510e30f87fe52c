"""Fragments for the games' pages, from the code: card, options, actions, observations, rewards, players, a recorded game."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from parlour.envs.core import TABLE
from parlour.envs.registry import GAMES, registry
from parlour.envs.settings import accepted
from parlour.envs.spec import GameSpec
from parlour.policies import players_of
from parlour.training.play import rollout

from parlour_pages.markdown import code, escaped, fence, table
from parlour_pages.players import made

SEED = 7
PLAYED = 30
"""Games that show the possible ends: even seeds with heuristics, odd seeds at random."""


def fragments() -> dict[str, str]:
    """`GAME.md` for each game of parlour, included below its title."""
    return {f"{name}.md": _fragment(registry[name].spec) for name in GAMES}


def _fragment(spec: GameSpec) -> str:
    env = registry[spec.id].raw_env(info="full", observation="both")
    env.reset(seed=SEED)
    card = (sys.modules[type(spec).__module__].__doc__ or "").partition("\n\n")[2]
    parts = [
        f"## The game\n\n{card.strip()}",
        f"## Options\n\n{_options(spec)}",
        f"## Actions\n\n{_actions(env)}",
        f"## Observations\n\n{_observations(env)}",
        f"## Rewards\n\n{_ends(spec.id)}",
        f"## Players\n\n{_players(env)}",
        f"## A recorded game\n\n{_recorded(spec)}",
    ]
    return "\n\n".join(parts) + "\n"


def _options(spec: GameSpec) -> str:
    options = spec.options.model_fields
    if not options:
        return f"`{spec.id}` has no options of its own."
    rows = [
        (code(name), code(json.dumps(field.default)), escaped(accepted(field)), escaped(field.description or ""))
        for name, field in options.items()
    ]
    text = "Pass options to `env` and `make` as keyword arguments, and on the command line with `--set NAME=VALUE`."
    return f"{text}\n\n{table(('option', 'default', 'accepted', 'what it is'), rows)}"


def _actions(env: Any) -> str:
    """Kinds of moves in the order of the catalogue, at the default table."""
    game, prose = env.game, env.spec.text(env.game)
    first: dict[str, Any] = {}
    for number, move in enumerate(game.catalogue):
        first.setdefault(move.kind, (number, prose.say(move)))
    counts = Counter(move.kind for move in game.catalogue)
    rows = [(code(kind), counts[kind], number, escaped(said)) for kind, (number, said) in first.items()]
    text = f"The default table has `Discrete({len(game.catalogue)})`: the numbers of `game.catalogue`. A mask marks the legal ones."
    return f"{text}\n\n{table(('kind', 'actions', 'first number', 'its sentence'), rows)}"


def _observations(env: Any) -> str:
    spec, game = env.spec, env.game
    agent = env.agent_selection
    rows: list[tuple[object, ...]] = [("`text`", "words", "the seat's knowledge, the events so far, the legal options")]
    encoders = spec.encoder(game)
    for kind in encoders.kinds:
        size = encoders.of(kind).size
        frame = "seats in table order" if kind == TABLE else "seats counted from its own"
        rows.append((f"`observation`, `features={kind!r}`", size, f"float32 in [-1, 1]; {frame}"))
    rows.append(("`action_mask`", len(game.catalogue), "int8, 1 where the action is legal"))
    shown = fence(env.observe(agent)["text"])
    text = f"The first observation of `{agent}`, who moves first (`env.reset(seed={SEED})`):"
    return f"{table(('key', 'size', 'what it is'), rows)}\n{text}\n\n{shown}"


def _ends(name: str) -> str:
    """The ends of some games, with the returns of each side."""
    ends: Counter[tuple[str, ...]] = Counter()
    env = rollout.table(name)
    for seed in range(PLAYED):
        who = "heuristic" if seed % 2 == 0 else "random"
        seats = len(env.unwrapped.possible_agents)
        episode = rollout.play(env, [made(who, name, env) for _ in range(seats)], seed=seed)
        ends[episode.outcome.winner, episode.outcome.reason, ", ".join(_returns(episode))] += 1
    rows = [(*key, count) for key, count in sorted(ends.items())]
    said = f"Results of {PLAYED} games, seeds 0 to {PLAYED - 1}. Heuristics play even seeds, random players odd ones."
    return f"{said}\n\n{table(('winner', 'reason', 'returns', 'games'), rows)}"


def _returns(episode: Any) -> Iterator[str]:
    sides: dict[str, set[float]] = {}
    for seat, (view, value) in enumerate(zip(episode.last_views, episode.returns, strict=True)):
        side = view.side if hasattr(view, "side") else f"seat {seat}"
        sides.setdefault(side, set()).add(value)
    for side, values in sorted(sides.items()):
        yield f"{side} {' or '.join(f'{value:+g}' for value in sorted(values))}"


def _players(env: Any) -> str:
    names = players_of(env.spec.id, env.game.config)
    listed = ", ".join(f"[{code(name)}](../../generated/players/{name}.md)" for name in names)
    return f"Players for the default table: {listed}."


def _recorded(spec: GameSpec) -> str:
    """The replay page in a frame; `parlour_pages.replays` makes it."""
    text = "Heuristics played this game. Step with the arrow keys. Switch between public knowledge, one seat, and everything."
    page = f"../../replays/{spec.id}.html"
    frame = f'<iframe class="replay" src="{page}" title="A recorded game: {spec.title}" loading="lazy"></iframe>'
    return f'{text}\n\n{frame}\n\n<p><a href="{page}">Open the recorded game in full</a></p>\n'
