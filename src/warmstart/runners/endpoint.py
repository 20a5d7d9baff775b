"""The tool loop: one trial against a model's endpoint.

Prompt, answer, calls, results, until the model answers without a call or a limit is reached. What
comes out is the conversation as it happened, with the warm-up marked and everything it cost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from warmstart.experiment.arms import ArmStart
from warmstart.experiment.plan import Runner
from warmstart.experiment.trial import TrialStatus
from warmstart.model import Message, Request, Result, Role, Tokens
from warmstart.runners.protocol import describe_tools, read_answer, spell_messages
from warmstart.runners.tools import Toolbox, fail
from warmstart.runners.transport import EndpointError, Failure, Patience, post_json
from warmstart.runners.wire import (
    INVALID_CALL,
    WIRES,
    Prompt,
    build_url,
    speak_invalid,
    with_ids,
)

FATAL = (Failure.UNAVAILABLE, Failure.DENIED, Failure.STOPPED)
"""These say nothing about the trial, so the trial is not recorded."""
JSON_PROTOCOL = "json"
OLD_LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Everything one trial starts with."""

    prompt: str
    system: str
    """Preamble, the same in every arm."""
    start: ArmStart
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A trial as it went."""

    system: str = ""
    messages: tuple[Message, ...] = ()
    """Warm-up, prompt, answers and results, in their order."""
    status: TrialStatus = TrialStatus.FINISHED
    answer: str = ""
    turns: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    started_at: float = 0.0
    seconds: float = 0.0
    model: str = ""
    detail: str = ""
    origin: str = "live_store"
    """Whose rules its results are judged by."""


class Endpoint:
    """A model behind an address. Threads may share it."""

    def __init__(self, runner: Runner, key: str = "", stop: threading.Event | None = None) -> None:
        self.runner = runner
        self.stop = stop or threading.Event()
        self._wire = WIRES[runner.api]
        self._url = build_url(runner.url, self._wire)
        self._key = key
        self._wants_new_limit = False
        self.pause_seconds = 0.5
        """First pause before a retry."""

    def run(self, job: Job, toolbox: Toolbox) -> Conversation:
        """Carry out one trial.

        Raises:
            EndpointError: the endpoint cannot be used at all; nothing is known about the trial.
        """
        return _Loop(self, job, toolbox).run()

    def ask(self, prompt: Prompt, deadline: float) -> Message:
        """One answer.

        Raises:
            EndpointError: there is none.
        """
        patience = Patience(
            retries=self.runner.retries,
            request_seconds=self.runner.request_timeout,
            deadline=deadline,
            pause_seconds=self.pause_seconds,
            stop=self.stop,
        )
        message = self._wire.decode(self._post(self._wire.encode(prompt), patience))
        if message is None:
            raise EndpointError("the answer holds no message", failure=Failure.REFUSED)
        return message

    def _post(self, body: dict[str, Any], patience: Patience) -> dict[str, Any]:
        """Newer models of one provider want the limit under another name, and say so."""
        headers = self._wire.headers(self._key)
        if self._wants_new_limit:
            body[NEW_LIMIT] = body.pop(OLD_LIMIT)
        try:
            return post_json(self._url, body, headers, patience)
        except EndpointError as error:
            if NEW_LIMIT not in error.message or NEW_LIMIT in body:
                raise
        self._wants_new_limit = True
        body[NEW_LIMIT] = body.pop(OLD_LIMIT)
        return post_json(self._url, body, headers, patience)


class _Loop:
    """The state of one trial."""

    def __init__(self, endpoint: Endpoint, job: Job, toolbox: Toolbox) -> None:
        self._endpoint = endpoint
        self._job = job
        self._toolbox = toolbox
        runner = endpoint.runner
        self._is_json = runner.protocol == JSON_PROTOCOL
        tools = list(toolbox.tools.values())
        taught = describe_tools(tools) if self._is_json else ""
        self._system = "\n\n".join(filter(None, (job.system, taught, job.start.system)))
        self._started = time.time()
        self._clock = time.monotonic()
        self._deadline = self._clock + runner.trial_timeout
        self._messages = [
            *with_ids(job.start.messages),
            Message(role=Role.USER, text=job.prompt, timestamp=self._started),
        ]
        self._turns = 0
        self._tokens = Tokens()
        self._model = runner.model

    def run(self) -> Conversation:
        """Until there is an answer or a limit."""
        try:
            while self._turns < self._endpoint.runner.max_turns:
                answer = self._take_turn()
                if not answer.requests:
                    return self._end(answer=answer.text)
                self._use_tools(answer)
        except EndpointError as error:
            if error.failure in FATAL:
                raise
            timed_out = error.failure is Failure.TIMEOUT
            status = TrialStatus.TIMEOUT if timed_out else TrialStatus.CRASHED
            return self._end(status, detail=error.message)
        # Not broken off: the agent had the turns every trial has, and is judged by what it did.
        return self._end(detail=f"no answer after {self._turns} turns")

    def _take_turn(self) -> Message:
        prompt = self._build_prompt()
        try:
            answer = self._endpoint.ask(prompt, self._deadline)
        except EndpointError as error:
            if error.failure is not Failure.UNREADABLE_CALL:
                raise
            answer = Message(role=Role.ASSISTANT, requests=(Request(tool=INVALID_CALL),))
        self._turns += 1
        self._tokens += answer.tokens or Tokens()
        self._model = answer.model or self._model
        if self._is_json:
            answer = read_answer(answer, self._turns)
        answer = self._with_own_ids(replace(answer, timestamp=time.time()))
        self._messages.append(answer)
        return answer

    def _with_own_ids(self, answer: Message) -> Message:
        """Ids that no other call of the conversation has; some servers send none or repeat them."""
        used = {request.id for message in self._messages for request in message.requests}
        requests = []
        for number, request in enumerate(answer.requests):
            fresh = request.id
            if not fresh or fresh in used:
                fresh = f"call_{self._turns}_{number}"
            used.add(fresh)
            requests.append(replace(request, id=fresh))
        return replace(answer, requests=tuple(requests))

    def _build_prompt(self) -> Prompt:
        runner = self._endpoint.runner
        messages = (
            spell_messages(self._messages) if self._is_json else speak_invalid(self._messages)
        )
        return Prompt(
            model=runner.model,
            system=self._system,
            messages=messages,
            tools=() if self._is_json else tuple(self._toolbox.tools.values()),
            temperature=runner.temperature,
            max_tokens=runner.max_tokens,
            seed=self._job.seed,
        )

    def _use_tools(self, answer: Message) -> None:
        for request in answer.requests:
            result = self._answer(request)
            self._messages.append(Message(role=Role.TOOL, results=(result,), timestamp=time.time()))
            if time.monotonic() > self._deadline:
                raise EndpointError("the time for this trial is over", failure=Failure.TIMEOUT)

    def _answer(self, request: Request) -> Result:
        if request.tool != INVALID_CALL:
            return self._toolbox.answer(request)
        text = fail("that was no valid tool call; write the tool's name and a JSON object").text
        return Result(text=text, call_id=request.id, tool=INVALID_CALL, is_error=True)

    def _end(
        self, status: TrialStatus = TrialStatus.FINISHED, *, answer: str = "", detail: str = ""
    ) -> Conversation:
        return Conversation(
            system=self._system,
            messages=tuple(self._messages),
            status=status,
            answer=answer,
            turns=self._turns,
            tokens=self._tokens,
            started_at=self._started,
            seconds=time.monotonic() - self._clock,
            model=self._model,
            detail=detail,
        )


RunTrial = Callable[[Job, Toolbox], Conversation]


def price(tokens: Tokens, runner: Runner) -> float | None:
    """What it cost in dollars, None without prices. Cached input is charged in full."""
    if runner.input_price is None or runner.output_price is None:
        return None
    given = tokens.input + tokens.cache_read + tokens.cache_write
    return (given * runner.input_price + tokens.output * runner.output_price) / 1e6


def describe_setup(runner: Runner) -> dict[str, Any]:
    """What has to be the same in every trial for a comparison to mean anything."""
    return {
        "model": runner.model,
        "api": runner.api,
        "protocol": runner.protocol,
        "temperature": runner.temperature,
        "max_tokens": runner.max_tokens,
        "max_turns": runner.max_turns,
    }
