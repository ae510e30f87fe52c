"""What a table shows until everybody has come: the game, its rules in three lines, who is missing; and to the host the links to
send, each as a QR code, too.

The host is the first person at the table. A link is a seat, so no other page shows any.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final
from urllib.parse import urlsplit

import segno

from parlour_table.live.messages import Message
from parlour_table.live.settings import WATCHING, Keys

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "::1")
EVERY_ADDRESS: Final = ("0.0.0.0", "::")
"""Instead of an address to listen at: all that the machine has."""
LINES: Final = 3
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_ELSEWHERE: Final = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses that nobody has (RFC 5737, RFC 3849)."""


def is_loopback(host: str) -> bool:
    """Whether a name or an address is this machine's alone, whatever a name server says."""
    try:
        return host in LOOPBACK_NAMES or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def reachable(host: str) -> str:
    """The address at which other machines find a server that listens at `host`; a loopback address on a machine without a network.

    >>> reachable("192.168.1.5")
    '192.168.1.5'
    """
    if host not in EVERY_ADDRESS:
        return host
    for family, nobody in _ELSEWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((nobody, 9))  # UDP: this chooses the route, and sends nothing
                return str(probe.getsockname()[0])
        except OSError:
            continue
    return LOOPBACK_NAMES[0]


def origin(host: str, port: int) -> str:
    """The beginning of an address on the web."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def brief(rules: str) -> list[str]:
    r"""The first paragraph of rules, which must do where there is no room for more, in three lines; fewer, if it is shorter.

    >>> brief("A game.\nGood wins.\nEvil wins.\nPlayers lie.\n\nNight: nobody sees anything.")
    ['A game.', 'Good wins.', 'Evil wins. Players lie.']
    >>> brief("A game. Good wins. Evil wins.")
    ['A game.', 'Good wins.', 'Evil wins.']
    """
    paragraph = rules.strip().split("\n\n", 1)[0]
    parts = [line for line in paragraph.split("\n") if line]
    if len(parts) < LINES:
        parts = [sentence for sentence in _SENTENCE_END.split(" ".join(parts)) if sentence]
    bounds = [len(parts) * line // LINES for line in range(LINES + 1)]
    lines = [" ".join(parts[start:end]) for start, end in pairwise(bounds)]
    return [re.sub(r"(?<=[。！？]) ", "", line) for line in lines if line]


@cache
def qr_code(link: str) -> str:
    """A QR code (ISO/IEC 18004) of a link: an SVG as a data URI, which is all that the page's policy allows."""
    return str(segno.make(link, error="m", micro=False).svg_data_uri(dark="#000", light="#fff", omitsize=True))


@dataclass(frozen=True)
class WaitingTable:
    """A table at which not everybody has sat down."""

    title: str
    """Of the game."""
    language: str
    rules: str
    """Of the table, in full."""
    seats: tuple[str, ...]
    """What the seats are called."""
    people: tuple[int, ...]
    """The seats of people."""
    keys: Keys
    url: str
    """Where others find the page, as far as the server knows."""

    @property
    def host(self) -> int:
        """The place whose page shows the links: that of the first person; `WATCHING` at a table without people."""
        return min(self.people, default=WATCHING)

    def link(self, place: int, page: str = "") -> str:
        """The link of a place.

        Args:
            place: A person's seat, or `WATCHING`.
            page: Where the host's browser found the page, with a `/` at the end; links have this address, which may be that of
                a proxy, unless no other machine can use it.
        """
        usable = page and (is_loopback(_host(self.url)) or not is_loopback(_host(page)))
        return f"{page if usable else f'{self.url}/'}#{self.keys.of(place)}"

    def message(self, place: int, came: Collection[int], page: str = "") -> Message:
        """The message `waiting` to a place.

        Args:
            place: A person's seat, or `WATCHING`.
            came: The places that have a browser.
            page: As of `link`.
        """
        people = [{"name": self.seats[seat], "here": seat in came} for seat in self.people]
        missing = [seat for seat in self.people if seat not in came]
        links = [
            {"name": "" if own == WATCHING else self.seats[own], "link": link, "qr": qr_code(link)}
            for own in ((*missing, WATCHING) if place == self.host else ())
            for link in (self.link(own, page),)
        ]
        return {
            "type": "waiting",
            "title": self.title,
            "language": self.language or "en",
            "name": "" if place == WATCHING else self.seats[place],
            "lines": brief(self.rules),
            "rules": self.rules,
            "people": people,
            "others": len(self.seats) - len(self.people),
            "links": links,
            "near": is_loopback(_host(links[0]["link"])) if links else False,
        }


def _host(address: str) -> str:
    return urlsplit(address).hostname or ""
