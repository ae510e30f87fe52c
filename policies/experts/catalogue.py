"""Experts: trained networks that come with parlour, each for one table, found by the game and its configuration.

`data/NAME.npz` is a `TrainedSeat` in half precision, `data/NAME.json` its card. `scripts/make-expert` writes both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from parlour.envs.core import ParlourError, accept
from parlour.envs.plugins import OpenTable
from parlour.envs.registry import build, known
from parlour.envs.settings import Settings
from parlour.envs.spec import GameSpec
from parlour.policies.base import same_table
from parlour.policies.files import read_json, reading, write_json
from parlour.policies.names import EXPERT, HEURISTIC
from parlour.policies.seating import Seating
from parlour.policies.trained import SUFFIX, TrainedSeat
from pydantic import field_validator

__all__ = [
    "EXPERT",
    "ExpertCard",
    "ExpertSeat",
    "Exploit",
    "Points",
    "card_for",
    "cards",
    "expert",
    "is_default",
    "strongest",
]

DATA: Final = Path(__file__).parent / "data"
"""Where networks and cards are."""
STRONGEST: Final[OpenTable[str]] = OpenTable(
    "parlour.strongest",
    str,
    {"mediated_qa_v0": "mediator=grace:file=DIR/policy.json", "murder_mystery_v0": "questum"},
)
"""Game -> its strongest player by name, as `--policy` takes it, where no trained network comes with parlour."""
FOLDERS: Final[OpenTable[Path]] = OpenTable("parlour.experts", Path, {"parlour": DATA})
"""Who brings experts -> where their networks and cards are; packages add theirs."""


@dataclass(frozen=True)
class Points:
    """Points of win rate (1 is one game in a hundred) on held-out deals, with the interval at 95 %."""

    mean: float
    low: float
    high: float
    n: int
    """Deals."""


@dataclass(frozen=True)
class Exploit:
    """What a best response learned to gain over the expert's own play, as one side against the expert on the other."""

    side: str
    """The side that the best response plays."""
    decisions: int
    """Number of decisions that it learned from."""
    gain: Points
    """A lower bound: another learner, or more decisions, may gain more."""


@dataclass(frozen=True)
class ExpertCard:
    """What is known about one expert; beside its network as JSON."""

    name: str
    """Name of both files."""
    game: str
    config: Mapping[str, Any]
    """With `game`: the table that it was trained for, and the only table that it plays."""
    sha256: str
    """Checksum of the network's file."""
    features: str
    """What the network sees."""
    command: str
    """Trains it again."""
    seed: int
    decisions: int
    """Number of decisions that it learned from, without imitation."""
    seconds: float
    """Processor time of the training."""
    date: str
    """When it was measured."""
    whole_sides: Points
    """Against the heuristic, both sides of the same deals: win rate of the expert minus win rate of the heuristic."""
    one_seat: Points
    """In one seat among heuristics, minus the heuristic's result in that seat."""
    exploits: tuple[Exploit, ...] = ()
    """By side; empty where it was not measured."""
    style: str = ""
    """What `expert:style=NAME` names; empty: the strongest play of whole sides."""
    among_strangers: Points | None = None
    """In one seat among players of one family, minus the family in that seat: the mean over `families`; None where not measured."""
    families: tuple[str, ...] = ()
    """The families of `among_strangers`, as `--family` takes them."""
    needs: str = ""
    """What the command takes that does not come with parlour."""
    made_with: Mapping[str, str] = field(default_factory=dict)
    """The commit and the versions with which the command and the seed make the same bytes; empty where they are unknown."""

    @property
    def policy(self) -> str:
        """What `--policy` takes at its table."""
        return f"{EXPERT}:style={self.style}" if self.style else EXPERT

    def write(self, path: Path) -> None:
        """Write the card as JSON."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a card. Raises `ParlourError` for a file that is none."""
        with reading(path, "card", "is not the card of an expert; accepted: one that scripts/make-expert wrote"):
            stored = read_json(path)
            stored |= {key: Points(**stored[key]) for key in ("whole_sides", "one_seat")}
            stored |= {key: Points(**stored[key]) for key in ("among_strangers",) if stored.get(key)}
            stored["families"] = tuple(stored.get("families", ()))
            stored["exploits"] = tuple(
                Exploit(**exploit | {"gain": Points(**exploit["gain"])}) for exploit in stored["exploits"]
            )
            return cls(**stored)


