"""One seat of a game for TRL's GRPOTrainer: as an environment with a tool, or as a rollout for models that know no tools.

Interfaces of the package `trl` 1.16. `environment_factory`: an object has `reset(**row)`, `get_reward()` and public methods,
which become the model's tools. TRL has no "done": a completion ends when the model calls no tool, or when the answer of a
tool does not fit into `max_completion_length` tokens any more. `rollout_func(prompts, trainer)`: it takes the prompts of a batch,
each as often as its group has completions, and returns the tokens of prompts and completions, with the log-probabilities
of the sampled ones, `env_mask` (1: the model's own token, 0: the game's), and lists that the reward functions receive by name.
Nothing of TRL is imported here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError, check_from
from parlour.policies.local_lm.model import LanguageModel, Prompt, Sampling
from parlour.training.harnesses.in_flight import USER, ChatMessage, TalkedGame, TalkGame, TalkTurn, play_in_flight
from parlour.training.harnesses.sessions import Sessions, SessionTurn
from parlour.training.play.extras import import_extra
from parlour.wrappers.conversation import ConversationSeat

PROMPT: Final = (
    "You play one seat of a game with others. At each of your turns call the tool say with one sentence; its answer reports "
    "what has happened since, and what you may do now. When the game is over, answer without a tool.\n\n"
)
"""The text before the first message of a game."""
GAME_OVER: Final = "The game is over. Call no tool any more: end your answer here."
"""The text after the last message of a game."""
_TRIED: Final = 20
"""Deals that are tried for each row, until one has a turn of the seat."""


class GameEnvironment:
    """One seat, a game after another: `reset` deals, the model calls `say`, `get_reward` is the seat's return.

    A game that the model leaves unfinished is played to its end by the table's rules for silence when its reward is asked
    for. A call after the end of a game is answered by more words than a completion may have tokens: TRL drops this answer, and
    the completion ends there.

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
            seed: Seed of the game; the completions of a group must share it, so the row must contain it.
            seat: The model's seat; None: the seat in the settings.
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
            words: One sentence, such as an option from the last message.

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


def tool_rows(
    count: int, make: Callable[[], ConversationSeat] | None = None, *, seed: int = 0, seat: str | None = None
) -> list[dict[str, Any]]:
    """The rows of a data set, one game each. `datasets.Dataset.from_list` takes them.

    Args:
        count: Number of rows.
        make: Makes the model's seat: deals that end before its first turn are then left out. None: all deals.
        seed: Seed of the first game; later games count on from it.
        seat: The model's seat; None: the seat in the settings of the sessions.

    Raises:
        ParlourError: The count is not accepted, or too few deals have a turn of the seat.
    """
    prompt = [{"role": "user", "content": PROMPT}]
    placed = {} if seat is None else {"seat": seat}
    return [{"prompt": prompt, "seed": deal, **placed} for deal in _deals(count, make, seed)]


def _deals(count: int, make: Callable[[], ConversationSeat] | None, seed: int) -> list[int]:
    """The seeds of so many deals, those with a turn of the seat where it is known."""
    check_from("count", count, 1)
    if make is None:
        return list(range(seed, seed + count))
    seat, dealt = make(), []
    for deal in range(seed, seed + _TRIED * count):
        seat.reset(deal)
        if not seat.done:
            dealt.append(deal)
        if len(dealt) == count:
            return dealt
    raise ParlourError(
        f"the seat has a turn in {len(dealt)} of {_TRIED * count} deals; accepted: a seat with a turn in {count} of them"
    )


_DUMMY: Final = ({"role": "user", "content": "."}, {"role": "assistant", "content": "."})


def rollout_rows(
    count: int, make: Callable[[], ConversationSeat] | None = None, *, seed: int = 0
) -> list[dict[str, Any]]:
    """The rows of a data set, one game each. `datasets.Dataset.from_list` takes them.

    The prompt holds the seed alone: the rollout sees nothing else of a row, and puts the game's first message in its place.
    Arguments and errors: see `tool_rows`.
    """
    return [{"prompt": json.dumps({"seed": deal})} for deal in _deals(count, make, seed)]


def game_reward(completions: Sequence[Any], game_reward: Sequence[float], **fields: Any) -> list[float]:
    """The seat's return, as the environment of the game gives it: a reward function for `GRPOTrainer`."""
    return list(game_reward)


