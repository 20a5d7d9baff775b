"""Placeholders in the words of a command: how they are filled, and where they must not stand.

A word that a program takes as it is may hold any text. A word that a shell or an interpreter reads
as code may not: what a placeholder brings would be run. Such words are known by the program before
them, wherever it stands in the command (``env X=1 timeout 5 sh -lc …``). What a script does with
its arguments cannot be seen from here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from warmstart.errors import UsageError

__all__ = ["fill_words", "find_code_words", "refuse_in_code"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """How a program takes code: the options before it, and those with another value."""

    code: str
    """Matches a whole option; group 1, where it is not empty, is the code itself."""
    valued: str = r"(?!)"
    """Matches options whose value is the next word."""
    anywhere: bool = False
    """Its options may also stand behind other words."""


_SHELL = _Reader(code=r"[-+][A-Za-z]*c[A-Za-z]*()|--commands?(=.*)?|-[cC](.+)",
                 valued=r"[-+][A-Za-z]*[oO]|--(?:rcfile|init-file|config)")  # fmt: skip
_PYTHON = _Reader(code=r"-[bBdEhiIOPqRsSuvVx]*c(.*)", valued=r"-[bBdEiIOPqRsSuv]*[WX]")
_PERL = _Reader(code=r"-(?![-IMm])[^eE]*[eE](.*)", valued=r"-I")
_RUBY = _Reader(code=r"-(?![-ICKr])[^e]*e(.*)", valued=r"-[ICr]")
_NODE = _Reader(code=r"-[ip]*[ep](.*)|--(?:eval|print)(=.*)?|eval",
                valued=r"-[rC]|--(?:require|import|loader|conditions|env-file)")  # fmt: skip
_PHP = _Reader(code=r"-[rBRE](.*)|--(?:run|process-(?:begin|code|end))(=.*)?", valued=r"-[dcztS]")
_OTHER = _Reader(code=r"--?(?:[ecEg]|ex|eval|print|execute|command|rpc-eval)(=.*)?|-e(.+)",
                 valued=r"-[dfhpUlLF]")  # fmt: skip
_FIRST = _Reader(code=r"-[A-Za-z]*e(.*)|--(?:source|expression)(=.*)?", valued=r"-[Fv]")
"""The first word that is not an option is code as well."""
_LINE = _Reader(code=r"-[A-Za-z]*c(.*)|--(?:session-command|command|run|call)(=.*)?", anywhere=True)
_ENV = _Reader(code=r"-[A-Za-z0]*S(.*)|--split-string(=.*)?", valued=r"-[uC]|--(?:unset|chdir)")
_NPX = _Reader(code=r"-c(.*)|--call(=.*)?", valued=r"-p|--package")
_ONCE = (_SHELL, _PYTHON)
"""What stands behind their code is its arguments."""

_PROGRAMS = (
    (_SHELL, "sh ash bash dash zsh ksh mksh rbash yash csh tcsh fish nu elvish xonsh"),
    (_PYTHON, "python pypy"),
    (_PERL, "perl"),
    (_RUBY, "ruby"),
    (_NODE, "node nodejs deno bun tsx ts-node"),
    (_PHP, "php"),
    (_FIRST, "awk gawk mawk nawk sed gsed"),
    (_LINE, "su runuser script flock nix-shell vagrant gcloud"),
    (_ENV, "env"),
    (_NPX, "npx"),
    (_OTHER, "lua luajit julia R Rscript osascript elixir iex erl groovy scala ghc guile racket"),
    (_OTHER, "sbcl emacs gdb vim nvim psql mysql mariadb"),
)  # fmt: skip
_READERS = {name: reader for reader, names in _PROGRAMS for name in names.split()}
_JOINING = frozenset(
    ("ssh", "autossh", "mosh", "rsh", "plink", "adb", "wsl", "watch", "parallel", "tmux", "eval",
     "make", "gmake", "just", "cmd")
)  # fmt: skip
"""They make one line of all their words, or of their variables, and a shell reads it."""
_POWERSHELL = frozenset({"powershell", "pwsh"})
_BATCH = (".bat", ".cmd")
_VERSION = re.compile(r"[-.\d]+$")

_OWN_WORD = (
    "give it a word of its own behind the code, as in sh -c 'my-agent \"$1\"' - {prompt}, or let a"
    " script of yours read {prompt_file}"
)
_NO_WORD = (
    "let a script of yours read {prompt_file}, as in sh -c 'ssh host my-agent < \"$1\"' -"
    " {prompt_file}"
)


def fill_words(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The words with every ``{name}`` of the values filled in.

    Each word is gone through once, so what a value brings is not filled again. Text between braces
    that is not a placeholder stays as it is.
    """
    pattern = _pattern(frozenset(values))
    return [pattern.sub(lambda found: values[found[1]], word) for word in words]


