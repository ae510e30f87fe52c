"""The picture of estimates with their intervals, in SVG, for the plugin's pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from parlour.training.report.html import escaped
from parlour.training.statistics import Estimate

_LONGEST_LABEL: Final = 48
"""Letters of a name in a picture, at most."""
_LETTER: Final = 7
"""Width of a letter there."""

Interval = tuple[str, Estimate, str]
"""A row of a picture of estimates: its name, the estimate, and a note."""


def intervals(label: str, rows: Sequence[Interval], low: float = 0.0, high: float = 1.0) -> str:
    """Estimates with their intervals as a picture in SVG, within a `figure`: each with a name and a note.

    It is there twice, and the style sheet shows one: the wide one has names before and notes behind, the one for phones above.
    """
    drawn = _intervals_wide(label, rows, low, high) + _intervals_stacked(label, rows, low, high)
    return f'<figure class="chart intervals" tabindex="0">{drawn}<figcaption>{escaped(label)}</figcaption></figure>'


def _intervals_wide(label: str, rows: Sequence[Interval], low: float, high: float) -> str:
    longest = min(_LONGEST_LABEL, max(len(name) for name, _, _ in rows))
    left, right = 24 + _LETTER * longest, 16 + _LETTER * max(len(note) for _, _, note in rows)
    scale, height = _Scale(left, 420, low, high), 26 * len(rows) + 34
    parts = [_svg("wide", label, left + 420 + right, height), *scale.grid(height)]
    for number, (name, estimate, note) in enumerate(rows):
        y = 20 + 26 * number
        parts.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{_shortened(name, longest)}</text>')
        parts += scale.mark(estimate, y)
        parts.append(f'<text x="{left + 428}" y="{y + 4}">{escaped(note)}</text>')
    return f"{''.join(parts)}</svg>"


def _intervals_stacked(label: str, rows: Sequence[Interval], low: float, high: float) -> str:
    width, step = 340, 46
    scale, height = _Scale(12, width - 24, low, high), step * len(rows) + 30
    parts = [_svg("stacked", label, width, height), *scale.grid(height)]
    for number, (name, estimate, note) in enumerate(rows):
        y = 18 + step * number
        room = width // _LETTER - len(note) - 2
        parts.append(f'<text x="4" y="{y}">{_shortened(name, max(room, 8))}</text>')
        parts.append(f'<text x="{width - 4}" y="{y}" text-anchor="end">{escaped(note)}</text>')
        parts += scale.mark(estimate, y + 14)
    return f"{''.join(parts)}</svg>"


class _Scale(NamedTuple):
    """Where values stand in a picture: from `left`, over `width`, between two values."""

    left: float
    width: float
    low: float
    high: float

    def across(self, value: float) -> float:
        share = (min(self.high, max(self.low, value)) - self.low) / (self.high - self.low)
        return round(self.left + self.width * share, 1)

    def grid(self, height: float) -> list[str]:
        """Lines with their values below."""
        parts = []
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            value = self.low + share * (self.high - self.low)
            x = self.across(value)
            parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="6" y2="{height - 24}"/>')
            parts.append(f'<text x="{x}" y="{height - 8}" text-anchor="middle">{value:g}</text>')
        return parts

    def mark(self, estimate: Estimate, y: float) -> list[str]:
        """An estimate and its interval."""
        first, last = map(self.across, estimate.ends)
        return [
            f'<line class="series s0" x1="{first}" x2="{last}" y1="{y}" y2="{y}"/>',
            f'<circle class="dot" cx="{self.across(estimate.value)}" cy="{y}" r="4.5"/>',
        ]


def _svg(kind: str, label: str, width: float, height: float) -> str:
    return f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{escaped(label)}">'


def _shortened(name: str, longest: int) -> str:
    return escaped(name if len(name) <= longest else name[: longest - 1] + "\u2026")
