"""Avalon by the rules of the published games of GPT-5.1: rules, words, beliefs, heuristic and clone's view of it.

Source: the records "multi-round-avalon-agents" (S. Ellawela, 2026, MIT), counted over the half that lies in
`../shared/data/gpt51_avalon` (FORMAT.md there). Games are played by hand; seats are 0-based, a deal is given seat by seat.
"""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parlour.envs import batch
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.adapters.parallel import GameParallelEnv
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.core import NATURE, OVER, IllegalMove, Move, ParlourError
from parlour.envs.testing import check_game
from parlour.envs.testing.forms import Aec, Cycles
from parlour.envs.testing.redeal import differ
from parlour.envs.testing.table import ConfiguredGame
from parlour.envs.testing.twins import Played, Twins
from parlour.policies import make_policy
from parlour.training.play import rollout
from parlour_people.cloned import CloneNetworks
from parlour_people.habits.model import PeopleHabitsFile
from parlour_people.multi_round import GAME
from parlour_people.multi_round.player import MultiRoundPlayer, take_gathering
from test_conduct import HABITS

from tests.envs.hidden_roles.played_by_hand import A, AvalonPlay, D, G, M, N, O, P, S

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
import playthrough as script

PLAYTHROUGHS = Path(__file__).parent / "playthroughs"
PLAYED = "avalon_multi_round_v0-7.txt"

FIVE = (M, S, S, A, N)
SIX = (M, P, S, S, G, D)
SEVEN = (M, P, S, S, G, D, O)
SILENT = Move("silent")
APPROVE, REJECT = Move("vote", (1,)), Move("vote", (0,))


class Play(AvalonPlay):
    """A game by the rules of the records."""

    def __init__(self, deal: tuple[str, ...] = FIVE, leader: int = 0) -> None:
        self.deal = deal
        self.game = GAME.build(GAME.options(num_players=len(deal)))
        self.text = GAME.text(self.game)
        self.state = self.game.initial()
        self.do(Move("deal", (*map(self.game.role_names.index, deal), leader)))

    def talk(self) -> list[int]:
        """All speak, if it is time for that; returns the seats in the order in which they did."""
        spoken = []
        while self.kind == "silent":
            spoken.append(self.actor)
            self.do(SILENT)
        return spoken

    def three_successes(self) -> Play:
        for size in self.game.sizes[:3]:
            self.quest(*range(size))
        return self

    @property
    def kind(self) -> str:
        return self.legal[0].kind if self.legal else ""

    def lines(self, seat: int) -> list[str]:
        """What a seat has read, line by line."""
        return [self.text.line(event).removesuffix("\n") for event in self.view(seat).events]

    def parsed(self, words: str) -> Move:
        """What the seat to move does with these words."""
        move: Move = self.text.parse(words, self.view(self.actor))
        return move


def played_well(game: Any, seed: int) -> list[Move]:
    """The moves of a game of heuristic players who say something with whatever takes words."""
    rng, players, state, moves = np.random.default_rng(seed), dict[int, Any](), game.initial(), list[Move]()
    while (seat := game.actor(state)) != OVER:
        if seat == NATURE:
            moves.append(game.nature(state, rng))
        else:
            view = game.view(state, seat)
            player = players.setdefault(seat, MultiRoundPlayer(view, np.random.default_rng((seed, seat))))
            move = player.act(view)
            moves.append(move._replace(words=f"For {seat} reasons.") if move.kind in game.worded else move)
        state = game.apply(state, moves[-1])
    return moves


def with_consultation(game: Any) -> list[Move]:
    """The first such game that comes to the guess."""
    games = (played_well(game, seed) for seed in range(20))
    return next(moves for moves in games if any(move.kind == "consult" for move in moves))


# -- the game ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [5, 7])
def test_the_game_keeps_the_contract(players):
    check_game(GAME, [{"num_players": players}])


def test_a_game_goes_as_it_went_and_shows_what_sets_the_rules_apart():
    """The text is that of the preset `multi_round`, which Avalon had before, but for comments: each is read with its vote."""
    written = (PLAYTHROUGHS / PLAYED).read_text(encoding="utf-8")
    assert "\n".join(script.playthrough(*script.tables(PLAYTHROUGHS)[PLAYED])) == written
    assert "player_2, Morgana, guesses" in written


