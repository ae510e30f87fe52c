"""What both Avalon agents have in common: they note the events, know their role and turn an option into an action."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Final

from parlour.envs.avalon.vocabulary import ASSASSIN, BALLOT, CARD, CONSULT, FAILS, GUESS, LEADS, TEAM, AvalonView
from parlour.envs.core import Event
from parlour.policies.agents.avalon import notes
from parlour.policies.agents.avalon.lines import introduction_of
from parlour.policies.agents.avalon.situation import AvalonSelfInfo, AvalonSituation, Night
from parlour.policies.agents.seat import GameSeat, coded
from parlour.policies.llm.ask import Ask

_DECISIONS: Final = (TEAM, BALLOT, CARD, GUESS, CONSULT)


class Notes:
    """The lines of the events seen, a list for each quest (number 0: before the first)."""

    def __init__(self) -> None:
        self.read = 0
        self.rounds: list[list[str]] = [[]]
        self.score = (0, 0)
        """Quests won by good and evil, the one just played among them."""

    def take(self, events: tuple[Event, ...], role_names: tuple[str, ...], guesser: str = "the Assassin") -> None:
        """Note what is new at a table where `guesser` names Merlin."""
        for event in events[self.read :]:
            kind, args, _ = event.move
            if kind == LEADS and args[3] == 0:
                self.rounds.append([])
            if kind == FAILS:
                self.score = (self.score[0] + args[2], self.score[1] + 1 - args[2])
            line = notes.write(event, role_names, guesser)
            if line:
                self.rounds[-1].append(line)
        self.read = len(events)


class AvalonSeat(GameSeat[AvalonView]):
    """A seat of Avalon that asks a model. Needs `info="full"` and text actions."""

    plays: ClassVar[tuple[str, str]] = ("Avalon", "avalon_v0")
    view_type: ClassVar[type] = AvalonView

    def _begin(self) -> None:
        super()._begin()
        self.notes_taken = Notes()
        self.me: AvalonSelfInfo | None = None

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        view, words = self._view(info), self._say_again(info)
        if len(view.legal) == 1:
            return str(info["options"][0])  # nothing to decide, and nothing to ask
        options = coded(info)
        if words is None:
            turn = self._think(view, options)
            words = turn if isinstance(turn, str) else self._say(turn)
        return options.get(words, words)

    @abstractmethod
    def _think(self, view: AvalonView, options: dict[str, str]) -> Ask[Any] | str:
        """All that comes before the words: the question for them, with an input `refused` and an answer with `words`, or the
        code of the option that is taken. Words too may be the code of an option.
        """

    def _sit_down(self, view: AvalonView) -> None:
        self.me = _who(view)

    def _take(self, view: AvalonView) -> None:
        self.notes_taken.take(view.events, _role_names(view), _guesser(view))


def _who(view: AvalonView) -> AvalonSelfInfo:
    night = [Night(roles=list(fact.roles), players=list(fact.seats)) for fact in view.knows]
    return AvalonSelfInfo(
        seat=view.seat,
        role=view.role,
        introduction=introduction_of(view.role, view.guesser),
        roles=list(view.roles),
        night=night,
    )


def _guesser(view: AvalonView) -> str:
    """Who names Merlin, as sentences have it."""
    return "the Assassin" if view.guesser == ASSASSIN else view.guesser


def _role_names(view: AvalonView) -> tuple[str, ...]:
    """The roles in play by number, as claims of a role count them."""
    return tuple(dict.fromkeys(view.roles))


def situation(view: AvalonView, score: tuple[int, int]) -> AvalonSituation:
    """What is asked now."""
    does = view.legal[0].kind if view.legal[0].kind in _DECISIONS else "speak"
    return AvalonSituation(
        does=does,  # type: ignore[arg-type]
        quest=view.quest + 1,
        proposal=view.counted + (does in ("speak", TEAM)),
        limit=view.limit,
        last_rejection_loses=view.last_rejection_loses,
        leader=view.leader,
        team=list(view.team),
        size=view.sizes[view.quest],
        fails_needed=view.fails_needed[view.quest],
        good=score[0],
        evil=score[1],
        **({"guesser": _guesser(view)} if does == GUESS else {}),
    )
