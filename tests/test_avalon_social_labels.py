"""The labels are as their file says, a judge's agreement with them is counted right, and the published games are measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from avalon_transcripts import parts
from parlour.envs import replay
from parlour.envs.core import NATURE, ParlourError
from parlour.policies.llm.model import Answered, Model, RequestContext
from parlour.training.papers import avalon_social as social
from parlour.training.papers.avalon_social.labels import kappa, load
from parlour.training.papers.avalon_social.questions import Attitudes, Facts, Proposal, Told
from parlour.training.records.avalon import import_records
from parlour.training.records.avalon.published_log import statements
from reference_data import reference as data

ROLES = ("Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Morgana", "Assassin")


@pytest.fixture(scope="module")
def reference() -> Path:
    return data("avalon_logs/red_9.json").parent


def test_the_labels_hold_no_words_of_the_games() -> None:
    text = (
        resources.files("parlour.training.papers.avalon_social")
        .joinpath("data", "labels.json")
        .read_text(encoding="utf-8")
    )
    assert "before the classifier existed" in text
    labels = load()
    assert len(labels) == 60
    for label in labels:
        assert {key for key, value in label.items() if isinstance(value, str)} == {"log", "identity"}
        assert all(isinstance(player, int) for key in ("trust", "distrust", "shared") for player in label.get(key, ()))
        assert not set(label["trust"]) & set(label["distrust"])
        assert label["identity"] in ("self-disclosure", "camouflage", "withholding")


def test_the_labelled_statements_are_those_that_the_draw_gives(reference: Path) -> None:
    paths = sorted(path for path in reference.glob("*_?.json"))
    places = [
        (path.name, number, position)
        for path in paths
        for number, of in enumerate(statements(path), 1)
        for position in range(len(of))
    ]
    assert len(places) == 240
    drawn = sorted(np.random.default_rng(0).choice(240, 60, replace=False).tolist())
    assert [(label["log"], label["round"], label["statement"]) for label in load()] == [
        places[number] for number in drawn
    ]


# -- counting --------------------------------------------------------------------------------------------------


class Fixed(Model):
    """Always gives the same answers."""

    name = "fixed"
    is_language_model: ClassVar[bool] = False

    def answer(self, question: Any, context: RequestContext) -> Answered[Any]:
        answers: dict[str, Any] = {
            "social.attitude": Attitudes(why="", trusts=("player_2",), distrusts=("player_4",)),
            "social.self_proposal": Proposal(why="", proposes_self=True),
            "social.identity": Told(why="", identity="withholding"),
            "social.sharing": Facts(why="", told=("player_4",)),
        }
        return Answered(answers[question.kind])

    def settings(self) -> dict[str, Any]:
        return {}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    order = "、".join(f"player {player}" for player in range(1, 7))
    host = f"Please start discussing ... the order of each player's speech is {order}. player 1 has the power"
    events = [{"Host": host, f"player {k}({role})": "I say player 3."} for k, role in enumerate(ROLES, 1)]
    (tmp_path / "a.json").write_text(json.dumps({"round 1 starts:": events}))
    return tmp_path


def test_agreement_is_counted_case_by_case(log: Path) -> None:
    place = {"log": "a.json", "round": 1}
    labels = [
        # Merlin: player 3 trusted as judged; player 5 labelled neutral, judged distrusted; Morgana (5) shared, not 6
        place
        | {
            "statement": 0,
            "trust": [3],
            "distrust": [],
            "self_proposal": True,
            "identity": "withholding",
            "shared": [5],
        },
        # the Assassin: all as judged but the self-proposal
        place | {"statement": 5, "trust": [3], "distrust": [5], "self_proposal": False, "identity": "camouflage"},
    ]
    result = social.agreement(labels, log, Fixed())
    assert (result["judge"], result["statements"]) == ("fixed", 2)
    hits = {key: (result[key]["agreement"]["hits"], result[key]["agreement"]["n"]) for key in list(result)[2:]}
    assert hits == {"attitude": (9, 10), "self_proposal": (1, 2), "identity": (1, 2), "sharing": (2, 2)}
    assert result["attitude"]["classes"] == {
        "trust": {"labelled": 2, "judged": 2, "both": 2},
        "distrust": {"labelled": 1, "judged": 2, "both": 1},
        "neutral": {"labelled": 7, "judged": 6, "both": 6},
    }
    assert result["sharing"]["kappa"] == 1
    # 0.9 agree; by chance (2*2 + 1*2 + 7*6) / 100 = 0.48
    assert result["attitude"]["kappa"] == pytest.approx((0.9 - 0.48) / 0.52)
    assert result["self_proposal"]["kappa"] == 0


def test_chance_corrected_agreement() -> None:
    # Cohen 1960: 20 of 50 and 15 of 50 agree, marginals 25/25 and 30/20: (0.7 - 0.5) / 0.5 = 0.4
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert kappa(pairs) == pytest.approx(0.4)
    assert kappa([("y", "y")] * 3) is None
    assert kappa([]) is None
    assert kappa([("y", "n"), ("n", "y")]) == -1


@pytest.mark.parametrize("place", [{"round": 1, "statement": 6}, {"round": 2, "statement": 0}])
def test_a_log_without_a_labelled_statement_is_refused(place: dict[str, int], log: Path) -> None:
    label = {"log": "a.json", "trust": [], "distrust": [], "self_proposal": True, "identity": "withholding", **place}
    with pytest.raises(ParlourError, match="accepted: the published log"):
        social.agreement([label], log)


def test_the_command_prints_measures_and_agreement(
    reference: Path, published: Path, output_of: Callable[..., str], json_of: Callable[..., Any]
) -> None:
    output = json_of(["avalon", "social", str(published), "--json", "--labels-from", str(reference)])
    assert output["judge"] == "offline"
    assert output["labels"]["statements"] == 60
    assert output["labels"]["attitude"]["agreement"]["n"] == 300
    shown = output_of(["avalon", "social", str(published), "--labels-from", str(reference)])
    for line in (
        "Judged by heuristics (no language model)",
        "self recommendation",
        "games, good",
        "Agreement of heuristics (no language model) with 60",
        "sharing",
    ):
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
