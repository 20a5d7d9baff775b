"""What the gateway refuses.

    WarmstartError
    └── GatewayError          the root of everything below             exit 2
        ├── ConfigError       a setting is wrong                       exit 2
        └── RecordError       a stored or received record is broken    exit 4
            └── UnsafeNameError   an id or key would leave its folder  exit 4

All are ``ValueError`` too, so a caller that knows nothing of warmstart can catch them.
"""

from __future__ import annotations

from warmstart.errors import WarmstartError

MAX_SHOWN = 80


def show_value(value: object) -> str:
    """A foreign value as an error shows it: quoted and short."""
    shown = repr(value)
    return shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 1] + "…"


class GatewayError(WarmstartError, ValueError):
    """Anything the gateway refuses on purpose."""

    exit_code = 2


class ConfigError(GatewayError):
    """A setting with a wrong value; ``key`` is its dotted name."""

    def __init__(self, key: str, value: object, wanted: str, *, hint: str | None = None) -> None:
        found = "missing" if value is None else show_value(value)
        super().__init__(f"{key} is {found}, but must be {wanted}", hint=hint)
        self.key = key
        self.value = value
        self.wanted = wanted

    def under(self, where: str) -> ConfigError:
        """The same error with its key inside the table ``where``."""
        key = f"{where}.{self.key}" if where else self.key
        return ConfigError(key, self.value, self.wanted, hint=self.hint)


class RecordError(GatewayError):
    """A session record that lacks what it must have, or has it in the wrong shape."""

    exit_code = 4

    def __init__(self, message: str, *, value: object = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.value = value


class UnsafeNameError(RecordError):
    """A session id or key that could name a file outside its folder."""
