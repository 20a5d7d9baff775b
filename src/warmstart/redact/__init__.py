"""Taking secrets and personal data out of text before it is kept or shared.

    from warmstart.redact import redact

    redact("export TOKEN=…").text     # with <SECRET:token:1> in its place
    redact("export TOKEN=…").found    # {"token": 1}

Pure: text in, text out. It fails closed: when redaction cannot run there is a ``RedactionError``
and no text. No value that was found can be read back from any object here, and no text is slow.
The other half of safety is here too: hidden characters, text that gives orders to an agent, and
fences around data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.redact.errors import RedactionError
    from warmstart.redact.injection import (
        Finding,
        fence,
        find_instructions,
        find_orders,
        strip_hidden,
    )
    from warmstart.redact.names import classify_name
    from warmstart.redact.redactor import (
        MAX_CHARACTERS,
        MAX_DEPTH,
        Redacted,
        Redactor,
        redact,
        redact_text,
        redact_value,
    )
    from warmstart.redact.values import is_example, is_random
else:
    from warmstart._lazy import load_on_use

    __getattr__ = load_on_use(
        __name__,
        {
            "errors": ("RedactionError",),
            "injection": ("Finding", "fence", "find_instructions", "find_orders", "strip_hidden"),
            "names": ("classify_name",),
            "redactor": (
                "MAX_CHARACTERS", "MAX_DEPTH", "Redacted", "Redactor", "redact", "redact_text",
                "redact_value",
            ),
            "values": ("is_example", "is_random"),
        },
    )  # fmt: skip

__all__ = [
    "MAX_CHARACTERS", "MAX_DEPTH", "Finding", "Redacted", "RedactionError", "Redactor",
    "classify_name", "fence", "find_instructions", "find_orders", "is_example", "is_random",
    "redact", "redact_text", "redact_value", "strip_hidden",
]  # fmt: skip
