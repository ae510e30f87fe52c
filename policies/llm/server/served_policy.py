"""A policy in the place of a model: what `parlour serve --policy` answers with.

A request holds what a seat reads, as the last message of the user: either the prose itself, and the reply is the
policy's words; or the question of parlour's own `chat` player, and the reply is the JSON it asks for. A policy that reads
numbers gets them from the field `parlour` of the request, which is beyond OpenAI's protocol.

Requests do not know of each other: the policy begins anew at each, with the request's seed. What it needs to know of
the game stands in the text; what it would have remembered beyond that is lost.
"""

from __future__ import annotations

from threading import Lock
from typing import Final

from parlour.envs.core import ParlourError
from parlour.policies.base import Policy
from parlour.policies.by_text import by_numbers, goes_by_text, in_words, options_in, require_readable
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.server.protocol import ChatBody, Refused, question
from parlour.policies.llm.server.replies import AnswerText, CompletionRequest

QUESTION: Final = "chat.take_turn"
"""The one question that a seat's text and options are enough for."""
UNTAKEN: Final = ("logprobs", "top_logprobs")
"""What a policy has none of."""


class ServedPolicy:
    """A policy that answers requests, one at a time.

    Args:
        name: What it is called on the command line; the model's name.
        policy: Who answers.

    Raises:
        ParlourError: It reads the View, or is a person.
    """

    def __init__(self, name: str, policy: Policy) -> None:
        require_readable(policy, name)
        self.name, self._policy = name, policy
        self.fingerprint = f"parlour-policy-{name}"
        self._lock = Lock()

    def answering(self, body: ChatBody, wanted: CompletionRequest) -> AnswerText:
        """Who answers this request. Raises `Refused` if it holds nothing that the policy could answer."""
        asked = question(body, wanted)
        if asked is None:
            text = next((words for role, words in reversed(wanted.messages) if role == "user"), None)
            if text is None:
                raise Refused(
                    400, "there is no message of a user; accepted: what a seat reads, as the last one", "messages"
                )
            return lambda seed: self._words(body, seed, text, options_in(text))
        if asked.kind != QUESTION:
            why = f"question {asked.kind!r} is not accepted by a policy; accepted: {QUESTION}, or what a seat reads"
            raise Refused(400, why, "messages")
        rules = next((words for role, words in wanted.messages if role == "system"), "")
        read = asked.observation(rules.removeprefix(Templates().system(asked.language)).strip())  # type: ignore[attr-defined]
        options, answer = tuple(asked.sentences()), asked.answer_type()  # type: ignore[attr-defined]

        def in_json(seed: int) -> str:
            words = self._words(body, seed, read, options)
            return str(answer.model_validate({"thoughts": "", "words": words}).model_dump_json())

        return in_json

    def _words(self, body: ChatBody, seed: int, text: str, options: tuple[str, ...]) -> str:
        """The policy's words. Raises `Refused` for what it does not accept."""
        numbers = body.parlour
        if numbers is None and not goes_by_text(self._policy):
            why = f"policy {self.name!r} reads numbers; accepted: with parlour: {{features: [...], action_mask: [...]}}"
            raise Refused(400, why, "parlour")
        by_words = numbers is None or (self._policy.reads_prose and options)
        with self._lock:
            self._policy.reset(0, seed)
            try:
                if by_words or numbers is None:
                    return in_words(self._policy, text, options)
                return by_numbers(self._policy, numbers.features, numbers.action_mask, text, options)
            except ParlourError as error:
                raise Refused(400, str(error), "messages" if numbers is None else "parlour") from None
