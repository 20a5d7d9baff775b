"""The one error of redaction: when it cannot run, nothing is returned."""

from __future__ import annotations

from warmstart.errors import WarmstartError


class RedactionError(WarmstartError):
    """Redaction could not run on a value, so the value must not be kept or shown.

    The message never holds any part of the value.
    """
