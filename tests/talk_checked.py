"""Reads the talk of whole games, and checks every reason against the belief that it cites.

`python tests/talk_checked.py [--games N] [GAME ...]` plays games of heuristics and experts that speak in words, and prints one of
them. Nothing of the player is used: the belief is made anew from the transcript for each reason, once with the evidence that the
reason cites and once without it. A reason is false if the record does not hold what it says, if its evidence did not
move the belief in the direction of the claim, if a number or an opinion in it is not that of the belief, if the words
do not say it, or if a seat that does not have to deceive says what is not true.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from parlour.envs import replay, speech
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.core import NATURE
from parlour.envs.werewolf import vocabulary as werewolf
from parlour.envs.werewolf.belief import SeatBeliefs
from parlour.policies import make_policy
from parlour.policies.voice import Spoken
from parlour.policies.voice.evidence import Piece, SeatFact
from parlour.policies.voice.phrases import SeatPhrases
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder

AGAINST, FOR = 1, -1


@dataclass
class Checked:
    """What was found in the talk of a game."""

    speeches: int = 0
    in_words: int = 0
    reasons: int = 0
    lies: int = 0
    false: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


# -- beliefs, made anew ------------------------------------------------------------------------------------------


def avalon_chances(view, public, left_out):
    """P(evil) of each seat by the events of a View, `left_out` (event, voter or -1) being no evidence."""
    seat, role, knows = (-1, "", ()) if public else (view.seat, view.role, view.knows)
    belief = AvalonBelief(view.roles, seat, role, knows, guesser=view.guesser)
    for number, (by, (kind, args, words), _) in enumerate(view.events):
        voters = [voter for event, voter in left_out if event == number and voter >= 0]
        before = belief.log_weights
        if voters:
            belief.log_weights = before + vote_by_vote(belief, args, voters)
            belief._weights = None
            continue
        belief.see(by, kind, args, words)
        if (number, -1) in left_out:
            belief.log_weights, belief._weights = before, None
    return belief.evil_chance()


def vote_by_vote(belief, args, left_out):
    """The log-likelihood of votes, one vote after another, without those of some voters and of the seat itself."""
    h, dirty = belief.habits, belief.evil[:, list(belief._team)].sum(axis=1) > 0
    total = np.zeros(len(belief.evil))
    for voter, vote in enumerate(args[1:]):
        if voter == belief.seat or voter in left_out:
            continue
        evil, merlin, blind = belief.evil[:, voter], belief.merlin[:, voter] == 1, belief.blind[:, voter] == 1
        yes = np.where(dirty, h.approve_dirty_evil, h.approve_clean_evil)
        yes = np.where(merlin, np.where(dirty, h.approve_dirty_merlin, h.approve_clean_merlin), yes)
        yes = np.where(blind, h.approve_blind, yes)
        assert set(np.unique(evil)) <= {0, 1}
        total += np.log(yes if vote else 1 - yes)
    return total


def werewolf_chances(view, public, left_out):
    beliefs = SeatBeliefs(view)
    belief = beliefs.onlooker if public else beliefs.own
    for number, event in enumerate(view.events):
        voters = [voter for at, voter in left_out if at == number and voter >= 0]
        if voters:
            args = list(event.move.args)
            for voter in voters:
                args[1 + voter] = -1
            event = event._replace(move=event.move._replace(args=tuple(args)))
        before = belief.log_weights
        beliefs.see(event, view)
        if (number, -1) in left_out:
            belief.log_weights, belief._weights = before, None
    return belief.wolf_chance()


# -- what the record holds ------------------------------------------------------------------------------------------


def avalon_holds(fact, view):
    """Whether the record holds a fact."""
    kind, slots, events = fact.kind, fact.slots, view.events
    quests = [quest_at(events, number) for number, _ in fact.pieces if events[number].move.kind == avalon.FAILS]
    if kind in ("clean_often", "failed_often", "clean_with_me_often"):
        fails = kind == "failed_often"
        mine = kind != "clean_with_me_often" or all(view.seat in quest.team for quest in quests)
        right = all(fact.about in quest.team and (quest.fails > 0) == fails for quest in quests)
        return right and mine and len({quest.quest for quest in quests}) == slots["count"]
    if kind == "nothing_yet":
        return all(event.move.kind != avalon.FAILS for event in events)
    if "quest" not in slots:
        return remark_holds(fact, events)
    quest = next(one for one in all_quests(events) if one.quest + 1 == slots["quest"])
    right = (quest.fails, set(quest.team)) == (slots["fails"], set(slots["team"]))
    if kind in ("failed", "failed_with_me", "clean", "clean_with_me"):
        together = view.seat in quest.team or not kind.endswith("with_me")
        return right and together and fact.about in quest.team and (quest.fails > 0) == kind.startswith("failed")
    if kind in ("led_failed", "led_clean"):
        return right and quest.leader == fact.about and (quest.fails > 0) == (kind == "led_failed")
    if kind in ("approved_failed", "approved_clean"):
        return right and quest.votes[fact.about] == 1 and (quest.fails > 0) == (kind == "approved_failed")
    if kind == "played_success":
        return right and fact.about == view.seat in quest.team and (quest.card == 0) == fact.lie
    return False


def all_quests(events):
    return [quest_at(events, number) for number, event in enumerate(events) if event.move.kind == avalon.FAILS]


def quest_at(events, number):
    """The quest whose cards an event shows: team, leader, votes, the seat's own card."""
    before = list(events[:number])
    start = max(k for k, event in enumerate(before) if event.move.kind == avalon.TEAM)
    since = {event.move.kind: event for event in before[start:]}
    team = since.get(avalon.DRAWN, since[avalon.TEAM]).move.args
    votes = since[avalon.VOTES].move.args[1:] if avalon.VOTES in since else ()
    card = since[avalon.CARD].move.args[0] if avalon.CARD in since else None
    quest, fails, _ = events[number].move.args
    return SimpleNamespace(quest=quest, fails=fails, team=team, leader=since[avalon.TEAM].seat, votes=votes, card=card)


