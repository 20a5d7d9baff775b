"""Whether a check's regular expression is found in a text, as a program of its own.

A pattern can take forever, and a thread cannot be stopped; a process can. Run by ``scoring`` with
pattern and text as JSON on standard input. The two answers are exit codes that no crash has, so
that a search that ran out of memory is never taken for one that found nothing.
"""

from __future__ import annotations

import json
import re
import sys

EXIT_FOUND = 80
EXIT_NOT_FOUND = 81


def main() -> int:
    """Search once."""
    wanted = json.load(sys.stdin)
    found = re.search(wanted["pattern"], wanted["text"], re.MULTILINE)
    return EXIT_FOUND if found else EXIT_NOT_FOUND


if __name__ == "__main__":
    sys.exit(main())
