"""Whole games of a language model at one seat, many in flight at once, and games of the heuristic to imitate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.training.learn.language_model.config import LanguageModelConfig
from parlour.training.learn.language_model.deals import JudgedReply, RoleTable
from parlour.training.learn.language_model.network import Attended
from parlour.training.learn.language_model.tokens import ChatTokens

ROOM: Final = 128
"""Tokens that must be left in the network's context before a turn; else the seat leaves the table."""
_STREAM: Final = 0x11A3  # keeps what a model draws apart from the game's chance under the same seed


@dataclass(frozen=True)
class Reply:
    """A reply in a game."""

    start: int
    """Place of its first token in the game's tokens."""
    tokens: tuple[int, ...]
    """The model's own, the end of the message included where it wrote one."""
    chances: tuple[float, ...]
    """Logarithms of the chances with which they were sampled."""
    judged: JudgedReply


@dataclass
class SeatGame:
    """A game as the seat of the model met it."""

    seed: int
    tokens: list[int] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    reward: float = 0.0
    """The seat's return."""

    @property
    def won(self) -> bool:
        """Whether the seat's side won."""
        return self.reward > 0


class Tables:
    """As many tables as games are in flight, used again and again."""

    def __init__(self, config: LanguageModelConfig, tokens: ChatTokens) -> None:
        self.config, self.tokens = config, tokens
        self._tables: list[RoleTable] = []

    def take(self, count: int) -> list[RoleTable]:
        """So many tables."""
        chosen = self.config
        while len(self._tables) < count:
            self._tables.append(RoleTable(chosen.game, chosen.options, chosen.role))
        return self._tables[:count]

    # -- the model plays -----------------------------------------------------------------------------------------

    def play(self, model: Any, seeds: Sequence[int], draws: Sequence[int], *, greedy: bool = False) -> list[SeatGame]:
        """Let a model play whole games, sampled at temperature 1.

        Args:
            model: The network.
            seeds: Of the deals and of the other seats.
            draws: Seeds of what the model draws, one of each game.
            greedy: Always the likeliest token instead.
        """
        tables = self.take(len(seeds))
        games = [SeatGame(seed) for seed in seeds]
        streams = [np.random.default_rng((draw, _STREAM)) for draw in draws]
        news = [one.deal(seed) for one, seed in zip(tables, seeds, strict=True)]
        rows = [k for k in range(len(seeds)) if not self._over(games[k], tables[k])]
        attended = Attended(model, len(seeds), ROOM)
        attended.keep(rows)
        while rows:
            unread = [games[k].tokens[-1:] for k in rows]  # the end of the reply before
            for k in rows:
                games[k].tokens += self.tokens.message(news[k])
            begun = [last + self.tokens.message(news[k]) for last, k in zip(unread, rows, strict=True)]
            replies = self._replies(attended, begun, None if greedy else [streams[k] for k in rows])
            for k, (tokens, chances) in zip(rows, replies, strict=True):
                judged, news[k] = tables[k].say(self.tokens.decode(tokens))
                games[k].replies.append(Reply(len(games[k].tokens), tuple(tokens), tuple(chances), judged))
                games[k].tokens += tokens
            going = [row for row, k in enumerate(rows) if not self._over(games[k], tables[k])]
            if len(going) < len(rows):
                attended.keep(going)
            rows = [rows[row] for row in going]
        return games

    def _over(self, game: SeatGame, at: RoleTable) -> bool:
        """Whether the game is over, or too long for the network; then its seat leaves."""
        if not at.seat.done and len(game.tokens) > self.config.network.context - ROOM:
            at.seat.leave()
        if at.seat.done:
            game.reward = at.seat.reward
        return at.seat.done

    def _replies(
        self, attended: Attended, news: Sequence[list[int]], streams: Sequence[np.random.Generator] | None
    ) -> list[tuple[list[int], list[float]]]:
        """A reply in each game: tokens, the last of them still to be read, and the logarithms of their chances."""
        made: list[tuple[list[int], list[float]]] = [([], []) for _ in news]
        logits = attended.read(news)
        for k in range(self.config.network.reply):
            tokens, chances = sample(logits, streams)
            for (own, own_chances), token, chance in zip(made, tokens, chances, strict=True):
                if not self._ended(own):
                    own.append(token)
                    own_chances.append(chance)
            if k + 1 == self.config.network.reply or all(self._ended(own) for own, _ in made):
                break
            logits = attended.read([[] if self._ended(own) else own[-1:] for own, _ in made])
        return made

    def _ended(self, reply: Sequence[int]) -> bool:
        return bool(reply) and reply[-1] == self.tokens.end

    # -- the heuristic plays -------------------------------------------------------------------------------------

    def teach(self, seeds: Sequence[int]) -> list[SeatGame]:
        """Games of the heuristic at the role's seat, in its canonical words."""
        return [self._taught(seed) for seed in seeds]

    def _taught(self, seed: int) -> SeatGame:
        (at,) = self.take(1)
        game, news = SeatGame(seed), at.deal(seed)
        while not self._over(game, at):
            game.tokens += self.tokens.message(news)
            words = at.teacher_words()
            tokens = [*self.tokens.encode(words), self.tokens.end]
            judged, news = at.say(words)
            game.replies.append(Reply(len(game.tokens), tuple(tokens), (), judged))
            game.tokens += tokens
        return game


def sample(logits: Any, streams: Sequence[np.random.Generator] | None) -> tuple[list[int], list[float]]:
    """A token for each row, by inversion of its distribution with one draw from the row's own stream; None: the likeliest.

    Args:
        logits: Shape (rows, vocabulary).
        streams: One of each row.
    """
    values: NDArray[np.float64] = logits.double().numpy()
    values = values - values.max(1, keepdims=True)
    weights = np.exp(values)
    sums = np.cumsum(weights, 1)
    if streams is None:
        tokens = values.argmax(1)
    else:
        bars = np.array([stream.random() for stream in streams]) * sums[:, -1]
        tokens = np.minimum((sums <= bars[:, None]).sum(1), values.shape[1] - 1)
    chances = values[np.arange(len(tokens)), tokens] - np.log(sums[:, -1])
    return tokens.tolist(), chances.tolist()