REMARKS = {
    "spoke_against": ((speech.ACCUSE,), "by"),
    "spoke_for": ((speech.DEFEND, speech.RECOMMEND), "by"),
    "doubted_by": ((speech.ACCUSE,), "of"),
    "backed_by": ((speech.DEFEND, speech.RECOMMEND), "of"),
    "reported_evil": ((speech.REPORT, 1), "by"),
    "reported_good": ((speech.REPORT, 0), "by"),
    "evil_by_report": ((speech.REPORT, 1), "of"),
    "good_by_report": ((speech.REPORT, 0), "of"),
}


def remark_holds(fact, events):
    base = next((kind for kind in REMARKS if fact.kind == kind or fact.kind.startswith(f"{kind}_")), None)
    if base is None:
        return False
    acts, way = REMARKS[base]
    other = fact.slots["other"]
    speaker, target = (fact.about, other) if way == "by" else (other, fact.about)
    seat, (kind, args, _), to = events[fact.pieces[0].event]
    verdict = acts[1:] if acts[0] == speech.REPORT else None
    right = kind in acts and (verdict is None or args[1:] == verdict)
    return (seat, args[0], to, right) == (speaker, target, None, True)


def werewolf_holds(fact, view):
    kind, events = fact.kind, view.events
    if kind.endswith(("_wolf", "_villager")):
        shown = {
            event.move.args[0]: view.role_names[event.move.args[1]]
            for event in events
            if event.move.kind == werewolf.REVEALED
        }
        is_wolf = shown.get(fact.slots["other"]) == werewolf.WEREWOLF
        if fact.slots["other"] not in shown or is_wolf != kind.endswith("_wolf"):
            return False
    if kind == "claimed":
        seat, (what, args, _), to = events[fact.pieces[0].event]
        return (seat, what, to, f"the {view.role_names[args[0]]}") == (
            fact.about,
            speech.CLAIM_ROLE,
            None,
            fact.slots["role"],
        )
    if not kind.startswith("voted"):
        return remark_holds(fact, events)
    (number, voter), *_ = fact.pieces
    seat, (what, args, _), _ = events[number]
    if seat != NATURE:
        return (seat, what, args) == (fact.about, werewolf.BALLOT, (fact.slots["other"],))
    return (voter, args[0], args[1 + voter]) == (fact.about, fact.slots["day"], fact.slots["other"])


# -- one reason -----------------------------------------------------------------------------------------------------


