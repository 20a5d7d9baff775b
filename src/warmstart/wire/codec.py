"""What passes between a program and a model, in one form for every provider.

A conversation is system text and model messages: users', assistants' (text and calls) and one tool
message per result. A codec turns a ``Prompt`` and a ``Response`` into one provider's JSON and back.
Decoding never raises: what has the wrong type is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from warmstart.model import Message, Request, Role
from warmstart.wire.fields import Body, as_float, as_int, as_text


class ToolSpec(NamedTuple):
    """A tool as a model is offered it."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = {}
    """JSON schema of its arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request to a model. Fields that are None or empty are not written."""

    system: str = ""
    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    model: str = ""
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    stream: bool | None = None
    body: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The request it was decoded from, for what has no field here."""

    @property
    def asked(self) -> str:
        """The user's last text."""
        return next((m.text for m in reversed(self.messages) if m.role is Role.USER), "")

    @property
    def since_asked(self) -> tuple[Message, ...]:
        """What came after the user's last text: the calls and results of this task."""
        last = max((at for at, m in enumerate(self.messages) if m.role is Role.USER), default=-1)
        return self.messages[last + 1 :]

    @property
    def examples(self) -> tuple[Request, ...]:
        """Calls from before the user's last text."""
        before = self.messages[: len(self.messages) - len(self.since_asked)]
        return tuple(request for message in before for request in message.requests)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools offered."""
        return tuple(tool.name for tool in self.tools)


class StopReason(StrEnum):
    """Why a model stopped writing."""

    END = "end"
    CALLS = "calls"
    """It waits for the results of its calls."""
    LENGTH = "length"
    REFUSED = "refused"
    """It, or a filter, declined."""
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What a model answered."""

    message: Message | None = None
    """Text, calls, reasoning, model and tokens; None where the answer holds no message."""
    stop: StopReason | None = None
    """None for a stream that was cut, or an answer that does not say."""
    error: str = ""
    """The provider's complaint, empty where there is none."""


class Event(NamedTuple):
    """One server-sent event: its JSON value, or its text where it is not JSON."""

    data: Any
    name: str = ""


class StreamBody(Protocol):
    """A response put together from the events of its stream."""

    @staticmethod
    def split(body: Mapping[str, Any]) -> Iterator[Event]:
        """The events that stream a response."""
        ...

    def add(self, event: Event) -> None:
        """Take one event in; one that is not known changes nothing."""
        ...

    def build(self) -> Body:
        """The response as far as its events have come."""
        ...


class Codec(Protocol):
    """One provider's JSON."""

    name: str
    key: str
    """The field of a request that holds the conversation."""
    path: str
    """Where requests go, below the version; ``{model}`` stands for the model's name."""
    stream: type[StreamBody]

    def headers(self, key: str) -> dict[str, str]:
        """How an API key is sent; an empty key is not."""
        ...

    def encode_request(self, prompt: Prompt) -> Body:
        """The body of a request."""
        ...

    def decode_request(self, body: Mapping[str, Any]) -> Prompt:
        """The prompt in the body of a request."""
        ...

    def encode_response(self, response: Response) -> Body:
        """The body of a whole response."""
        ...

    def decode_response(self, body: Mapping[str, Any]) -> Response:
        """The answer in the body of a whole response."""
        ...


def read_parameters(body: Mapping[str, Any], *limits: str) -> Body:
    """The fields of a prompt that providers name alike; ``limits`` are names of the token limit."""
    stream = body.get("stream")
    return {
        "model": as_text(body.get("model")),
        "max_tokens": next(
            (n for name in limits if (n := as_int(body.get(name))) is not None), None
        ),
        "temperature": as_float(body.get("temperature")),
        "stream": stream if isinstance(stream, bool) else None,
    }


def append_parts(turns: list[Body], role: str, key: str, parts: list[Body]) -> None:
    """Add parts to the last turn if it has the same role, else as a turn of their own."""
    if parts and turns and turns[-1]["role"] == role:
        turns[-1][key] += parts
    elif parts:
        turns.append({"role": role, key: parts})


def drop_unset(**fields: Any) -> Body:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def read_stop(value: Any, names: Mapping[str, StopReason]) -> StopReason | None:
    """A provider's word for why it stopped; None where it gives none."""
    return names.get(value, StopReason.OTHER) if isinstance(value, str) and value else None


def write_stop(stop: StopReason | None, names: Mapping[str, StopReason]) -> str | None:
    """The first word a provider has for a reason, None for none."""
    if stop is None:
        return None
    return next((name for name, reason in names.items() if reason is stop), stop.value)


def read_error(value: Any) -> str:
    """An error object as one line: its type or code, then its message."""
    if isinstance(value, str):
        return value
    error = value if isinstance(value, dict) else {}
    kind = next((str(error[k]) for k in ("type", "status", "code") if error.get(k)), "")
    message = error.get("message")
    return ": ".join(filter(None, (kind, message if isinstance(message, str) else "")))