def test_features_are_what_trained_networks_read():
    written = json.loads((PLAYTHROUGHS / "features.json").read_text(encoding="utf-8"))[PLAYED]
    made = script.feature_sums(*script.tables(PLAYTHROUGHS)[PLAYED])
    assert made.keys() == written.keys()
    assert all(sums == pytest.approx(written[kind], abs=1e-3) for kind, sums in made.items())


@pytest.mark.parametrize(
    ("players", "roles", "sizes", "guesser"),
    [
        (5, FIVE, (2, 3, 2, 3, 3), A),
        (6, SIX, (2, 3, 4, 3, 4), D),
        (7, SEVEN, (2, 3, 3, 4, 4), G),
        (8, (M, P, S, S, S, G, A, D), (3, 4, 4, 5, 5), A),
        (9, (M, P, S, S, S, S, G, A, D), (3, 4, 4, 5, 5), A),
        (10, (M, P, S, S, S, S, G, A, D, O), (3, 4, 4, 5, 5), A),
    ],
)
def test_roles_sizes_and_who_names_merlin_are_those_of_the_records(players, roles, sizes, guesser):
    game = GAME.build(GAME.options(num_players=players))
    assert (game.roles, game.sizes, game.rules.guesser) == (roles, sizes, guesser)
    assert game.fails_needed == (1, 1, 1, 1, 1)
    assert game.config == {"num_players": players}


@pytest.mark.parametrize("players", [4, 11, "5", None])
def test_another_number_of_players_is_refused_in_one_line(players):
    with pytest.raises(ParlourError, match=r"^num_players .* is not accepted; accepted: 5\.\.10$"):
        GAME.build(GAME.options(num_players=players))


@pytest.mark.parametrize("number", range(5))
def test_a_comment_is_read_by_the_voter_alone(number):
    play = Play().propose(0, 1)
    before = len(play.lines(number))
    play.do(APPROVE, Move("vote", (0,), "I know better."), APPROVE, APPROVE, APPROVE)
    voted = "Moderator: The team is accepted. Approve: player_0, player_2, player_3, player_4. Reject: player_1."
    own = ['Privately, player_1 says of its vote: "I know better." (taken as: I reject the team.)']
    assert play.lines(number)[before:] == [*(own if number == 1 else []), voted]


def test_words_beside_a_card_are_not_heard():
    plain, said = (Play().go(0, 1).do(Move("card", (1,), words)).state for words in ("", "I am Merlin."))
    assert plain == said


def test_a_seat_counts_seats_of_the_consultation_from_itself():
    game = GAME.build(GAME.options(num_players=7))
    frame, hold = GAME.encoder(game).frame(), game.catalogue.index(Move("consult", (5,)))
    assert game.catalogue[frame.own[2, hold]] == Move("consult", (3,))


def test_arrays_are_played_by_the_scalar_rules():
    tables = batch.make(GAME.id, num_envs=2, features="record+belief", num_players=6)
    assert type(tables) is batch.ScalarTables
    assert tables.reset(seed=1).mask.any(axis=1).all()


def test_all_speak_once_a_mission_in_the_order_of_seats_whoever_leads():
    play = Play(leader=3)
    assert (play.talk(), play.actor, play.kind) == ([0, 1, 2, 3, 4], 3, "propose")
    play.rejected(0, 1)
    assert (play.actor, play.kind) == (4, "propose")  # the next leader names a team, and nobody speaks before
    play.quest(0, 1)
    assert (play.actor, play.kind, play.state.standing.leader) == (0, "silent", 0)


@pytest.mark.parametrize(("votes", "goes"), [((1, 1, 1, 0, 0, 0), 0), ((1, 1, 1, 1, 0, 0), 1)])
def test_a_tie_rejects(votes, goes):
    play = Play(SIX).propose(0, 1).vote(*votes)
    assert [e.move.args[0] for e in play.state.log if e.move.kind == "votes"] == [goes]


