"""The tool loop: one trial against a model's endpoint.

Prompt, answer, calls, results, until the model answers without a call or a limit is reached. What
comes out is the conversation as it happened, with the warm-up marked and everything it cost.

Models that have no tool calls of their own get the JSON protocol: the system text describes the
tools, and the model answers with one JSON object, either ``{"tool": …, "arguments": {…}}`` or
``{"answer": …}``. Examples of a warm-up are spelled in the same form, because the form of an
example is half of what it teaches.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from warmstart.experiment import ArmStart, Runner, TrialStatus
from warmstart.model import Message, Request, Result, Role, Tokens
from warmstart.runners.tools import Toolbox, TrialTool, fail
from warmstart.runners.transport import EndpointError, EndpointFailure, Patience, post_json
from warmstart.wire import CODECS, Prompt, build_url, with_ids, with_objects

INVALID_CALL = "invalid_call"
"""The tool of a call that the endpoint or the protocol could not read."""
NOTHING = "(nothing)"
"""Stands for an empty text; providers refuse empty messages."""
FATAL = (EndpointFailure.UNAVAILABLE, EndpointFailure.DENIED, EndpointFailure.STOPPED)
"""These say nothing about the trial, so the trial is not recorded."""
JSON_PROTOCOL = "json"
_FENCE = re.compile(r"\A```(?:json)?\s*\n?(.*?)\n?```\s*\Z", re.DOTALL)
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
class TrialTranscript:
    """A trial that ended: its conversation, how it ended and what it used."""

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
        self._codec = CODECS[runner.api]
        self._url = build_url(runner.url, self._codec, runner.model)
        self._key = key
        self._wants_new_limit = False
        self.pause_seconds = 0.5
        """First pause before a retry."""

    def run(self, job: Job, toolbox: Toolbox) -> TrialTranscript:
        """Carry out one trial.

        Raises:
            EndpointError: the endpoint cannot be used at all; nothing is known about the trial.
        """
        return _Loop(self, job, toolbox).run()

    def ask(self, prompt: Prompt, deadline: float) -> Message:
        """The model's answer to a prompt.

        Raises:
            EndpointError: it did not answer.
        """
        patience = Patience(
            retries=self.runner.retries,
            request_seconds=self.runner.request_timeout,
            deadline=deadline,
            pause_seconds=self.pause_seconds,
            stop=self.stop,
        )
        body = self._post(self._codec.encode_request(prompt), patience)
        message = self._codec.decode_response(body).message
        if message is None:
            raise EndpointError("the answer holds no message", failure=EndpointFailure.REFUSED)
        return message

    def _post(self, body: dict[str, Any], patience: Patience) -> dict[str, Any]:
        """The answer to a request; newer models want the limit under another name and say so."""
        headers = self._codec.headers(self._key)
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

    def run(self) -> TrialTranscript:
        """The transcript of the trial, up to an answer or a limit."""
        try:
            while self._turns < self._endpoint.runner.max_turns:
                answer = self._take_turn()
                if not answer.requests:
                    return self._end(answer=answer.text)
                self._use_tools(answer)
        except EndpointError as error:
            if error.failure in FATAL:
                raise
            timed_out = error.failure is EndpointFailure.TIMEOUT
            status = TrialStatus.TIMEOUT if timed_out else TrialStatus.CRASHED
            return self._end(status, detail=error.message)
        # Not broken off: the agent had the turns every trial has, and is judged by what it did.
        return self._end(detail=f"no answer after {self._turns} turns")

    def _take_turn(self) -> Message:
        prompt = self._build_prompt()
        try:
            answer = self._endpoint.ask(prompt, self._deadline)
        except EndpointError as error:
            if error.failure is not EndpointFailure.UNREADABLE_CALL:
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
        spell = spell_messages if self._is_json else spell_unreadable
        tools = () if self._is_json else self._toolbox.tools.values()
        return Prompt(
            model=runner.model,
            system=self._system,
            messages=tuple(with_objects(message) for message in spell(self._messages)),
            tools=tuple(tool.spec for tool in tools),
            temperature=runner.temperature,
            max_tokens=runner.max_tokens,
            seed=self._job.seed,
            stream=False,
        )

    def _use_tools(self, answer: Message) -> None:
        for request in answer.requests:
            result = self._answer(request)
            self._messages.append(Message(role=Role.TOOL, results=(result,), timestamp=time.time()))
            if time.monotonic() > self._deadline:
                raise EndpointError(
                    "the time for this trial is over", failure=EndpointFailure.TIMEOUT
                )

    def _answer(self, request: Request) -> Result:
        if request.tool != INVALID_CALL:
            return self._toolbox.answer(request)
        text = fail("that was not a valid tool call; write the tool's name and a JSON object").text
        return Result(text=text, call_id=request.id, tool=INVALID_CALL, is_error=True)

    def _end(
        self, status: TrialStatus = TrialStatus.FINISHED, *, answer: str = "", detail: str = ""
    ) -> TrialTranscript:
        return TrialTranscript(
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


def price(tokens: Tokens, runner: Runner) -> float | None:
    """The cost in dollars, None without prices; cached input is charged in full."""
    if runner.input_price is None or runner.output_price is None:
        return None
    given = tokens.input + tokens.cache_read + tokens.cache_write
    return (given * runner.input_price + tokens.output * runner.output_price) / 1e6


def describe_setup(runner: Runner) -> dict[str, Any]:
    """The settings that must be equal in all trials of a comparison."""
    return {
        "model": runner.model,
        "api": runner.api,
        "protocol": runner.protocol,
        "temperature": runner.temperature,
        "max_tokens": runner.max_tokens,
        "max_turns": runner.max_turns,
    }


def spell_unreadable(messages: Sequence[Message]) -> list[Message]:
    """Calls that could not be read, as plain text: no provider takes them back as calls.

    Other calls of the same message become text with them, or their results would be orphans.
    """
    spelled = {
        request.id
        for message in messages
        if _is_unreadable(message)
        for request in message.requests
    }
    return [one for message in messages for one in _spell_one(message, spelled)]


def _is_unreadable(message: Message) -> bool:
    return any(request.tool == INVALID_CALL for request in message.requests)


def _spell_one(message: Message, spelled: AbstractSet[str | None]) -> Iterator[Message]:
    if _is_unreadable(message):
        text = _spell_calls(message)
        # What the server kept to itself cannot be shown, and a small model would copy any words
        # put in its place.
        if text:
            yield Message(role=Role.ASSISTANT, text=text)
    elif message.results and all(result.call_id in spelled for result in message.results):
        texts = [result.text for result in message.results]
        yield Message(role=Role.USER, text="\n".join(texts) or NOTHING)
    else:
        yield message


def _spell_calls(message: Message) -> str:
    calls = [
        request.raw or json.dumps({"tool": request.tool, "arguments": dict(request.arguments)})
        for request in message.requests
        if request.raw or request.tool != INVALID_CALL
    ]
    return "\n".join(filter(None, (message.text, *calls)))


def describe_tools(tools: Sequence[TrialTool]) -> str:
    """The system text that teaches the protocol; the same in every arm."""
    lines = [
        "Answer with exactly one JSON object and nothing else.",
        'To use a tool: {"tool": "NAME", "arguments": {...}}',
        'When you are done: {"answer": "..."}',
        "Tools:",
    ]
    for tool in tools:
        names = tool.parameters.get("properties", {})
        arguments = ", ".join(f"{name}: {_kind(schema)}" for name, schema in names.items())
        lines.append(f"- {tool.name}({arguments}): {tool.description}")
    return "\n".join(lines)


def spell_messages(messages: Sequence[Message]) -> list[Message]:
    """Messages with their calls and results as text."""
    return [_spell(message) for message in messages]


def read_answer(message: Message, number: int) -> Message:
    """The model's text as a call, an answer, or a call that cannot be read.

    Text without any JSON is an answer; text that tries to be JSON and is not is a failed call.
    """
    text = message.text.strip()
    fenced = _FENCE.match(text)
    inner = (fenced[1] if fenced else text).strip()
    if not inner.startswith("{"):
        return message
    data = _parse(inner)
    call_id = f"call_{number}"
    if isinstance(data, dict) and isinstance(data.get("tool"), str):
        arguments = data.get("arguments", {})
        given = arguments if isinstance(arguments, dict) else {}
        raw = None if isinstance(arguments, dict) else json.dumps(arguments)
        request = Request(tool=data["tool"], id=call_id, arguments=given, raw=raw)
        return replace(message, text="", requests=(request,))
    if isinstance(data, dict) and "answer" in data:
        return replace(message, text=_as_text(data["answer"]))
    return replace(
        message, text="", requests=(Request(tool=INVALID_CALL, id=call_id, raw=message.text),)
    )


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _kind(schema: Any) -> str:
    return str(schema.get("type", "any")) if isinstance(schema, dict) else "any"


def _spell(message: Message) -> Message:
    if message.results:
        texts = [f"Result of {result.tool or 'the tool'}: {result.text}"
                 for result in message.results]  # fmt: skip
        return Message(role=Role.USER, text="\n".join([*texts, message.text]).strip())
    if message.role is not Role.ASSISTANT:
        return message
    if message.requests:
        calls = [
            request.raw or json.dumps({"tool": request.tool, "arguments": dict(request.arguments)})
            for request in message.requests
        ]
        return Message(role=Role.ASSISTANT, text="\n".join(calls))
    return Message(role=Role.ASSISTANT, text=json.dumps({"answer": message.text}))