def usable_share(
    completions: Sequence[Any], said: Sequence[Sequence[str]], refused: Sequence[int], **fields: Any
) -> list[float]:
    """The share of the replies that the table could use, 1.0 where there were none: a reward function for `GRPOTrainer`."""
    return [1.0 - unused / len(words) if words else 1.0 for words, unused in zip(said, refused, strict=True)]


def listening_reward(
    completions: Sequence[Any], listening: Sequence[float | None], **fields: Any
) -> list[float | None]:
    """How much better the seat knows at the end who is evil than after the night, in nats: a reward function for `GRPOTrainer`.

    None for a seat that was not asked: it is evil, it left, or there was no room. TRL leaves None out of the sum.
    """
    return list(listening)


def speaking_reward(completions: Sequence[Any], speaking: Sequence[float], **fields: Any) -> list[float]:
    """The mean effect of the seat's claims on good listeners, in nats: a reward function for `GRPOTrainer`."""
    return list(speaking)


class GameRollout:
    """What `GRPOTrainer(rollout_func=...)` takes: plays the games of a batch in step with the model that is trained.

    A game for whose next message and reply `max_completion_length` or the model's context has no room is left by the seat:
    the table's rules for silence play on for it.

    Args:
        make: Makes a seat at a table of its own.
        max_new_tokens: Most tokens of a reply.
        at_once: How many games are in progress at once, and prompts in a batch.
        seed: Seed of the model's sampling.
        social: Whether the seat is asked after each game who is evil, for `listening_reward` and `speaking_reward`. Avalon.

    Raises:
        ParlourError: A setting is not accepted.
    """

    __name__ = "GameRollout"

    def __init__(
        self,
        make: Callable[[], ConversationSeat],
        *,
        max_new_tokens: int = 64,
        at_once: int = 32,
        seed: int = 0,
        social: bool = False,
    ) -> None:
        check_from("max_new_tokens", max_new_tokens, 1)
        check_from("at_once", at_once, 1)
        check_from("seed", seed, 0)
        self.make, self.max_new_tokens, self.at_once = make, max_new_tokens, at_once
        self.seed, self.social, self._rollouts = seed, social, 0

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, list[Any]]:
        """Play a game for each prompt.

        Returns:
            `prompt_ids`, `completion_ids`, `logprobs` and `env_mask`, a list of each game; and of each game `game_reward`,
            `said` (the replies in words), `refused` (how many of these the table could not use), `left` (whether the seat
            left before the end). With `social` also `listening` and `speaking`, each game's rewards.

        Raises:
            ParlourError: A prompt holds no seed, the tokenizer has no chat template that grows at its end alone, or the game
                has no social rewards.
        """
        games = [TalkGame(seed_of(prompt)) for prompt in prompts]
        writing = _Writing(trainer, self.max_new_tokens, self.at_once, (self.seed, self._rollouts))
        self._rollouts += 1
        at_end = import_extra("parlour.training.harnesses.social", "batch").end_of_talk if self.social else None
        played = play_in_flight(self.make, games, writing, at_once=self.at_once, at_end=at_end)
        said = [[reply for reply in game.replies if reply.words is not None] for game in played]
        social = self._social(writing, played) if self.social else {}
        completions = [writing.completion(game) for game in played]
        return {
            "prompt_ids": [completion.prompt for completion in completions],
            "completion_ids": [completion.ids for completion in completions],
            "logprobs": [completion.logprobs for completion in completions],
            "env_mask": [completion.own for completion in completions],
            "game_reward": [game.reward for game in played],
            "said": [[reply.words for reply in replies] for replies in said],
            "refused": [sum(bool(reply.faults) for reply in replies) for replies in said],
            "left": [game.left for game in played],
            **social,
        }

    def _social(self, writing: _Writing, played: Sequence[TalkedGame]) -> dict[str, list[Any]]:
        """Ask the good seats, and what their answers and their claims are worth."""
        asked = [game for game in played if game.notes.good and game.replies and not game.left]
        turns = [
            TalkTurn(game.game, game.seed, game.agent, (ChatMessage(USER, game.notes.question),), ()) for game in asked
        ]
        answers: dict[int, str | None] = {}
        for start in range(0, len(turns), self.at_once):
            batch = turns[start : start + self.at_once]
            answers |= dict(zip((turn.game for turn in batch), writing(batch), strict=True))
        pairs = [(game.notes, answers.get(game.game)) for game in played]
        listening = [None if words is None else end.listening(words) for end, words in pairs]
        return {"listening": listening, "speaking": [end.speaking for end, _ in pairs]}


