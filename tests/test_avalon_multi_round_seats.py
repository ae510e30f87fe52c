"""The preset `multi_round` in every form and at every kind of seat: text, features, batch, agents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs import avalon_v0, batch
from parlour.envs.avalon import GAME
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.prose import AvalonProse
from parlour.envs.core import NATURE, OVER, Knowledge, Move, ParlourError
from parlour.envs.parallel import GameParallelEnv
from parlour.envs.testing.forms import Aec, Cycles
from parlour.envs.testing.redeal import differ
from parlour.envs.testing.table import ConfiguredGame
from parlour.envs.testing.twins import Played, Twins
from parlour.envs.text import render
from parlour.policies import make_policy
from parlour.policies.agents.avalon.lines import introduction_of
from parlour.policies.agents.avalon.seat import AvalonSituation
from parlour.policies.heuristic.avalon import AvalonPlayer
from parlour.training.play import rollout
from played_by_hand import A, D, G, M, N, O, P, S
from test_avalon_multi_round import APPROVE, SEVEN, Play
from test_avalon_spoken import HABITS, SAID


def played_well(game: Any, seed: int) -> list[Move]:
    """The moves of a game of heuristic players who say something with whatever takes words."""
    rng, players, state, moves = np.random.default_rng(seed), dict[int, Any](), game.initial(), list[Move]()
    while (seat := game.actor(state)) != OVER:
        if seat == NATURE:
            moves.append(game.nature(state, rng))
        else:
            view = game.view(state, seat)
            player = players.setdefault(seat, AvalonPlayer(view, np.random.default_rng((seed, seat))))
            move = player.act(view)
            moves.append(move._replace(words=f"For {seat} reasons.") if move.kind in game.worded else move)
        state = game.apply(state, moves[-1])
    return moves


def with_consultation(game: Any) -> list[Move]:
    """The first such game that comes to the guess."""
    games = (played_well(game, seed) for seed in range(20))
    return next(moves for moves in games if any(move.kind == "consult" for move in moves))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"comments": "public"}, {"num_players": 7}])
def test_twins_with_consultations_cannot_be_told_apart(options):
    """A whole game that comes to the guess, compared with twins of each seat, turn by turn and cycle by cycle."""
    table = ConfiguredGame(GAME, tuple({"num_players": 5, "rules": "multi_round", **options}.items()))
    game, rng, compared = table.game, np.random.default_rng(3), 0
    played = Played(game, tuple(with_consultation(game)))
    for seat in range(game.seats):
        search = Twins(table.text, played, seat, rng)
        twins = [search.find(game) for _ in range(2)]
        for form in (Aec(), Cycles("cycles", observation="both")):
            trace = form.trace(GAME, played, seat)
            assert not any(differ(trace, form.trace(GAME, twin, seat)) for twin in twins), (seat, form.name)
        compared += sum(twin.moves != played.moves and len(twin.moves) > 1 for twin in twins)
    assert compared >= game.seats / 2


def the_good_way(view: Any) -> Move:
    """Teams of the first seats, all approve, all cards are successes, nobody says a word."""
    kinds = {"vote": APPROVE, "card": Move("card", (1,))}
    move: Move = kinds.get(view.legal[0].kind, view.legal[0])
    return move


@pytest.mark.parametrize("deal", [SEVEN, (O, M, P, G, S, S, D)])
def test_in_cycles_the_consultation_takes_one_for_each_evil_seat_of_the_table(deal):
    """7 players have 3 evil seats: 3 cycles and one for the guess, in which good seats are shown nothing new."""
    env = GameParallelEnv(avalon_v0.raw_env(num_players=7, rules="multi_round", observation="both"))
    roles = env.aec.game.role_names
    env.reset(options={"nature": [Move("deal", (*map(roles.index, deal), 0))]})
    shown = list[Any]()
    while env.agents:
        if env.aec.state_now.standing.good == 3:
            shown.append([env.shown(seat) for seat in range(7)])
        asked = [env.shown(seat) for seat in range(7) if env.shown(seat).legal]
        env.step({f"player_{view.seat}": env.aec.game.catalogue.index(the_good_way(view)) for view in asked})
    assert len(shown) == 3 + 1
    for seat in range(7):
        if deal[seat] in (M, P, S):
            assert all(shown[k][seat] == shown[0][seat] for k in range(4))
        else:
            assert len(shown[3][seat].events) == len(shown[0][seat].events) + 3


@pytest.mark.parametrize("options", [{"num_players": 7}, {"num_players": 5, "comments": "public"}])
def test_the_prose_of_every_moment_is_read_back(options):
    game = GAME.build(rules="multi_round", **options)
    text, read, state, kinds = GAME.text(game), AvalonProse(game), game.initial(), set[str]()
    for move in with_consultation(game):
        state = game.apply(state, move)
        for seat in range(game.seats):
            view = game.view(state, seat)
            kinds |= {event.move.kind for event in view.events if event.move.words}
            assert read(render(text, view)) == view
    assert kinds == {"propose", "vote", "consult", "guess"}


def test_features_of_the_consultation_stand_behind_those_of_every_table():
    """As each seat sees them: nothing before; then who is evil, and whom one of them holds for Merlin, in its own frame."""
    with_it, without = (GAME.build(num_players=7, rules="multi_round", consult=consult) for consult in (None, False))
    for kind in ("table", "summary", "record+belief"):
        encoders = [GAME.encoder(g) if kind == "table" else GAME.seat_encoder(g, kind) for g in (with_it, without)]
        assert encoders[0].size == encoders[1].size + 1 + 2 * 7
        assert set(encoders[1].names) < set(encoders[0].names)
    encoder = GAME.seat_encoder(with_it, "summary")
    play = Play((M, P, S, S, G, O, D)).three_successes()

    def evil_marks(seat: int) -> dict[str, float]:
        values = zip(encoder.names, encoder(play.view(seat)), strict=True)
        return {name: float(value) for name, value in values if value and ("held for" in name or "told to be" in name)}

    # seats 4, 5 and 6 are evil: for Oberon in 5 that is +6, me and +1
    evil = {"me: told to be evil": 1.0, "+1: told to be evil": 1.0, "+6: told to be evil": 1.0}
    assert (evil_marks(5), evil_marks(0)) == (evil, {})
    asked = encoder.names.index("phase consult")
    assert [float(encoder(play.view(seat))[asked]) for seat in (4, 5, 6, 0)] == [1.0, 0.0, 0.0, 0.0]
    play.do(Move("consult", (1,)))  # one from 5 that is three further round a table of seven
    assert evil_marks(5) == {**evil, "+3: held for Merlin by / 4": 0.25}
    assert (evil_marks(0), evil_marks(1)) == ({}, {})


def test_a_belief_knows_the_evil_side_once_it_has_gathered():
    """Morgana in 4 did not know Oberon, who sits in 6; an onlooker is told nothing."""
    play = Play(SEVEN).three_successes()
    view = play.view(4)
    mine = AvalonBelief(SEVEN, 4, G, view.knows, guesser=G)
    onlooker = AvalonBelief(SEVEN, -1, "", (), guesser=G)
    for event in view.events:
        if event.move.kind == "gathers":
            assert mine.evil_chance()[6] < 0.5
            before = onlooker.evil_chance()
        for belief in (mine, onlooker):
            belief.see(event.seat, event.move.kind, event.move.args)
    assert mine.evil_chance().round(9).tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert mine.merlin_chance()[6] == pytest.approx(0)
    assert onlooker.evil_chance().tolist() == before.tolist()


def test_who_names_merlin_wrongly_holds_the_role_that_does():
    """Six players with Morgana as guesser: she has named a servant, and Percival knows which of his two is Merlin."""
    roles = (M, P, S, S, G, A)
    onlooker = AvalonBelief(roles, -1, "", (), guesser=G)
    onlooker.see(NATURE, "exposed", (4, 2, 0))
    assert onlooker.evil_chance()[4] == pytest.approx(1)
    assert onlooker.merlin_chance()[2] == pytest.approx(0)
    knows = (Knowledge((M, G), (0, 4)),)
    for guesser, chance in ((G, 1.0), (A, 0.5)):  # not the Assassin: he was not shown to Percival
        percival = AvalonBelief(roles, 1, P, knows, guesser=guesser)
        percival.see(NATURE, "exposed", (4, 2, 0))
        assert percival.merlin_chance()[0] == pytest.approx(chance)


@pytest.mark.parametrize("players", range(5, 11))
def test_the_heuristic_plays_every_table_and_names_somebody_in_the_consultation(players):
    game = GAME.build(num_players=players, rules="multi_round")
    moves = [move for move in with_consultation(game) if move.kind == "consult"]
    assert len(moves) == sum(role in (G, A, D, O, N) for role in game.roles)
    assert all(move.args for move in moves)


@pytest.mark.parametrize(("kinds", "evidence"), [(("vote", "consult", "guess"), False), (("propose",), True)])
def test_words_with_votes_in_the_consultation_and_with_the_guess_are_no_evidence(kinds, evidence):
    """Habits that know words hear what is said to all: a team's reason counts, comments do not, even public ones."""
    game, ends = GAME.build(num_players=5, rules="multi_round", comments="public"), []
    for words in ("", SAID):
        state, beliefs = game.initial(), list[float]()
        for move in with_consultation(game):
            state = game.apply(state, move._replace(words=words if move.kind in kinds else ""))
        for seat in range(5):
            view = game.view(state, seat)
            for belief in (
                AvalonBelief(view.roles, seat, view.role, view.knows, HABITS),
                AvalonBelief(view.roles, -1, "", (), HABITS),
            ):
                for event in view.events:
                    belief.see(event.seat, *event.move)
                beliefs += [*belief.evil_chance(), *belief.merlin_chance()]
        ends.append(beliefs)
    assert (ends[0] != ends[1]) == evidence


