"""JSON over HTTP with patience: retries with growing pauses, ``Retry-After`` respected.

An error says why a request failed for good, because the reasons mean different things for a trial:
an endpoint that is not there stops the run, a refused prompt is a result. A key is never part of an
error. What only one server does (llama.cpp) is known here and nowhere else.
"""

from __future__ import annotations

import json
import random
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from enum import StrEnum
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from warmstart.errors import WarmstartError

MAX_BODY_BYTES = 20_000_000
MAX_PAUSE_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 0.5
MAX_SHOWN = 200
UNREADABLE_CALL = "does not match the expected peg-native format"
"""llama.cpp's error for a tool call of the model that it could not parse."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class EndpointFailure(StrEnum):
    """Why a request got no answer."""

    UNAVAILABLE = "unavailable"
    """Not there, or too busy for too long: the run stops and can be resumed."""
    DENIED = "denied"
    """The key or the address is wrong: the run stops."""
    REFUSED = "refused"
    """This prompt was refused, or made the server fail: a result of the trial."""
    UNREADABLE_CALL = "unreadable_call"
    """The model wrote a tool call that its server could not read."""
    TIMEOUT = "timeout"
    STOPPED = "stopped"


class EndpointError(WarmstartError):
    """A model's endpoint did not answer; ``failure`` says how."""

    exit_code = 7

    def __init__(
        self, message: str, *, failure: EndpointFailure, status: int | None = None
    ) -> None:
        super().__init__(message, hint=_HINTS.get(failure))
        self.failure = failure
        self.status = status


_HINTS = {
    EndpointFailure.UNAVAILABLE: "start the endpoint, then run the same command: it continues",
    EndpointFailure.DENIED: "check the address and the key's environment variable in plan.toml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to try."""

    retries: int = 5
    request_seconds: float = 120.0
    deadline: float | None = None
    """On the monotonic clock."""
    pause_seconds: float = FIRST_PAUSE_SECONDS
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()


def post_json(
    url: str, body: Mapping[str, Any], headers: Mapping[str, str], patience: Patience
) -> dict[str, Any]:
    """The JSON object an endpoint answers.

    Raises:
        EndpointError: it does not, whatever was tried.
    """
    data = json.dumps(body).encode()
    for attempt in range(patience.retries + 1):
        if patience.stop.is_set():
            raise EndpointError("stopped", failure=EndpointFailure.STOPPED)
        if patience.left <= 0:
            raise EndpointError("the time for this trial is over", failure=EndpointFailure.TIMEOUT)
        try:
            return _post(url, data, headers, patience)
        except _RetryError as retry:
            if attempt == patience.retries:
                raise retry.error from retry.__cause__
            pause = retry.after if retry.after is not None else _grow(patience, attempt)
            patience.stop.wait(min(pause, MAX_PAUSE_SECONDS, max(patience.left, 0)))
    raise AssertionError  # the last attempt returned or raised


class _RetryError(Exception):
    """Worth another try; ``error`` is raised when no tries are left."""

    def __init__(self, error: EndpointError, after: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


def _post(url: str, data: bytes, headers: Mapping[str, str], patience: Patience) -> dict[str, Any]:
    request = urllib.request.Request(  # noqa: S310 - the plan allows http and https only
        url, data, {"Content-Type": "application/json", **headers}, method="POST"
    )
    seconds = max(min(patience.request_seconds, patience.left), 0.01)
    try:
        with _opener(url).open(request, timeout=seconds) as response:
            return _parse(response.read(MAX_BODY_BYTES))
    except urllib.error.HTTPError as error:
        with error:
            raise _judge_status(error, headers) from None
    except TimeoutError as error:
        problem = f"no answer within {seconds:g} seconds"
        raise _RetryError(EndpointError(problem, failure=EndpointFailure.TIMEOUT)) from error
    except (urllib.error.URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, TimeoutError):
            problem = f"no connection within {seconds:g} seconds"
            raise _RetryError(
                EndpointError(problem, failure=EndpointFailure.UNAVAILABLE)
            ) from error
        problem = f"the endpoint at {_host(url)} cannot be reached: {reason}"
        raise _RetryError(EndpointError(problem, failure=EndpointFailure.UNAVAILABLE)) from error


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key in the headers is for the address of the plan alone."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _opener(url: str) -> urllib.request.OpenerDirector:
    """An opener that follows no redirect and uses no proxy for this machine."""
    if urlsplit(url).hostname in LOOPBACK:
        return urllib.request.build_opener(_StayHere, urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(_StayHere)


def _parse(data: bytes) -> dict[str, Any]:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        problem = "the endpoint answered something that is not valid JSON"
        raise _RetryError(EndpointError(problem, failure=EndpointFailure.REFUSED)) from error
    if not isinstance(body, dict):
        problem = "the endpoint answered JSON that is not an object"
        raise _RetryError(EndpointError(problem, failure=EndpointFailure.REFUSED))
    return body


def _judge_status(
    error: urllib.error.HTTPError, headers: Mapping[str, str]
) -> EndpointError | _RetryError:
    try:
        text = error.read(100_000).decode("utf-8", "replace")
    except (OSError, HTTPException):
        text = ""
    status = error.code
    if UNREADABLE_CALL in text:
        return EndpointError(
            UNREADABLE_CALL, failure=EndpointFailure.UNREADABLE_CALL, status=status
        )
    problem = f"the endpoint answered {status}: {_shown(text, headers)}"
    if status in (301, 302, 303, 307, 308, 401, 403, 404):
        return EndpointError(problem, failure=EndpointFailure.DENIED, status=status)
    if status in (408, 425, 429, 503, 529):
        final = EndpointError(problem, failure=EndpointFailure.UNAVAILABLE, status=status)
        return _RetryError(final, _retry_after(error.headers.get("Retry-After")))
    final = EndpointError(problem, failure=EndpointFailure.REFUSED, status=status)
    return final if status < 500 else _RetryError(final)


def _shown(text: str, headers: Mapping[str, str]) -> str:
    """A server's complaint, without the key it may repeat."""
    for value in headers.values():
        secret = value.removeprefix("Bearer ")
        if len(secret) >= 8:
            text = text.replace(secret, "[key]")
    return " ".join(text.split())[:MAX_SHOWN]


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a number or a date."""
    if not value:
        return None
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        return max(parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except ValueError:
        return None


def _grow(patience: Patience, attempt: int) -> float:
    # Jitter keeps several workers from coming back at the same moment.
    return patience.pause_seconds * 2.0**attempt * (0.5 + random.random())  # noqa: S311 - no secret


def _host(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
