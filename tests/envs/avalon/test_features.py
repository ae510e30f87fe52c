"""What Avalon's numbers mean, name by name (`parlour.envs.avalon.encode`), on a game played by hand; column +1 is the next seat.

The names and the layout are the encoder's own documentation; the values are counted in the comments.
"""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs.avalon import GAME
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.core import Move

from tests.envs.hidden_roles.played_by_hand import A, AvalonPlay, G, M, P, S

SIX = (M, P, S, S, G, A)


@pytest.fixture
def env() -> AvalonPlay:
    """A game that 2 leads first."""
    return AvalonPlay(SIX, "paper", leader=2)


def named(env: AvalonPlay, seat: int, features: str = "table") -> dict[str, float]:
    encoder = GAME.encoder(env.game).of(features)
    values = encoder(env.view(seat))
    assert len(encoder.names) == len(set(encoder.names)) == len(values)
    return {name: round(float(value), 4) for name, value in zip(encoder.names, values, strict=True)}


def seats(features: dict[str, float], name: str) -> list[float]:
    return [features[f"seat {j}: {name}"] for j in range(6)]


def play(env: AvalonPlay, *moves: tuple[Any, ...]) -> None:
    env.do(*(Move(kind, tuple(args)) for kind, *args in moves))


def quest(env: AvalonPlay, team: tuple[int, ...], votes: str, cards: str = "") -> None:
    """All are silent; then a team, votes and cards, the latter as digits; and the Assassin keeps quiet."""
    env.propose(*team).vote(*map(int, votes)).cards(*map(int, cards))
    if env.kinds == {"guess"}:
        play(env, ("guess",))


def test_who_i_am_and_what_the_night_showed(env):
    roles = ["Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Morgana", "Assassin"]
    shown = [(4, 5), (0, 4), (), (), (5,), (4,)]
    night = [1, -1, 0, 0, 1, 1]
    for seat, role in enumerate(roles):
        features = named(env, seat)
        assert [features[f"I am seat {j}"] for j in range(6)] == [float(j == seat) for j in range(6)]
        assert [name for name, v in features.items() if name.startswith("I am ") and v] == [
            f"I am seat {seat}",
            f"I am {role}",
        ]
        assert seats(features, "shown to me by the night") == [float(j in shown[seat]) for j in range(6)]
        assert features["night shows evil"] == night[seat]


def test_the_phase_is_of_the_seat_that_is_asked(env):
    def phases() -> dict[int, list[str]]:
        return {seat: [n[6:] for n, v in named(env, seat).items() if n.startswith("phase") and v] for seat in range(6)}

    waiting: dict[int, list[str]] = {seat: [] for seat in range(6)}
    assert phases() == {**waiting, 2: ["silent"]}
    for _ in range(6):
        play(env, ("silent",))
    assert phases() == {**waiting, 2: ["propose"]}
    play(env, ("propose", 0, 5))
    assert phases() == {**waiting, 0: ["vote"]}
    play(env, *[("vote", 1)] * 6)
    assert phases() == {**waiting, 0: ["card"]}
    play(env, ("card", 1), ("card", 0))
    assert phases() == {**waiting, 5: ["guess"]}


def test_leader_team_and_table(env):
    features = named(env, 0)
    assert seats(features, "leads") == [0, 0, 1, 0, 0, 0]
    assert seats(features, "on the team") == [0.0] * 6
    assert [features[f"quest {k}"] for k in range(1, 6)] == [1, 0, 0, 0, 0]
    assert (features["proposals / 5"], features["team size / 5"]) == (0, 0.4)
    env.propose(1, 4)
    merlin, percival, servant, morgana = (named(env, seat) for seat in (0, 1, 2, 4))
    assert seats(merlin, "on the team") == [0, 1, 0, 0, 1, 0]
    assert merlin["proposals / 5"] == 0.2
    who = ["I am on the team", "shown ones on the team / 4", "strangers on the team / 4"]
    assert [merlin[name] for name in who] == [0, 0.25, 0.25]  # 4 was shown, 1 was not
    assert [percival[name] for name in who] == [1, 0.25, 0]  # 4 is Merlin or Morgana
    assert [servant[name] for name in who] == [0, 0, 0.5]
    assert [morgana[name] for name in who] == [1, 0, 0.25]