POINTS = {"discussion": "mission", "speaks_first": "seat_0", "consult": True}


@pytest.mark.parametrize(
    "options",
    [
        {"rules": "multi_round"},
        {"rules": "paper", "guesser": G},
        *({"rules": "official", k: v} for k, v in POINTS.items()),
    ],
)
def test_batch_kernels_refuse_what_they_do_not_have_and_scalar_games_play_it(options):
    pytest.importorskip("numba")
    kernels = batch.kernels_of(GAME)
    point = "fifth_rejection" if options["rules"] == "multi_round" else list(options)[1]
    with pytest.raises(
        ParlourError, match=f"^{point} of kernels of Avalon .* is not accepted; accepted: [a-zA-Z_, ]+$"
    ):
        kernels(GAME, num_envs=2, **options)
    tables = batch.make("avalon_v0", num_envs=2, **options)
    assert type(tables) is batch.ScalarTables
    turns = tables.reset(seed=1)
    assert turns.mask.any(axis=1).all()


def test_batch_kernels_have_other_sizes_one_fail_or_two_and_words():
    pytest.importorskip("numba")
    options = {"sizes": (1, 2, 3, 3, 4), "two_fails": False, "reasons": True, "comments": "public"}
    assert type(batch.make("avalon_v0", num_envs=2, rules="official", **options)) is batch.kernels_of(GAME)


