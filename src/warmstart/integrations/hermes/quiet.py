"""Nothing here may break a session of Hermes: a failure is logged once and the session goes on.

Errors of warmstart and of the machine are expected and end here. Anything else is a fault of the
plugin; Hermes itself catches it, names it in its log and goes on, and it is better seen there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from warmstart.errors import WarmstartError

_logger = logging.getLogger("warmstart.hermes")
_warned: set[str] = set()
_lock = threading.Lock()
MAX_WARNINGS = 200
_P = ParamSpec("_P")
_T = TypeVar("_T")


def quietly(work: Callable[_P, _T]) -> Callable[_P, _T | None]:
    """The same work; None where it could not be done."""

    @wraps(work)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _T | None:
        try:
            return work(*args, **kwargs)
        except WarmstartError as error:
            warn_once(f"{error.message} ({error.hint})" if error.hint else error.message)
        except OSError as error:
            warn_once(f"{type(error).__name__}: {error.strerror or error}")
        except ImportError as error:
            # Modules are loaded when they are needed; a gateway may outlive an upgrade of them.
            warn_once(f"warmstart changed under a running Hermes, restart it: {error}")
        return None

    return guarded


def warn_once(text: str, *details: Any) -> None:
    """A warning in Hermes' log, the first time it is due."""
    message = text % details if details else text
    with _lock:
        if message in _warned or len(_warned) >= MAX_WARNINGS:
            return
        _warned.add(message)
    _logger.warning("warmstart: %s", message)


def forget_warnings() -> None:
    """Log everything again, as in a new process."""
    with _lock:
        _warned.clear()


__all__ = ["forget_warnings", "quietly", "warn_once"]
