"""The abilities of the player of a benchmark, from the transcripts of its run; written to abilities.json there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.avalon.vocabulary import ASSASSIN, GUESS, MERLIN
from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError
from parlour.envs.replay import Transcript
from parlour.policies.files import read_json, write_json
from parlour.policies.llm.decisions import Decisions
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.play import seeds
from parlour.training.report.verdicts import DecidedBy
from parlour.training.runs.progress import Stage
from parlour.training.statistics import Estimate

from parlour_bench.abilities.asked import Stated, stated_by, with_exact
from parlour_bench.abilities.consistency import Consistency, consistency, consistency_as_json
from parlour_bench.abilities.doubt import doubt
from parlour_bench.abilities.moments import belief_moments, village_moments
from parlour_bench.abilities.onlooker import onlooker_doubt
from parlour_bench.abilities.persuasion import Persuasion, persuasion
from parlour_bench.abilities.seated import OPPONENT, is_players, names_of
from parlour_bench.abilities.spoken_games import spoken_avalon, spoken_werewolf
from parlour_bench.abilities.stated import BeliefMoment, stated_scores
from parlour_bench.abilities.werewolf_games import PlayedWerewolf, read_werewolf
from parlour_bench.leaderboard import taken
from parlour_bench.played import FOLDER
from parlour_bench.results_file import ABILITIES, RESULTS

WEREWOLF: Final = "werewolf_v0"

EXPERT: Final = "expert"
GAME: Final = "avalon_v0"
HEURISTIC: Final = "heuristic"
RANDOM: Final = "random"

BESIDE: Final = (EXPERT, HEURISTIC, RANDOM)
"""Who is asked at the same moments."""
EXACT: Final = "exact"
THEMSELVES: Final = "themselves"
ONLOOKER: Final = "onlooker"
"""Key of the belief of who knows how the players behave."""
_FOUND = "assassination"  # the outcome's reason where Merlin was named
_RESAMPLED: Final = 12  # what the seed of the intervals is derived for


class VillageBeliefs(NamedTuple):
    """Beliefs of those who can be asked in the seats that the player had in the village."""

    all: dict[str, Any]
    """Who -> at all moments."""
    against: dict[str, dict[str, Any]]
    """Opponent -> who -> the same, of the games against it alone."""


@dataclass(frozen=True)
class MovesTaken:
    """What the player's moves took: sums and means over all games of the run."""

    games: int
    first_share: float | None
    """Share of its decisions that were its first answer, and legal; None without a decision."""
    tokens: float | None
    """Read and written, a game; None if a server did not report them."""
    dollars: float | None
    """A game; None if a reply has an unknown cost."""


@dataclass(frozen=True)
class Abilities:
    """What was measured."""

    player: str
    deduction: dict[str, Any]
    """The player and those beside it -> their beliefs at the same moments."""
    against: dict[str, dict[str, Any]]
    """Opponent -> the same, of the games against it alone."""
    village: VillageBeliefs
    """The same in Werewolf, at tables that have an expert."""
    deception: dict[str, Estimate | None]
    """Whose belief -> how much doubt the player, as evil, leaves: `onlooker`, who knows how these players behave; in the seats of
    good opponents `exact`, the exact posterior, `heuristic`, what the heuristic states, `themselves`, what the opponents state."""
    by_words: Estimate | None
    """How much of the onlooker's doubt is due to the player's words."""
    persuasion: Persuasion
    """What its claims do to what the heuristic believes in the seats of good listeners."""
    names_merlin: Estimate | None
    """As Assassin, how often the guess was right."""
    hides_merlin: Estimate | None
    """As Merlin, how often a guess of the opponents was wrong."""
    asked: Decisions
    """What the player's questions took."""
    consistency: dict[str, dict[str, Consistency]]
    """Game -> who -> how consistent its claims are: the player, and its opponents of other names."""
    moves: MovesTaken | None
    """What its moves took; None while the run has no results file."""

    @property
    def decided(self) -> DecidedBy:
        """How many of its beliefs are its own."""
        asked = self.asked.answers
        return DecidedBy(self.player, asked.own, asked.asked)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "player": self.player,
            "deduction": _plain(self.deduction),
            "against": {opponent: _plain(scores) for opponent, scores in self.against.items()},
            "village": _plain(self.village.all),
            "village_against": {opponent: _plain(scores) for opponent, scores in self.village.against.items()},
            "deception": {name: estimate and estimate.as_json() for name, estimate in self.deception.items()},
            "by_words": self.by_words and self.by_words.as_json(),
            "persuasion": {
                side: estimate and estimate.as_json() for side, estimate in self.persuasion._asdict().items()
            },
            "names_merlin": self.names_merlin and self.names_merlin.as_json(),
            "hides_merlin": self.hides_merlin and self.hides_merlin.as_json(),
            "asked": self.asked.as_json(),
            "consistency": {game: consistency_as_json(of) for game, of in self.consistency.items()},
            "moves": self.moves and vars(self.moves),
        }


