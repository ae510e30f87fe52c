"""Players cloned from recorded games of Avalon: features of legal moves, the network, what it learns, how it is seated.

Worked numbers stand beside the checks. Games to learn from are the heuristic's own, few and small.
"""

from __future__ import annotations

import csv
import json
import pickle

import numpy as np
import pytest
from parlour.envs import make, replay
from parlour.envs.avalon.vocabulary import BALLOT, CARD, GUESS, TEAM
from parlour.envs.core import Move, ParlourError
from parlour.envs.registry import lookup
from parlour.policies import asks_a_model, make_policy
from parlour.policies.array_files import write_arrays
from parlour.training.cli import run
from parlour.training.learn.ppo.config import SeatConfig
from parlour.training.learn.ppo.trainer import plays_over_arrays
from parlour.training.measure.avalon.games import analysed_game
from parlour.training.play.rollout import play
from parlour.training.play.single_seat import make_seat
from parlour_people.clone.choices import CloneConfig, ImitatedChoice, choices_of
from parlour_people.clone.run import learned
from parlour_people.cloned import ChoiceHead, ChoiceNetwork, ClonedPlayer
from parlour_people.cloned.features import COLUMNS, DECISIONS, GROUPS, HEARD, SPEECH, decision_of, described, group_of
from parlour_people.cloned.record import SeatRecord, acts_of, heard
from parlour_people.multi_round import GAME as MULTI_ROUND

# Merlin 0, Servants 1 and 2, Assassin 3, Minion 4; seat 0 leads first
ROLES, DEALT = ["Merlin", "Loyal Servant", "Loyal Servant", "Assassin", "Minion"], Move("deal", (0, 1, 1, 2, 3, 0))


def table(**options):
    return lookup("avalon_v0").spec.build(
        lookup("avalon_v0").spec.options(
            **{"num_players": 5, "rules": "official", "roles": ROLES, "talk": False, **options}
        )
    )


def after(game, *moves):
    return list(replay.states(game, (DEALT, *moves)))[-1]


def rows_of(game, state, seat=None):
    """The columns of the moves that a seat may make, by name."""
    view = game.view(state, game.actor(state) if seat is None else seat)
    seen = SeatRecord(view)
    seen.read(view)
    names = COLUMNS[decision_of(view.legal)]
    return view, dict(zip(names, described(view, seen).T, strict=True))


def votes(*cast):
    return tuple(Move(BALLOT, (vote,)) for vote in cast)


def any_network(seed=0):
    """A network of random numbers."""
    rng = np.random.default_rng(seed)
    sizes = {kind: len(COLUMNS[kind]) for kind in DECISIONS}
    heads = {
        kind: ChoiceHead(
            rng.normal(size=(len(GROUPS), d)), rng.normal(size=(4, d)), rng.normal(size=4), rng.normal(size=4)
        )
        for kind, d in sizes.items()
    }
    return ChoiceNetwork(heads, {"games": 0})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "clone.npz"
    any_network().save(path)
    return path


# -- what a move looks like --------------------------------------------------------------------------------------


def test_a_vote_is_described_by_the_team_as_the_voter_knows_it():
    game = table()
    state = after(game, Move(TEAM, (0, 3)))
    merlin, to_merlin = rows_of(game, state, 0)
    assert merlin.legal == (Move(BALLOT, (1,)), Move(BALLOT, (0,)))
    # he leads and is on it; one of its two members he knows to be evil
    assert [to_merlin[name][0] for name in ("me", "leader", "fellows", "clean, own", "evil, own", "leads")] == [
        1,
        1,
        0.5,
        0,
        1,
        1,
    ]
    state = after(game, Move(TEAM, (0, 3)), *votes(1))
    _, to_servant = rows_of(game, state, 1)
    # no more than two of four others are evil: of the six pairs the one of 2 and 4 alone leaves the team clean
    assert to_servant["fellows"][0] == 0
    assert 0 < to_servant["clean, own"][0] < 0.5
    state = after(game, Move(TEAM, (0, 3)), *votes(1, 1, 1, 1))
    _, to_minion = rows_of(game, state, 4)
    assert [to_minion[name][0] for name in ("me", "fellows", "no fellow", "evil", "clean, own")] == [0, 0.5, 0, 1, 0]


