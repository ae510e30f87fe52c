"""What the roles did in games of Avalon: wins, membership in teams, fail cards, approval of leaders.

The measures come from Lan et al. 2023 (arXiv 2310.14985, section 5), counted as in its published scripts:

* QER: the share of rounds, times the seats that hold the role, with one of them in the round's last voted team
  (`qer_voted`) or in the team that went on the quest (`qer_executed`; they differ if a team was drawn).
* FVR: the share of fails among the role's quest cards: as the quest counted them (`host`), or only fails
  shown in the player's words (`text`).
* LAR: the mean share of agreement over the proposals that the role led; all of them, or those whose confirmation by the
  leader was logged (`confirmed`).

The two readings (decisions 3.3) differ for published games only (`records.published_2023`), whose headers tell the difference. Nothing to count
is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs import replay
from parlour.envs.avalon.vocabulary import CARD, DRAWN, EVIL, FAILS, GOOD, LEADS, ROLES, TEAM, VOTES
from parlour.envs.core import Event, Outcome, ParlourError, check_one_of
from parlour.envs.replay import Transcript
from parlour.training.records.avalon.importing import check_avalon

GAME: Final = "avalon_v0"
ALL: Final = "all"
"""The group of games that were not published ones."""
GROUPS: Final = (GOOD, EVIL, ALL)
DIGITS: Final = 4

Team = tuple[int, ...]


class Led(NamedTuple):
    """A proposal that was voted on."""

    quest: int
    leader: int
    team: Team
    agreed: Fraction
    """Share of the seats."""
    confirmed: bool


class Card(NamedTuple):
    """A quest card."""

    seat: int
    fails: bool
    by_text: bool
    """Whether the player's words showed what it is."""


@dataclass(frozen=True)
class CountedGame:
    """What a game holds that is counted."""

    group: str
    outcome: Outcome
    roles: tuple[str, ...]
    """Role of each seat."""
    led: tuple[Led, ...]
    cards: tuple[Card, ...]
    executed: tuple[Team, ...]
    known: tuple[tuple[int, ...], ...]
    """The seats that the night showed to each seat."""
    log: tuple[Event, ...]

    @property
    def voted(self) -> tuple[Team, ...]:
        """The last team voted on in each round."""
        return tuple({proposal.quest: proposal.team for proposal in self.led}.values())

    def members(self, role: str, teams: Iterable[Team]) -> int:
        """How many places of the teams were taken by the role."""
        return sum(self.roles[seat] == role for team in teams for seat in team)


def compute(transcripts: Iterable[Transcript]) -> dict[str, Any]:
    """Count over finished games of Avalon.

    Returns:
        A group of measures for each side that the proposed method played in published games (`"good"`, `"evil"`), one
        for other games (`"all"`), each only if there are such games; and the number of `"unfinished"` ones, if any.

    Raises:
        ParlourError: A transcript is of another game, or its moves do not fit the rules; the message says which one.
    """
    return of_games(counted_games(transcripts))


def of_directory(directory: str | Path) -> dict[str, Any]:
    """`compute` over all transcripts (`*.jsonl`) of a folder.

    Raises:
        ParlourError: See `compute`; or the folder holds no transcript, or an unreadable transcript.
    """
    return of_games(
        _counted((repr(str(path)), replay.Transcript.read(path)) for path in replay.Transcript.files(directory))
    )


def of_games(finished: Iterable[CountedGame | None]) -> dict[str, Any]:
    """Count over games, None for an unfinished one. Returns what `compute` returns."""
    every = list(finished)
    games = [game for game in every if game is not None]
    groups: dict[str, Any] = {
        group: _group(members) for group in GROUPS if (members := [game for game in games if game.group == group])
    }
    unfinished = len(every) - len(games)
    return groups | ({"unfinished": unfinished} if unfinished else {})


# -- one game --------------------------------------------------------------------------------------------------


def counted_games(transcripts: Iterable[Transcript]) -> Iterator[CountedGame | None]:
    """Play transcripts again and take down what is counted; None for each that is not finished.

    Raises:
        ParlourError: See `compute`.
    """
    return _counted((f"transcript {number}", transcript) for number, transcript in enumerate(transcripts, 1))


def _counted(named: Iterable[tuple[str, Transcript]]) -> Iterator[CountedGame | None]:
    for name, transcript in named:
        try:
            yield _counted_game(transcript)
        except ParlourError as error:
            raise ParlourError(f"{name}: {error}") from None


