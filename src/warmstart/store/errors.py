"""What the store raises on purpose.

    WarmstartError
    ├── StoreError             the store could not be opened, read or written     exit 5
    │   ├── StoreBusyError     someone else held it for longer than the deadline  exit 5
    │   ├── StoreDamagedError  its file is damaged, or not a database             exit 5
    │   └── StoreVersionError  it is newer than this warmstart, or not a store    exit 5
    └── UsageError
        ├── MessageError       a message that cannot be stored as given           exit 2
        └── TitleError         a title that is too long or taken                  exit 2

Driver exceptions are translated once, in the backends; nothing above them knows a driver.
"""

from __future__ import annotations

from shlex import quote

from warmstart.errors import UsageError, WarmstartError


class StoreError(WarmstartError):
    """The store could not do it; ``path`` is the file, or the address without its password."""

    exit_code = 5

    def __init__(
        self, message: str, *, path: str, hint: str | None = None, retryable: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.retryable = retryable


class StoreBusyError(StoreError):
    """Other writers held the store until the deadline; ``holder`` names one if it was seen."""

    def __init__(self, message: str, *, path: str, holder: str | None = None) -> None:
        super().__init__(message, path=path, hint="stop the process that holds it, or try again")
        self.holder = holder


class StoreDamagedError(StoreError):
    """The file cannot be read as a store, in part or at all; ``reason`` is what was seen."""

    def __init__(self, location: str, reason: str) -> None:
        super().__init__(
            f"the store {location!r} is damaged, or is not a store: {reason}."
            " Nothing was changed in it; templates and your agents' own transcripts are"
            " other files",
            path=location,
            hint=f"see what can be saved: warmstart sessions verify --store {quote(location)}",
        )
        self.reason = reason


class StoreVersionError(StoreError):
    """The schema found is not one this warmstart may write."""


class MessageError(UsageError, TypeError):
    """A message, id or field that cannot be stored as given."""


class TitleError(UsageError, ValueError):
    """A title that is too long, or that another session already has."""
