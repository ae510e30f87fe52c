"""The possible murderers where players may lie, and the statements that prove one."""

from __future__ import annotations

from hypothesis import given, strategies as st
from parlour.envs.murder_mystery import belief
from parlour.envs.murder_mystery.belief import PUBLIC
from parlour.envs.murder_mystery.vocabulary.facts import UNKNOWN, Fact

SEATS, VICTIM = 4, 4
DIED = (PUBLIC, Fact("died", (VICTIM, 0, 2, 1)))  # at place 0, in hour 2, by means 1

persons, places, hours, means = (st.integers(0, most) for most in (SEATS, 2, 2, 1))
seats = st.integers(0, SEATS - 1)
facts = st.one_of(
    st.builds(lambda *args: Fact("saw", args), persons, places, hours),
    st.builds(lambda *args: Fact("at", args), seats, places, hours),
    st.builds(lambda *args: Fact("lacked", args), seats, means),
    st.builds(lambda *args: Fact("had", args), seats, means),
    st.builds(lambda seat: Fact("peace", (seat, VICTIM)), seats),
    st.builds(lambda place, hour: Fact("died", (VICTIM, place, hour, UNKNOWN)), places, hours),
)
statements = st.lists(st.tuples(st.integers(PUBLIC, SEATS - 1), facts), max_size=14)
ALIBIS = [
    (1, Fact("saw", (0, 2, 2))),  # player 1 saw player 0 at place 2 in that hour
    (2, Fact("lacked", (1, 1))),  # player 2: player 1 had no means 1 within reach
    (0, Fact("peace", (2, VICTIM))),
]


def test_whoever_was_elsewhere_lacked_the_means_or_was_at_peace_did_not_do_it():
    assert belief.possible([DIED, *ALIBIS], SEATS, VICTIM, liars=0) == (3,)
    assert belief.possible([DIED, *ALIBIS[:2]], SEATS, VICTIM, liars=0) == (2, 3)
    # one innocent may lie: each alibi has one teller, so that three worlds come back
    assert belief.possible([DIED, *ALIBIS], SEATS, VICTIM, liars=1) == (0, 1, 2, 3)


def test_a_proof_leaves_out_what_it_does_not_need_and_does_not_count_the_briefing():
    idle = (3, Fact("saw", (1, 1, 0)))  # another hour
    assert belief.proof([DIED, idle, *ALIBIS], SEATS, VICTIM, liars=0) == tuple(ALIBIS)
    assert belief.proof([DIED, *ALIBIS[:2]], SEATS, VICTIM, liars=0) == ()


@given(statements, st.integers(0, 1))
def test_a_proof_drops_each_statement_in_turn_that_the_others_can_do_without(told, liars):
    told = list(dict.fromkeys([DIED, *told, *ALIBIS]))

    def proves(left):
        return len(belief.possible(left, SEATS, VICTIM, liars)) == 1

    needed = told if proves(told) else [DIED]
    for statement in needed:
        less = [other for other in needed if other != statement]
        if statement[0] != PUBLIC and proves(less):
            needed = less
    assert belief.proof(told, SEATS, VICTIM, liars) == tuple(each for each in needed if each[0] != PUBLIC)
