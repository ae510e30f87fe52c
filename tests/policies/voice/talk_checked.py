"""Reads the talk of whole games, and checks every reason and every answer against the belief that it cites.

`python -m tests.policies.voice.talk_checked [--number N] [--asked] [--habits FILE] [GAME ...]` plays games of heuristics and experts that speak in
words, and prints one of them. With `--asked`, one seat does nothing but put questions to the others. Nothing of the
player is used: the belief is made anew from the transcript for each reason, once with the evidence that the reason cites
and once without it. A reason is false if the record does not hold what it says, if its evidence did not move the belief
in the direction of the claim, if a number or an opinion in it is not that of the belief, if the words do not say it, or
if a seat says what is not true and its role does not need that. An answer is false if it does not fit the question, too.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from parlour.envs import replay
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.habits import read_habits
from parlour.envs.core import NATURE, Move
from parlour.envs.language import speech
from parlour.envs.language.entries import TextAction
from parlour.envs.language.questions import questions
from parlour.envs.werewolf import vocabulary as werewolf
from parlour.envs.werewolf.belief import SeatBeliefs
from parlour.envs.werewolf.habits import read_werewolf_habits
from parlour.policies import make_policy
from parlour.policies.heuristic.policy import HeuristicPolicy
from parlour.policies.voice.evidence import Piece, SeatFact
from parlour.policies.voice.phrases import SeatPhrases
from parlour.policies.voice.spoken import VOICES, Spoken
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder

AGAINST, FOR = 1, -1
EVIL_LIES = {"played_success", "fail_from_others", "thought_clean", "chose_clean", "knows_nothing", "not_evil"}
WOLF_LIES = {"slept", "thought_wolf", "not_evil"}
QUESTIONS = {
    "trust": "{you}, whom do you trust?",
    "suspect": "Who is evil, {you}?",
    "team": "{you}, whom would you take?",
    "about": "{you}, what do you think of {other}?",
    "why": "{you}, why do you trust {other}?",
    "vote": "Why did you vote like that, {you}?",
    "seen": "{you}, what did you see?",
    "role": "{you}, are you evil?",
    "card": "{you}, what is your role?",
}
"""What the seat that asks says, in turn, to each of the others."""


class Asker(HeuristicPolicy):
    """Puts questions to the others, and plays as the heuristic."""

    def reset(self, seat, seed):
        super().reset(seat, seed)
        self._turn = seed

    def act(self, observation, info):
        answer, view = super().act(observation, info), info["view"]
        if not info.get("free_words") or Move(speech.SILENT) not in view.legal or len(view.legal) < 5:
            return answer
        others = [
            seat for seat in range(len(view.roles)) if getattr(view, "alive", [True] * 9)[seat] and seat != view.seat
        ]
        self._turn += 1
        asked = list(QUESTIONS.values())[self._turn % len(QUESTIONS)]
        you, other = others[self._turn % len(others)], others[(self._turn + 1) % len(others)]
        words = asked.format(you=f"player_{you}", other=f"player_{other}")
        return TextAction(Move(speech.SILENT, (), words), None)


@dataclass
class Checked:
    """What was found in the talk of a game."""

    speeches: int = 0
    in_words: int = 0
    reasons: int = 0
    lies: int = 0
    answers: int = 0
    kinds: set[str] = field(default_factory=set)
    """Kinds of what was not true."""
    false: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


# -- beliefs, made anew ------------------------------------------------------------------------------------------


def avalon_belief(view, public, left_out, habits):
    """The belief by the events of a View, `left_out` (event, voter or -1) being no evidence."""
    seat, role, knows = (-1, "", ()) if public else (view.seat, view.role, view.knows)
    assumed = None if habits is None else read_habits(habits).of(len(view.roles))
    belief = AvalonBelief(view.roles, seat, role, knows, assumed, guesser=view.guesser)
    for number, (by, (kind, args, words), _) in enumerate(view.events):
        voters = [voter for event, voter in left_out if event == number and voter >= 0]
        before = belief.log_weights
        if voters:
            belief.see_votes(belief.team, args[1:], without=voters)
            continue
        belief.see(by, kind, args, words)
        if (number, -1) in left_out:
            belief.log_weights, belief._weights = before, None
    return belief


def avalon_chances(view, public, left_out, habits):
    """P(evil) of each seat."""
    return avalon_belief(view, public, left_out, habits).evil_chance()


def werewolf_chances(view, public, left_out, habits):
    beliefs = SeatBeliefs(view, None if habits is None else read_werewolf_habits(habits).of(len(view.roles)))
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


def of_itself(fact, view, *, hostile):
    """Whether what a seat says of its card is so; None for other facts."""
    if fact.kind in ("not_evil", "keeps_card"):
        return fact.about == view.seat and fact.lie == (hostile and fact.kind == "not_evil")
    return None


def avalon_holds(fact, view, habits):
    """Whether the record holds a fact."""
    if (own := of_itself(fact, view, hostile=view.side == avalon.EVIL)) is not None:
        return own
    if fact.kind == "knows_nothing":
        return fact.about == view.seat and fact.lie == bool(view.knows)
    if fact.kind == "no_vote_yet":
        return all(event.move.kind != avalon.VOTES for event in view.events)
    if fact.kind in ("voted_own", "voted_last") or fact.kind.startswith(("approved_by", "rejected_by")):
        return vote_holds(fact, view, habits)
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
    quest = next(quest for quest in all_quests(events) if quest.quest + 1 == slots["quest"])
    if kind == "fail_from_others":
        others = set(quest.team) - {view.seat}
        right = (quest.fails, others) == (slots["fails"], set(slots["team"])) and quest.fails > 0
        return right and view.seat in quest.team and fact.about in others and (quest.card == 0) == fact.lie
    right = (quest.fails, set(quest.team)) == (slots["fails"], set(slots["team"]))
    if kind in ("thought_clean", "chose_clean"):
        own, public = (looked_clean(view, quest, which, habits) for which in (False, True))
        mine = (quest.leader == view.seat) == (kind == "chose_clean") and quest.votes[view.seat] == 1
        return right and mine and fact.about == view.seat and quest.fails > 0 and public and own != fact.lie
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


def clean_chance(view, public, team, number, habits):
    """P(no evil member) of a team before an event, and the mean of all teams of its size."""
    belief = avalon_belief(view._replace(events=view.events[:number]), public, (), habits)
    evil, weights = belief.evil, belief.weights
    every = [list(combination) for combination in combinations(range(evil.shape[1]), len(team))]
    chances = [float(weights @ (evil[:, seats].sum(axis=1) == 0)) for seats in every]
    return chances[every.index(sorted(team))], float(np.mean(chances))


def looked_clean(view, quest, public, habits):
    chance, usual = clean_chance(view, public, quest.proposed, quest.voted, habits)
    return chance > usual


def vote_holds(fact, view, habits):
    """Whether the seat voted so on the last team with these members on this quest, and a number is that of its belief then."""
    events, slots = view.events, fact.slots
    for number in reversed(range(len(events))):
        if events[number].move.kind != avalon.VOTES:
            continue
        since = {event.move.kind: event for event in events[:number]}
        quest = 1 + sum(event.move.kind == avalon.FAILS for event in events[:number])
        team, leader = since[avalon.TEAM].move.args, since[avalon.TEAM].seat
        if (quest, tuple(team)) != (slots["quest"], tuple(slots["team"])):
            continue
        vote = events[number].move.args[1 + view.seat]
        if fact.kind in ("voted_own", "voted_last"):
            last = since[avalon.LEADS].move.args[3] >= view.limit
            return vote == 1 and (leader == view.seat if fact.kind == "voted_own" else last)
        chance, _ = clean_chance(view, fact.kind.endswith("record"), team, number, habits)
        return vote == fact.kind.startswith("approved") and abs(100 * chance - slots["percent"]) < 2.51
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
    voted = max((k for k, event in enumerate(before) if event.move.kind == avalon.VOTES), default=-1)
    return SimpleNamespace(
        quest=quest,
        fails=fails,
        team=team,
        proposed=since[avalon.TEAM].move.args,
        voted=voted,
        leader=since[avalon.TEAM].seat,
        votes=votes,
        card=card,
    )


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


def own_votes(view):
    """Event number, day and target of each vote of the seat."""
    day = 0
    for number, (seat, (kind, args, _), _) in enumerate(view.events):
        day = args[0] if kind == werewolf.DAWN else day
        if seat == NATURE and kind == werewolf.VOTES and not view.public_votes and args[1 + view.seat] >= 0:
            yield number, day, args[1 + view.seat]
        elif seat == view.seat and kind == werewolf.BALLOT and view.public_votes and args:
            yield number, day, args[0]


def suspicions(view, number, target, habits):
    """P(werewolf) of a seat before an event, by the seat's own belief and to an onlooker, each with the mean of living others."""
    early = view._replace(events=view.events[:number])
    dead = {seat for event in early.events if event.move.kind == werewolf.DAWN for seat in event.move.args[1:]}
    dead |= {seat for event in early.events if event.move.kind == werewolf.EXECUTED for seat in event.move.args}
    living = [seat for seat in range(len(view.alive)) if seat not in dead | {view.seat}]
    chances = [werewolf_chances(early, public, (), habits) for public in (False, True)]
    return [(float(chance[target]), float(chance[living].mean())) for chance in chances]


