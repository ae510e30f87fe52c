"""Experience learning of the six-module agent: neutral questions, and suggestions that all count offline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from parlour.policies.agents.avalon import experience, lines, seat
from parlour.policies.agents.avalon.experience import Improve, Suggest

RNG = np.random.default_rng(0)
ROLES = ["Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Morgana", "Assassin"]


def suggested(role: str, line: str, messages: list[str], *, won: bool = True) -> list[str]:
    me = seat.AvalonSelfInfo(
        seat=ROLES.index(role), role=role, introduction=lines.introduction_of(role), roles=ROLES, night=[]
    )
    asked = Suggest(
        me=me,
        facts=[],
        summary="",
        messages=messages,
        role_of={f"player_{j}": other for j, other in enumerate(ROLES)},
        won=won,
        line=line,
        strategy=lines.first_strategy(role),
        earlier=[],
    )
    return asked.heuristic(RNG).suggestions


def improved(role: str, suggestions: list[str]) -> str:
    strategy = Improve(role=role, strategy=lines.first_strategy(role), suggestions=suggestions).heuristic(RNG).strategy
    return lines.preferred_line(strategy, role)


def test_the_prompts_prescribe_no_words_and_ask_for_no_count():
    folder = Path(experience.__file__).parent / "prompts" / "en"
    for name in ("suggest", "improve"):
        text = (folder / f"{name}.md").read_text("utf-8")
        assert '"' not in text
        assert not any(word in text for word in ("Prefer", "won so far", "count", "followed and won"))


@pytest.mark.parametrize(
    ("role", "line", "messages", "for_quests", "for_trust"),
    [
        ("Merlin", "open", ["Quest 1 succeeds. Fail cards: 0."], "open", "open"),
        ("Merlin", "open", ["Quest 1 fails. Fail cards: 1."], "discreet", "open"),
        ("Morgana", "sabotage", ["Quest 1 succeeds. Fail cards: 0."], "sleeper", "sabotage"),
        ("Morgana", "sabotage", ["Quest 1 fails. Fail cards: 1.", "player_0 accuses player_4"], "sabotage", "shadow"),
        ("Morgana", "shadow", ["player_0 accuses player_5"], "shadow", "shadow"),
    ],
)
def test_the_second_suggestion_is_about_quests_and_the_third_about_accusations(
    role, line, messages, for_quests, for_trust
):
    first, second, third = suggested(role, line, messages)
    assert first == f'As {role}, the line of play "{line}" was followed and won.'
    assert second.endswith(f'As {role}, try the line of play "{for_quests}".')
    assert third.endswith(f'Try the line of play "{for_trust}".')


@pytest.mark.parametrize("number", [0, 1, 2])
def test_each_of_the_three_suggestions_changes_the_strategy(number):
    lost = 'As Morgana, the line of play "sabotage" was followed and lost.'
    suggestions = [lost, "Quests failed: 0.", "Accusations: 0."]
    assert improved("Morgana", suggestions) == "sleeper"
    if number:
        suggestions[number] += ' Try the line of play "shadow".'
        assert improved("Morgana", suggestions) == "shadow"
    else:
        assert improved("Morgana", [lost.replace("lost", "won"), *suggestions[1:]]) == "sabotage"


def test_the_result_of_a_game_weighs_more_than_its_advice():
    lost, advice = (
        'As Morgana, the line of play "sabotage" was followed and lost.',
        'Try the line of play "sabotage".',
    )
    assert improved("Morgana", [lost, advice, advice]) == "sleeper"
