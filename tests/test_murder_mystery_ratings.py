"""Ratings by people: the five scales of Questum's table 7, asked after a game, kept beside the transcript, summarised."""

from __future__ import annotations

import builtins
import json
from pathlib import Path

import pytest
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.training.measure.murder_mystery import ratings
from parlour.training.measure.murder_mystery.ratings import NAMES, Rating, texts
from refused_values import refusal

TABLE_6 = {
    # Story Advancement, Question Quality, Response Quality, Response Speed, Role Immersion; overall
    "Werewolf": ((1.50, 1.67, 2.83, 1.17, 2.25), 1.88, 0.59),
    "O-CoT": ((2.08, 1.58, 2.92, 1.33, 2.17), 2.01, 0.55),
    "ThinkThrice": ((2.67, 2.08, 3.00, 1.17, 2.33), 2.25, 0.62),
    "Questum": ((3.50, 3.25, 3.50, 2.50, 2.83), 3.11, 0.39),
}


def test_the_scales_are_those_of_table_7_with_five_levels_in_both_languages():
    assert NAMES == ("story advancement", "question quality", "response quality", "role immersion", "response speed")
    for language in ("en", "zh"):
        scales = texts(language).scales
        assert tuple(scales) == NAMES
        assert all(scale.title and len(set(scale.levels)) == 5 for scale in scales.values())


@pytest.mark.parametrize("method", TABLE_6)
def test_the_last_row_of_table_6_is_mean_and_deviation_of_its_five_rows(method):
    means, overall, deviation = TABLE_6[method]
    row = ratings.row(means)
    assert row.mean == pytest.approx(overall, abs=0.007)  # 2.016 and 3.116 are printed as 2.01 and 3.11
    assert row.deviation == pytest.approx(deviation, abs=0.006)


def test_a_summary_is_by_method_and_leaves_out_what_was_left_out():
    others = {"player_1": "questum", "player_2": "questum"}
    rated = [
        Rating("player_0", others, dict.fromkeys(NAMES, 4)),
        Rating("player_0", others, {**dict.fromkeys(NAMES, 2), "role immersion": 5}),
        Rating("player_0", {"player_1": "mystery_ocot"}, {"response speed": 1}),
    ]
    summary = ratings.summary(rated)
    assert list(summary) == ["mystery_ocot", "questum"]
    assert summary["questum"]["story advancement"] == (3.0, 1.0, 2)  # 4 and 2
    assert summary["questum"]["role immersion"] == (4.5, 0.5, 2)
    assert summary["questum"]["overall"].mean == pytest.approx((4 * 3.0 + 4.5) / 5)
    assert summary["mystery_ocot"] == {"response speed": (1.0, 0.0, 1), "overall": (1.0, 0.0, 1)}


@pytest.mark.parametrize(("language", "other"), [("en", "zh"), ("zh", "en")])
def test_a_person_is_asked_until_the_answer_is_1_to_5_or_empty(language, other):
    said = iter(["0", "six", "5", "", " 3 ", "1", "2"])
    shown: list[str] = []
    points = ratings.ask(lambda _: next(said), shown.append, language)
    assert points == {"story advancement": 5, "response quality": 3, "role immersion": 1, "response speed": 2}
    assert {texts(language).refused.format(said) for said in ("0", "six")} < set(shown)
    assert all(scale.title in shown for scale in texts(language).scales.values())
    assert not any(scale.title in shown for scale in texts(other).scales.values())


# -- after a game ----------------------------------------------------------------------------------------------


PLAY = "play murder_mystery_v0 --set case=seed:5:zh:4:1 --set rounds=1 --policy questum --policy player_1=human"


@pytest.fixture
def keyboard(monkeypatch) -> list[str]:
    """A person who always takes the first option, and rates 4, 3, nothing, 2, 5."""
    points = iter(["4", "3", "", "2", "5"])
    prompts: list[str] = []

    def read(prompt: str = "") -> str:
        prompts.append(prompt)
        return next(points) if prompt.startswith("1..5") else "1"

    monkeypatch.setattr(builtins, "input", read)
    return prompts


@pytest.fixture
def rated(tmp_path, keyboard, output_of) -> Path:
    output_of([*PLAY.split(), "--out", str(tmp_path)])
    return tmp_path / "murder_mystery_v0-1.jsonl"


def test_after_a_game_the_ratings_lie_beside_the_transcript(rated):
    assert replay.read(rated).outcome is not None  # the transcript itself is as it was
    data = json.loads(ratings.path_of(rated).read_text("utf-8"))
    assert data["transcript"] == rated.name
    (rating,) = data["ratings"]
    assert rating["seat"] == "player_1"
    assert rating["points"] == {"story advancement": 4, "question quality": 3, "role immersion": 2, "response speed": 5}
    assert set(rating["rated"]) == {"player_0", "player_2", "player_3"}
    assert set(rating["rated"].values()) == {"questum @ offline"}


def test_the_command_sums_up_a_folder(rated, output_of, json_of):
    summed = json_of(["murder-mystery", "ratings", str(rated.parent), "--json"])["summary"]["questum @ offline"]
    assert summed["overall"]["mean"] == pytest.approx((4 + 3 + 2 + 5) / 4)
    assert "response quality" not in summed
    assert "3.50" in output_of(["murder-mystery", "ratings", str(rated.parent)])


def test_without_a_folder_or_a_person_nobody_is_asked(tmp_path, keyboard, output_of):
    output_of(PLAY.split())
    assert not any(prompt.startswith("1..5") for prompt in keyboard)
    keyboard.clear()
    words = "play murder_mystery_v0 --set case=seed:5:en:4:1 --set rounds=1 --policy mystery_none --out"
    output_of([*words.split(), str(tmp_path)])
    assert keyboard == []
    with pytest.raises(ParlourError, match="holds no ratings"):
        ratings.of_directory(tmp_path)


@pytest.mark.slow
def test_ratings_of_another_transcript_are_refused(rated):
    path = ratings.path_of(rated)
    assert len(ratings.read(path)) == 1
    rated.write_text(rated.read_text("utf-8") + "\n", encoding="utf-8")
    with pytest.raises(ParlourError, match="does not belong to"):
        ratings.read(path)


def test_the_same_seat_rates_once_and_an_unknown_one_not_at_all(rated):
    ratings.store(rated, "player_1", {"response speed": 1})
    assert [rating.points for rating in ratings.read(ratings.path_of(rated))] == [{"response speed": 1}]
    with pytest.raises(ParlourError, match="seat 'player_9' is not accepted"):
        ratings.store(rated, "player_9", {})
    for points in ({"response speed": 6}, {"charm": 3}, {"response speed": True}):
        with pytest.raises(ParlourError, match="accepted"):
            ratings.store(rated, "player_1", points)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"parlour_ratings": 2}', '{"parlour_ratings": 1, "ratings": [{}]}'])
def test_a_spoilt_file_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "x.ratings.json"
    path.write_text(text, encoding="utf-8")
    refusal(ratings.read, path)