def cards(folder: Path | None = None) -> list[ExpertCard]:
    """The cards of all experts, by name.

    Args:
        folder: Where they are; None: those that come with parlour, and with installed packages.

    Raises:
        ParlourError: A file is no card.
    """
    folders = FOLDERS.values() if folder is None else [folder]
    return [ExpertCard.read(path) for place in folders for path in sorted(place.glob("*.json"))]


class ExpertSettings(Settings):
    """What can be set."""

    style: str = ""
    """That of a card; empty for the strongest play."""

    @field_validator("style")
    @classmethod
    def _has_a_card(cls, style: str) -> str:
        known_styles = sorted({card.style for card in cards()})
        if style and style not in known_styles:
            names = [f"{EXPERT}:style={known_style}" if known_style else EXPERT for known_style in known_styles]
            raise accept("policy", f"{EXPERT}:style={style}", names)
        return style


class ExpertSeat(TrainedSeat):
    """The expert of a table; made, it is the `TrainedSeat` of its card."""

    name: ClassVar[str] = EXPERT
    settings_type: ClassVar[type[Settings]] = ExpertSettings

    @classmethod
    def make(cls, settings: ExpertSettings, at: Seating) -> TrainedSeat:
        return expert(at.game, at.config, style=settings.style)


def expert(game: str, config: Mapping[str, Any], style: str = "") -> TrainedSeat:
    """The expert for a table.

    Args:
        game: Registry name of the game.
        config: Its configuration, `game.config`.
        style: That of a card, or empty for the strongest play.

    Raises:
        ParlourError: There is none for this table, or its file is not the file on its card.
    """
    shipped = card_for(game, config, style)
    if shipped is None:
        raise _no_expert(game, config, style, [card for card in cards() if card.style == style])
    name = f"{shipped.name}{SUFFIX}"
    path = next((path for folder in FOLDERS.values() if (path := folder / name).exists()), None)
    if path is None or sha256(path.read_bytes()).hexdigest() != shipped.sha256:
        raise ParlourError(
            f"the network {name} is missing or not the file of its card; accepted: sha256 {shipped.sha256}"
        )
    return TrainedSeat.load_for(path, game, config)


def _no_expert(game: str, config: Mapping[str, Any], style: str, shipped: Sequence[ExpertCard]) -> ParlourError:
    """The error for a table without an expert: the game's strongest player, or the tables that have an expert."""
    of_game = [card for card in shipped if card.game == game]
    strongest = "" if of_game else STRONGEST.get(game, "")
    if strongest:
        return ParlourError(f"no trained network comes with {game}; its strongest player: --policy {strongest}")
    tables = "; ".join(f"{card.game} with {dict(card.config)}" for card in of_game or shipped)
    return ParlourError(f"there is no expert for {game} with {dict(config)}; there are experts for: {tables or 'none'}")


def is_default(card: ExpertCard) -> bool:
    """Whether the table of an expert is the default one of its game."""
    return same_table((card.game, card.config), (card.game, build(known(card.game).spec, {}).config))


def card_for(game: str, config: Mapping[str, Any], style: str = "") -> ExpertCard | None:
    """The card of the expert for a table, None where there is none; arguments as for `expert`."""
    known_cards = (card for card in cards() if (card.game, card.style) == (game, style))
    return next((card for card in known_cards if same_table((game, card.config), (game, config))), None)


def strongest(spec: GameSpec, config: Mapping[str, Any]) -> str:
    """The strongest player of a table by name: its expert, the one named for its game, the heuristic; empty for none."""
    if card_for(spec.id, config) is not None:
        return EXPERT
    return STRONGEST.get(spec.id) or (HEURISTIC if spec.heuristic else "")
