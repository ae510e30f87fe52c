"""A replay page of 1,000 events in headless Chromium: size of the file, first paint, one step, one change of perspective.

A murder mystery of nine players and ten rounds, some of whom ask an offline model, is played and its page opened from disk several times; a step is the time from a press of the
right arrow to the end of the page's work, its layout included, at all places of the game. Needs the extra `browser`.

PARLOUR_CHROMIUM=/usr/bin/chromium PYTHONPATH=tests python scripts/bench/replay_page.py [--opens 7] [--steps 200] [--out PAGE]
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from parlour.training.results.replay_page.write import write_replay
from playwright.sync_api import sync_playwright
from recorded_games import ASKING, record
from timing import median, show_table

STEP = """([key, times]) => Array.from({ length: times }, () => {
  const from = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  document.body.getBoundingClientRect();
  return performance.now() - from;
})"""
"""Presses a key so often; the layout is asked for, so that it is part of each time. Milliseconds."""
PERSPECTIVE = """seats => seats.map((seat) => {
  const picker = document.getElementById("perspective"), from = performance.now();
  picker.value = seat;
  picker.dispatchEvent(new Event("change"));
  document.body.getBoundingClientRect();
  return performance.now() - from;
})"""
LONG = {"case": "seed:1:en:9", "rounds": 10, "questions": 5}
PAINT = "() => performance.getEntriesByName('first-contentful-paint').map(one => one.startTime)[0]"


def main() -> None:
    """Play, write, open, step, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--opens", type=int, default=5)
    options.add_argument("--steps", type=int, default=200)
    options.add_argument("--out", type=Path, default=None)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asking = ASKING["murder_mystery_v0"]
        played = record(Path(folder) / "long.jsonl", "murder_mystery_v0", players=asking, **LONG)
        page = write_replay(played, given.out or Path(folder) / "long.html")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=os.environ["PARLOUR_CHROMIUM"], args=["--no-sandbox"])
            rows = measured(browser, page, given)
            browser.close()
    show_table("A replay page in headless Chromium", ("what", "median", "95 %", "worst", "may be", "n"), rows)


def measured(browser: Any, page: Path, given: argparse.Namespace) -> list[tuple[str, ...]]:
    """The rows of the table."""
    paints, steps, changes, events = [], [], [], 0
    for _ in range(given.opens):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        opened = context.new_page()
        opened.goto(page.resolve().as_uri())
        while (painted := opened.evaluate(PAINT)) is None:
            opened.wait_for_timeout(100)
        paints.append(float(painted))
        events = int(opened.locator("#scrubber").get_attribute("max"))
        for place in (0, events // 2, events - 2):
            opened.evaluate("place => { location.hash = place }", f"step={place}")
            opened.wait_for_timeout(100)
            steps += opened.evaluate(STEP, ["ArrowRight" if place < events // 2 else "ArrowLeft", given.steps // 3])
        changes += opened.evaluate(PERSPECTIVE, ["0", "all", ""])
        context.close()
    size = page.stat().st_size
    return [
        ("file", f"{size / 1e6:.2f} MB", "", "", "2 MB", f"{events} steps"),
        row("first paint", paints, "1000 ms"),
        row("one step", steps, "50 ms"),
        row("change of perspective", changes, ""),
    ]


def row(what: str, times: list[float], limit: str) -> tuple[str, ...]:
    """Of times in milliseconds: the median, what 95 % stay under, and the worst."""
    return (
        what,
        f"{median(times):.1f} ms",
        f"{sorted(times)[int(0.95 * len(times))]:.1f} ms",
        f"{max(times):.1f} ms",
        limit,
        str(len(times)),
    )


if __name__ == "__main__":
    main()
