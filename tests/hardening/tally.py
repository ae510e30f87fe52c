"""What has been tried and found so far, by attack and subject; as plain values for the lines of `attempts.jsonl`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hardening.attack import Finding, Tried

MB = 1_000_000


@dataclass
class Told:
    """A finding, with the number of the first attempt that showed it, and how many did."""

    finding: Finding
    number: int
    times: int = 1

    def join(self, other: Told) -> None:
        """Add the same finding of later attempts; the shorter of two inputs is kept, with its attempt."""
        self.times += other.times
        if len(other.finding.shortest) < len(self.finding.shortest):
            self.finding, self.number = other.finding, other.number


@dataclass
class Tally:
    """All attempts at one subject of one attack, or some of them."""

    attempts: int = 0
    tries: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    slowest: float = 0.0
    """Seconds of the slowest attempt."""
    most: int = 0
    """Bytes by which an attempt raised the memory of the process at most."""
    told: dict[str, Told] = field(default_factory=dict)
    """By what was found."""

    def add(self, number: int, tried: Tried, seconds: float, memory: int) -> None:
        """One attempt."""
        entries = {}
        for finding in tried.findings:
            entry = Told(finding, number)
            entries[finding.what].join(entry) if finding.what in entries else entries.update({finding.what: entry})
        self.join(Tally(1, tried.tries, dict(tried.counts), seconds, memory, entries))

    def join(self, other: Tally) -> None:
        """Attempts that came later."""
        self.attempts += other.attempts
        self.tries += other.tries
        for name, count in other.counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.slowest, self.most = max(self.slowest, other.slowest), max(self.most, other.most)
        for what, entry in other.told.items():
            if what in self.told:
                self.told[what].join(entry)
            else:
                self.told[what] = Told(entry.finding, entry.number, entry.times)

    def plain(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            **asdict(self),
            "slowest": round(self.slowest, 4),
            "told": [asdict(entry) for entry in self.told.values()],
        }

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Tally:
        """What `plain` gave."""
        entries = [Told(Finding(**row["finding"]), row["number"], row["times"]) for row in plain["told"]]
        return cls(**{**plain, "told": {entry.finding.what: entry for entry in entries}})