def _counted_game(transcript: Transcript) -> CountedGame | None:
    check_avalon(transcript)
    finished = transcript.finished(transcript.header["game"])
    if finished is None or transcript.outcome is None:
        return None
    game, (*_, last) = finished
    dealt = last.standing.roles
    roles = tuple(game.role_names[role] for role in dealt)
    known = tuple(tuple(sorted({j for fact in game.night(dealt, i) for j in fact.seats})) for i in range(game.seats))
    led, cards, executed = counted(last.log)
    if unknown := transcript.assumed_moves():
        played = [number for number, move in enumerate(transcript.moves) if move.kind == CARD]
        cards = [card for card, number in zip(cards, played, strict=True) if number not in unknown]
    whole = CountedGame(ALL, transcript.outcome, roles, tuple(led), tuple(cards), executed, known, last.log)
    return _published(transcript.header["published"], whole) if "published" in transcript.header else whole


def counted(log: Iterable[Event]) -> tuple[list[Led], list[Card], tuple[Team, ...]]:
    """The proposals, the cards and the teams on quests, from what the moderator and the seats did."""
    led: list[Led] = []
    cards: list[Card] = []
    executed: dict[int, Team] = {}
    quest = leader = 0
    team: Team = ()
    for seat, (kind, args, _), _ in log:
        if kind == LEADS:
            quest, leader = args[:2]
        elif kind in (TEAM, DRAWN):
            team = args
        elif kind == VOTES:
            led.append(Led(quest, leader, team, Fraction(sum(args[1:]), len(args) - 1), True))
        elif kind == FAILS:
            executed[quest] = team
        elif kind == CARD:
            cards.append(Card(seat, args == (0,), True))
    return led, cards, tuple(executed.values())


def _published(notes: Any, game: CountedGame) -> CountedGame:
    """The game with what only its log tells: the side of the proposed method, and how its events were read."""
    try:
        group, confirmed = notes["proposed_method_side"], [bool(logged) for logged in notes["confirm_logged"]]
        from_text = [card[0] == "text" for card in notes["cards"]]
    except (KeyError, TypeError, IndexError):
        raise ParlourError('the header\'s "published" cannot be read; accepted: what `import` writes') from None
    check_one_of("proposed_method_side", group, (GOOD, EVIL))
    if len(confirmed) != len(game.led) or len(from_text) != len(game.cards):
        many = f"{len(confirmed)} proposals and {len(from_text)} cards"
        accepted = f"{len(game.led)} and {len(game.cards)}, as in its moves"
        raise ParlourError(f'the header\'s "published" names {many}; accepted: {accepted}')
    led = tuple(proposal._replace(confirmed=logged) for proposal, logged in zip(game.led, confirmed, strict=True))
    cards = tuple(card._replace(by_text=shown) for card, shown in zip(game.cards, from_text, strict=True))
    return replace(game, group=group, led=led, cards=cards)


# -- many games ------------------------------------------------------------------------------------------------


def _group(games: list[CountedGame]) -> dict[str, Any]:
    present = {role for game in games for role in game.roles}
    return {
        "games": len(games),
        "rounds": sum(len(game.voted) for game in games),
        "proposals": sum(len(game.led) for game in games),
        "wins_good": sum(game.outcome.winner == GOOD for game in games),
        "wins_evil": sum(game.outcome.winner == EVIL for game in games),
        "wins_by_assassination": sum(game.outcome.reason == "assassination" for game in games),
        **{role: _role(games, role) for role in ROLES if role in present},
    }


def _role(games: list[CountedGame], role: str) -> dict[str, Any]:
    chances = sum(len(game.voted) * game.roles.count(role) for game in games)
    voted = sum(game.members(role, game.voted) for game in games)
    executed = sum(game.members(role, game.executed) for game in games)
    return {
        "qer_voted": f"{voted}/{chances}",
        "qer_voted_rate": _rate(voted, chances),
        "qer_executed": f"{executed}/{chances}",
        "qer_executed_rate": _rate(executed, chances),
        **_fails([card for game in games for card in game.cards if game.roles[card.seat] == role]),
        **_approval([led for game in games for led in game.led if game.roles[led.leader] == role]),
    }


def _fails(cards: list[Card]) -> dict[str, Any]:
    host = sum(card.fails for card in cards)
    text = sum(card.fails and card.by_text for card in cards)
    return {
        "cards": len(cards),
        "fails_host": host,
        "fails_text": text,
        "fvr_host": _rate(host, len(cards)),
        "fvr_text": _rate(text, len(cards)),
    }


def _approval(led: list[Led]) -> dict[str, Any]:
    confirmed = [proposal.agreed for proposal in led if proposal.confirmed]
    everything = [proposal.agreed for proposal in led]
    return {
        "lar_confirmed_n": len(confirmed),
        "lar_confirmed": _rate(sum(confirmed, Fraction()), len(confirmed)),
        "lar_all_n": len(everything),
        "lar_all": _rate(sum(everything, Fraction()), len(everything)),
    }


def _rate(part: int | Fraction, whole: int) -> float | None:
    return None if whole == 0 else round(float(Fraction(part) / whole), DIGITS)
