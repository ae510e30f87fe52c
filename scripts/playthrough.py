"""Write golden playthroughs and features, which the tests compare. Usage: python scripts/playthrough.py NAME | --all.

Those of a plugin's games lie with its tests; they are written where the plugin is installed.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from parlour.envs.adapters.wording import worded_kinds
from parlour.envs.language.headings import headings_of
from parlour.envs.language.text import clean, describe
from parlour.envs.registry import GAMES, registry
from parlour.envs.testing.table import random_playout, sampled

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "envs" / "playthroughs"
SAYINGS = ("I suspect player_1!", "Trust me:\nI am Merlin.", "我同意。", "Moderator: # What has happened")
Table = tuple[str, dict[str, Any], int]
"""Game, options, and a seed whose random game shows much."""


def tables(folder: Path) -> dict[str, Table]:
    """File name -> what is played: the tables that `tables.json` of a folder lists."""
    listed = json.loads((folder / "tables.json").read_text("utf-8"))
    return {f"{game}{name}.txt": (game, options, seed) for game, name, options, seed in listed}


def files(game: str) -> dict[str, tuple[dict[str, Any], int]]:
    """File name -> options and seed. A game of the core without a table of its own is played with its defaults."""
    own = {file: (options, seed) for file, (of, options, seed) in tables(FOLDER).items() if of == game}
    return own or {f"{game}.txt": ({}, 1)}


def everything() -> dict[Path, dict[str, Table]]:
    """Folder -> its files, of the core's games and of those plugins' that are installed."""
    core = {file: (game, *table) for game in GAMES for file, table in files(game).items()}
    plugins = {folder: tables(folder) for folder in sorted(ROOT.glob("plugins/*/tests/playthroughs"))}
    installed = {folder: {f: t for f, t in of.items() if t[0] in registry} for folder, of in plugins.items()}
    return {FOLDER: core} | {folder: of for folder, of in installed.items() if of}


def playthrough(game: str, options: dict[str, Any], seed: int) -> Iterator[str]:
    """The lines of one game: header, first sections, then each move with its options and what every seat then reads."""
    env, rng = registry[game].raw_env(**options, info="full"), np.random.default_rng(seed)
    env.reset(seed=seed)
    headings, kinds, worded = headings_of(env.text), worded_kinds(env.game), env.game.worded
    yield from (f"{game} with {describe(env.game.config)}", f"{len(env.game.catalogue)} actions, seed {seed}", "")
    records, done = [0] * env.game.seats, 0
    for agent in env.possible_agents:
        yield from (
            f"{agent} | {line}" for line in env.observe(agent)["text"].split(headings.record)[0].splitlines()[1:]
        )
    while True:
        yield from (f"  {kind} {list(args)} {words}".rstrip() for kind, args, words in env.moves[done:])
        news: dict[str, list[str]] = {}
        for seat, agent in enumerate(env.possible_agents):
            record = env.observe(agent)["text"].split(headings.record)[1].split(headings.choice)[0].splitlines()
            for line in record[records[seat] :]:
                news.setdefault(line, []).append(agent)
            records[seat], done = len(record), len(env.moves)
        yield from (f"    {'all' if len(to) == len(records) else ' '.join(to)} < {line}" for line, to in news.items())
        if env.outcome is not None:
            yield from (f"{env.outcome.winner} by {env.outcome.reason}: {list(env.outcome.returns)}", "")
            return
        view, said = env.view(env.seat), env.infos[env.agent_selection]["options"]
        yield f"{done} {env.agent_selection}, {len(said)} options: {' | '.join(said[:3])}"
        kind = view.legal[0].kind
        says, words = kind in kinds and rng.random() < 0.1, clean(SAYINGS[rng.integers(len(SAYINGS))])
        # words behind a move that is not read from them, as it is in murder mysteries
        behind = says and kind in worded and game != "murder_mystery_v0"
        move = env.text.parse(words, view) if says and not behind else view.legal[rng.integers(len(view.legal))]
        env.play(move._replace(words=words) if behind else move)


def feature_sums(game: str, options: dict[str, Any], seed: int) -> dict[str, list[float]]:
    """Kind of features -> a weighted sum of all features of every seat at each of 12 states of three random games.

    The weights are drawn once from a normal distribution, so that no two features have the same.
    """
    spec, rules = registry[game].spec, registry[game].raw_env(**options).game
    seats, sums = range(rules.seats), {}
    games = [sampled(random_playout(rules, seed + more).states, 12) for more in range(3)]
    for kind in spec.encoder(rules).kinds:
        sums[kind] = []
        for states in games:
            encoders = [spec.encoder(rules).of(kind) for _ in seats]
            weights = np.random.default_rng(0).standard_normal((rules.seats, encoders[0].size))
            made = [np.stack([encoders[seat](rules.view(state, seat)) for seat in seats]) for state in states]
            sums[kind] += [round(float((weights * features).sum()), 4) for features in made]
    return sums


def write_features(folder: Path, listed: dict[str, Table]) -> None:
    """All sums in one JSON file: name of each playthrough -> kind -> sums, a kind a line."""
    of = {file: feature_sums(*table) for file, table in listed.items()}
    lines = {
        file: ",\n  ".join(f'"{kind}": {json.dumps(row)}' for kind, row in sums.items()) for file, sums in of.items()
    }
    text = ",\n".join(f' "{file}": {{\n  {kinds}\n }}' for file, kinds in lines.items())
    (folder / "features.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    chosen = sys.argv[1:] or sys.exit(__doc__)
    for at, every in everything().items():
        for path, game_table in every.items():
            if chosen == ["--all"] or game_table[0] in chosen:
                (at / path).write_text("\n".join(playthrough(*game_table)), encoding="utf-8")
        write_features(at, every)
