"""The description of a game, `GameSpec`; its options; and the makers of its features.

Another floor that needs more of a game (kernels, measures, pages) keeps an open table by game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from parlour.envs.common import dotted
from parlour.envs.core import TABLE, Encoder, Game, GameText, ParlourError, SeatEncoder, accept
from parlour.envs.settings import Settings

if TYPE_CHECKING:
    from parlour.envs.common.frames import Frame


@dataclass(frozen=True)
class RuleInWords:
    """In the annotation of an option that is on or off: the sentence that the rules of a table have where it is on."""

    sentence: str


class GameOptions(Settings):
    """Options of a game. A game without options uses this class itself."""

    called: ClassVar[str] = "option"

    def in_words(self) -> tuple[str, ...]:
        """The sentences of the options that are on; the text of a game adds them to its rules."""
        marks = ((name, mark) for name, field in type(self).model_fields.items() for mark in field.metadata)
        return tuple(mark.sentence for name, mark in marks if isinstance(mark, RuleInWords) and getattr(self, name))

    def opens(self) -> str | None:
        """The path that the game opens with these options; None for none. Files may not name any path they like."""
        return None


class Encoders:
    """What makes the features of one table.

    Args:
        game: The rules.
    """

    kinds: tuple[str, ...] = (TABLE,)
    """The kinds of features: `"table"` numbers seats as they sit, all others are in the frame of the seat."""

    def __init__(self, game: Any) -> None:
        self.game = game

    def at_table(self) -> Encoder[Any]:
        """The features of the kind `"table"`."""
        raise NotImplementedError

    def of_seat(self, kind: str) -> SeatEncoder[Any]:
        """The features of one seat in its own frame. Raises `ParlourError` for a kind that the table does not have."""
        raise self.refused(kind)

    def of(self, kind: str) -> Encoder[Any] | SeatEncoder[Any]:
        """The features of any kind. Raises `ParlourError` as `of_seat`."""
        return self.at_table() if kind == TABLE else self.of_seat(kind)

    def frame(self) -> Frame:
        """How the seats number the actions, where features are in their own frame."""
        from parlour.envs.common.frames import Frame

        return Frame.identity(self.game.seats, len(self.game.catalogue))

    def refused(self, kind: str) -> ParlourError:
        """The error for a kind that the table does not have in the frame of a seat."""
        return accept("features in the frame of a seat", kind, [own for own in self.kinds if own != TABLE] or "none")


class GameSpec(Protocol):
    """The description of a game: `GAME` in its package, an instance of a subclass.

    Games never import players: whoever needs one loads it by its dotted name, `"package.module:attribute"`.
    """

    id: ClassVar[str]
    """Registry name with version, such as `avalon_v0`."""
    title: ClassVar[str]
    """One line for lists."""
    options: ClassVar[type[GameOptions]] = GameOptions
    """What `build` takes."""
    sides: ClassVar[tuple[str, ...]] = ()
    """What `view.side` may be and, except for a draw, `Outcome.winner`; empty if the game has no sides."""
    heuristic: ClassVar[str] = ""
    """Dotted name of `(view, rng) -> player`, where `player.act(view)` is one of `view.legal`; empty if there is none.

    Under an option that it does not know, `HeuristicPolicy` plays the legal move that is closest to what it returns.
    """
    wording: ClassVar[str] = ""
    """Dotted name of `game -> GameText`: what `text` makes, imported with the first environment."""
    encoders: ClassVar[str] = ""
    """The same of its `Encoders`."""

    def build(self, options: Any) -> Game[Any]:
        """The rules for these options. Raises `ParlourError` for what options alone do not refuse."""

    def text(self, game: Any) -> GameText[Any]:
        """The wording of a game that `build` made."""
        wording: GameText[Any] = dotted.load(self.wording, "wording")(game)
        return wording

    def encoder(self, game: Any) -> Encoders:
        """What makes the features of a game that `build` made."""
        encoders: Encoders = dotted.load(self.encoders, "encoders")(game)
        return encoders