def test_teams_are_described_by_those_that_went_before():
    game = table()
    quest = (Move(TEAM, (0, 1)), *votes(1, 1, 1, 0, 0), Move(CARD, (1,)), Move(CARD, (1,)))
    view, columns = rows_of(game, after(game, *quest))  # 1 leads, for three seats
    of = {move.args: number for number, move in enumerate(view.legal)}
    with_both, with_one, with_none = of[0, 1, 2], of[1, 2, 3], of[2, 3, 4]
    within = columns["last success within"]
    assert [within[k] for k in (with_both, with_one, with_none)] == [1, 0, 0]
    assert [columns["shares with last success"][k] for k in (with_both, with_one, with_none)] == pytest.approx(
        [2 / 3, 1 / 3, 0]
    )
    assert [columns["never on a quest"][k] for k in (with_both, with_none)] == pytest.approx([1 / 3, 1])
    # seats 3 and 4 voted against a team whose quest succeeded, the others for it: insight 1 or -1 of one quest
    assert [columns["insight"][k] for k in (with_both, with_none)] == pytest.approx([1, -1 / 3])


def test_a_team_that_goes_without_a_vote_tells_of_nobody_s_insight():
    game = MULTI_ROUND.build(MULTI_ROUND.options())
    moves = [Move("silent")] * 5
    for k in range(4):
        moves += [Move(TEAM, (k, k + 1)), *votes(0, 0, 0, 0, 0)]
    view = game.view(after(game, *moves, Move(TEAM, (0, 4)), Move(CARD, (1,)), Move(CARD, (1,))), 1)
    seen = SeatRecord(view)
    seen.read(view)
    assert seen.gone == [((0, 4), True)]
    assert seen.insight.tolist() == [0] * 5
    assert seen.votes == 4


def test_words_count_by_whom_they_name_and_whom_they_are_for():
    parsed = heard(Move("silent", (), "player_1 looks evil, so I'd take player_2. Let's hear player_4."), 0, 5)
    assert parsed.named == (0, 1, 1, 0, 1)
    assert parsed.praised == (0, -1, 1, 0, 0)
    assert heard(Move("recommend", (3,)), 0, 5) == ((0, 0, 0, 1, 0), (0, 0, 0, 1, 0))
    assert heard(Move("silent", (), "player_7 and player_99 are not here"), 0, 5).named == (0,) * 5


def test_words_count_as_the_speeches_that_say_the_same():
    game = table(talk=True)
    view = game.view(after(game), 0)
    said = acts_of(Move("silent", (), "player_1 looks evil, so I'd take player_2."), 0, 5, view.legal)
    assert said == (Move("accuse", (1,)), Move("recommend", (2,)))
    assert acts_of(Move("silent", (), "Good luck to all."), 0, 5, view.legal) == (Move("silent"),)


def test_what_was_said_is_in_the_columns_of_speech_alone():
    game = table(talk=True)
    spoken = [Move("recommend", (1,)) if k < 4 else Move("accuse", (1,)) for k in range(5)]
    silent = [Move("silent")] * 5
    (_, with_words), (_, without) = (rows_of(game, after(game, *said)) for said in (spoken, silent))
    named = with_words["named"]  # each of the four others named seat 1: 1 where it is the one besides the leader
    assert without["something said"].max() == without["named"].max() == 0
    assert named.max() == 1
    assert [name for name in COLUMNS[TEAM] if without[name].any() and name in HEARD] == []


# -- the network -------------------------------------------------------------------------------------------------


def test_chances_are_the_softmax_of_linear_scores_and_hidden_units():
    head = ChoiceHead(np.array([[1.0, 0.0]] * 3), np.array([[0.0, 1.0]]), np.array([0.5]), np.array([2.0]))
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    # 0;  1;  2 (tanh 1.5 - tanh 0.5) = 2 (0.90515 - 0.46212) = 0.88606
    assert head.scores(rows, 0) == pytest.approx([0, 1, 0.88606], abs=1e-5)
    weights = np.exp([0, 1, 0.88606])
    assert head.chances(rows, 2) == pytest.approx(weights / weights.sum(), abs=1e-5)


def test_a_head_whose_parts_do_not_fit_is_refused():
    with pytest.raises(ParlourError, match=r"bias of shape \(2,\) is not accepted; accepted: finite, of shape \(1,\)"):
        ChoiceHead(np.zeros((3, 2)), np.zeros((1, 2)), np.zeros(2), np.zeros(1))
    with pytest.raises(ParlourError, match="accepted: finite"):
        ChoiceHead(np.full((3, 2), np.nan), np.zeros((1, 2)), np.zeros(1), np.zeros(1))


def test_a_saved_network_has_the_same_chances(file):
    first, again = any_network(), ChoiceNetwork.load(file)
    rows = np.random.default_rng(1).random((6, len(COLUMNS[TEAM])))
    assert again.heads[TEAM].chances(rows, 1) == pytest.approx(first.heads[TEAM].chances(rows, 1), abs=1e-4)
    assert again.told == {"games": 0}


