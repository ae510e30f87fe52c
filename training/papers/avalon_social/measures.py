"""The social measures of Lan et al. 2023 (arXiv 2310.14985, section 6), counted over judged games.

A turn is one contribution of one seat to a discussion; a pair is a turn with one of the other seats.

* Self-recommendation (figure 3): the share of turns that propose the speaker for the quest; its success: the share of these turns
after which the next voted team included the speaker (turns without a later vote are left out).
* Identity (figure 4): the shares of seats that in the first round revealed their role or side, feigned another, or did neither.
The first utterance that does the one or the other decides.
* Attitudes (figure 5): the shares of pairs of a role with another in which the speaker trusts (teamwork), distrusts
(confrontation), or neither.
* Sharing (figure 6a): the share of seats shown by the night to Merlin and to Percival that they named in the first round.
* Vacillation (figures 6b, c): teamwork round by round, of Loyal Servants with good and with evil seats, of Percival with
  Merlin and with Morgana.
* Valid responses (equation 8): see `responses`.

Games whose words are not known (published ones, imported without their logs) count for none of these but the last.

Winning, engagement in quests (of the rounds, those whose last voted team had the seat in it), fails (of the quest cards,
as the quest counted them) and approval (of the votes on teams that the seat proposed, those that agreed) are the measures
of `parlour.training.measure.avalon` under its names `qer_voted`, `fvr_host` and `lar_all`, here also for single players. At
tables of different sizes approval weighs votes alike, `lar_all` proposals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from parlour.envs.avalon.presets import QUESTS
from parlour.envs.avalon.vocabulary import EVIL, GOOD, MERLIN, MORGANA, PERCIVAL, ROLES, SERVANT, side_of
from parlour.training.measure.avalon import measures as metrics
from parlour.training.papers.avalon_social.judging import INFORMED, Judged, JudgedGame, Utterance
from parlour.training.papers.avalon_social.responses import Response
from parlour.training.papers.avalon_social.roles import IDENTITIES, WITHHOLDING, Identity
from parlour.training.statistics import Estimate

SIDES: Final = (GOOD, EVIL)
ATTITUDES: Final = ("teamwork", "confrontation", "neutral")
TOWARDS: Final = {SERVANT: SIDES, PERCIVAL: (MERLIN, MORGANA)}
"""Whose vacillation is measured, towards which sides or roles."""

JSON = dict[str, Any]


class Sat(NamedTuple):
    """A seat of a judged game."""

    table: JudgedGame
    seat: int

    @property
    def role(self) -> str:
        return self.table.game.roles[self.seat]

    @property
    def turns(self) -> Iterator[Utterance]:
        return (utterance for utterance in self.table.utterances if utterance.speaker == self.seat)


def measures(judged: Judged) -> JSON:
    """All measures: for each group of games, and each player that the transcripts name.

    Returns:
        `judge`, `questions`, `fallbacks`; `groups`: for each side that the proposed method of published games played, and
        for other games (`"all"`), the measures with `outcomes`, as `metrics.compute` gives them; `players`: for each
        name, the measures of its seats alone. A rate has a Wilson interval at 95 %; it is None where there was nothing to count.
    """
    groups = {}
    for group in metrics.GROUPS:
        tables = [table for table in judged.tables if table.game.group == group]
        if tables:
            everybody = [Sat(table, seat) for table in tables for seat in range(len(table.game.roles))]
            groups[group] = {"outcomes": judged.counted[group], **of_seats(everybody)}
    names = sorted({player for table in judged.tables for player in table.players if player})
    source = {"judge": judged.model, "questions": judged.questions, "fallbacks": judged.fallbacks}
    unfinished = {key: judged.counted[key] for key in ("unfinished",) if key in judged.counted}
    played: dict[str, list[Sat]] = {name: [] for name in names}
    for table in judged.tables:
        for seat, name in enumerate(table.players):
            if name:
                played[name].append(Sat(table, seat))
    players = {name: of_seats(seats) for name, seats in played.items()}
    return {**source, **unfinished, "groups": groups, "players": players}


def of_seats(seats: list[Sat]) -> JSON:
    """The measures of these seats; the other seats of their tables count only as partners."""
    present = {sat.role for sat in seats}
    roles = [role for role in ROLES if role in present]
    of = {role: [sat for sat in seats if sat.role == role] for role in roles}
    return {
        "seats": len(seats),
        "wins": {side: _wins(seats, side) for side in SIDES},
        "engagement": {role: engagement(of[role]) for role in roles},
        "fails": {role: fails(of[role]) for role in roles},
        "approval": {role: approval(of[role]) for role in roles},
        "self_recommendation": {role: self_recommendation(of[role]) for role in roles},
        "self_recommendation_success": {role: self_recommendation_success(of[role]) for role in roles},
        "identity": {role: identities(of[role]) for role in roles},
        "attitudes": {role: _by_role(of[role]) for role in roles},
        "sharing": {role: sharing(of[role]) for role in roles if role in INFORMED},
        "vacillation": {role: vacillation(of[role], TOWARDS[role]) for role in roles if role in TOWARDS},
        "valid_responses": {
            "table": valid(seats, lambda table: table.responses),
            "model": valid(seats, lambda table: table.replies),
        },
    }


def _wins(seats: list[Sat], side: str) -> Estimate | None:
    """Of the games in which they sat on the side, those that it won."""
    tables = {id(sat.table): sat.table for sat in seats if side_of(sat.role) == side}
    return _share(table.game.outcome.winner == side for table in tables.values())


def engagement(seats: Iterable[Sat]) -> Estimate | None:
    """Share of rounds whose last voted team included the seat."""
    return _share(sat.seat in team for sat in seats for team in sat.table.game.voted)


def fails(seats: Iterable[Sat]) -> Estimate | None:
    """Share of fails among their quest cards."""
    return _share(card.fails for sat in seats for card in sat.table.game.cards if card.seat == sat.seat)


def approval(seats: Iterable[Sat]) -> Estimate | None:
    """Share of approvals among the votes on their proposed teams."""
    led = ((team, len(sat.table.game.roles)) for sat in seats for team in sat.table.game.led if team.leader == sat.seat)
    return _share(number < team.agreed * size for team, size in led for number in range(size))


def self_recommendation(seats: Iterable[Sat]) -> Estimate | None:
    """Share of their turns that propose the speaker."""
    return _share(turn.proposes_self for sat in seats for turn in sat.turns)


def self_recommendation_success(seats: Iterable[Sat]) -> Estimate | None:
    """Share of the turns proposing the speaker after which the next voted team included the speaker."""
    turns = (turn for sat in seats for turn in sat.turns if turn.proposes_self)
    return _share(turn.speaker in turn.team for turn in turns if turn.team is not None)


def identities(seats: Iterable[Sat]) -> dict[str, Estimate | None]:
    """What the seats did with their identity in the first round; only seats that spoke in it count."""
    done = [identity for sat in seats if (identity := _first(sat)) is not None]
    return {kind: _share(identity == kind for identity in done) for kind in IDENTITIES}


def _first(sat: Sat) -> Identity | None:
    stated = [turn.identity for turn in sat.turns if turn.identity is not None]
    return next((identity for identity in stated if identity != WITHHOLDING), stated[0] if stated else None)


def attitudes(seats: Iterable[Sat], towards: str) -> dict[str, Estimate | None]:
    """How they met the other seats of a role, or of a side, in all their turns."""
    met = [attitude for sat in seats for turn in sat.turns for attitude in _met(sat, turn, towards)]
    return {attitude: _share(stance == attitude for stance in met) for attitude in ATTITUDES}


def _by_role(seats: list[Sat]) -> dict[str, dict[str, Estimate | None]]:
    others = {role for sat in seats for seat, role in enumerate(sat.table.game.roles) if seat != sat.seat}
    return {role: attitudes(seats, role) for role in ROLES if role in others}


def _met(sat: Sat, turn: Utterance, towards: str) -> Iterator[str]:
    for other, role in enumerate(sat.table.game.roles):
        if other != sat.seat and towards in (role, side_of(role)):
            yield ATTITUDES[0 if other in turn.trusts else 1 if other in turn.distrusts else 2]


def sharing(seats: Iterable[Sat]) -> Estimate | None:
    """Share of their night knowledge that they revealed in the first round."""
    facts = ((fact, sat) for sat in seats if sat.table.heard for fact in sat.table.game.known[sat.seat])
    return _share(any(fact in turn.revealed for turn in sat.turns) for fact, sat in facts)


def vacillation(seats: list[Sat], towards: Iterable[str]) -> dict[str, list[Estimate | None]]:
    """Teamwork with each of some roles or sides, a rate for each of the five rounds."""
    turns = [(sat, turn) for sat in seats for turn in sat.turns]

    def teamwork(other: str, quest: int) -> Estimate | None:
        met = (attitude for sat, turn in turns if turn.quest == quest for attitude in _met(sat, turn, other))
        return _share(attitude == ATTITUDES[0] for attitude in met)

    return {other: [teamwork(other, quest) for quest in range(QUESTS)] for other in towards}


def valid(seats: Iterable[Sat], given: Callable[[JudgedGame], tuple[Response, ...]]) -> Estimate | None:
    """Share of valid responses."""
    return _share(response.valid for sat in seats for response in given(sat.table) if response.seat == sat.seat)


def _share(cases: Iterable[bool]) -> Estimate | None:
    counted = list(cases)
    return Estimate.rate(sum(counted), len(counted))
