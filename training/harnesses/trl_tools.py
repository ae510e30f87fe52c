"""One seat of a game as an environment of TRL's GRPOTrainer: a model plays it by calling a tool.

Interface of the package `trl` 1.16, `environment_factory`: an object has `reset(**row)`, `get_reward()` and public methods,
which become the model's tools. TRL has no "done": a completion ends when the model calls no tool, or when the answer of a
tool does not fit into `max_completion_length` tokens any more. Nothing of TRL is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from parlour.envs.core import ParlourError, check_from
from parlour.training.harnesses.sessions import Sessions, SessionTurn

PROMPT: Final = (
    "You play one seat of a game with others. At each of your turns call the tool say with one sentence; its answer tells "
    "what has happened since, and what you may do now. When the game is over, answer without a tool.\n\n"
)
"""What stands before the first message of a game."""
GAME_OVER: Final = "The game is over. Call no tool any more: end your answer here."
"""What is told after the last message of a game."""


class GameEnvironment:
    """One seat, a game after another: `reset` deals, the model calls `say`, `get_reward` is the seat's return.

    A game that the model leaves unfinished is played to its end by the table's rules for silence when its reward is asked
    for. A call after the end of a game is answered by more words than a completion may have tokens: TRL drops such an
    answer, and the completion ends there.

    Args:
        sessions: Where the games are played; many environments may share one.
        max_completion_length: Tokens of a whole completion, as `GRPOConfig` has it.

    Raises:
        ParlourError: The length is not accepted.
    """

    def __init__(self, sessions: Sessions, max_completion_length: int) -> None:
        check_from("max_completion_length", max_completion_length, 1)
        self._sessions, self._most = sessions, max_completion_length
        self._turn: SessionTurn | None = None
        self._said: list[str] = []

    def reset(self, seed: int | None = None, seat: str | None = None, **row: Any) -> str:
        """Deal a game.

        Args:
            seed: Of the game; the completions of a group must have the same one, so that the row has to tell it.
            seat: The model's; None: the one of the settings.
            **row: What else the row of the data set holds is not looked at.

        Returns:
            The first message. The game may be over before the seat has moved.

        Raises:
            ParlourError: There is no seed, an argument is not accepted, or too many games are in progress.
        """
        if seed is None:
            raise ParlourError("a row without seed is not accepted; accepted: rows with a column seed")
        self._leave()
        self._turn, self._said = self._sessions.begin(seed, seat), []
        return self._message(self._turn)

    def say(self, words: str) -> str:
        """Speak or act at your turn.

        Args:
            words: One sentence, such as one of those that you were told.

        Returns:
            What has happened since, and what you may do now.
        """
        turn = self._dealt
        if turn.done:
            return " ".join(map(str, range(self._most + 1)))  # does not fit: the completion ends here
        self._said.append(words)
        self._turn = self._sessions.say(turn.session, words)
        return self._message(self._turn)

    def get_reward(self) -> float:
        """The seat's return, as the environment of the game gives it."""
        self._leave()
        return self._dealt.reward

    @property
    def done(self) -> bool:
        """Whether the game is over."""
        return self._dealt.done

    @property
    def faults(self) -> Mapping[str, int]:
        """How many of the seat's words were unreadable, ambiguous, illegal, and how many moves were replaced."""
        return self._dealt.faults

    @property
    def said(self) -> tuple[str, ...]:
        """The words of the model in this game, in order."""
        return tuple(self._said)

    # -- inside ------------------------------------------------------------------------------------------------

    @property
    def _dealt(self) -> SessionTurn:
        if self._turn is None:
            raise ParlourError("no game was dealt yet; accepted: reset()")
        return self._turn

    def _leave(self) -> None:
        if self._turn is not None and not self._turn.done:
            self._turn = self._sessions.leave(self._turn.session)

    def _message(self, turn: SessionTurn) -> str:
        return f"{turn.message}{GAME_OVER}\n" if turn.done else turn.message


def environments(sessions: Sessions, max_completion_length: int) -> Callable[[], GameEnvironment]:
    """What `GRPOTrainer(environment_factory=...)` takes."""
    return partial(GameEnvironment, sessions, max_completion_length)


def tool_rows(count: int, *, seed: int = 0, seat: str | None = None) -> list[dict[str, Any]]:
    """The rows of a data set: a game each, of seeds that count on. `datasets.Dataset.from_list` takes them."""
    check_from("count", count, 1)
    prompt = [{"role": "user", "content": PROMPT}]
    placed = {} if seat is None else {"seat": seat}
    return [{"prompt": prompt, "seed": seed + number, **placed} for number in range(count)]
