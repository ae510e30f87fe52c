"""Games of Avalon in the format of the published ones, played here: random ones, and one that holds every case."""

from __future__ import annotations

import copy
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from parlour.envs.avalon import GAME, state as avalon
from parlour.envs.avalon.vocabulary import APPROVE, EVIL, FAIL, PASS, REJECT, SUCCESS, side_of
from parlour.envs.core import NATURE, OVER, Move, ParlourError
from parlour.envs.language.speech import SILENT
from parlour.training.records.avalon.importing import import_records

RULES = GAME.build(GAME.options(num_players=6, rules="reference"))
SIZES = (2, 3, 4, 3, 4)
ROLES = ("Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Morgana", "Assassin")
NUMBERS = [str(number) for number in range(1, 7)]
Game = dict[str, Any]


def _play(choose):
    state = RULES.initial()
    while RULES.actor(state) != OVER:
        move = choose(state)
        after = RULES.apply(state, move)
        yield state, move, after
        state = after


def _chooser(seed):
    """Choices that make all kinds of games: many rejections or few, short teams, good players that fail, guesses."""
    rng = np.random.default_rng(seed)
    agreeable = (0.25, 0.5, 0.8)[seed % 3]

    def choose(s):
        if s.actor == NATURE:
            return RULES.nature(s, rng)
        if s.phase == avalon.AvalonPhase.TALK:
            return Move(SILENT)
        if s.phase == avalon.AvalonPhase.VOTE:
            return APPROVE if rng.random() < agreeable else REJECT
        if s.phase == avalon.AvalonPhase.QUEST:
            evil = side_of(RULES.role_names[s.standing.roles[s.actor]]) == EVIL
            return FAIL if rng.random() < (0.5 if evil else 0.05) else SUCCESS
        if s.phase == avalon.AvalonPhase.HUNT and rng.random() < 0.4:
            return PASS
        legal = RULES.legal(s)
        full = [move for move in legal if len(move.args) == RULES.sizes[s.standing.quest]]
        fit = full if s.phase == avalon.AvalonPhase.PROPOSE and rng.random() < 0.7 else legal
        return fit[int(rng.integers(len(fit)))]

    return choose


def _scripted():
    """One game with every case: see the comments. Player 3 leads first; roles as in ROLES."""
    deal = Move("deal", (*(RULES.role_names.index(role) for role in ROLES), 2))
    teams = ["35", "123", "2", "1234", "1234", "1234", "12", "123", "2345"]
    votes = ["aaaddd", "aadddd", "aaaadd", *["adaddd"] * 4, "aaaaaa", "aaaddd"]
    cards = ["ss", "ssf", "ssfs", "sss", "ssfs"]
    moves = {
        avalon.AvalonPhase.DEAL: iter([deal]),
        avalon.AvalonPhase.TALK: iter([Move(SILENT)] * 6 * len(teams)),
        avalon.AvalonPhase.PROPOSE: iter([Move("propose", tuple(int(c) - 1 for c in team)) for team in teams]),
        avalon.AvalonPhase.VOTE: iter([APPROVE if c == "a" else REJECT for c in "".join(votes)]),
        avalon.AvalonPhase.DRAW: iter([Move("draw", (0, 1, 5)), Move("draw", (0, 1, 2, 3))]),
        avalon.AvalonPhase.QUEST: iter([SUCCESS if c == "s" else FAIL for c in "".join(cards)]),
        # round 3: a wrong guess; none is asked afterwards
        avalon.AvalonPhase.HUNT: iter([PASS, PASS, Move("guess", (1,))]),
    }
    return lambda s: next(moves[s.phase])


