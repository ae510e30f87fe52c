"""The picture of estimates with their intervals."""

from __future__ import annotations

from html.parser import HTMLParser

from parlour.training.statistics import Estimate
from parlour_bench.intervals import intervals


class Tags(HTMLParser):
    def __init__(self, made: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(made)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def test_a_picture_of_intervals_shows_each_estimate_where_it_lies():
    rows = [("<a>", Estimate(0.5, 0.4, 0.6), "n=10"), ("b", Estimate(0.0, 0.0, 1.0), "")]
    made = intervals("win rates", rows)
    # behind a label of 3 letters the scale begins at 24 + 3 x 7 = 45, and is 420 wide: 0.5 lies at 45 + 210 = 255
    # the second picture, for phones, begins at 12 and is 316 wide: 0.5 lies at 12 + 158 = 170, 0.4 at 12 + 126.4 = 138.4
    assert [circle["cx"] for circle in Tags(made).named("circle")] == ["255.0", "45.0", "170.0", "12.0"]
    bars = [line["x1"] for line in Tags(made).named("line") if line["class"] == "series s0"]
    assert bars == ["213.0", "45.0", "138.4", "12.0"]
    assert "&lt;a&gt;" in made
