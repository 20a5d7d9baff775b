from __future__ import annotations

import socket
import threading
import time
from email.utils import formatdate
from typing import Any

import pytest

from warmstart.runners.transport import (
    UNREADABLE_CALL,
    EndpointError,
    EndpointFailure,
    Patience,
    post_json,
)
from warmstart.testing import Fault, Reply, Script, ScriptedEndpoint

FAST = Patience(retries=3, pause_seconds=0.001, request_seconds=5)


def _post(script: Script, patience: Patience = FAST, **headers: str) -> tuple[Any, int]:
    with ScriptedEndpoint(script) as endpoint:
        try:
            answer: Any = post_json(f"{endpoint.url}/v1/chat/completions", {}, headers, patience)
        except EndpointError as error:
            answer = error
        return answer, len(endpoint.requests)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(status=429, headers={"Retry-After": "0"}),
        Fault(status=429, headers={"Retry-After": formatdate(usegmt=True)}),
        Fault(status=503, headers={"Retry-After": "soon"}),
        Fault(status=500),
        Fault(status=502),
        Fault(drop=True),
        Fault(status=200, body="<html>"),
        Fault(status=200, body="[]"),
    ],
)
def test_what_may_pass_is_tried_again(fault: Fault) -> None:
    answer, asked = _post(Script(fault, fault, Reply("there")))
    assert answer["choices"][0]["message"]["content"] == "there"
    assert asked == 3


@pytest.mark.parametrize(
    ("status", "failure", "asked"),
    [
        (400, EndpointFailure.REFUSED, 1),
        (401, EndpointFailure.DENIED, 1),
        (403, EndpointFailure.DENIED, 1),
        (404, EndpointFailure.DENIED, 1),
        (429, EndpointFailure.UNAVAILABLE, 4),
        (503, EndpointFailure.UNAVAILABLE, 4),
        (500, EndpointFailure.REFUSED, 4),
    ],
)
def test_what_does_not_pass_says_what_it_was(
    status: int, failure: EndpointFailure, asked: int
) -> None:
    error, requests = _post(Script(Fault(status=status)))
    assert (error.failure, error.status, requests) == (failure, status, asked)
    assert str(status) in error.message


def test_a_call_the_server_cannot_read_is_known_at_once() -> None:
    body = '{"error": {"message": "The model produced output that ' + UNREADABLE_CALL + '"}}'
    error, asked = _post(Script(Fault(status=500, body=body)))
    assert (error.failure, asked) == (EndpointFailure.UNREADABLE_CALL, 1)


def test_a_key_that_a_server_repeats_is_not_in_the_error() -> None:
    script = Script(Fault(status=401, body="Incorrect key: planted-key-123456"))
    error, _ = _post(script, Authorization="Bearer planted-key-123456")
    assert "planted" not in error.message
    assert "[key]" in error.message


def test_retry_after_is_respected_up_to_the_deadline() -> None:
    patience = Patience(retries=9, deadline=time.monotonic() + 0.2)
    error, asked = _post(Script(Fault(status=429, headers={"Retry-After": "3600"})), patience)
    assert (error.failure, asked) == (EndpointFailure.TIMEOUT, 1)


def test_a_slow_answer_is_a_timeout() -> None:
    patience = Patience(retries=0, request_seconds=0.05)
    error, _ = _post(Script(Fault(delay_seconds=0.5)), patience)
    assert error.failure is EndpointFailure.TIMEOUT


def test_nobody_there_is_said_with_the_address() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(EndpointError) as raised:
            post_json(f"http://127.0.0.1:{port}/v1", {}, {}, FAST)
    assert raised.value.failure is EndpointFailure.UNAVAILABLE
    assert f"127.0.0.1:{port}" in raised.value.message
    assert raised.value.hint


def test_a_stop_ends_the_waiting() -> None:
    stop = threading.Event()
    stop.set()
    error, asked = _post(Script(Reply()), Patience(stop=stop))
    assert (error.failure, asked) == (EndpointFailure.STOPPED, 0)
