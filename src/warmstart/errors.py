"""Everything warmstart raises on purpose.

    WarmstartError
    ├── UsageError            the request itself cannot be right          exit 2
    ├── NotFoundError         nothing has that id, name or path           exit 3
    │   └── AmbiguousError    more than one thing has that prefix         exit 3
    ├── SourceError           a foreign file or database cannot be read   exit 4
    │   └── FormatError       it can be read, but no reader knows it      exit 4
    ├── InternalError         a rule of our own was broken                exit 1
    ├── StoreError            the live store, see warmstart.store.errors  exit 5
    ├── TemplateError         a template, see warmstart.template.errors   exit 6
    ├── EndpointError         a model's endpoint, runners.transport       exit 7
    └── GatewayError          chat gateways, see warmstart.gateway.errors

Each error says what failed and with which value; ``hint`` is the command to run next. Only
surfaces catch them, and turn ``exit_code`` into the process's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class WarmstartError(Exception):
    """The root: anything a surface may show to a person instead of a traceback."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class InternalError(WarmstartError):
    """A promise between two parts of warmstart was broken."""


class UsageError(WarmstartError):
    """The caller asked for something that cannot be done as asked."""

    exit_code = 2


class NotFoundError(WarmstartError):
    """Nothing matches the id, name or path that was asked for."""

    exit_code = 3

    def __init__(self, message: str, *, wanted: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.wanted = wanted


class AmbiguousError(NotFoundError):
    """A prefix matches more than one thing; ``candidates`` names the first few."""

    def __init__(self, *, wanted: str, candidates: Sequence[str]) -> None:
        listed = ", ".join(candidates)
        super().__init__(
            f"{wanted!r} matches more than one session: {listed}",
            wanted=wanted,
            hint="give more characters of the id",
        )
        self.candidates = tuple(candidates)


class SourceError(WarmstartError):
    """A foreign file or database could not be read at all."""

    exit_code = 4

    def __init__(self, message: str, *, path: Path, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class FormatError(SourceError):
    """No reader recognises what is at the path."""
