"""The error for a template, or a file that should be one, that is refused.

    WarmstartError
    └── TemplateError        a template, or a file that should be one, is refused   exit 6

The message names the field, never its value: a refused file may hold a secret.
"""

from __future__ import annotations

from warmstart.errors import WarmstartError

MAX_SHOWN = 60


class TemplateError(WarmstartError):
    """A template is refused; ``field`` is where, as ``examples[2].arguments``."""

    exit_code = 6

    def __init__(self, message: str, *, field: str = "", hint: str | None = None) -> None:
        super().__init__(f"{field}: {message}" if field else message, hint=hint)
        self.field = field


def show_key(key: str) -> str:
    """A foreign name as an error may print it: quoted, printable and short."""
    shown = ascii(key)
    return shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 1] + "…"


def show_name(name: str) -> str:
    """A name that a person typed, quoted and redacted: it may be a secret typed by mistake."""
    from warmstart.redact import redact  # noqa: PLC0415 - its tables are not for every command

    return show_key(redact(name).text)
