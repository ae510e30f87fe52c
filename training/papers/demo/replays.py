"""The demo's replay pages: one beside each transcript, and the list of them in the report. Ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parlour.envs import replay as transcripts
from parlour.envs.registry import lookup
from parlour.training.results.replay_page.write import write_replay
from parlour.training.results.result_table import markdown_table


def markdown(out: Path, recorded: Sequence[Path]) -> str:
    """Write a page beside each transcript, and return the part of the report that names them; `out` is its folder."""
    rows = [_row(out, path, write_replay(path)) for path in recorded]
    table = markdown_table(("replay", "game", "who plays", "won by"), rows)
    return f"## Replays\n\nEach is one file that opens in a browser, from disk.\n\n{table}\n"


def _row(out: Path, transcript: Path, page: Path) -> tuple[str, str, str, str]:
    record = transcripts.read(transcript)
    name = page.relative_to(out).as_posix()
    end = f"{record.outcome.winner} ({record.outcome.reason})" if record.outcome else "nobody: not finished"
    return f"[{name}]({name})", lookup(record.header["game"]).spec.title, _players(record.header.get("players")), end


def _players(players: Any) -> str:
    """Who plays, with how many seats each.

    >>> _players({"player_0": "expert", "player_1": "heuristic", "player_2": "heuristic"})
    'expert, 2 heuristic'
    """
    if not isinstance(players, Mapping):
        return str(players or "")
    counted = Counter(map(str, players.values()))
    return ", ".join(f"{n} {name}" if n > 1 else name for name, n in counted.items())
