"""Taking secrets and personal data out of text before it is kept or shared.

    from warmstart.redact import redact

    redact("export TOKEN=…").text     # with <SECRET:token:1> in its place
    redact("export TOKEN=…").found    # {"token": 1}

Pure: text in, text out. It fails closed: when redaction cannot run there is a ``RedactionError``
and no text. No value that was found can be read back from any object here. ``injection`` has the
other half of safety: hidden characters, text that gives orders, and fences around data.
"""

from warmstart.redact.errors import RedactionError
from warmstart.redact.redactor import Redacted, Redactor, redact, redact_value

__all__ = ["Redacted", "RedactionError", "Redactor", "redact", "redact_value"]
