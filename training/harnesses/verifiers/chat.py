"""A chat loop in this process: what asks the model of a seat.

Interfaces of the package `verifiers` 0.4: `Harness`, `HarnessSession`. The harnesses that come with verifiers start a program of
their own for each reply, in a remote sandbox by default, and prepare it with `uv`; a seat needs neither.
"""

from __future__ import annotations

from typing import Any, ClassVar

import openai
import verifiers.v1 as vf
from pydantic import Field


class ChatConfig(vf.HarnessConfig):
    """How a seat's model is asked: `--env.player.harness.*`."""

    max_retries: int = Field(2, ge=0)
    """How often a request that failed on its way is sent again, before the seat says nothing any more."""


class ChatHarness(vf.Harness[ChatConfig]):
    """Asks by chat completions, one request a turn, with all messages of the seat."""

    APPENDS_SYSTEM_PROMPT: ClassVar[bool] = True
    SUPPORTS_RESUME: ClassVar[bool] = True
    EXECUTES_CODE: ClassVar[bool] = False
    NEEDS_CONTAINER: ClassVar[bool] = False

    async def session(self, *given: Any, **named: Any) -> ChatSession:
        return ChatSession(self, *given, **named)

    async def launch(self, *given: Any, **named: Any) -> vf.ProgramResult:
        session = ChatSession(self, *given, **named)
        try:
            return await session.ask(())
        finally:
            await session.close()


class ChatSession(vf.HarnessSession):
    """The messages of one seat, over one connection to verifiers' interception in this process."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._messages: list[Any] = []
        system, prompt = self.harness.resolve_text_prompt(self.data)
        if system is not None:
            self._messages.append({"role": "system", "content": system})
        if prompt is not None:
            self._messages.append({"role": "user", "content": prompt})
        self._client = openai.AsyncOpenAI(
            base_url=self.endpoint,
            api_key=self.secret,
            max_retries=self.harness.config.max_retries,
            timeout=None,  # verifiers has limits of its own for a turn
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False, verify=False),  # on loopback, without TLS
        )

    async def ask(self, messages: Any) -> vf.ProgramResult:
        """Say what is new and take the reply."""
        self._messages += [{"role": one.role, "content": one.content} for one in messages]
        try:
            reply = await self._client.chat.completions.create(model=self.ctx.model, messages=self._messages)
        except openai.APIError as error:
            return vf.ProgramResult(1, "", str(error))
        self._messages.append(reply.choices[0].message.model_dump(exclude_none=True))
        return vf.ProgramResult(0, "", "")

    async def _run(self, messages: Any) -> vf.ProgramResult:
        return await self.ask(messages or ())

    async def close(self) -> None:
        await super().close()
        await self._client.close()
