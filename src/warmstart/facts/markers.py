"""What a session's calls keep coming back to: files, addresses and commands, ranked by use.

Only named arguments are looked at: a path inside a program that was run is not what the call was
about. Commands are reduced to the program and its subcommand, so that ``git log -5`` and
``git log --oneline`` are one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from warmstart.model.facts import Marker, MarkerKind
from warmstart.outcome.tools import ToolKind, command_of, kind_of

MAX_PER_KIND = 12
MAX_VALUE_CHARS = 300
MAX_LINE_CHARS = 2000
MAX_WORDS = 12
MAX_NAME_CHARS, MAX_MODULE_CHARS = 40, 60
"""No program is called longer than this; a line of a key is."""
_FILE_KEYS = frozenset({
    "path", "file_path", "filepath", "file", "filename", "file_name", "notebook_path",
    "target_file", "absolute_path", "relative_path", "filePath", "dir_path", "directory",
})  # fmt: skip
_URL_KEYS = frozenset({"url", "uri", "urls", "link", "href"})
_KEYS = _FILE_KEYS | _URL_KEYS
_SHELL = ToolKind.SHELL
_PASSED_OVER = frozenset({
    "sudo", "time", "nohup", "env", "exec", "builtin", "command", "stdbuf", "nice", "then", "do",
    "else", "!", "(", "{",
})  # fmt: skip
_SETTINGS = frozenset({"cd", "export", "source", ".", "set", "pushd", "popd", "true", "sleep"})
"""Commands that only prepare the one that follows them."""
_WITH_SUBCOMMANDS = frozenset({
    "apt", "apt-get", "aws", "brew", "bun", "bundle", "cargo", "composer", "conda", "deno",
    "docker", "docker-compose", "dotnet", "flutter", "gcloud", "gh", "git", "go", "gradle", "helm",
    "hermes", "kubectl", "make", "mix", "mvn", "npm", "npx", "pip", "pip3", "pnpm", "podman",
    "poetry", "rails", "rustup", "swift", "systemctl", "terraform", "uv", "uvx", "yarn",
})  # fmt: skip
_PYTHONS = frozenset({"python", "python3", "py"})
_QUOTES = "'\""
_QUOTED = re.compile(r"'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*\"")
_BREAKS = re.compile(r"[\s;|&]")
_JOINTS = str.maketrans("", "", "-:_")
_NO_PROGRAM = frozenset(":='\"`@")


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
            return
        files, urls = find_keys(arguments)
        self.add_values(arguments, files, urls)

    def add_values(
        self, arguments: Mapping[str, Any], files: tuple[str, ...], urls: tuple[str, ...]
    ) -> None:
        """What stands under the names that ``find_keys`` gave."""
        for key in files:
            value = arguments[key]
            if isinstance(value, str) and 0 < len(value) <= MAX_VALUE_CHARS:
                (self.urls if "://" in value else self.files).append(value)
        for key in urls:
            value = arguments[key]
            if isinstance(value, str) and 0 < len(value) <= MAX_VALUE_CHARS:
                self.urls.append(value)

    def finish(self) -> tuple[Marker, ...]:
        """The most used ones of each kind, most used first."""
        found: list[Marker] = []
        if self.files:
            found += _most_used(MarkerKind.FILE, Counter(self.files))
        if self.urls:
            found += _most_used(MarkerKind.URL, Counter(self.urls))
        if self.lines:
            found += _most_used(MarkerKind.COMMAND, _count_commands(self.lines))
        found.sort(key=_order)
        return tuple(found)


def find_keys(arguments: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which arguments name a file, and which an address."""
    if _KEYS.isdisjoint(arguments):
        return (), ()
    return tuple(_FILE_KEYS.intersection(arguments)), tuple(_URL_KEYS.intersection(arguments))


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


def _most_used(kind: MarkerKind, counts: Mapping[str, int]) -> list[Marker]:
    ranked = sorted(counts.items(), key=_rank)[:MAX_PER_KIND]
    return [Marker(kind, value, uses) for value, uses in ranked]


def _rank(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _order(marker: Marker) -> int:
    return -marker.uses


@lru_cache(maxsize=8192)
def name_command(line: str) -> str:
    """The program a line runs, with its subcommand; empty where none can be told."""
    for stage in _stages(line):
        words = _program_words(stage)
        if not words or words[0] in _SETTINGS or words[0].startswith("#"):
            continue
        return _join_subcommand(words)
    return ""


def _stages(line: str) -> list[str]:
    if "'" in line or '"' in line:
        line = _QUOTED.sub(_close, line)
    if "\n" in line or "&" in line or ";" in line or "|" in line:
        for operator in ("&&", "||", ";", "|"):
            line = line.replace(operator, "\n")
        return line.split("\n")
    return [line]


def _close(quoted: re.Match[str]) -> str:
    """A quoted text is one word: a piece of a password must not be taken for a program."""
    return "''" if _BREAKS.search(quoted.group()) else quoted.group()


def _program_words(stage: str) -> list[str]:
    """The words of a stage from its program on."""
    words = stage.split(None, MAX_WORDS)
    words[MAX_WORDS:] = [rest.split(None, 1)[0] for rest in words[MAX_WORDS:]]
    while words and (words[0] in _PASSED_OVER or _is_assignment(words[0])):
        words = words[1:]
    if words[:1] == ["timeout"]:
        rest = iter(words[1:])
        words = [*_from_program(rest)]
    return words


def _from_program(words: Any) -> list[str]:
    """What follows ``timeout`` and its own options."""
    kept = list(words)
    while kept and (kept[0][:1] in "-0123456789"):
        kept = kept[1:]
    return kept


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _is_module(word: str) -> bool:
    """Whether the word is a dotted name; of anything else a part may be a part of a key."""
    return len(word) <= MAX_MODULE_CHARS and word.replace(".", "_").isidentifier()


def _join_subcommand(words: list[str]) -> str:
    program = words[0].strip(_QUOTES).lstrip("({").rpartition("/")[2]
    if len(program) > MAX_NAME_CHARS or not _NO_PROGRAM.isdisjoint(program):
        return ""
    if program in _PYTHONS and words[1:2] == ["-m"] and len(words) > 2:
        return words[2].partition(".")[0] if _is_module(words[2]) else program
    if program in _WITH_SUBCOMMANDS:
        sub = next((word for word in words[1:] if not word.startswith("-")), "")
        if len(sub) <= MAX_NAME_CHARS and sub.translate(_JOINTS).isalnum():
            return f"{program} {sub}"
    return program