def test_the_fifth_team_goes_without_a_vote():
    play = Play()
    play.rejected(0, 1, times=4).propose(1, 3)
    assert (play.actor, play.kind, play.view(0).counted) == (1, "card", 5)
    assert [e.move.kind for e in play.state.log[-2:]] == ["propose", "goes"]
    assert sum(e.move.kind == "votes" for e in play.state.log) == 4
    assert play.lines(2)[-1] == "Moderator: This is the fifth team of the quest: it goes without a vote."
    play.do(Move("card", (1,)), Move("card", (0,)))
    assert play.lines(2)[-3:] == [
        "Moderator: Quest 1 fails. Fail cards: 1.",
        "Moderator: Score: good 0, evil 1.",
        "Moderator: Quest 2, proposal 1: player_0 leads. Team size 3.",
    ]


def test_all_hear_the_words_of_a_team():
    play = Play().propose(0, 2, words='Moderator: "trust" me')
    for seat in range(5):
        assert play.lines(seat)[-1] == r'player_0 proposes the team player_0, player_2: "Moderator: \"trust\" me"'


def test_a_reason_in_words_stands_behind_the_sentence_of_the_team():
    play = Play()
    play.talk()
    # the other lists of players in the reason are words
    words = "They won the last quest. I would have chosen player_3 and player_4."
    assert play.parsed(f"I propose player_0, player_2. {words}") == Move("propose", (0, 2), words)
    assert play.parsed("i propose  player_0,  player_2.") == Move("propose", (0, 2))
    freely = "My team is player_2 and me, they did well"
    assert play.parsed(freely) == Move("propose", (0, 2), freely)
    with pytest.raises(IllegalMove, match="2 different players"):
        play.parsed("I propose player_0, player_1, player_2. So be it.")


def test_a_vote_and_a_guess_take_words_behind_their_sentence():
    play = Play().propose(0, 1)
    assert play.parsed("I reject the team. I approve of nobody here.") == Move(
        "vote", (0,), "I approve of nobody here."
    )
    assert play.parsed("I agree, it is fine") == Move("vote", (1,), "I agree, it is fine")
    play = Play().three_successes().do(Move("consult"), Move("consult"))
    assert play.parsed("I guess that player_0 is Merlin. player_1 would not know.") == Move(
        "guess", (0,), "player_1 would not know."
    )
    play.do(Move("guess", (0,), "He knew."))
    assert play.lines(3)[-2] == 'Privately, player_3: "He knew." (taken as: I guess that player_0 is Merlin.)'
    assert not any("He knew" in line for line in play.lines(4))


def test_before_the_guess_the_evil_seats_speak_once_each_by_number_and_learn_who_they_are():
    play = Play((O, M, P, G, S, S, D), leader=2).three_successes()
    assert (play.actor, play.kind) == (0, "consult")
    assert play.lines(0)[-1] == (
        "Moderator: To the evil players: you are player_0, player_3, player_6. You now talk among yourselves."
    )
    assert [move.args for move in play.legal] == [(), (1,), (2,), (3,), (4,), (5,), (6,)]  # anybody but oneself
    play.do(Move("consult", (1,), "She was too sure."))
    assert (play.actor, play.kind) == (3, "consult")
    play.do(Move("consult"))
    assert (play.actor, play.kind) == (6, "consult")
    play.do(Move("consult", (2,)))
    assert (play.actor, play.kind) == (3, "guess")  # Morgana names Merlin
    for seat in (0, 3, 6):
        assert play.lines(seat)[-3:] == [
            'To the evil players, player_0 says: "She was too sure." (taken as: I think that player_1 is Merlin.)',
            'To the evil players, player_3 says: "I do not know who Merlin is."',
            'To the evil players, player_6 says: "I think that player_2 is Merlin."',
        ]
    assert {play.lines(seat)[-1] for seat in (1, 2, 4, 5)} == {"Moderator: Score: good 3, evil 0."}


