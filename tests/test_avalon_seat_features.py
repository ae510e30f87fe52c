"""Avalon's numbers in the frame of a seat, name by name (`parlour.envs.avalon.seat_encode`), on a game played by hand.

Column +1 is the next seat. The names are the encoder's own documentation; the values are counted in the comments.
"""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs.avalon import GAME
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.core import Move

# Merlin 0, Percival 1, Loyal Servants 2 and 3, Morgana 4, Assassin 5; 2 leads, then 3, and so on
PLACES = ("me", "+1", "+2", "+3", "+4", "+5")


@pytest.fixture
def env(avalon_env) -> Any:
    made = avalon_env(6, "paper")
    made.reset(options={"nature": [Move("deal", (*made.game.deck, 2))]})
    return made


def told(env: Any, seat: int, features: str) -> dict[str, float]:
    encoder = GAME.seat_encoder(env.game, features)
    assert len(encoder.names) == len(set(encoder.names)) == encoder.size
    values = encoder(env.game.view(env.state_now, seat))
    return {name: round(float(value), 4) for name, value in zip(encoder.names, values, strict=True)}


def turned(found: dict[str, float], name: str) -> list[float]:
    """The numbers of a feature for oneself, the next seat, and so on; `{}` stands for the seat."""
    return [found[name.format(place)] for place in PLACES]


def play(env: Any, *moves: tuple[Any, ...]) -> None:
    for kind, *args in moves:
        env.play(Move(kind, tuple(args)))


def propose(env: Any, team: tuple[int, ...], votes: str, cards: str = "") -> None:
    while "silent" in {m.kind for m in env.game.legal(env.state_now)}:
        play(env, ("silent",))
    play(env, ("propose", *team), *(("vote", int(v)) for v in votes), *(("card", int(c)) for c in cards))
    if env.game.legal(env.state_now)[0].kind == "guess":
        play(env, ("guess",))


def test_the_summary_says_what_the_table_says_seats_counted_from_oneself(env):
    propose(env, (0, 5), "111001", "10")
    at_table = GAME.encoder(env.game)
    for seat in range(6):
        plain = dict(zip(at_table.names, map(float, at_table(env.game.view(env.state_now, seat))), strict=True))
        found = told(env, seat, "summary")
        own = {name for name in plain if name.startswith("I am seat ")}
        assert len(found) == len(plain) - len(own)
        for name, value in found.items():
            place, colon, feature = name.partition(": ")
            number = PLACES.index(place) if colon and place in PLACES else None
            there = name if number is None else f"seat {(seat + number) % 6}: {feature}"
            assert value == pytest.approx(plain[there], abs=1e-4), (seat, name)


def test_the_first_proposal_tells_leader_team_votes_result_and_own_card(env):
    # quest 1: seat 2 proposes 0 and 5; 3 and 4 reject; Merlin's success and the Assassin's fail: it failed with one fail
    propose(env, (0, 5), "111001", "10")
    at = "quest 1, proposal 1: "
    for seat in range(6):
        found = told(env, seat, "record")

        def table(values: list[float], seat: int = seat) -> list[float]:
            return values[seat:] + values[:seat]

        assert turned(found, at + "{} led") == table([0, 0, 1, 0, 0, 0])
        assert turned(found, at + "{} on the team") == table([1, 0, 0, 0, 0, 1])
        assert turned(found, at + "{} voted") == table([1, 1, 1, -1, -1, 1])
        assert (found[at + "succeeded"], found[at + "fails / 3"]) == (-1, 0.3333)
        assert found[at + "my card"] == {0: 1, 5: -1}.get(seat, 0)


def test_each_proposal_has_its_own_place_and_each_quest_begins_anew(env):
    propose(env, (0, 1), "000011")  # quest 1, proposal 1, by seat 2: rejected
    propose(env, (1, 3), "111111", "11")  # quest 1, proposal 2, by seat 3: succeeds
    propose(env, (3, 4, 5), "000000")  # quest 2, proposal 1, by seat 4: rejected
    found = told(env, 0, "record")
    led = {name: value for name, value in found.items() if name.endswith(" led") and value}
    assert led == {
        "quest 1, proposal 1: +2 led": 1,
        "quest 1, proposal 2: +3 led": 1,
        "quest 2, proposal 1: +4 led": 1,
    }
    assert found["quest 1, proposal 1: succeeded"] == 0  # it did not go
    assert found["quest 1, proposal 2: succeeded"] == 1
    assert turned(found, "quest 2, proposal 1: {} on the team") == [0, 0, 0, 1, 1, 1]
    assert turned(found, "quest 2, proposal 1: {} voted") == [-1] * 6
    nothing = [value for name, value in found.items() if name.startswith(("quest 1, proposal 3", "quest 5"))]
    assert set(nothing) == {0.0}


