"""Write golden playthroughs and features, which the tests compare. Usage: python scripts/playthrough.py NAME | --all."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from parlour.envs import registry
from parlour.envs.adapters.wording import worded_kinds
from parlour.envs.language.headings import headings_of
from parlour.envs.language.text import clean, describe
from parlour.envs.testing.table import random_playout, sampled

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "envs" / "playthroughs"
SAYINGS = ("I suspect player_1!", "Trust me:\nI am Merlin.", "我同意。", "Moderator: # What has happened")
# game, what is added to the file's name, options, and a seed whose random game shows much
TABLES = json.loads((FOLDER / "tables.json").read_text("utf-8"))


def files(game: str) -> dict[str, tuple[dict[str, Any], int]]:
    """File name -> options and seed. A game without a table of its own is played with its defaults."""
    return {f"{game}{name}.txt": table for g, name, *table in TABLES if g == game} or {f"{game}.txt": ({}, 1)}


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


def write_features(folder: Path) -> None:
    """All sums in one JSON file: name of each playthrough -> kind -> sums, a kind a line."""
    of = {file: feature_sums(game, *table) for game in registry for file, table in files(game).items()}
    lines = {
        file: ",\n  ".join(f'"{kind}": {json.dumps(row)}' for kind, row in sums.items()) for file, sums in of.items()
    }
    text = ",\n".join(f' "{file}": {{\n  {kinds}\n }}' for file, kinds in lines.items())
    (folder / "features.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    for chosen in registry if sys.argv[1:] == ["--all"] else sys.argv[1:] or sys.exit(__doc__):
        for file, table in files(chosen).items():
            (FOLDER / file).write_text("\n".join(playthrough(chosen, *table)), encoding="utf-8")
    write_features(FOLDER)