def test_a_file_for_other_features_is_refused(tmp_path, file):
    path = tmp_path / "other.npz"
    write_arrays(path, "parlour_clone", {"columns": {BALLOT: ["me"]}, "told": {}}, {"vote.linear": np.zeros((3, 1))})
    with pytest.raises(ParlourError, match=r"is no cloned player; accepted: a clone\.npz of `train clone`"):
        ChoiceNetwork.load(path)
    path.write_text("not a file of arrays")
    with pytest.raises(ParlourError, match="is no cloned player"):
        ChoiceNetwork.load(path)
    with pytest.raises(ParlourError, match="there is no policy file"):
        ChoiceNetwork.load(tmp_path / "absent.npz")


# -- the player --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 5, "rules": "official", "talk": False},
        {"num_players": 6, "rules": "reference", "talk": False},
        {"num_players": 7, "rules": "paper"},
        {"num_players": 8},
    ],
    ids=str,
)
def test_a_clone_plays_at_any_table_and_its_seed_tells_how(options):
    game = "avalon_v0" if "rules" in options else MULTI_ROUND.id
    env = make(game, info="full", **options)
    players = [ClonedPlayer(any_network()) for _ in range(options["num_players"])]
    first = play(env, players, seed=3)
    assert first.outcome is not None
    again = play(make(game, info="full", **options), pickle.loads(pickle.dumps(players)), seed=3)
    assert again == first


def test_without_sampling_it_takes_the_most_probable_move():
    game = table()
    view = game.view(after(game), 0)
    info = {"view": view, "legal": list(range(len(view.legal)))}
    player = ClonedPlayer(any_network(), sample=False)
    assert {player.act({}, info) for _ in range(5)} == {int(np.argmax(player.chances(view)))}
    drawn = ClonedPlayer(any_network())
    counted = np.bincount([drawn.act({}, info) for _ in range(2000)], minlength=len(view.legal)) / 2000
    assert counted == pytest.approx(drawn.chances(view), abs=0.04)  # 3.6 standard errors of a chance of 0.5


def test_a_clone_is_named_with_its_file(file):
    assert make_policy(f"clone:{file}", "avalon_v0", {}).sample
    assert make_policy(f"clone:file={file}", "avalon_v0", {}).sample
    assert not make_policy(f"clone:{file},sample=no", "avalon_v0", {}).sample
    assert not asks_a_model(f"clone:{file}")


@pytest.mark.parametrize(
    ("name", "game", "reason"),
    [
        ("clone:{}", "werewolf_v0", "game of a clone 'werewolf_v0' is not accepted; accepted: avalon_v0"),
        ("clone", "avalon_v0", "file is missing"),
        ("clone:{},speed=2", "avalon_v0", "setting 'speed' is not accepted; accepted: "),
        ("clone:{},sample=maybe", "avalon_v0", "sample 'maybe' is not accepted"),
        ("clone:absent.npz", "avalon_v0", "there is no policy file 'absent.npz'"),
    ],
)
def test_what_a_clone_cannot_be_is_one_line(file, error_of, name, game, reason):
    assert reason in error_of(["play", game, "--policy", name.format(file)])


def test_a_clone_is_an_opponent_for_evaluation_and_a_seat_to_train(file, json_of):
    arguments = f"evaluate avalon_v0 --players 5 --policy clone:{file} --design team --games 4".split()
    assert json_of([*arguments, "--json"])["games"] == 16
    env = make_seat(
        "avalon_v0", opponents=f"clone:{file}", features="belief", num_players=5, rules="official", talk=False
    )
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)


def test_a_clone_sits_at_scalar_tables_and_not_over_arrays(file, error_of, tmp_path):
    assert not plays_over_arrays(SeatConfig(opponents=f"clone:{file}"))
    out = str(tmp_path / "run")
    assert f"player over arrays 'clone:{file}' is not accepted; accepted: random, heuristic, expert" in error_of(
        ["train", "selfplay", "avalon_v0", "--member", f"clone:{file}", "--steps", "1", "--out", out]
    )


# -- what is learned ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A folder with six small games of the heuristic, and what `train clone` made of it."""
    folder = tmp_path_factory.mktemp("clone")
    arguments = f"--players 5 --games 6 --seed 1 --out {folder / 'games'}".split()
    assert run(["play", MULTI_ROUND.id, *arguments, "--json"]) == 0
    assert run(["train", "clone", "--from", str(folder / "games"), "--out", str(folder / "one"), *SMALL]) == 0
    return folder


SMALL = ["--folds", "2", "--members", "2", "--hidden", "2", "--steps", "40"]