def _published(steps, game_id="game_1", side="good"):
    """A played game as its record."""
    game: Game = {"game_id": game_id, "log_file": "a.json", "source_dir": "a", "index": 1, "ambiguities": []}
    game |= {"proposed_method_side": side, "baseline_side": "evil" if side == "good" else "good", "rounds": []}
    for before, move, after in steps:
        if before.phase == avalon.AvalonPhase.DEAL:
            game["roles"] = {n: RULES.role_names[r] for n, r in zip(NUMBERS, move.args, strict=False)}
        elif move.kind == SILENT:
            _speak(game["rounds"], before)
        elif move.kind == "propose":
            _propose(game["rounds"][-1]["proposals"][-1], before, move)
        elif move.kind == "vote":
            _vote(game["rounds"][-1], before, move, after)
        elif move.kind == "draw":
            game["rounds"][-1]["quest"] = _quest([j + 1 for j in move.args[::-1]], "random_sample")
        elif move.kind == "card":
            _card(game["rounds"][-1], before, move)
        else:
            _guess(game["rounds"][-1], before, move, after)
        if game["rounds"]:
            game["rounds"][-1]["score_after"] = {"good": after.standing.good, "evil": after.standing.evil}
    outcome = RULES.outcome(steps[-1][2])
    assert outcome is not None
    game |= {"winner": outcome.winner, "win_by": outcome.reason, "final_score": game["rounds"][-1]["score_after"]}
    game["quest_results"] = [round_["quest"]["result"] for round_ in game["rounds"]]
    return game | {"winner_method": "proposed" if outcome.winner == side else "baseline"}


def _speak(rounds, s):
    if len(rounds) <= s.standing.quest:
        number = s.standing.quest + 1
        rounds.append({"round": number, "team_size": SIZES[number - 1], "proposals": [], "assassin": None})
    if s.turn == 0:
        rounds[-1]["proposals"].append({"leader": s.actor + 1, "speech_order": []})
    rounds[-1]["proposals"][-1]["speech_order"].append(s.actor + 1)


def _propose(proposal, s, move):
    short = len(move.args) < SIZES[s.standing.quest]
    team = [j + 1 for j in move.args[::-1]]  # leaders name them in any order
    proposal |= {"proposed_team": team, "short": short, "confirm_logged": not short, "votes": {}}


def _vote(round_, s, move, after):
    proposal = round_["proposals"][-1]
    proposal["votes"][str(s.actor + 1)] = "agree" if move.args[0] else "disagree"
    approvals = list(proposal["votes"].values()).count("agree")
    goes = after.phase in (avalon.AvalonPhase.DRAW, avalon.AvalonPhase.QUEST)
    proposal |= {"approvals": approvals, "vote_passed": approvals >= 3, "executed": goes}
    proposal["forced_by_retry_limit"] = goes and approvals < 3
    if after.phase == avalon.AvalonPhase.QUEST:
        round_["quest"] = _quest(proposal["proposed_team"], "proposal")


def _quest(team, source):
    return {"team": team, "team_source": source, "cards": {}}


def _card(round_, s, move):
    quest = round_["quest"]
    quest["cards"][str(s.actor + 1)] = {"card": "success" if move.args[0] else "fail", "basis": "text"}
    fails = [card["card"] for card in quest["cards"].values()].count("fail")
    quest |= {"fails_reported": fails, "result": "fail" if fails else "success"}


def _guess(round_, s, move, after):
    named = move.args[0] + 1 if move.args else None
    answer = {"player": s.actor + 1, "answer": "yes" if move.args else "no", "answer_basis": "text", "target": named}
    round_["assassin"] = answer | {"correct": after.standing.reason == "assassination" if move.args else None}


@cache
def made(seed):
    """A game as its steps and as its record."""
    steps = list(_play(_scripted() if seed is None else _chooser(seed)))
    return steps, _published(steps, f"game_{seed}", ("good", "evil")[(seed or 0) % 2])


@pytest.fixture(scope="session")
def steps():
    """`steps(seed)`: state, move and state after it of a game; of the scripted one without a seed."""
    return lambda seed=None: made(seed)[0]


@pytest.fixture(scope="session")
def record():
    """`record(seed)`: that game as its record, called game_<seed>."""
    return lambda seed=None: copy.deepcopy(made(seed)[1])


@pytest.fixture(scope="session")
def written():
    """`written(folder, *games)`: a file of records."""
    return _written


def _written(folder, *games):
    path = folder / "games.jsonl"
    path.write_text("".join(json.dumps(game) + "\n" for game in games))
    return path


@pytest.fixture
def refusal(tmp_path):
    """`refusal(*games)`: why a file of them is refused; nothing may have been written."""

    def refuse(*games):
        with pytest.raises(ParlourError) as caught:
            import_records(_written(tmp_path, *games), tmp_path / "out", form="published-2023")
        assert not (tmp_path / "out").exists()
        message = str(caught.value)
        assert "\n" not in message
        assert "; accepted: " in message
        return message

    return refuse
