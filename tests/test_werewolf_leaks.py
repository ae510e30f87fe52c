"""No seat of Werewolf learns what it may not know: each field of a View, and each event (SPEC 7, "visibility").

That nothing else tells two games apart is checked for all games at once, by `test_redeal.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, strategies as st
from parlour.envs import registry

TABLES: list[dict[str, Any]] = [
    {"num_players": 8, "rules": "paper"},
    {"num_players": 8, "rules": "reference"},
    {"num_players": 8, "rules": "official"},
    {"num_players": 5, "rules": "official"},
    {"num_players": 6, "rules": "paper", "talk": False},
    {"num_players": 11, "rules": "reference", "talk": False},
]


@given(number=st.integers(0, len(TABLES) - 1), seed=st.integers(0, 10**6))
def test_a_view_is_own_role_own_powers_fellows_and_the_record(playout, number, seed):
    """Each field of a View is public or the seat's own; nothing else could tell of another's role."""
    game = registry["werewolf_v0"].raw_env(**TABLES[number]).game
    rng = np.random.default_rng(seed)
    states = playout(game, seed).states
    state = states[int(rng.integers(1, len(states)))]
    names = tuple(game.role_names[role] for role in state.standing.roles)
    views = [game.view(state, seat) for seat in range(game.seats)]
    own = {"seat", "legal", "events", "role", "side", "knows", "antidote", "poison", "guarded", "checks"}
    for view in views:
        assert {f: getattr(view, f) for f in view._fields if f not in own} == {
            f: getattr(views[0], f) for f in view._fields if f not in own
        }
        assert view.roles == game.roles  # in the order of the box, not of the seats
        assert view.role == names[view.seat]
        wolves = tuple(j for j, role in enumerate(names) if role == "Werewolf" and j != view.seat)
        assert view.knows == (((("Werewolf",), wolves),) if view.role == "Werewolf" else ())
        assert (view.antidote is None) == (view.poison is None) == (view.role != "Witch")
        assert view.guarded is None or view.role == "Guard"
        assert view.checks == () or view.role == "Seer"
        assert all(event.to is None or view.seat in event.to for event in view.events)
    # what is public is in the record: who lives and what day it is can be counted up from it
    public = [e.move for e in state.log if e.to is None]
    dead = {j for m in public if m.kind == "dawn" for j in m.args[1:]} | {
        j for m in public if m.kind == "executed" for j in m.args
    }
    assert views[0].alive == tuple(j not in dead for j in range(game.seats))
    assert views[0].day == max(m.args[0] for m in public if m.kind == "night")