def own_vote_holds(fact, view, habits):
    slots = fact.slots
    wanted = (slots["day"], slots["other"])
    number = max((at for at, day, target in own_votes(view) if (day, target) == wanted), default=None)
    if number is None or fact.about != view.seat:
        return False
    (own, usual), (public, publicly) = suspicions(view, number, slots["other"], habits)
    if fact.kind == "thought_wolf":
        return public > publicly and (own <= usual) == fact.lie
    return abs(100 * (public if fact.kind.endswith("record") else own) - slots["percent"]) < 2.51


def werewolf_holds(fact, view, habits):
    if (own := of_itself(fact, view, hostile=view.side == werewolf.WOLVES)) is not None:
        return own
    if fact.kind == "slept":
        return fact.about == view.seat and fact.lie == (view.role != werewolf.VILLAGER)
    if fact.kind == "no_vote_yet":
        return not list(own_votes(view))
    if fact.kind == "thought_wolf" or fact.kind.startswith("suspected_by"):
        return own_vote_holds(fact, view, habits)
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


def problems(fact, belief, view, move, words, habits, *, answers=False):
    """What is false in a reason, or in a fact that answers a question."""
    of_avalon = hasattr(view, "fails_needed")
    chances = avalon_chances if of_avalon else werewolf_chances
    holds = avalon_holds if of_avalon else werewolf_holds
    deceives = view.side == avalon.EVIL if of_avalon else view.side == werewolf.WOLVES
    knows = bool(view.knows) or deceives
    if (belief == "public") != knows:
        yield "a seat that knows a secret speaks from the public belief, every other from its own"
    if fact.lie and fact.kind not in needed_lies(view, of_avalon=of_avalon, answers=answers):
        yield "a lie of a seat that has no need of it"
    in_defence = fact.about == view.seat
    public = belief == "public" or in_defence
    against = move.kind == speech.ACCUSE or (move.kind == speech.REPORT and move.args[1] == 1)
    sign = AGAINST if against and not in_defence else FOR
    chance = chances(view, public, (), habits)
    prior = chances(view._replace(events=()), public, (), habits).mean()
    if fact.kind in ("my_count", "the_record"):
        wrong_side = not answers and sign * (chance[fact.about] - prior) <= 0
        if abs(100 * chance[fact.about] - fact.slots["percent"]) > 2.51 or wrong_side:
            yield f"the probability is {chance[fact.about]:.3f}"
        if (fact.kind == "the_record") != public:
            yield "it names the other belief"
    elif not holds(fact, view, habits):
        yield "the record does not hold it"
    if fact.pieces and not answers:
        without = chances(view, public, {tuple(piece) for piece in fact.pieces}, habits)[fact.about]
        if sign * (chance[fact.about] - without) <= 0:
            yield f"it moved the belief from {without:.4f} to {chance[fact.about]:.4f}"
    if fact.kind.endswith(("_good", "_bad")) and fact.kind.partition("_")[0] != "reported":
        other = chance[fact.slots["other"]] - prior
        if (other > 0) != fact.kind.endswith("_bad"):
            yield f"its opinion of player_{fact.slots['other']} is {other:+.3f}"
    readings = SeatPhrases(np.random.default_rng(0), view.seat).readings(fact)
    if not any(reading.lower() in words.lower() for reading in readings):
        yield "the words do not say it"