def test_a_team_drawn_for_a_short_proposal_is_told_by_halves(avalon_env):
    # reference: a leader names too few, the rest is drawn: seat 5 named, 1 and 2 drawn, 5 stays out
    env = avalon_env(6, "reference")
    env.reset(options={"nature": [Move("deal", (*env.game.deck, 0)), Move("draw", (1, 2))]})
    propose(env, (5,), "111111", "11")
    found = told(env, 0, "record")
    assert turned(found, "quest 1, proposal 1: {} on the team") == [0, -0.5, -0.5, 0, 0, 0.5]
    assert found["quest 1, proposal 1: succeeded"] == 1


def test_remarks_are_told_of_each_speaker_about_each_other(env):
    # 2 accuses 4, 3 accuses 4, 4 defends 5, 5 recommends 4, 0 recommends itself, 1 claims to be Percival
    percival = env.game.role_names.index("Percival")
    play(env, ("accuse", 4), ("accuse", 4), ("defend", 5), ("recommend", 4), ("recommend", 0), ("claim_role", percival))
    for seat in (0, 3):
        found = told(env, seat, "record")
        name = {(seat + k) % 6: place for k, place in enumerate(PLACES)}
        said = {key: value for key, value in found.items() if "accused, less defended" in key and value}
        assert said == {
            f"{name[2]} accused, less defended {name[4]} / 5": 0.2,
            f"{name[3]} accused, less defended {name[4]} / 5": 0.2,
            f"{name[4]} accused, less defended {name[5]} / 5": -0.2,
            f"{name[5]} accused, less defended {name[4]} / 5": -0.2,
        }  # nobody recommends itself
        assert {key for key, value in found.items() if " claimed " in key and value} == {f"{name[1]} claimed Percival"}


def test_a_table_without_talk_has_no_numbers_of_talk(avalon_env):
    encoder = GAME.seat_encoder(avalon_env(6, "paper", talk=False).game, "record")
    assert not [name for name in encoder.names if " accused, less defended " in name or " claimed " in name]
    assert sum(name.startswith("quest ") and "proposal" in name for name in encoder.names) == 25 * (3 * 6 + 3)


def test_beliefs_are_ones_own_and_an_onlookers(env):
    propose(env, (0, 5), "111001", "10")
    while "silent" in {m.kind for m in env.game.legal(env.state_now)}:
        play(env, ("silent",))
    before = told(env, 1, "belief")
    assert (before["mine: team clean"], before["onlooker's: team clean"]) == (0, 0)  # no team is on the table
    play(env, ("propose", 1, 2, 3))
    for seat in (1, 4):
        view, found = env.game.view(env.state_now, seat), told(env, seat, "belief")
        own, onlooker = AvalonBelief(view.roles, seat, view.role, view.knows), AvalonBelief(view.roles, -1, "", ())
        for event in view.events:
            for belief in (own, onlooker):
                belief.see(event.seat, event.move.kind, event.move.args)
        for whose, belief in (("mine:", own), ("onlooker's:", onlooker)):
            for what, chances in (("evil", belief.evil_chance()), ("Merlin", belief.merlin_chance())):
                expected = [*chances[seat:], *chances[:seat]]
                assert turned(found, f"{whose} {what} {{}}") == pytest.approx(expected, abs=1e-4)
            assert found[f"{whose} team clean"] == pytest.approx(belief.clean_chance((1, 2, 3)), abs=1e-4)
    merlin, morgana = told(env, 0, "belief"), told(env, 4, "belief")
    assert turned(merlin, "mine: evil {}") == [0, 0, 0, 0, 1, 1]  # Merlin knows
    assert turned(morgana, "mine: evil {}") == [1, 1, 0, 0, 0, 0]  # so does evil: itself and the next


def test_kinds_add_up(env):
    of = {kind: GAME.seat_encoder(env.game, kind) for kind in ("summary", "record", "belief", "record+belief")}
    extra = {kind: encoder.names[of["summary"].size :] for kind, encoder in of.items()}
    assert all(encoder.names[: of["summary"].size] == of["summary"].names for encoder in of.values())
    assert extra["record+belief"] == [*extra["record"], *extra["belief"]]
    assert len(extra["belief"]) == 2 * 2 * 6 + 2
