"""The page of abilities in a browser: it fits a screen and a phone, and axe finds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from parlour.policies.llm.decisions import Decisions
from parlour.training.statistics import Estimate
from parlour_bench.abilities.consistency import Consistency
from parlour_bench.abilities.page import ABILITIES_PAGE, write_abilities_page
from parlour_bench.abilities.persuasion import Persuasion
from parlour_bench.abilities.run import Abilities, MovesTaken, VillageBeliefs
from parlour_bench.abilities.stated import StatedScores
from parlour_bench.abilities.table import abilities_table, verdict_on

from tests.browser.watched_page import DESKTOP, GOOD, SCROLLING

HALF = Estimate(0.5, 0.25, 0.75, 40)
SCORES = {name: StatedScores(HALF, HALF, 0.1, 160) for name in ("<b>me</b>", "expert", "heuristic", "random")}
FOUND = Abilities(
    player="<b>me</b>",
    deduction=SCORES,
    against={"heuristic": SCORES},
    village=VillageBeliefs(SCORES, {"heuristic": SCORES}),
    deception={"onlooker": HALF, "exact": HALF, "heuristic": None, "themselves": None},
    by_words=HALF,
    persuasion=Persuasion(HALF, None),
    names_merlin=Estimate.rate(1, 4),
    hides_merlin=None,
    asked=Decisions(),
    consistency={"avalon_v0": {"<b>me</b>": Consistency(HALF, HALF, None, 40)}},
    moves=MovesTaken(40, 0.9, 1200.0, None),
)


@pytest.mark.parametrize("size", [DESKTOP, {"width": 390, "height": 844}], ids=["1280", "390"])
def test_the_page_fits_asks_for_nothing_and_can_be_read_by_everybody(watched, tmp_path: Path, size):
    write_abilities_page(tmp_path, FOUND, verdict_on(FOUND), abilities_table(FOUND))
    watched.page.set_viewport_size(size)
    page = watched.open(tmp_path / ABILITIES_PAGE)
    assert page.inner_text("h1") == "Abilities: <b>me</b>"
    assert watched.misdeeds() == GOOD
    assert watched.wider_than_screen() == 0
    assert page.evaluate(SCROLLING) == []
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    assert axe.run(page).response["violations"] == []