def test_talk_is_counted_for_speaker_and_target(env):
    # 2 accuses 4, 3 accuses 4, 4 defends 5, 5 recommends 4, 0 recommends himself, 1 accuses 5
    play(env, ("accuse", 4), ("accuse", 4), ("defend", 5), ("recommend", 4), ("recommend", 0), ("accuse", 5))
    features = named(env, 0)
    assert seats(features, "times accused / 10") == [0, 0, 0, 0, 0.2, 0.1]
    assert seats(features, "times defended or recommended / 10") == [0, 0, 0, 0, 0.1, 0.1]  # not by oneself
    assert seats(features, "accusations made / 10") == [0, 0.1, 0.1, 0.1, 0, 0]
    mine = "accused by me, less defended by me / 5"
    assert seats(features, mine) == [0.0] * 6
    assert seats(named(env, 2), mine) == [0, 0, 0, 0, 0.2, 0]
    assert seats(named(env, 4), mine) == [0, 0, 0, 0, 0, -0.2]


def test_quests_votes_and_score(env):
    quest(env, (0, 5), "111001", "10")  # one fail; 3 and 4 rejected
    env.propose(1, 2, 3).vote(0, 1, 1, 1, 1, 0).cards(1, 1, 1)  # succeeds; 0 and 5 rejected
    assert seats(named(env, 2), "exposed as the Assassin") == [0.0] * 6
    play(env, ("guess", 1))
    assert all(seats(named(env, seat), "exposed as the Assassin") == [0, 0, 0, 0, 0, 1] for seat in range(6))
    features = named(env, 2)
    assert features["good / 3"] == features["evil / 3"] == 0.3333
    assert [features[f"quest {k}"] for k in range(1, 6)] == [0, 0, 1, 0, 0]
    assert seats(features, "quests it was on that failed / 3") == [0.3333, 0, 0, 0, 0, 0.3333]
    assert seats(features, "quests it was on that succeeded / 3") == [0, 0.3333, 0.3333, 0.3333, 0, 0]
    # one fail card shared by two members, a third of that
    assert seats(features, "fails shown on its quests, per member, summed / 3") == [0.1667, 0, 0, 0, 0, 0.1667]
    # +1 for a vote for the team that failed, -1 for one for the team that succeeded; a fifth of that
    assert seats(features, "approved teams that failed, less those that succeeded / 5") == [0.2, 0, 0, -0.2, -0.2, 0.2]
    assert seats(features, "rejected teams that failed, less those that succeeded / 5") == [-0.2, 0, 0, 0.2, 0.2, -0.2]
    assert seats(features, "approvals / votes") == [0.5, 1, 1, 0.5, 0.5, 0.5]
    assert seats(features, "leads") == [0, 0, 0, 0, 1, 0]


# -- in the frame of a seat ------------------------------------------------------------------------------------

PLACES = ("me", "+1", "+2", "+3", "+4", "+5")


def turned(values: dict[str, float], name: str) -> list[float]:
    """The numbers of a feature for oneself, the next seat, and so on; `{}` stands for the seat."""
    return [values[name.format(place)] for place in PLACES]


def test_the_first_proposal_tells_leader_team_votes_result_and_own_card(env):
    # quest 1: seat 2 proposes 0 and 5; 3 and 4 reject; Merlin's success and the Assassin's fail: it failed with one fail
    quest(env, (0, 5), "111001", "10")
    at = "quest 1, proposal 1: "
    for seat in range(6):
        numbers = named(env, seat, "record")

        def table(values: list[float], seat: int = seat) -> list[float]:
            return values[seat:] + values[:seat]

        assert turned(numbers, at + "{} led") == table([0, 0, 1, 0, 0, 0])
        assert turned(numbers, at + "{} on the team") == table([1, 0, 0, 0, 0, 1])
        assert turned(numbers, at + "{} voted") == table([1, 1, 1, -1, -1, 1])
        assert (numbers[at + "succeeded"], numbers[at + "fails / 3"]) == (-1, 0.3333)
        assert numbers[at + "my card"] == {0: 1, 5: -1}.get(seat, 0)