@pytest.mark.parametrize(("deal", "guesser"), [(FIVE, 3), (SIX, 5), (SEVEN, 4)])
@pytest.mark.parametrize(("named", "winner"), [(0, "evil"), (1, "good")])
def test_the_guesser_of_the_table_names_merlin(deal, guesser, named, winner):
    play = Play(deal).three_successes()
    while play.kind == "consult":
        play.do(Move("consult"))
    assert (play.actor, play.view(0).guesser) == (guesser, deal[guesser])
    play.do(Move("guess", (named,)))
    outcome = play.game.outcome(play.state)
    assert outcome is not None
    assert (outcome.winner, outcome.reason) == (winner, "assassination" if winner == "evil" else "quests")
    who = "the Assassin" if deal == FIVE else deal[guesser]
    right = "right" if winner == "evil" else "wrong"
    assert (
        play.lines(1)[-1]
        == f"Moderator: player_{guesser}, {who}, guesses that player_{named} is Merlin. The guess is {right}."
    )


def the_good_way(view: Any) -> Move:
    """Teams of the first seats, all approve, all cards are successes, nobody says a word."""
    kinds = {"vote": APPROVE, "card": Move("card", (1,))}
    move: Move = kinds.get(view.legal[0].kind, view.legal[0])
    return move


@pytest.mark.parametrize("deal", [SEVEN, (O, M, P, G, S, S, D)])
def test_in_cycles_the_consultation_takes_one_for_each_evil_seat_of_the_table(deal):
    """7 players have 3 evil seats: 3 cycles and one for the guess, in which good seats are shown nothing new."""
    env = GameParallelEnv(GameEnv(GAME, GAME.build(GAME.options(num_players=7)), observation="both"))
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


def test_questions_say_that_words_may_follow():
    play = Play()
    play.talk()
    assert play.text.ask(play.legal) == "You lead: propose a team. You may add reasons: everyone hears them."
    play.propose(0, 1)
    assert play.text.ask(play.legal) == "Vote on the team in secret. You may add a comment: nobody else reads it."


@pytest.mark.parametrize("words", ["", "?", "all of them"])
def test_words_without_sense_hold_nobody_for_merlin(words):
    play = Play().three_successes()
    assert play.text.default(words, play.view(play.actor), np.random.default_rng(0)) == Move("consult")


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


@pytest.mark.parametrize("players", range(5, 11))
def test_the_heuristic_plays_every_table_and_names_somebody_in_the_consultation(players):
    game = GAME.build(GAME.options(num_players=players))
    moves = [move for move in with_consultation(game) if move.kind == "consult"]
    assert len(moves) == sum(role in (G, A, D, O, N) for role in game.roles)
    assert all(move.args for move in moves)


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
            take_gathering(belief, event.move)
    assert mine.evil_chance().round(9).tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert mine.merlin_chance()[6] == pytest.approx(0)
    assert onlooker.evil_chance().tolist() == before.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("players", [5, 7])
def test_twins_with_consultations_cannot_be_told_apart(players):
    """A whole game that comes to the guess, compared with twins of each seat, turn by turn and cycle by cycle."""
    table = ConfiguredGame(GAME, (("num_players", players),))
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


@pytest.mark.parametrize("name", ["heuristic", "chat", "random"])
def test_players_of_any_game_sit_at_the_table(name):
    table = rollout.table(GAME.id, num_players=7)
    players = [make_policy(name, GAME.id, {"num_players": 7}) for _ in range(7)]
    episode = rollout.play(table, players, 1)
    assert not any(count for faults in episode.faults.values() for count in faults.values())


def test_the_heuristic_with_habits_of_people_sits_at_the_table(tmp_path):
    (tmp_path / "habits.json").write_text(json.dumps(PeopleHabitsFile({5: HABITS}).as_json()))
    player = make_policy(f"conduct:{tmp_path / 'habits.json'}", GAME.id, {"num_players": 5})
    episode = rollout.play(rollout.table(GAME.id, num_players=5), [copy.deepcopy(player) for _ in range(5)], 1)
    assert not any(count for faults in episode.faults.values() for count in faults.values())


def test_networks_of_people_who_were_not_heard_are_refused(tmp_path, error_of):
    CloneNetworks({5: [(np.zeros((1, 1)), np.zeros(1))]}, {}).save(tmp_path / "clone.npz")
    [line] = error_of(["play", GAME.id, "--policy", f"clone:{tmp_path / 'clone.npz'}"]).strip().splitlines()
    assert "game of networks 'avalon_multi_round_v0' is not accepted; accepted: avalon_v0" in line
