"""What the bridges to other people's harnesses (training/harnesses) are held against: our own seat on the same seeds and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from parlour.envs.language.headings import headings_of
from parlour.envs.language.text import render
from parlour.wrappers import ConversationSeat
from parlour.wrappers.conversation import table

TABLES: dict[str, dict[str, Any]] = {
    "avalon_v0": {"num_players": 5},
    "werewolf_v0": {"num_players": 6},
    "murder_mystery_v0": {},
    "mediated_qa_v0": {},
    "template_v0": {},
}
"""Game -> options of the tables at which bridges are tested."""


def table_seats(game: str) -> list[str]:
    return list(table(game, **TABLES[game]).possible_agents)


def drawn(options: Sequence[str], rng: np.random.Generator) -> str:
    """The words of a player that draws one of its options."""
    return options[int(rng.integers(len(options)))]


def same_game(game: str, seed: int, seat: str, turns: Sequence[Mapping[str, Any]]) -> None:
    """What a caller was told (`message`, `options`, `reward`) that drew its words from `seed`: a seat of ours, on the same
    seed and words, hears the same, the AEC environment has the same return, and its View holds no more and no less.
    """
    ours, rng = ConversationSeat(table(game, **TABLES[game]), seat), np.random.default_rng(seed)
    message = ours.reset(seed)
    for turn in turns:
        assert turn["message"] == message
        assert tuple(turn["options"]) == ours.options
        if not ours.done:
            message = ours.say(drawn(ours.options, rng))
    base = ours.conversation.game_env
    assert turns[-1]["reward"] == base.outcome.returns[base.seat_of[seat]]
    own = render(base.text, base.view(base.seat_of[seat]))
    record = headings_of(base.text).record
    lines = own[own.index(record) + len(record) : own.rindex(headings_of(base.text).choice)].splitlines()
    said = "".join(turn["message"] for turn in turns).splitlines()
    assert [line for line in said if line in set(lines)] == lines
