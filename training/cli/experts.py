"""`parlour experts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from parlour.envs.registry import loadable
from parlour.envs.text import describe
from parlour.policies.experts import ExpertCard, Points, cards, is_default
from parlour.training.cli.options import Answer
from parlour.training.results.result_table import ResultTable, plain_table

HEADINGS = ("name", "table", "whole sides", "one seat", "among strangers", "best responses gain", "learned from")


def list_experts() -> Answer:
    """List the trained players that come with parlour (`--policy expert`), with their strength against the heuristic.

    Example: [bold]parlour experts[/bold]
    """
    known = cards()
    title = "Experts: points against the heuristic on held-out deals (95 % interval)"
    shown: list[ResultTable | str] = [plain_table(title, HEADINGS, rows(known), wrap=True), *_named()]
    experts = [{**asdict(card), "default_table": is_default(card)} for card in known]
    return Answer({"experts": experts}, shown)


def _named() -> list[str]:
    """The games without a trained network, each with its strongest player."""
    strongest = {spec.id: spec.strongest for spec in loadable() if spec.strongest}
    return [f"{game} has no trained network; its strongest player: {name}" for game, name in strongest.items()]


def rows(known: list[ExpertCard]) -> list[tuple[str, ...]]:
    """The table of cards, a row for each; `HEADINGS` are its columns."""
    return [
        (
            card.name,
            f"{card.game}: {describe(_short(card.config))}{' (default table)' if is_default(card) else ''}",
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


def _short(config: Mapping[str, Any]) -> dict[str, Any]:
    """Without lists, such as the roles, which follow from the rest or stand in the card."""
    return {key: value for key, value in config.items() if not isinstance(value, list)}


def _points(points: Points) -> str:
    return f"{points.mean:+.1f} [{points.low:+.1f}, {points.high:+.1f}], n = {points.n}"