def _plain(scores: dict[str, Any]) -> dict[str, Any]:
    return {name: plain(score) for name, score in scores.items()}


def abilities(folder: Path, player: str, model: Any, progress: Callable[..., None]) -> Abilities:
    """Measure them, and write them into the directory of the run.

    Args:
        folder: The directory of a benchmark.
        player: Who states beliefs: the player of the benchmark, as `make_policy` takes it.
        model: Who answers its questions.
        progress: Counts games and questions.

    Raises:
        ParlourError: The directory holds no games of Avalon, or a player states no beliefs.
    """
    games, model = avalon_games(folder), model.measured_apart()
    if not games:
        raise ParlourError(
            f"{str(folder)!r} holds no games of Avalon; accepted: the directory of a `parlour benchmark`"
        )
    moments = list(belief_moments(Stage("exact posteriors", len(games), "games").counted(games, progress)))
    own = [moment for moment in moments if moment.by_player]
    if not own:
        raise ParlourError(
            f"{str(folder)!r} has no game in which the player was good after a quest; accepted: more games"
        )
    stated, asked = dict[str, list[Stated]](), Decisions()
    for name in dict.fromkeys((player, *BESIDE)):
        stated[name], took = stated_by(name, own, model, progress)
        asked = took if name == player else asked
    against = {
        opponent: _scores(own, stated, opponent) for opponent in dict.fromkeys(moment.opponent for moment in own)
    }
    werewolf = werewolf_games(folder)
    village, asked_in_village = _village(werewolf, player, model, progress)
    onlooker = onlooker_doubt(games, _rng())
    measured = Abilities(
        player,
        _scores(own, stated),
        against,
        village,
        {ONLOOKER: onlooker.left, **_deception(moments, model, progress)},
        onlooker.by_words,
        persuasion(games, _rng()),
        *_merlin(games),
        asked + asked_in_village,
        _consistency(games, werewolf, player),
        moves_taken(folder),
    )
    write_json(folder / ABILITIES, measured.as_json())
    return measured


def moves_taken(folder: Path) -> MovesTaken | None:
    """What the results file in a run directory says; None while the run has none.

    Raises:
        ParlourError: The file cannot be read.
    """
    path = folder / RESULTS
    if not path.exists():
        return None
    stored = read_json(path)
    made: Mapping[str, Any] = stored["all decisions"]
    games = sum(len(of) for by in stored["points"].values() for sides in by.values() for of in sides.values())
    first = made.get("first", 0) / made["decisions"] if made["decisions"] else None
    return MovesTaken(games, first, *(None if amount is None else amount / games for amount in taken(made)))


def _scores(
    moments: Sequence[BeliefMoment], stated: dict[str, list[Stated]], opponent: str | None = None
) -> dict[str, Any]:
    """Of every player, at all moments, or at those of games against one opponent."""
    chosen = [k for k, moment in enumerate(moments) if opponent in (None, moment.opponent)]
    return {
        name: stated_scores([moments[k] for k in chosen], [said[k] for k in chosen], _rng())
        for name, said in stated.items()
    }


def _rng() -> np.random.Generator:
    return np.random.default_rng(seeds.derive(0, _RESAMPLED))


def avalon_games(folder: Path) -> list[AnalysedGame]:
    """The games of Avalon in the directory of a run."""
    return [replace(AnalysedGame.read(path), name=name) for name, path in _transcripts(folder, GAME)]


