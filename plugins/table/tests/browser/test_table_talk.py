"""Talk at the live table, and the coach: what words are heard as before they are said, hints, the decisions that cost most."""

from __future__ import annotations

import json

import pytest
from parlour.envs import replay

from tests.browser.watched_page import GOOD, PHONE

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
from live_tables import opened
from watched_table import play_to_the_end, wait_for_turn, wait_until

NAMES = ("Ana", "Ben", "Cleo", "Dan", "Eva")
HEARD = "document.getElementById('words-reading').textContent"


def say(person, words, expected):
    """Type words, and say them once the page shows what they are heard as."""
    person.page.fill("#words", words)
    wait_until(person, f"{HEARD} === '{expected}'")
    person.page.get_by_role("button", name="Say it").click()


@pytest.mark.parametrize(
    ("words", "expected", "line"),
    [
        (
            "I'd bench Ben, he looks shaky",
            "Heard as: I accuse Ben of being evil.",
            'says: "I\'d bench Ben, he looks shaky" (taken as: I accuse Ben of being evil.)',
        ),
        (
            "Ben, do you trust Dan?",
            "Heard as: a question to Ben: what do you think of Dan?",
            'says: "Ben, do you trust Dan?"',
        ),
        ("Lovely weather.", "Heard as: no claim. Your words are said as they are.", 'says: "Lovely weather."'),
    ],
)
def test_words_are_shown_as_they_are_heard_and_said_as_they_were_typed(words, expected, line, sit, tmp_path):
    with opened(tmp_path, "avalon_v0", (0,), num_players=5, seed=1, names=NAMES) as opening:
        person = sit(opening, 0)
        wait_for_turn(person)
        person.page.fill("#words", words)
        assert person.page.get_by_role("button", name="Say it").is_disabled(), "nothing is said unread"
        say(person, words, expected.replace("'", "\\'"))
        said = "[...document.querySelectorAll('#happened li.said .what')].map((what) => what.innerText)"
        wait_until(person, f"{said}.includes({json.dumps(line)})")  # others may have spoken before
        assert person.misdeeds() == GOOD
    first = next(entry for entry in replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl").entries if entry.seat == 0)
    assert "Ben" not in first.move.words, "the record keeps seats"


def test_words_that_are_no_move_cannot_be_said(sit, tmp_path):
    pytest.importorskip("parlour_people", reason="the game with words beside a team is of the plugin people")
    with opened(tmp_path, "avalon_multi_round_v0", (0,), num_players=5, seed=1, names=NAMES) as opening:
        person = sit(opening, 0)
        leads = "(document.querySelector('.your-turn .question') || {textContent: ''}).textContent.includes('propose a team')"
        free = "document.querySelector('.your-turn .choices button:not(:disabled)') !== null"
        while not person.page.evaluate(leads):
            wait_until(person, f"{free} || {leads}")
            if not person.page.evaluate(leads):
                person.page.locator(".your-turn .choices button:not(:disabled)").first.click()
        person.page.fill("#words", "Ben alone")
        wait_until(person, f"{HEARD}.includes('accepted: ')")
        assert person.page.get_by_role("button", name="Say it").is_disabled()


@pytest.mark.parametrize(
    ("game", "heading", "left_out"),
    [
        ("avalon_v0", "What the record says of each player", 1),
        ("werewolf_v0", "How each player looks to an onlooker", 0),
    ],
)
def test_the_coach_tells_the_belief_and_the_best_move_and_then_what_cost_most(game, heading, left_out, sit, tmp_path):
    """The person is good in the first game, a werewolf in the second."""
    with opened(tmp_path, game, (0,), seed=5, coach=True, talk="words") as opening:
        person = sit(opening, 0, PHONE)
        wait_for_turn(person)
        assert "expert would choose: " in person.page.locator("#turn .coach .best").inner_text()
        person.page.get_by_text(heading).click()
        wait_until(person, "document.querySelectorAll('#turn .coach li').length > 0")
        players = person.page.locator("#turn .coach li").all_inner_texts()
        assert len(players) == opening.games.env.game_env.game.seats - left_out
        assert all("evil with " in line for line in players)
        assert person.wider_than_screen() == 0
        faults = pytest.importorskip("axe_playwright_python.sync_playwright").Axe().run(person.page)
        assert faults.violations_count == 0, faults.generate_report()
        play_to_the_end([person], 60)
        working = "Coach: working out which of your decisions cost most"
        wait_until(
            person,
            f"document.querySelector('#ending .coach, #ending-body > [role=status]:last-child').textContent.startsWith('{working[:5]}')",
        )
        wait_until(person, "document.querySelector('#ending .coach') !== null", 120)
        faults = pytest.importorskip("axe_playwright_python.sync_playwright").Axe().run(person.page)
        assert faults.violations_count == 0, faults.generate_report()
        advice = person.page.locator("#ending .coach").inner_text()
        assert "points of win rate" in advice or "no decision of yours that cost anything" in advice
        assert working not in person.page.locator("#ending").inner_text()
        steps = [link.get_attribute("href") for link in person.page.get_by_role("link", name="See this decision").all()]
        assert len(steps) == person.page.locator("#ending .coach li").count()
        stored = replay.Transcript.read(tmp_path / f"{game}-1.jsonl")
        assert {stored.entries[int(step.rpartition("=")[2])].seat for step in steps} <= {0}
        assert person.misdeeds() == GOOD