def seed_of(prompt: Any) -> int:
    """The seed that a prompt holds. Raises `ParlourError` where there is none."""
    text = prompt if isinstance(prompt, str) else prompt[-1]["content"]
    try:
        return int(json.loads(text)["seed"])
    except (ValueError, TypeError, KeyError):
        raise ParlourError(f'prompt {text!r} is not accepted; accepted: {{"seed": N}}') from None


@dataclass
class _Completion:
    """A game as tokens."""

    prompt: list[int]
    draws: np.random.Generator
    """What is drawn for this game alone."""
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    own: list[int] = field(default_factory=list)

    def add(self, ids: Sequence[int], logprobs: Sequence[float] | None = None) -> None:
        """Add the model's tokens, or without logarithms of chances the game's."""
        self.ids += ids
        self.logprobs += [0.0] * len(ids) if logprobs is None else logprobs
        self.own += [int(logprobs is not None)] * len(ids)


class _Writing:
    """Answers turns with the model of a trainer, and keeps the tokens."""

    def __init__(self, trainer: Any, max_new_tokens: int, at_once: int, seed: tuple[int, int]) -> None:
        network = trainer.accelerator.unwrap_model(trainer.model)
        self.model = LanguageModel(network, trainer.processing_class, at_once)
        self.template = _Template(trainer.processing_class)
        self.how = Sampling(float(trainer.args.temperature), max_new_tokens)
        self.most = int(trainer.args.max_completion_length)
        self.context = int(network.config.max_position_embeddings)
        self.seed = seed
        self.games: dict[int, _Completion] = {}

    def __call__(self, turns: Sequence[TalkTurn]) -> list[str | None]:
        games = [self._read(turn) for turn in turns]
        asked = [game for game in games if game is not None]
        prompts = [Prompt((*game.prompt, *game.ids)) for game in asked]
        replies = self.model.replies(prompts, [game.draws for game in asked], self.how) if asked else []
        for game, reply in zip(asked, replies, strict=True):
            game.add(reply.ids, reply.logprobs)
        words = (reply.words for reply in replies)
        return [None if game is None else next(words) for game in games]

    def completion(self, played: TalkedGame) -> _Completion:
        """The tokens of a game that is over; one of the game's own where the model had nothing to say."""
        game = self.games.get(played.game) or self._begun(played.game, played.end)
        if not game.ids:
            game.add([self.template.end])
        return game

    def _read(self, turn: TalkTurn) -> _Completion | None:
        """The game with what it tells now; None where there is no room for a reply."""
        if turn.game not in self.games:
            game = self.games[turn.game] = self._begun(turn.game, turn.message)
            news: list[int] = []
        else:
            game = self.games[turn.game]
            news = self.template.next(game.ids[-1], turn.message)
        length = len(game.ids) + len(news) + self.how.max_new_tokens
        if length > self.most or len(game.prompt) + length > self.context:
            return None
        game.add(news)
        return game

    def _begun(self, number: int, message: str) -> _Completion:
        return _Completion(self.template.first(message), np.random.default_rng([*self.seed, number]))


class _Template:
    """Messages as tokens by a chat template; what was sampled is never tokenised anew."""

    def __init__(self, tokenizer: Any) -> None:
        if tokenizer.chat_template is None:
            raise ParlourError("a tokenizer without chat_template is not accepted; accepted: one with a chat template")
        self.tokenizer, self.end = tokenizer, int(tokenizer.eos_token_id)

    def first(self, message: str) -> list[int]:
        """A conversation's beginning, up to where the model begins."""
        return self._ids([{"role": "user", "content": message}], reply=True)

    def next(self, last: int, message: str) -> list[int]:
        """What follows a reply whose last token is given, up to where the model begins again."""
        before = self._ids([*_DUMMY], reply=False)
        after = self._ids([*_DUMMY, {"role": "user", "content": message}], reply=True)
        if self.end in before:
            before = before[: len(before) - before[::-1].index(self.end)]
        if after[: len(before)] != before:
            raise ParlourError(
                "a chat template that changes what came before is not accepted; accepted: a template that adds"
            )
        ended = last == self.end or before[-1] != self.end
        return after[len(before) :] if ended else [self.end, *after[len(before) :]]

    def _ids(self, messages: list[dict[str, str]], *, reply: bool) -> list[int]:
        return list(self.tokenizer.apply_chat_template(messages, add_generation_prompt=reply, return_dict=False))
