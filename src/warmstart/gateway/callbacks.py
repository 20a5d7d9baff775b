"""Calling functions that a gateway was given: whatever they raise stays with them.

A callback is somebody else's code and may raise anything. It must not take a message or the expiry
watcher down with it, so its error is recorded and handed back; interrupts and exits pass through.
"""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Self

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