def test_each_proposal_has_its_own_place_and_each_quest_begins_anew(env):
    quest(env, (0, 1), "000011")  # quest 1, proposal 1, by seat 2: rejected
    quest(env, (1, 3), "111111", "11")  # quest 1, proposal 2, by seat 3: succeeds
    quest(env, (3, 4, 5), "000000")  # quest 2, proposal 1, by seat 4: rejected
    values = named(env, 0, "record")
    led = {name: value for name, value in values.items() if name.endswith(" led") and value}
    assert led == {
        "quest 1, proposal 1: +2 led": 1,
        "quest 1, proposal 2: +3 led": 1,
        "quest 2, proposal 1: +4 led": 1,
    }
    assert values["quest 1, proposal 1: succeeded"] == 0  # it did not go
    assert values["quest 1, proposal 2: succeeded"] == 1
    assert turned(values, "quest 2, proposal 1: {} on the team") == [0, 0, 0, 1, 1, 1]
    assert turned(values, "quest 2, proposal 1: {} voted") == [-1] * 6
    nothing = [value for name, value in values.items() if name.startswith(("quest 1, proposal 3", "quest 5"))]
    assert set(nothing) == {0.0}


def test_a_team_drawn_for_a_short_proposal_is_told_by_halves():
    # reference: a leader names too few, the rest is drawn: seat 5 named, 1 and 2 drawn, 5 stays out
    env = AvalonPlay(SIX, "reference").go(5).do(Move("draw", (1, 2))).cards(1, 1)
    values = named(env, 0, "record")
    assert turned(values, "quest 1, proposal 1: {} on the team") == [0, -0.5, -0.5, 0, 0, 0.5]
    assert values["quest 1, proposal 1: succeeded"] == 1


def test_remarks_are_told_of_each_speaker_about_each_other(env):
    # 2 accuses 4, 3 accuses 4, 4 defends 5, 5 recommends 4, 0 recommends itself, 1 claims to be Percival
    percival = env.game.role_names.index("Percival")
    play(env, ("accuse", 4), ("accuse", 4), ("defend", 5), ("recommend", 4), ("recommend", 0), ("claim_role", percival))
    for seat in (0, 3):
        values = named(env, seat, "record")
        name = {(seat + k) % 6: place for k, place in enumerate(PLACES)}
        said = {key: value for key, value in values.items() if "accused, less defended" in key and value}
        assert said == {
            f"{name[2]} accused, less defended {name[4]} / 5": 0.2,
            f"{name[3]} accused, less defended {name[4]} / 5": 0.2,
            f"{name[4]} accused, less defended {name[5]} / 5": -0.2,
            f"{name[5]} accused, less defended {name[4]} / 5": -0.2,
        }  # nobody recommends itself
        assert {key for key, value in values.items() if " claimed " in key and value} == {f"{name[1]} claimed Percival"}


def test_beliefs_are_ones_own_and_an_onlookers(env):
    quest(env, (0, 5), "111001", "10")
    before = named(env, 1, "belief")
    assert (before["mine: team clean"], before["onlooker's: team clean"]) == (0, 0)  # no team is on the table
    env.propose(1, 2, 3)
    for seat in (1, 4):
        view, values = env.view(seat), named(env, seat, "belief")
        own, onlooker = AvalonBelief(view.roles, seat, view.role, view.knows), AvalonBelief(view.roles, -1, "", ())
        for event in view.events:
            for belief in (own, onlooker):
                belief.see(event.seat, event.move.kind, event.move.args)
        for whose, belief in (("mine:", own), ("onlooker's:", onlooker)):
            for what, chances in (("evil", belief.evil_chance()), ("Merlin", belief.merlin_chance())):
                expected = [*chances[seat:], *chances[:seat]]
                assert turned(values, f"{whose} {what} {{}}") == pytest.approx(expected, abs=1e-4)
            assert values[f"{whose} team clean"] == pytest.approx(belief.clean_chance((1, 2, 3)), abs=1e-4)
    merlin, morgana = named(env, 0, "belief"), named(env, 4, "belief")
    assert turned(merlin, "mine: evil {}") == [0, 0, 0, 0, 1, 1]  # Merlin knows
    assert turned(morgana, "mine: evil {}") == [1, 1, 0, 0, 0, 0]  # so does evil: itself and the next
