"""The published games run through the social measures, and what others counted in them is counted alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from avalon_transcripts import parts
from parlour.envs import replay
from parlour.envs.core import NATURE
from parlour.training.papers import avalon_social as social
from parlour.training.records.avalon import import_records
from reference_data import reference


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = reference("avalon_logs/red_9.json").parent
    out = tmp_path_factory.mktemp("published")
    import_records(folder / "extracted.jsonl", out, folder)
    return out


@pytest.fixture(scope="module")
def judged(published: Path) -> social.Judged:
    return social.judge_directory(published)


@pytest.fixture(scope="module")
def groups(judged: social.Judged) -> dict[str, Any]:
    measured: dict[str, Any] = social.measures(judged)["groups"]
    return measured


def test_the_published_games_run_from_end_to_end(judged: social.Judged) -> None:
    measures = social.measures(judged)
    json.dumps(measures, allow_nan=False)
    assert list(measures["groups"]) == ["good", "evil"]
    assert measures["players"] == {}
    assert sum(len(table.utterances) for table in judged.tables) == 240
    assert all(utterance.team is not None for table in judged.tables for utterance in table.utterances)
    shares = [
        measures["groups"][group]["identity"][role][measure]["n"]
        for group in measures["groups"]
        for role in ("Merlin", "Loyal Servant", "Assassin")
        for measure in ("self-disclosure", "withholding")
    ]
    assert shares == [5, 5, 10, 10, 5, 5] * 2


def test_what_metrics_count_is_counted_alike_here(groups: dict[str, Any]) -> None:
    for group in groups.values():
        for role, of_role in group["outcomes"].items():
            if isinstance(of_role, dict):
                assert "/".join(map(str, parts(group["engagement"][role]) or ())) == of_role["qer_voted"]
                assert parts(group["fails"][role]) == (of_role["fails_host"], of_role["cards"])
                assert round(group["approval"][role]["rate"], 4) == of_role["lar_all"]
                assert group["approval"][role]["n"] == 6 * of_role["lar_all_n"]
        outcomes = group["outcomes"]
        assert parts(group["wins"]["good"]) == (outcomes["wins_good"], outcomes["games"])
        assert parts(group["wins"]["evil"]) == (outcomes["wins_evil"], outcomes["games"])


def test_valid_responses_of_the_published_games(published: Path, groups: dict[str, Any]) -> None:
    # counted in `extracted.jsonl`: per side 114 and 126 statements and as many votes; unconfirmed teams, cards not
    # explicit in the reply, and answers of the Assassin without yes or no are invalid
    total, invalid = {"good": 0, "evil": 0}, {"good": 0, "evil": 0}
    for path in published.iterdir():
        notes = replay.read(path).header["published"]
        side = notes["proposed_method_side"]
        kinds = [entry.move.kind for entry in replay.read(path).entries if entry.move and entry.seat != NATURE]
        total[side] += len(kinds)
        invalid[side] += notes["confirm_logged"].count(False)
        invalid[side] += sum(card[0] != "text" for card in notes["cards"])
        invalid[side] += sum(basis != "text" for basis in notes["answers"])
    for side in total:
        assert parts(groups[side]["valid_responses"]["table"]) == (total[side] - invalid[side], total[side])
    assert sum(invalid.values()) > 0
