"""Calling functions that a gateway was given.

A callback is the app's code and may raise anything. It must not take a message or the expiry
watcher down with it, so its error is recorded and handed back; interrupts and exits pass through.
Calling an ``async def`` or a generator function runs none of it: where nothing awaits the result,
such a function is refused.
"""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from warmstart.gateway.errors import GatewayError

logger = logging.getLogger(__name__)


class Guard:
    """A ``with`` block around one callback; ``error`` is what it raised, if it did.

    The error is logged with its traceback: a callback never fails in silence.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.error: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self.error = error
        logger.warning("%s raised %s", self.what, error, exc_info=(type(error), error, trace))
        return True


def check_callback(name: str, function: Any, *, hint: str | None = None) -> None:
    """Refuse a function whose call would run none of it; None means no callback.

    Raises:
        GatewayError: it is an ``async def`` or a generator function.
    """
    while isinstance(function, functools.partial):
        function = function.func
    for called in (function, getattr(function, "__call__", None)):  # noqa: B004 - objects too
        if inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called):
            raise GatewayError(f"{name} must be a plain function, not async def", hint=hint)
        if inspect.isgeneratorfunction(called):
            raise GatewayError(f"{name} must be a plain function, not a generator", hint=hint)


def check_result(name: str, result: Any, *, hint: str | None = None) -> Any:
    """What a callback returned, if its work is done.

    Raises:
        GatewayError: it is something that still has to be awaited or iterated.
    """
    if inspect.isawaitable(result) or inspect.isasyncgen(result) or inspect.isgenerator(result):
        if inspect.iscoroutine(result):
            result.close()  # it never ran, and never will
        kind = type(result).__name__
        raise GatewayError(f"{name} returned a {kind}, so its work is not done", hint=hint)
    return result


def is_running(callback: Callable[[str], bool] | None, session_key: str) -> bool:
    """Whether something runs in a session; True if the callback fails."""
    if callback is None:
        return False
    with Guard(f"has_active_processes_fn for {session_key!r}"):
        return bool(check_result("has_active_processes_fn", callback(session_key)))
    return True
