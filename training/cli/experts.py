"""`parlour list experts`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from parlour.envs.language.text import describe
from parlour.envs.registry import build, lookup
from parlour.policies.experts.catalogue import STRONGEST, ExpertCard, Points, cards, is_default
from parlour.training.report.report import Report
from parlour.training.report.result_table import ResultTable

HEADINGS = ("name", "table", "whole sides", "one seat", "among strangers", "best responses gain", "learned from")


def list_experts() -> Report:
    """List the trained players that come with parlour (`--policy expert`), with their strength against the heuristic.

    Example: [bold]parlour list experts[/bold]
    """
    known = cards()
    title = "Experts: points against the heuristic on held-out deals (95 % interval)"
    untrained = [
        f"{game} has no trained network; its strongest player: {name}" for game, name in sorted(STRONGEST.items())
    ]
    experts = [{**asdict(card), "default_table": is_default(card)} for card in known]
    table = ResultTable.plain(title, HEADINGS, rows(known), wrap=True)
    return Report("", parts=(table, *untrained), values={"experts": experts})


def rows(known: list[ExpertCard]) -> list[tuple[str, ...]]:
    """The table of cards, a row for each; `HEADINGS` are its columns."""
    return [
        (
            card.name,
            f"{card.game}: {_table(card.game, card.config)}{' (default table)' if is_default(card) else ''}",
            _points(card.whole_sides),
            _points(card.one_seat),
            _points(card.among_strangers) if card.among_strangers else "-",
            "; ".join(
                f"{exploit.side} {_points(exploit.gain)} ({exploit.decisions:,} decisions)" for exploit in card.exploits
            )
            or "-",
            f"{card.decisions:,} decisions, {card.seconds:,.0f} s",
        )
        for card in known
    ]


def _table(game: str, config: Mapping[str, Any]) -> str:
    """The options of a table; lists, such as the roles, only where they do not follow from the rest, as counts."""
    plain = {key: value for key, value in config.items() if not isinstance(value, list)}
    usual = build(lookup(game).spec, plain).config
    lists = {key: value for key, value in config.items() if key not in plain and value != usual[key]}
    counts = {key: ", ".join(f"{n} {value}" for value, n in Counter(values).items()) for key, values in lists.items()}
    return "; ".join((describe(plain), *(f"{key}: {text}" for key, text in counts.items())))


def _points(points: Points) -> str:
    return f"{points.mean:+.1f} [{points.low:+.1f}, {points.high:+.1f}], n = {points.n}"