def needed_lies(view, *, of_avalon, answers):
    """What a role may say that is not true: the evil side hides, and so do good roles with a secret that are asked for it."""
    if of_avalon:
        return EVIL_LIES if view.side == avalon.EVIL else {"knows_nothing"} if view.knows and answers else set()
    wolf = view.side == werewolf.WOLVES
    return WOLF_LIES if wolf else {"slept"} if view.role in werewolf.LEADERS and answers else set()


def misfits(asked, move, facts, view):
    """What does not fit the question in an answer."""
    claimed = any(event.seat == view.seat and event.move.kind == speech.CLAIM_ROLE for event in view.events)
    kinds = {fact.kind for fact in facts}
    numbers, about_me = {"my_count", "the_record"}, all(fact.about == view.seat for fact in facts)
    fits = {
        "trust": move.kind in (speech.DEFEND, speech.RECOMMEND),
        "team": move.kind in (speech.DEFEND, speech.RECOMMEND),
        "suspect": move.kind == speech.ACCUSE,
        "about": move.kind in (speech.ACCUSE, speech.DEFEND) or bool(kinds & numbers),
        "why": move.kind in (speech.ACCUSE, speech.DEFEND, speech.RECOMMEND) or bool(kinds & numbers),
        "vote": bool(kinds) and about_me,
        "seen": bool(kinds),
        "role": kinds in ({"not_evil"}, {"keeps_card"}) or (claimed and move.kind == speech.CLAIM_ROLE),
    }
    if not fits[asked]:
        yield f"{move.kind} with {sorted(kinds)} is no answer to a question of {asked}"


