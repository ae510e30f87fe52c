"""What Avalon's numbers mean, name by name (`parlour.envs.avalon.encode`), on a game that is played by hand.

The names and the layout are the encoder's own documentation; the values are counted in the comments.
"""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs.core import Move
from parlour.envs.text import CHOICE

# Merlin 0, Percival 1, Loyal Servants 2 and 3, Morgana 4, Assassin 5; 2 leads


@pytest.fixture
def env(avalon_env) -> Any:
    made = avalon_env(6, "paper", observation="both")
    made.reset(options={"nature": [Move("deal", (*made.game.deck, 2))]})
    return made


def named(env: Any, seat: int) -> dict[str, float]:
    features = env.observe(f"player_{seat}")["observation"]
    assert len(env.encoder.names) == len(set(env.encoder.names)) == len(features)
    return {name: float(value) for name, value in zip(env.encoder.names, features, strict=True)}


def seats(features: dict[str, float], name: str) -> list[float]:
    return [round(features[f"seat {j}: {name}"], 4) for j in range(6)]


def play(env: Any, *moves: tuple[Any, ...]) -> None:
    for kind, *args in moves:
        env.play(Move(kind, tuple(args)))


def quest(env: Any, team: tuple[int, ...], votes: str, cards: str) -> None:
    """All are silent; then a team, votes and cards, the latter as digits."""
    while "silent" in {m.kind for m in env.game.legal(env.state_now)}:
        play(env, ("silent",))
    play(env, ("propose", *team), *(("vote", int(v)) for v in votes), *(("card", int(c)) for c in cards))


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


def test_oberon_and_a_percival_without_morgana(avalon_env):
    roles = ("Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Assassin", "Oberon")
    env = avalon_env(6, "paper", roles=roles, observation="both")
    env.reset(options={"nature": [Move("deal", (*env.game.deck, 2))]})
    assert named(env, 5)["night shows evil"] == 0
    assert seats(named(env, 5), "shown to me by the night") == [0.0] * 6
    assert seats(named(env, 1), "shown to me by the night") == [1, 0, 0, 0, 0, 0]


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
    for seat in range(6):
        assert bool(phases()[seat]) == (
            "Nothing: it is not your turn." not in env.observe(f"player_{seat}")["text"].split(CHOICE)[1]
        )


def test_leader_team_and_table(env):
    features = named(env, 0)
    assert seats(features, "leads") == [0, 0, 1, 0, 0, 0]
    assert seats(features, "on the team") == [0.0] * 6
    assert [features[f"quest {k}"] for k in range(1, 6)] == [1, 0, 0, 0, 0]
    assert (features["proposals / 5"], features["team size / 5"]) == (0, pytest.approx(0.4))
    for _ in range(6):
        play(env, ("silent",))
    play(env, ("propose", 1, 4))
    merlin, percival, servant, morgana = (named(env, seat) for seat in (0, 1, 2, 4))
    assert seats(merlin, "on the team") == [0, 1, 0, 0, 1, 0]
    assert merlin["proposals / 5"] == pytest.approx(0.2)
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
    play(env, ("guess",))
    quest(env, (1, 2, 3), "011110", "111")  # succeeds; 0 and 5 rejected
    play(env, ("guess",))
    features = named(env, 2)
    third, fifth = pytest.approx(1 / 3), 0.2
    assert features["good / 3"] == features["evil / 3"] == third
    assert [features[f"quest {k}"] for k in range(1, 6)] == [0, 0, 1, 0, 0]
    assert seats(features, "quests it was on that failed / 3") == [0.3333, 0, 0, 0, 0, 0.3333]
    assert seats(features, "quests it was on that succeeded / 3") == [0, 0.3333, 0.3333, 0.3333, 0, 0]
    # one fail card shared by two members, a third of that
    assert seats(features, "fails shown on its quests, per member, summed / 3") == [0.1667, 0, 0, 0, 0, 0.1667]
    # +1 for a vote for the team that failed, -1 for one for the team that succeeded; a fifth of that
    assert seats(features, "approved teams that failed, less those that succeeded / 5") == [
        fifth,
        0,
        0,
        -0.2,
        -0.2,
        fifth,
    ]
    assert seats(features, "rejected teams that failed, less those that succeeded / 5") == [
        -0.2,
        0,
        0,
        fifth,
        fifth,
        -0.2,
    ]
    assert seats(features, "approvals / votes") == [0.5, 1, 1, 0.5, 0.5, 0.5]
    assert seats(features, "leads") == [0, 0, 0, 0, 1, 0]


def test_rejected_proposals_are_counted_and_no_quest_is(env):
    quest(env, (0, 5), "000011", "")
    quest(env, (0, 1), "000000", "")
    while "silent" in {m.kind for m in env.game.legal(env.state_now)}:
        play(env, ("silent",))
    features = named(env, 3)
    assert features["proposals / 5"] == pytest.approx(0.4)
    assert seats(features, "approvals / votes") == [0, 0, 0, 0, 0.5, 0.5]
    assert seats(features, "quests it was on that failed / 3") == [0.0] * 6
    assert seats(features, "rejected teams that failed, less those that succeeded / 5") == [0.0] * 6


def test_two_fails_needed_and_a_drawn_team(avalon_env):
    env = avalon_env(7, "official", observation="both")
    env.reset(options={"nature": [Move("deal", (*env.game.deck, 0))]})
    for team in ((0, 1), (0, 1, 6), (0, 1, 2)):
        assert named(env, 0)["two fails needed"] == 0
        quest(env, team, "1" * 7, "1" * (len(team) - 1) + ("0" if 6 in team else "1"))
    assert named(env, 0)["two fails needed"] == 1
    env = avalon_env(6, "reference", observation="both")
    env.reset(options={"nature": [Move("deal", (*env.game.deck, 0)), Move("draw", (1, 2))]})
    quest(env, (5,), "111111", "11")
    # the drawn team went, the short one did not
    assert seats(named(env, 0), "quests it was on that succeeded / 3") == [0, 0.3333, 0.3333, 0, 0, 0]


@pytest.mark.parametrize("named_as_merlin", [1, 2])
def test_an_exposed_assassin(env, named_as_merlin):
    quest(env, (0, 5), "111111", "10")
    assert seats(named(env, 2), "exposed as the Assassin") == [0.0] * 6
    play(env, ("guess", named_as_merlin))
    for seat in range(6):
        assert seats(named(env, seat), "exposed as the Assassin") == [0, 0, 0, 0, 0, 1]
