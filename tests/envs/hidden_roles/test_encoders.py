"""What the encoders of Avalon and Werewolf have in common: kinds of features, and the frame of a seat."""

from __future__ import annotations

import pytest
from parlour.envs import avalon, werewolf
from parlour.envs.core import ParlourError

from tests.envs.hidden_roles.random_games import AVALON, WEREWOLF, asked_states

TABLES = [*((avalon.GAME, options) for options in AVALON), *((werewolf.GAME, options) for options in WEREWOLF)]
tables = pytest.mark.parametrize(("spec", "options"), TABLES, ids=[f"{s.id} {o['num_players']}" for s, o in TABLES])


@pytest.mark.slow
@tables
def test_the_summary_is_what_the_table_says_with_seats_counted_from_oneself(spec, options):
    game = spec.build(spec.options(**options))
    at_table, own = spec.encoder(game).at_table(), spec.encoder(game).of_seat("summary")
    places = {f"{'seat ' * (spec is werewolf.GAME)}+{j}": j for j in range(game.seats)} | {"me": 0}
    for s in asked_states(game, 1):
        for seat in range(game.seats):
            view = game.view(s, seat)
            plain = dict(zip(at_table.names, map(float, at_table(view)), strict=True))
            assert own.size == at_table.size - game.seats  # but for one's own seat
            for name, value in zip(own.names, own(view), strict=True):
                place, _, feature = name.partition(": ")
                there = f"seat {(seat + places[place]) % game.seats}: {feature}" if place in places else name
                assert value == pytest.approx(plain[there], abs=1e-6), name


@tables
def test_kinds_add_up_and_others_are_refused_in_one_line(spec, options):
    game = spec.build(spec.options(**options))
    of = {kind: spec.encoder(game).of_seat(kind) for kind in ("summary", "record", "belief", "record+belief")}
    extra = {kind: list(encoder.names[of["summary"].size :]) for kind, encoder in of.items()}
    assert all(encoder.names[: of["summary"].size] == of["summary"].names for encoder in of.values())
    assert extra["record+belief"] == [*extra["record"], *extra["belief"]]
    assert len(extra["belief"]) == 4 * game.seats + 2 * (spec is avalon.GAME)
    for kind in ("pixels", "table"):
        with pytest.raises(ParlourError, match=f"'{kind}' is not accepted; accepted: summary, record, belief"):
            spec.encoder(game).of_seat(kind)
