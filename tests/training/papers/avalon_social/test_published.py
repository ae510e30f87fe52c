"""The social measures of the published games."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from parlour.envs import replay
from parlour.envs.core import NATURE
from parlour.training.papers import avalon_social as social
from parlour.training.records.avalon.importing import import_records

from tests.reference_data import reference as data
from tests.training.measure.avalon.transcripts import parts


@pytest.fixture(scope="module")
def reference() -> Path:
    return data("avalon_logs/red_9.json").parent


def test_the_command_prints_measures(
    published: Path, output_of: Callable[..., str], json_of: Callable[..., Any]
) -> None:
    output = json_of(["metrics", "speech", str(published), "--json"])
    assert output["judge"] == "offline"
    shown = output_of(["metrics", "speech", str(published)])
    for line in ("Judged by heuristics (no language model)", "self recommendation", "games, good", "sharing"):
        assert line in shown


# -- the published games ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def published(reference: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("published")
    import_records(reference / "extracted.jsonl", out, reference)
    return out


@pytest.fixture(scope="module")
def groups(published: Path) -> dict[str, Any]:
    measured: dict[str, Any] = social.measures(social.judge_directory(published))["groups"]
    return measured


def test_what_metrics_count_is_counted_alike_here(groups: dict[str, Any]) -> None:
    for group in groups.values():
        for role, of_role in group["outcomes"].items():
            if isinstance(of_role, dict):
                assert "/".join(map(str, parts(group["engagement"][role]) or ())) == of_role["qer_voted"]
                assert parts(group["fails"][role]) == (of_role["fails_host"], of_role["cards"])
                assert round(group["approval"][role].value, 4) == of_role["lar_all"]
                assert group["approval"][role].n == 6 * of_role["lar_all_n"]
        outcomes = group["outcomes"]
        assert parts(group["wins"]["good"]) == (outcomes["wins_good"], outcomes["games"])
        assert parts(group["wins"]["evil"]) == (outcomes["wins_evil"], outcomes["games"])


def test_valid_responses_of_the_published_games(published: Path, groups: dict[str, Any]) -> None:
    # counted in `extracted.jsonl`: per side 114 and 126 statements and as many votes; unconfirmed teams, cards not
    # explicit in the reply, and answers of the Assassin without yes or no are invalid
    total, invalid = {"good": 0, "evil": 0}, {"good": 0, "evil": 0}
    for path in published.iterdir():
        notes = replay.Transcript.read(path).header["published"]
        side = notes["proposed_method_side"]
        kinds = [
            entry.move.kind for entry in replay.Transcript.read(path).entries if entry.move and entry.seat != NATURE
        ]
        total[side] += len(kinds)
        invalid[side] += notes["confirm_logged"].count(False)
        invalid[side] += sum(card[0] != "text" for card in notes["cards"])
        invalid[side] += sum(basis != "text" for basis in notes["answers"])
    for side in total:
        assert parts(groups[side]["valid_responses"]["table"]) == (total[side] - invalid[side], total[side])
    assert sum(invalid.values()) > 0