def problems(fact, belief, view, move, words):
    """What is false in a reason."""
    of_avalon = hasattr(view, "fails_needed")
    chances = avalon_chances if of_avalon else werewolf_chances
    holds = avalon_holds if of_avalon else werewolf_holds
    deceives = view.side == avalon.EVIL if of_avalon else view.side == werewolf.WOLVES
    knows = bool(view.knows) or deceives
    if (belief == "public") != knows:
        yield "a seat that knows a secret speaks from the public belief, every other from its own"
    if fact.lie and not deceives:
        yield "a lie of a seat that has no need of it"
    in_defence = fact.about == view.seat
    public = belief == "public" or in_defence
    sign = FOR if in_defence or move.kind != speech.ACCUSE else AGAINST
    chance = chances(view, public, ())
    prior = chances(view._replace(events=()), public, ()).mean()
    if fact.kind in ("my_count", "the_record"):
        if abs(100 * chance[fact.about] - fact.slots["percent"]) > 2.51 or sign * (chance[fact.about] - prior) <= 0:
            yield f"the probability is {chance[fact.about]:.3f}"
        if (fact.kind == "the_record") != public:
            yield "it names the other belief"
    elif not holds(fact, view):
        yield "the record does not hold it"
    if fact.pieces:
        without = chances(view, public, {tuple(piece) for piece in fact.pieces})[fact.about]
        if sign * (chance[fact.about] - without) <= 0:
            yield f"it moved the belief from {without:.4f} to {chance[fact.about]:.4f}"
    if fact.kind.endswith(("_good", "_bad")) and fact.kind.partition("_")[0] != "reported":
        other = chance[fact.slots["other"]] - prior
        if (other > 0) != fact.kind.endswith("_bad"):
            yield f"its opinion of player_{fact.slots['other']} is {other:+.3f}"
    readings = SeatPhrases(np.random.default_rng(0), view.seat).readings(fact)
    if not any(one.lower() in words.lower() for one in readings):
        yield "the words do not say it"


def check(path):
    """All talk of a transcript."""
    found, transcript = Checked(), replay.read(path)
    game, text = transcript.game(), replay.text_of(transcript)
    states = replay.states(game, transcript.moves)
    state = next(states)
    for entry, notes in zip(transcript.entries, transcript.lines, strict=True):
        seat, move = entry.seat, entry.move
        if seat >= 0 and move.kind in speech.ACTS and entry.to is None:
            view = game.view(state, seat)
            found.speeches += 1
            found.in_words += bool(move.words)
            if move.words and text.parse(move.words, view) != move:
                found.false.append(f"{text.say(move)!r} is not read back from {move.words!r}")
            cited = notes.get("reasons", {})
            for told in cited.get("facts", ()):
                fact = fact_of(told)
                found.reasons += 1
                found.lies += fact.lie
                for why in problems(fact, cited["belief"], view, move, move.words):
                    found.false.append(f"seat {seat}, {move.words!r}, {told}: {why}")
        if move is not None:
            state = next(states)
    found.lines = [text.line(event) for event in game.view(state, 0).events]
    return found


def fact_of(told):
    pieces = tuple(Piece(*piece) for piece in told["pieces"])
    slots = {key: tuple(value) if isinstance(value, list) else value for key, value in told["slots"].items()}
    return SeatFact(told["kind"], told["about"], pieces, slots, told.get("lie", False))


def checked_talk(game, seed, folder, player="heuristic", **options):
    """A game of players that speak in words, read."""
    env = table(game, **options)
    base = env.game_env
    players = [Spoken(make_policy(player, game, base.game.config), base.spec.voice) for _ in range(base.game.seats)]
    path = Path(folder) / f"{game}-{player}-{seed}.jsonl"
    recorder = Recorder(env, path)
    play(recorder, players, seed)
    recorder.close_transcript()
    return check(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", default=["avalon_v0", "werewolf_v0"])
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--show", type=int, default=0, help="seed of the game that is printed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for game in given.games:
            for player in ("heuristic", "expert"):
                read = [checked_talk(game, seed, folder, player) for seed in range(given.number)]
                counts = {
                    key: sum(getattr(one, key) for one in read) for key in ("speeches", "in_words", "reasons", "lies")
                }
                wrong = [line for one in read for line in one.false]
                print(f"{game} {player}: {given.number} games", counts, f"false: {len(wrong)}", *wrong[:10], sep="\n  ")
                if given.show < len(read):
                    print("".join(read[given.show].lines[:20]))


if __name__ == "__main__":
    main()