def refuse_in_code(words: Sequence[str], names: Collection[str]) -> None:
    """Let no placeholder stand where it would be run.

    Raises:
        UsageError: one does.
    """
    pattern = _pattern(frozenset(names))
    for number, program in find_code_words(words).items():
        found = pattern.search(words[number])
        if found:
            joins = _name(program) in _JOINING | _POWERSHELL or program.lower().endswith(_BATCH)
            raise UsageError(
                f"{found[0]} stands in a word that {program!r} reads as code:"
                f" {words[number]!r:.200}; whatever the text says would be run",
                hint=_NO_WORD if joins else _OWN_WORD,
            )


def find_code_words(words: Sequence[str]) -> dict[int, str]:
    """Positions of the words that are read as code, and the program that reads each."""
    return {
        number: program
        for start, program in enumerate(words)
        for number in _list_code(program, words, start + 1)
    }


def _list_code(program: str, words: Sequence[str], start: int) -> Iterator[int]:
    name = _name(program)
    if name in _JOINING or program.lower().endswith(_BATCH):
        yield from range(start, len(words))
    elif name in _POWERSHELL:
        files = [n for n in range(start, len(words)) if re.fullmatch(r"(?i)-f(ile)?", words[n])]
        yield from range(start, files[0] if files else len(words))
    elif name in _READERS:
        yield from _list_read(_READERS[name], words, start)


def _list_read(reader: _Reader, words: Sequence[str], start: int) -> Iterator[int]:
    """Code after options, up to the first word that is neither an option nor its value."""
    wants_code = reader is _FIRST
    numbers = iter(range(start, len(words)))
    for number in numbers:
        word = words[number]
        if found := re.fullmatch(reader.code, word, re.DOTALL):
            if any(found.groups()):
                yield number
            else:
                wants_code = True
        elif re.fullmatch(reader.valued, word):
            next(numbers, None)
        elif wants_code and not _comes_before_code(reader, word):
            yield number
            wants_code = False
            if reader in _ONCE:
                return
        elif not (_is_option(word) or reader.anywhere):
            return


def _comes_before_code(reader: _Reader, word: str) -> bool:
    """Whether options may stand between the one that asks for code and the code."""
    return _is_option(word) and (not word or reader in (_SHELL, _FIRST))


def _is_option(word: str) -> bool:
    return not word or (word[0] in "-+" and len(word) > 1)


def _name(program: str) -> str:
    """A program without folder, ending and version: ``python`` of ``/bin/python3.12``."""
    name = re.split(r"[/\\]", program)[-1]
    lower = name.lower()
    if lower.endswith(".exe") or lower in _POWERSHELL or lower == "cmd":
        name = lower.removesuffix(".exe")
    return _VERSION.sub("", name) or name


@cache
def _pattern(names: frozenset[str]) -> re.Pattern[str]:
    return re.compile(r"\{(" + "|".join(sorted(map(re.escape, names))) + r")\}")
