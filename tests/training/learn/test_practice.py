"""Experience: its file, what a game teaches, and practice that is the same again, also after a kill."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.policies import AvalonAgent
from parlour.policies.agents.avalon import Experience, Lesson, Pool
from parlour.policies.agents.avalon.estimate import count_habits, tally_in
from parlour.policies.agents.avalon.lines import first_strategy, lines_of, results_in
from parlour.policies.llm.model import OfflineModel
from parlour.training.cli import run
from parlour.training.learn import practice
from parlour.training.learn.practice import PracticeConfig, curve, practise
from parlour.training.play import rollout
from parlour.training.runs.loggers import read_curve
from parlour.training.runs.run import Run

SMALL = PracticeConfig(games=2, num_players=5, seed=3)
LESSON = Lesson(
    "Prefer the line quiet. Won so far: quiet 3 of 4.",
    ("a", "b\u2028c", "我"),
    "Evil players play fail 3 of 4 times.",
    7,
)


# -- the file --------------------------------------------------------------------------------------------------


def test_experience_survives_its_file_and_can_be_read(tmp_path):
    experience = Experience(roles={"Merlin": LESSON, "Assassin": Lesson("Hide.")})
    path = tmp_path / "deep" / "e.json"
    experience.save(path)
    assert Experience.load(path) == experience
    assert [file.name for file in path.parent.iterdir()] == ["e.json"]
    text = path.read_text("utf-8")
    assert "我" in text
    assert len(text.splitlines()) > 15
    assert experience.of("Percival") == Lesson(first_strategy("Percival"))
    assert experience.of("Merlin") is experience.roles["Merlin"]


def test_a_file_edited_by_hand_changes_how_a_role_is_played(tmp_path):
    path = tmp_path / "e.json"
    Experience(roles={"Merlin": LESSON}).save(path)
    stored = json.loads(path.read_text("utf-8"))
    stored["roles"]["Merlin"]["strategy"] = "I like the line discreet most."
    path.write_text(json.dumps(stored), "utf-8")
    model = OfflineModel()
    agents = [AvalonAgent(model, experience=Experience.load(path)) for _ in range(5)]
    rollout.play(rollout.table("avalon_v0", num_players=5), agents, 1)
    merlin = next(agent for agent in agents if agent.me is not None and agent.me.role == "Merlin")
    assert merlin.line == "discreet"


@pytest.mark.parametrize(
    "spoil",
    [
        {"strategy": 3}, {"suggestions": [1]}, {"suggestions": None}, {"suggestions": "Be bold."}, {"others": None},
        {"games": "7"}, {"games": True}, {"games": -1}, {"strategie": "typo"},
    ],
    ids=str,
)  # fmt: skip
def test_a_lesson_edited_wrongly_is_refused_in_one_line(spoil, tmp_path):
    Experience(roles={"Merlin": LESSON}).save(tmp_path / "e.json")
    stored = json.loads((tmp_path / "e.json").read_text("utf-8"))
    stored["roles"]["Merlin"] |= spoil
    (tmp_path / "e.json").write_text(json.dumps(stored), "utf-8")
    with pytest.raises(ParlourError, match="cannot be used") as caught:
        Experience.load(tmp_path / "e.json")
    assert "\n" not in str(caught.value)


FORMATS: dict[type[Any], str] = {Experience: "parlour avalon experience 1", Pool: "parlour avalon experiences 1"}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", "{\xff", '{"format": "another", "roles": {}}', '{"format": "FORMAT"}',
        '{"format": "FORMAT", "roles": []}', '{"format": "FORMAT", "roles": {"Merlin": {"a": 1}}}',
        '{"format": "FORMAT", "roles": {"Merlin": [3]}}', '{"format": "FORMAT", "roles": {"Merlin": null}}',
        '{"format": "FORMAT", "roles": {"Merlin": [{"reflection": "a\\nb"}]}}',
    ],
)  # fmt: skip
def test_a_file_that_holds_no_experience(kind, text, tmp_path):
    (tmp_path / "e.json").write_bytes(text.replace("FORMAT", FORMATS[kind]).encode("latin-1"))
    for name in ("e.json", "none.json"):
        with pytest.raises(ParlourError, match="cannot be used") as caught:
            kind.load(tmp_path / name)
        assert "\n" not in str(caught.value)


# -- what a game teaches ---------------------------------------------------------------------------------------


def one_game(**settings: Any) -> tuple[list[AvalonAgent], list[str]]:
    agents = [AvalonAgent(**settings) for _ in range(6)]
    episode = rollout.play(rollout.table("avalon_v0", num_players=6), agents, 4)
    return agents, [view.role for view in episode.last_views]


def test_a_game_is_counted_for_its_line():
    agents, roles = one_game()
    for agent, role in zip(agents, roles, strict=True):
        won, lost = (agent.learn(roles, won=result, seed=0) for result in (True, False))
        assert won is not None
        assert lost is not None
        assert results_in(won.strategy) == {agent.line: (1, 1)}
        assert results_in(lost.strategy) == {agent.line: (0, 1)}
        assert f'line of play "{next(iter(lines_of(role)))}"' in won.strategy  # 2/3 for the first line
        assert f'line of play "{next(iter(lines_of(role)))}"' not in lost.strategy  # 1/3, and 1/2 for the others
        assert len(won.suggestions) == 3
        assert won.games == 1
        record = [line for messages in agent.notes_taken.rounds for line in messages]
        counted = {field: count for field, count in count_habits(record, roles).items() if count[1]}
        assert tally_in(won.others) == counted
        assert counted["fail"][1] >= 1
    assert AvalonAgent().learn(roles, won=True, seed=0) is None


def test_counts_are_added_to_those_of_earlier_games():
    before = Experience(roles=dict.fromkeys(("Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin"), LESSON))
    agents, roles = one_game(experience=before)
    merlin = agents[roles.index("Merlin")]
    lesson = merlin.learn(roles, won=True, seed=0)
    assert lesson is not None
    assert results_in(lesson.strategy) == {"quiet": (4, 5)}
    plain = one_game()[0][roles.index("Merlin")]
    plain.notes_taken = merlin.notes_taken
    alone = plain.learn(roles, won=True, seed=0)
    assert alone is not None
    k, n = tally_in(alone.others).get("fail", (0, 0))
    assert tally_in(lesson.others)["fail"] == (3 + k, 4 + n)
    assert lesson.games == 8
    assert before.roles["Merlin"] == LESSON  # learning returns a lesson, and changes none


@pytest.mark.parametrize("part", ["improve", "others"])
def test_a_part_switched_off_leaves_its_part_as_it_was(part):
    before = Experience(roles=dict.fromkeys(("Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin"), LESSON))
    agents, roles = one_game(without=(part,), experience=before)
    lesson = agents[0].learn(roles, won=True, seed=0)
    assert lesson is not None
    own = (lesson.strategy, lesson.suggestions) == (LESSON.strategy, LESSON.suggestions)
    assert (own, lesson.others == LESSON.others) == (part == "improve", part == "others")


# -- practice --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A run that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    practise(SMALL, Run(folder))
    return folder


@pytest.mark.slow
def test_practice_is_the_same_again_and_sides_take_turns(whole):
    first = practise(SMALL, Run(None))
    assert practise(SMALL, Run(whole)) == first  # nothing is left to play there
    assert len(first.won) == 4
    assert practise(SMALL.replace(seed=4), Run(None)) != first
    lessons, pool = first.experience.roles, first.pool.roles
    assert (
        set(lessons) == set(pool) == {"Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin"}
    )  # either side played both
    assert {lesson.games for lesson in lessons.values()} == {2}
    assert all(sum(n for _, n in results_in(lesson.strategy).values()) == 2 for lesson in lessons.values())
    assert 0 < sum(first.won) < 4  # or the next lines say nothing
    for role, won in (("Merlin", first.won[0::2]), ("Morgana", first.won[1::2])):
        assert sum(k for k, _ in results_in(lessons[role].strategy).values()) == sum(won)
        assert {lesson.score > 500 for lesson in pool[role]} == {
            not result for result in (first.won[1::2], first.won[0::2])[role != "Merlin"]
        }
    assert Experience.load(whole / practice.EXPERIENCE) == first.experience
    assert Pool.load(whole / practice.POOL) == first.pool
    assert (whole / "curve.png").stat().st_size > 1000


def test_a_folder_holds_one_run_with_one_model(tmp_path):
    class Other(OfflineModel):
        name = "other"

    practise(SMALL.replace(games=1), Run(tmp_path))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for other, model in (({"without": ("plan",)}, None), ({}, Other())):
        with pytest.raises(ParlourError, match="holds a run with"):
            practise(SMALL.replace(games=1, **other), Run(tmp_path), model)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_curve():
    points = list(curve([k < 20 for k in range(40)]))  # the first 20 games of 40 are won
    assert [(points[k - 1].x, points[k - 1].y) for k in (10, 20, 30, 40)] == [(10, 1), (20, 1), (30, 0.5), (40, 0)]
    assert points[0].low == pytest.approx(0.2065, abs=1e-4)  # Wilson's for 1 of 1: 1 / (1 + 1.96 ** 2)
    assert list(curve([])) == []


def test_the_command(tmp_path, json_of):
    output = json_of(
        ["train", "avalon", "--out", str(tmp_path), "--games", "1", "-n", "5", "--without", "plan+memory", "--json"]
    )
    assert output["model"] == "offline"
    assert json.loads((tmp_path / "config.json").read_text())["without"] == ["plan", "memory"]
    won = {"charts/win_rate_good": output["won_as_good"], "charts/win_rate_evil": output["won_as_evil"]}
    rows = read_curve(tmp_path)
    assert [step for step, _ in rows] == [1, 2]
    assert [{name: x for name, x in row.items() if x is not None} for _, row in rows] == [
        {name: x} for name, x in won.items()
    ]
    assert run(["train", "avalon", "--out", str(tmp_path), "--games", "2", "-n", "5"]) == 2
    assert run(["train", "avalon", "--out", str(tmp_path / "x"), "--without", "thinking"]) == 2


@pytest.mark.parametrize("wrong", [{"without": ("zzz",)}, {"about": "nobody"}, {"rules": "house"}], ids=str)
def test_a_setting_that_is_refused_leaves_no_run_behind(wrong, tmp_path):
    with pytest.raises(ParlourError, match="is not accepted; accepted:"):
        practice.practise(practice.PracticeConfig(**wrong), Run(tmp_path / "run"))
    assert not (tmp_path / "run").exists()
