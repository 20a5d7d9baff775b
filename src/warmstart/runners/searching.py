"""Regular expressions that a model or a task wrote, searched for by a program of its own.

A pattern can take forever and all memory; a process can be stopped and limited, a thread cannot.
The program reads one JSON object on standard input: a ``pattern``, and either a ``text`` or a
``glob`` of files in the folder it runs in. Links are not followed, so the search stays inside. Its
answers are exit codes that no crash has, so that a search that was cut off is never taken for one
that found nothing. It uses only the standard library, because it is started with nothing else.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import islice

MAX_MATCHES = 50
MAX_LINE_CHARS = 300
MAX_FILE_BYTES = 2_000_000
EXIT_FOUND = 80
EXIT_NOT_FOUND = 81
EXIT_BAD_PATTERN = 82


def list_files(folder: str) -> Iterator[str]:
    """Plain files below a folder, by name."""
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.normpath(os.path.join(root, name))  # noqa: PTH118 - starts faster
            if os.path.isfile(path) and not os.path.islink(path):  # noqa: PTH113, PTH114 - same
                yield path.replace(os.sep, "/")


def find_matches(pattern: re.Pattern[str], glob: str, folder: str = ".") -> Iterator[str]:
    """``path:line:text`` of every line that matches."""
    for path in list_files(folder):
        if not (fnmatch(path, glob) or fnmatch(path.rpartition("/")[2], glob)):
            continue
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - starts faster
                text = file.read(MAX_FILE_BYTES).decode("utf-8", "replace")
        except OSError:  # not ours to read; the other files are searched
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if pattern.search(line[:MAX_LINE_CHARS]):
                yield f"{path}:{number}:{line[:MAX_LINE_CHARS]}"


def main() -> int:
    """Search once; matches in files are printed."""
    wanted = json.load(sys.stdin)
    try:
        pattern = re.compile(wanted["pattern"], re.MULTILINE if "text" in wanted else 0)
    except re.error as error:
        print(f"not a regular expression: {error}")  # noqa: T201 - this is its answer
        return EXIT_BAD_PATTERN
    if "text" in wanted:
        return EXIT_FOUND if pattern.search(wanted["text"]) else EXIT_NOT_FOUND
    matches = list(islice(find_matches(pattern, wanted["glob"]), MAX_MATCHES))
    for match in matches:
        sys.stdout.buffer.write(match.encode("utf-8", "replace") + b"\n")
    return EXIT_FOUND if matches else EXIT_NOT_FOUND


if __name__ == "__main__":
    sys.exit(main())