def check(path, habits=None):
    """All talk of a transcript, whose players believed by a file of habits."""
    checked, transcript = Checked(), replay.Transcript.read(path)
    game, text = transcript.game(), replay.text_of(transcript)
    states = replay.states(game, transcript.moves)
    state = next(states)
    for entry, notes in zip(transcript.entries, transcript.lines, strict=True):
        seat, move = entry.seat, entry.move
        if seat >= 0 and move.kind in speech.ACTS and entry.to is None:
            view = game.view(state, seat)
            checked.speeches += 1
            checked.in_words += bool(move.words)
            if move.words and not any(questions(move.words)) and text.parse(move.words, view) != move:
                checked.false.append(f"{text.say(move)!r} is not read back from {move.words!r}")
            cited = notes.get("reasons", {})
            where = f"seat {seat}, {move.words!r}"
            for statement, answers in (
                (statement, key == "answers") for key in ("facts", "answers") for statement in cited.get(key, ())
            ):
                fact = fact_of(statement)
                checked.reasons += 1
                checked.lies += fact.lie
                checked.kinds |= {fact.kind} if fact.lie else set()
                for why in problems(fact, cited["belief"], view, move, move.words, habits, answers=answers):
                    checked.false.append(f"{where}, {statement}: {why}")
            if "asked" in cited:
                checked.answers += 1
                answered = [fact_of(answer) for answer in cited["answers"]]
                checked.false += [f"{where}: {why}" for why in misfits(cited["asked"], move, answered, view)]
        if move is not None:
            state = next(states)
    checked.lines = [text.line(event) for event in game.view(state, 0).events]
    return checked


def fact_of(statement):
    pieces = tuple(Piece(*piece) for piece in statement["pieces"])
    slots = {key: tuple(value) if isinstance(value, list) else value for key, value in statement["slots"].items()}
    return SeatFact(statement["kind"], statement["about"], pieces, slots, statement.get("lie", False))


def checked_talk(game, seed, folder, player="heuristic", *, asked=False, habits=None, **options):
    """A game of players that speak in words, read; `asked`: one of them, a different one by seed, only asks."""
    env = table(game, **options)
    base = env.game_env
    named = player if habits is None else f"{player}:habits={habits}"
    players = [
        Spoken(make_policy(named, game, base.game.config), VOICES.get(base.spec.id, "")) for _ in range(base.game.seats)
    ]
    if asked:
        players[seed % len(players)] = Asker()
    path = Path(folder) / f"{game}-{player}-{seed}.jsonl"
    recorder = Recorder(env, path)
    play(recorder, players, seed)
    recorder.close_transcript()
    return check(path, habits)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("games", nargs="*", default=["avalon_v0", "werewolf_v0"])
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--asked", action="store_true", help="one seat puts questions to the others")
    parser.add_argument("--habits", help="a file of habits for heuristics; experts are left out then")
    parser.add_argument("--show", type=int, default=0, help="seed of the game that is printed; -1: none")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for game in options.games:
            for player in ("heuristic", "expert") if options.habits is None else ("heuristic",):
                read = [
                    checked_talk(game, seed, folder, player, asked=options.asked, habits=options.habits)
                    for seed in range(options.number)
                ]
                names = ("speeches", "in_words", "reasons", "answers", "lies")
                counts = {key: sum(getattr(checked, key) for checked in read) for key in names}
                wrong = [line for checked in read for line in checked.false]
                kinds = sorted(set().union(*(checked.kinds for checked in read)))
                print(
                    f"{game} {player}: {options.number} games", counts, f"kinds of lies: {', '.join(kinds)}", sep="\n  "
                )
                print(f"  false: {len(wrong)}", *wrong[:10], sep="\n  ")
                if 0 <= options.show < len(read):
                    print("".join(read[options.show].lines))


if __name__ == "__main__":
    main()
