"""What a session's calls keep coming back to: files, addresses and commands, ranked by use.

Only named arguments are looked at: a path inside a program that was run is not what the call was
about. Commands are reduced to the program and its subcommand, so that ``git log -5`` and
``git log --oneline`` are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

from warmstart.model import Marker, MarkerKind
from warmstart.outcome import ToolKind, command_of, kind_of, name_command

MAX_PER_KIND = 12
MAX_VALUE_CHARS = 300
MAX_LINE_CHARS = 2000
_FILE_KEYS = frozenset({
    "path", "file_path", "filepath", "file", "filename", "file_name", "notebook_path",
    "target_file", "absolute_path", "relative_path", "filePath", "dir_path", "directory",
})  # fmt: skip
_URL_KEYS = frozenset({"url", "uri", "urls", "link", "href"})
_KEYS = _FILE_KEYS | _URL_KEYS
_SHELL = ToolKind.SHELL
_KINDS = {str(kind): kind for kind in MarkerKind}
_FILE, _URL, _COMMAND = map(str, (MarkerKind.FILE, MarkerKind.URL, MarkerKind.COMMAND))
MarkerRow = tuple[str, str, int]
"""Kind, value and uses."""
_uses_of = itemgetter(2)


class MarkerCounter:
    """Collects what calls point to; counted at the end, which is cheaper than at each call."""

    __slots__ = ("files", "lines", "urls")

    def __init__(self) -> None:
        self.files: list[str] = []
        self.urls: list[str] = []
        self.lines: list[str] = []
        """Command lines."""

    def add(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """One call."""
        if kind_of(tool) is _SHELL:
            self.lines.append(command_of(arguments))
        elif not _KEYS.isdisjoint(arguments):
            for name, value in arguments.items():
                if name in _KEYS and isinstance(value, str):
                    (self.files if name in _FILE_KEYS else self.urls).append(value)

    def finish(self) -> tuple[Marker, ...]:
        """The most used ones of each kind, most used first."""
        return tuple(Marker(_KINDS[kind], value, uses) for kind, value, uses in self.rank())

    def rank(self) -> list[MarkerRow]:
        """Kind, value and uses of the most used ones of each kind, most used first."""
        found: list[MarkerRow] = []
        if self.files or self.urls:
            files, urls = _count_names(self.files, self.urls)
            found += _most_used(_FILE, files)
            found += _most_used(_URL, urls)
        if self.lines:
            found += _most_used(_COMMAND, _count_commands(self.lines))
        found.sort(key=_uses_of, reverse=True)
        return found


def _count_names(
    files: Iterable[str], urls: Iterable[str]
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Files and addresses, the latter with those that were given as files."""
    plain, linked = Counter(files), Counter(urls)
    # Looking at all at once takes a fraction of the time of looking at each.
    if "://" in "\n".join(plain):
        for name in [name for name in plain if "://" in name]:
            linked[name] += plain.pop(name)
    return _leave_long(plain), _leave_long(linked)


def _leave_long(counts: Mapping[str, int]) -> Mapping[str, int]:
    """Without what is empty, or too long for a name; hardly ever there is such a thing."""
    sizes = set(map(len, counts))
    if not sizes or (min(sizes) > 0 and max(sizes) <= MAX_VALUE_CHARS):
        return counts
    return {name: uses for name, uses in counts.items() if 0 < len(name) <= MAX_VALUE_CHARS}


def _count_commands(lines: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line, uses in Counter(lines).items():
        name = name_command(line if len(line) <= MAX_LINE_CHARS else _cut(line))
        if name:
            counts[name] = counts.get(name, 0) + uses
    return counts


def _cut(line: str) -> str:
    """The beginning of a long line, up to a word's end: half of a word may be half of a key."""
    return line[:MAX_LINE_CHARS].rpartition(" ")[0]


def _most_used(kind: str, counts: Mapping[str, int]) -> list[MarkerRow]:
    """By their uses; those used equally often stay in the order of their names."""
    names = sorted(counts)
    names.sort(key=counts.__getitem__, reverse=True)
    return [(kind, name, counts[name]) for name in names[:MAX_PER_KIND]]
