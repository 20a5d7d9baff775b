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
from operator import itemgetter
from typing import Any

from warmstart.model.facts import Marker, MarkerKind
from warmstart.outcome import ToolKind, command_of, kind_of

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
_SPECIAL = _PASSED_OVER | _SETTINGS | _PYTHONS | {"timeout"}
_PLAIN_LINE = re.compile(
    r"(?:cd [\w./~-]+ && )?"
    r"(?:python3? -m ([a-z]\w{0,19})(?:\.\w{1,19})?"
    r"|([a-z][\w.+-]{0,39})(?: ([a-z][\w:-]{0,39}))?)(?=[ \n;|]|\Z)",
    re.ASCII,
)
"""A module, or a program and the word behind it, first in a line or behind a change of folder. With
nothing quoted before or in them, they are what going through stages and words would give."""
_QUOTES = "'\""
_QUOTED = re.compile(r"'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*\"")
_BREAKS = re.compile(r"[\s;|&]")
_JOINTS = str.maketrans("", "", "-:_")
_NO_PROGRAM = frozenset(":='\"`@")
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
        """The same as they are stored."""
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


@lru_cache(maxsize=8192)
def name_command(line: str) -> str:
    """The program a line runs, with its subcommand; empty where none can be told."""
    return _name_plainly(line) or _name_by_stages(line)


def _name_plainly(line: str) -> str:
    """The same for most lines, at a fourth of the time; empty for any other."""
    plain = _PLAIN_LINE.match(line)
    if plain is None:
        return ""
    module, program, sub = plain.groups()
    if module is not None:
        return module
    if program in _WITH_SUBCOMMANDS:
        return f"{program} {sub}" if sub is not None else ""
    return "" if program in _SPECIAL else program


def _name_by_stages(line: str) -> str:
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