def test_all_decisions_of_a_game_are_choices_with_shares_that_sum_to_one(played):
    path = min((played / "games").glob("*.jsonl"))
    game = analysed_game("one", replay.Transcript.read(path))
    choices = list(choices_of(game, 0, seed=0))
    decided = [moment for moment in game.moments() if len(moment.view.legal) > 1]
    assert [choice.kind for choice in choices] == [decision_of(choice.view.legal) for choice in decided]
    for choice in choices:
        assert choice.taken.sum() == pytest.approx(1)
        assert choice.heuristic.sum() == pytest.approx(1)
        assert len(choice.rows) == len(choice.taken) == len(choice.sorts)
    # the heuristic played them: what it did is among what it does
    assert all(choice.heuristic @ choice.taken > 0 for choice in choices if choice.kind in (CARD, BALLOT))


def test_moves_that_nobody_made_himself_are_no_choices(played):
    path = min((played / "games").glob("*.jsonl"))
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    ballots = [line for line in lines if line.get("move", [""])[0] == BALLOT]
    ballots[0] |= {"by": "table", "reason": "default"}
    ballots[1] |= {"by": "heuristic", "reason": "no reply"}
    lines[0]["record"] = {"assumed": [ballots[2]["n"]]}
    changed = replay.Transcript.parse("".join(json.dumps(line) + "\n" for line in lines).encode(), "changed")
    count = {
        name: sum(c.kind == BALLOT for c in choices_of(analysed_game("x", t), 0, 0))
        for name, t in (("changed", changed), ("whole", replay.Transcript.read(path)))
    }
    assert count == {"whole": len(ballots), "changed": len(ballots) - 3}


def test_the_clone_of_the_heuristic_predicts_better_than_chance_on_games_held_out(played):
    with (played / "one" / "scores.csv").open() as lines:
        rows = {(row["decision"], row["role"], row["model"]): row for row in csv.DictReader(lines)}
    for kind in (BALLOT, TEAM):
        clone, chance = rows[kind, "all", "clone"], rows[kind, "all", "chance"]
        assert float(clone["log"]) > float(chance["log"])
        assert float(chance["clone_log_more_low"]) > 0
    # chance in nats: ballots have two options; teams of 2 or 3 of five seats ten
    assert float(rows[BALLOT, "all", "chance"]["log"]) == pytest.approx(-np.log(2), abs=1e-6)
    assert float(rows[TEAM, "all", "chance"]["log"]) == pytest.approx(-np.log(10), abs=1e-6)
    assert {key[0] for key in rows} <= {*DECISIONS, "consult"}
    assert {SPEECH, GUESS} & {key[0] for key in rows}


@pytest.mark.slow
def test_the_same_seed_learns_the_same_player(played, capsys):
    out = played / "two"
    assert run(["train", "clone", "--from", str(played / "games"), "--out", str(out), *SMALL]) == 0
    for name in ("clone.npz", "scores.csv", "report.md"):
        assert (out / name).read_bytes() == (played / "one" / name).read_bytes()
    assert f"clone:{out / 'clone.npz'}" in "".join(capsys.readouterr().out.split())


def imitated(taken, heuristic):
    count = len(taken)
    sorts = np.arange(count)
    rows = np.zeros((count, len(COLUMNS[BALLOT])), dtype=np.float32)
    return ImitatedChoice(0, BALLOT, BALLOT, "Merlin", 1, 5, rows, np.array(taken), np.array(heuristic), sorts)


def test_the_heuristic_is_mixed_with_as_much_chance_as_fits_best():
    """Of two moves it always makes the first; both were made in one: 1/2 log(1 - s/2) + 1/2 log(s/2) is greatest for s = 1."""
    models = learned([imitated([0.5, 0.5], [1.0, 0.0])] * 4, CloneConfig(hidden=0, members=2, steps=1))
    assert models["heuristic"](imitated([1.0, 0.0], [1.0, 0.0])) == pytest.approx([0.5, 0.5], abs=0.01)
    # made nine times out of ten: 0.9 = 1 - s/2
    often = [imitated([1.0, 0.0], [1.0, 0.0])] * 9 + [imitated([0.0, 1.0], [1.0, 0.0])]
    models = learned(often, CloneConfig(hidden=0, members=2, steps=1))
    assert models["heuristic"](often[0]) == pytest.approx([0.9, 0.1], abs=0.01)


def test_more_folds_than_games_are_refused(played, error_of, tmp_path):
    words = ["train", "clone", "--from", str(played / "games"), "--out", str(tmp_path / "x"), "--folds", "9"]
    assert "9 folds of 6 games are not accepted; accepted: 2 to 6 folds" in error_of(words, notes=True)
    with pytest.raises(ParlourError, match="folds 1 is not accepted"):
        CloneConfig(folds=1)


def test_seats_that_know_alike_are_one_group():
    game = table()
    state = after(game)
    assert [GROUPS[group_of(game.view(state, seat))] for seat in range(5)] == [
        "merlin",
        "others",
        "others",
        "evil",
        "evil",
    ]