def werewolf_games(folder: Path) -> list[PlayedWerewolf]:
    """The games of Werewolf in the directory of a run."""
    return [replace(read_werewolf(path), name=name) for name, path in _transcripts(folder, WEREWOLF)]


def _transcripts(folder: Path, game: str) -> list[tuple[str, Path]]:
    """The transcripts of a game, each with a name of its own: table, opponent and file, such as `avalon-6/expert/game-001`."""
    within = folder / FOLDER
    paths = sorted(path for path in within.glob("*/*/*.jsonl") if Transcript.read(path).header["game"] == game)
    return [(path.relative_to(within).with_suffix("").as_posix(), path) for path in paths]


def _deception(
    moments: Sequence[BeliefMoment], model: Any, progress: Callable[..., None]
) -> dict[str, Estimate | None]:
    """The doubt of good opponents: what they could conclude, what the heuristic states in their seats, what they state themselves."""
    theirs = [moment for moment in moments if not moment.by_player]
    doubts = {EXACT: doubt(theirs, [moment.exact for moment in theirs], _rng())}
    stating = [moment.opponent for moment in theirs if moment.opponent in BESIDE]
    stated = {name: stated_by(name, theirs, model, progress)[0] for name in dict.fromkeys((HEURISTIC, *stating))}
    doubts[HEURISTIC] = doubt(theirs, stated[HEURISTIC], _rng())
    own = [(moment, stated[moment.opponent][k]) for k, moment in enumerate(theirs) if moment.opponent in stated]
    doubts[THEMSELVES] = doubt([moment for moment, _ in own], [said for _, said in own], _rng())
    return doubts


def _village(
    games: Sequence[PlayedWerewolf], player: str, model: Any, progress: Callable[..., None]
) -> tuple[VillageBeliefs, Decisions]:
    """What they state, and what the player's own questions took. The player is asked only if it played."""
    own = with_exact([moment for moment in village_moments(games) if moment.by_player], progress)
    sat = {who for game in games for who in names_of(game)}
    stated, asked = dict[str, list[Stated]](), Decisions()
    for name in dict.fromkeys((*({player} & sat), *BESIDE)) if own else ():
        if name == EXPERT:  # what it concludes is the exact posterior
            stated[name] = [moment.exact for moment in own]
            continue
        stated[name], took = stated_by(name, own, model, progress)
        asked = took if name == player else asked
    opponents = dict.fromkeys(moment.opponent for moment in own)
    return VillageBeliefs(_scores(own, stated), {name: _scores(own, stated, name) for name in opponents}), asked


def _consistency(
    games: Sequence[AnalysedGame], werewolf: Sequence[PlayedWerewolf], player: str
) -> dict[str, dict[str, Consistency]]:
    """Of both games, where the run has them."""
    by_game = {
        GAME: consistency(map(spoken_avalon, games), _rng()),
        WEREWOLF: consistency(map(spoken_werewolf, werewolf), _rng()),
    }
    return {game: _by_name(of, player) for game, of in by_game.items() if of}


def _by_name(consistencies: Mapping[str, Consistency], player: str) -> dict[str, Consistency]:
    """The player's by the name it is asked by, opponents by theirs; an opponent of the same name does not count."""
    opponents = {
        who.removesuffix(OPPONENT): measured for who, measured in consistencies.items() if who.endswith(OPPONENT)
    }
    own = [measured for who, measured in consistencies.items() if not who.endswith(OPPONENT)]
    return opponents | dict(zip([player], own, strict=False))


def _merlin(games: Sequence[AnalysedGame]) -> tuple[Estimate | None, Estimate | None]:
    """How often the player names Merlin, and how often its own Merlin is missed, of the games with a guess."""
    guessed = [game for game in games if any(move.kind == GUESS and move.args for _, move, _ in game.log)]
    named = [_is_found(game) for game in guessed if is_players(game, game.roles.index(ASSASSIN))]
    missed = [not _is_found(game) for game in guessed if is_players(game, game.roles.index(MERLIN))]
    return Estimate.rate(sum(named), len(named)), Estimate.rate(sum(missed), len(missed))


def _is_found(game: AnalysedGame) -> bool:
    outcome = game.transcript.outcome
    return outcome is not None and outcome.reason == _FOUND