def test_questions_say_that_words_may_follow():
    play = Play()
    play.talk()
    assert play.text.ask(play.legal) == "You lead: propose a team. You may add reasons: everyone hears them."
    play.propose(0, 1)
    assert play.text.ask(play.legal) == "Vote on the team in secret. You may add a comment: nobody else reads it."
    plain = Play(rules="official").propose(0, 1)
    assert plain.text.ask(plain.legal) == "Vote on the team in secret."


@pytest.mark.parametrize("words", ["", "?", "all of them"])
def test_words_without_sense_hold_nobody_for_merlin(words):
    play = Play().three_successes()
    assert play.text.default(words, play.view(play.actor), np.random.default_rng(0)) == Move("consult")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["avalon_agent", "avalon_baseline", "chat"])
def test_offline_agents_play_consultation_and_guess_without_a_fault(name):
    """Such agents in the even seats, heuristics in the odd ones, until an agent has consulted and one has guessed."""
    made = set[str]()
    for seed in range(30):
        table = rollout.table("avalon_v0", num_players=7, rules="multi_round")
        game = table.unwrapped.game
        players = [make_policy("heuristic" if seat % 2 else name, "avalon_v0", dict(game.config)) for seat in range(7)]
        episode = rollout.play(table, players, seed)
        assert not any(count for faults in episode.faults.values() for count in faults.values())
        state = game.initial()
        for move in table.unwrapped.moves:
            if game.actor(state) % 2 == 0:
                made.add(move.kind)
            state = game.apply(state, move)
        if {"consult", "guess"} <= made:
            return
    raise AssertionError("no agent came to the guess")


def test_the_turn_of_another_guesser_is_told_in_lines_that_are_read_back():
    fields = {"quest": 3, "proposal": 1, "limit": 5, "last_rejection_loses": False, "leader": 0, "team": [0, 1]}
    fields |= {"size": 2, "fails_needed": 1, "good": 3, "evil": 0}
    for does, guesser, line in (
        ("guess", "Morgana", "You are Morgana: you may guess who Merlin is."),
        ("guess", "the Assassin", "You are the Assassin: you may guess who Merlin is."),
        ("consult", "the Assassin", "Tell only the other evil players who you think Merlin is."),
    ):
        now = AvalonSituation(does=does, guesser=guesser, **fields)
        lines = now.model_dump()
        assert lines[0] == line
        assert AvalonSituation.model_validate(lines) == now


def test_roles_are_introduced_by_who_names_merlin():
    assert introduction_of("Assassin") == "You know your teammates. You may guess once who Merlin is."
    assert introduction_of("Mordred", "Mordred").endswith("Merlin did not see you. You may guess once who Merlin is.")
    assert introduction_of("Assassin", "Morgana") == "You know your teammates."
    assert introduction_of("Merlin", "Morgana") == "You saw who is evil. If Morgana finds you, good loses."


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("I think player_1 is Merlin, he was too quiet.", (1,)),
        ("Merlin is player_2, I would say.", (2,)),
        ("Mostly with you on player_1 being Merlin; player_0 is not Merlin.", (1,)),
        ("I'd name player_0.", (0,)),
        ("player_1 is Merlin, or player_2 is Merlin.", ()),
        ("I do not think player_1 is Merlin.", ()),
        ("player_3 is Merlin.", ()),  # the speaker itself
        ("No idea.", ()),
    ],
)
def test_whom_free_words_hold_for_merlin(words, named):
    play = Play().three_successes()
    assert play.parsed(words) == Move("consult", named, words)
