"""Whether a check's regular expression is found in a text, as a program of its own.

A pattern can take forever, and a thread cannot be stopped; a process can. Run by ``scoring`` with
pattern and text as JSON on standard input: exit 0 where it is found, 1 where it is not.
"""

from __future__ import annotations

import json
import re
import sys

EXIT_NOT_FOUND = 1


def main() -> int:
    """Search once."""
    wanted = json.load(sys.stdin)
    found = re.search(wanted["pattern"], wanted["text"], re.MULTILINE)
    return 0 if found else EXIT_NOT_FOUND


if __name__ == "__main__":
    sys.exit(main())
