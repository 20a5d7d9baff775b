"""A command line taken apart: what it runs, and what it says about its own exit code.

Four questions: which program's exit code is the one the shell reports, does the line hide it
(``| tail``, ``|| true``, ``; echo done``), does a non-zero code of that program mean failure, and
what is the line called. Quotes, heredocs and ``$(...)`` are skipped, nothing is expanded, and a
line too odd to follow gives no answer rather than a wrong one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import filterfalse, takewhile
from typing import NamedTuple

from warmstart.outcome.phrases import contains_any

_OPAQUE = re.compile(
    r"""'[^']*'? | "[^"\\]*(?:\\.[^"\\]*)*"? | \\. | \$\([^()]*\) | `[^`]*` | \#(?<!\S\#)[^\n]*""",
    re.VERBOSE | re.DOTALL,
)
"""What is copied to the program or ignored: quotes, escapes, substitutions, comments.

Every alternative begins with a character of its own, so that the search can skip all others.
"""
_HEREDOC = re.compile(r"(?<!<)<{2,}+-?\s*['\"]?(\w+)['\"]?")
_OPERATOR = re.compile(r"(\|\||&&|\|&?|;|\n)")
_ASSIGNMENT = re.compile(r"\w+=(?:'[^']*'|\"[^\"]*\"|\S*)$")
_ERRORS_AWAY = re.compile(r"2>\s*(?:/dev/null|&1)")
_TIMEOUT_OPTION = re.compile(r"[-\d]")
_LEADERS = frozenset({"sudo", "time", "nohup", "command", "env", "exec", "builtin", "stdbuf", "!"})
_WITH_SUBCOMMANDS = frozenset({"git", "gh", "docker", "kubectl", "xargs"})
_PASSED_OVER = _LEADERS | {"nice", "then", "do", "else", "(", "{"}
"""What stands before the program that a line is named after."""
_SETTINGS = frozenset({"cd", "export", "source", ".", "set", "pushd", "popd", "true", "sleep"})
"""Commands that only prepare the one that follows them."""
_NAMED_WITH_SUBCOMMAND = frozenset({
    "apt", "apt-get", "aws", "brew", "bun", "bundle", "cargo", "composer", "conda", "deno",
    "docker", "docker-compose", "dotnet", "flutter", "gcloud", "gh", "git", "go", "gradle", "helm",
    "hermes", "kubectl", "make", "mix", "mvn", "npm", "npx", "pip", "pip3", "pnpm", "podman",
    "poetry", "rails", "rustup", "swift", "systemctl", "terraform", "uv", "uvx", "yarn",
})  # fmt: skip
_PYTHONS = frozenset({"python", "python3", "py"})
_PLAIN_LINE = re.compile(
    r"(?:cd [\w./~-]+ && )?"
    r"(?:python3? -m ([a-z]\w{0,19})(?:\.\w{1,19})?"
    r"|([a-z][\w.+-]{0,39})(?: ([a-z][\w:-]{0,39}))?)(?=[ \n;|]|\Z)",
    re.ASCII,
)
"""A module, or a program and the word after it, first in a line or after a change of folder. With
nothing quoted before or in them, they are what going through stages and words would give."""
_SPECIAL = _PASSED_OVER | _SETTINGS | _PYTHONS | {"timeout"}
_MAX_WORDS = 12
_MAX_NAME_CHARS, _MAX_MODULE_CHARS = 40, 60
"""No program has a longer name; a line of a key has."""
_BREAKS = re.compile(r"[\s;|&]")
_JOINTS = str.maketrans("", "", "-:_")
_NO_PROGRAM = frozenset(":='\"`@")
_KEYWORDS = frozenset({"done", "fi", "esac", "}", ")", "then", "do", "else", "{"})
_FILTERS = frozenset({
    "head", "tail", "cat", "less", "more", "tee", "sed", "awk", "gawk", "sort", "uniq", "wc",
    "cut", "tr", "column", "jq", "nl", "fold", "rev", "tac", "xxd", "base64", "strings",
})  # fmt: skip
_SPEAKERS = frozenset({"echo", "printf", "true", ":", "pwd", "date"})
_MATCHERS = frozenset({"grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "pgrep", "git grep"})
_HIDERS = _FILTERS | _MATCHERS | _SPEAKERS | _LEADERS | {"exit", "timeout"}
_MAY_SEARCH = ("grep", "rg", "ag", "ack", "which")
"""Part of every line that a search or ``which`` ends."""

_BENIGN: dict[str, str] = (
    dict.fromkeys(_MATCHERS, "no match")
    | dict.fromkeys(("diff", "cmp", "colordiff", "git diff"), "files differ")
    | dict.fromkeys(("test", "[", "[["), "condition is false")
    | dict.fromkeys(("which", "type", "command -v", "whereis"), "not installed")
)

_BENIGN_PARTS = ("grep", "diff", "command -v")
_BENIGN_WORDS = frozenset({"rg", "ag", "ack", "cmp", "test", "[", "[[", "type", "which", "whereis"})
"""A line that runs one of the benign programs holds one of these, as a part or as a word."""


class ShellCommand(NamedTuple):
    """What the shape of a command line tells."""

    program: str
    """Whose exit code the shell reports; empty when that is not clear."""
    last: str
    """The last stage of the last pipeline, as written."""
    speakers: tuple[str, ...]
    """The programs whose words may end the output: those of the last ``&&`` chain and pipeline,
    or of the one before where a closing ``echo`` masks it."""
    masked: bool
    """Whether a failure before the end would be hidden."""
    chained: bool
    """Whether an earlier command of the last chain could have failed first (``a && b``)."""
    sequence: bool
    """Whether other commands ran before, whose failures do not matter to the exit code."""


_SIMPLE_LINE = re.compile(r"[\w ./:=,@%+*?~^|-]+")
"""A line that has only pipes to take apart."""
NO_COMMAND = ShellCommand("", "", (), masked=False, chained=False, sequence=False)
_PIPES = ("|", "|&")
_MAX_CHAIN = 256
"""Stages that one chain is followed back for; no command is that long."""
_MAX_HEREDOCS = 128
"""Taken out of one line; no command has that many."""


def read_command(line: str) -> ShellCommand:
    """Take a command line apart as far as its exit code needs it."""
    stages, operators = _trim(*_split(line))
    if not stages:
        return NO_COMMAND
    last = stages[-1].strip()
    program = program_of(last)
    if not operators:
        return ShellCommand._make(
            (program, last, (program,) if program else (), False, False, False)
        )
    before = operators[-1]
    masked = _hides(program, before, line)
    end = len(stages) - 1 if masked and before not in _PIPES else len(stages)
    start = _start_of_chain(operators, end)
    chained = "&&" in operators[start : end - 1]
    speakers = tuple(filter(None, map(program_of, stages[start:end])))
    return ShellCommand._make((program, last, speakers, masked, chained, start > 0))


def list_programs(line: str) -> tuple[str, ...]:
    """The speakers of a simple line, all of which count; none where a line is not simple."""
    if not _SIMPLE_LINE.fullmatch(line) or "||" in line:
        return ()
    programs = tuple(map(program_of, line.split("|")))
    return programs if all(programs) else ()


def _start_of_chain(operators: list[str], end: int) -> int:
    """Index of the first stage of the chain that ends before stage ``end``."""
    start = end - 1
    while start > max(end - _MAX_CHAIN, 0) and operators[start - 1] in ("&&", "|", "|&"):
        start -= 1
    return max(start, 0)


def is_masked(line: str) -> bool:
    """Whether the line hides its exit code, without taking it apart where its end is plain."""
    if "|" not in line and ";" not in line and "\n" not in line:
        return False
    if "<<" in line:
        line = _drop_heredocs(line)
    line = line.rstrip()
    operator, last = _last_stage(line)
    if not _is_outside_quotes(line, last):
        line = _blank_opaque(line).rstrip("\n; ")
        operator, last = _last_stage(line)
    return _stage_hides(line, operator, last)


def _last_stage(line: str) -> tuple[str, str]:
    """The last operator and what stands behind it; the whole line if there is none."""
    operator, last = "", line
    if "|" in line:
        before, operator, last = line.rpartition("|")
        if before and before[-1] == "|":
            operator = "||"
    if ";" in last:
        operator, last = ";", last.rpartition(";")[2]
    if "\n" in last:
        operator, last = "\n", last.rpartition("\n")[2]
    if "&&" in last:
        operator, last = "&&", last.rpartition("&&")[2]
    return operator, last


def _is_outside_quotes(line: str, last: str) -> bool:
    """Whether the operator before the last stage is a real one, as far as that is plain to see."""
    if "'" not in last and '"' not in last and "`" not in last:
        return bool(last)  # an operator inside quotes has a quote behind it
    return _is_plain(last) and _is_plain(line[: -len(last) - 1])


def _is_plain(text: str) -> bool:
    """Whether every quote in the text is closed in it, as far as counting can tell.

    With this true on both sides of an operator, the operator stands outside quotes.
    """
    if "`" in text or "\\" in text:
        return False
    if "'" in text and text.count("'") % 2:
        return False
    return '"' not in text or text.count('"') % 2 == 0


def _stage_hides(line: str, operator: str, last: str) -> bool:
    """Whether the last stage of a line hides what stood before it."""
    if not operator or operator == "&&":
        return False
    words = last.split(None, 1)
    if not words or words[0] not in _HIDERS:
        return False
    program = words[0]
    if program in _LEADERS or program == "timeout":
        program = program_of(last)
    return _hides(program, operator, line)


def _trim(stages: list[str], operators: list[str]) -> tuple[list[str], list[str]]:
    """Without the empty stages that trailing operators leave."""
    while stages and not stages[-1].strip():
        stages.pop()
        if operators:
            operators.pop()
    return stages, operators


def _split(line: str, *, keep_words: bool = False) -> tuple[list[str], list[str]]:
    """Stages between operators, and the operators between them; opaque parts read ``Q``.

    With ``keep_words`` a quoted word stays, and any other opaque part is an empty one.
    """
    if "<<" in line:
        line = _drop_heredocs(line)
    line = _OPAQUE.sub(_close, line) if keep_words else _blank_opaque(line)
    line = line.rstrip("|;\n \t\r")
    if "|" not in line and ";" not in line and "&&" not in line and "\n" not in line:
        return [line], []
    parts = _OPERATOR.split(line)
    return parts[::2], parts[1::2]


def _blank_opaque(line: str) -> str:
    """The line with a ``Q`` for each opaque part, which needs no expression in most lines."""
    if "\\" in line or "$(" in line or "`" in line or "#" in line:
        return _OPAQUE.sub("Q", line)
    double, single = '"' in line, "'" in line
    if double and single:
        return _OPAQUE.sub("Q", line)
    if not double and not single:
        return line
    # With one kind of quote, every second piece is quoted; the last one even if never closed.
    pieces = line.split('"' if double else "'")
    outside = "Q".join(pieces[::2])
    return outside if len(pieces) % 2 else outside + "Q"


def _close(opaque: re.Match[str]) -> str:
    """A quoted text is one word: a piece of a password must not be taken for a program."""
    text = opaque[0]
    if text[0] == "#":
        return ""
    is_word = text[0] in "'\"" and not _BREAKS.search(text)
    return text if is_word else "''"


def _drop_heredocs(line: str) -> str:
    """The line without the bodies of its heredocs, which may be whole programs."""
    pieces: list[str] = []
    kept, position = 0, line.find("<<")
    while position >= 0 and len(pieces) < _MAX_HEREDOCS:
        found = _HEREDOC.search(line, position)
        if found is None:
            break
        start = line.find("\n", found.end())
        if start < 0:
            break
        pieces.append(line[kept:start])
        end = line.find("\n" + found[1], start)
        if end < 0:
            return "".join(pieces)
        kept = end + 1 + len(found[1])
        position = line.find("<<", kept)
    return "".join((*pieces, line[kept:])) if pieces else line


def program_of(stage: str) -> str:
    """The program a stage runs: its base name, with ``git grep`` and the like kept together."""
    words = stage.split(None, 2)
    first = words[0] if words else ""
    if first in _LEADERS or "=" in first or first == "timeout":
        words = _skip_leaders(stage.split())
        first = words[0] if words else ""
    if first in _KEYWORDS:
        return ""
    if first[:1] in "({/." or "/" in first:
        first = first.lstrip("({").rpartition("/")[2]
    return _with_subcommand(first, words, stage) if first in _WITH_SUBCOMMANDS else first


def _skip_leaders(words: list[str]) -> list[str]:
    """Without what stands before the program: assignments, ``sudo``, ``timeout 60``."""
    if words[:2] == ["command", "-v"]:
        return ["command -v"]
    leading = takewhile(lambda word: word in _LEADERS or _ASSIGNMENT.match(word), words)
    words = words[sum(1 for _ in leading) :]
    if words[:1] == ["timeout"]:
        words = list(filterfalse(_TIMEOUT_OPTION.match, words[1:]))
    return words


def _with_subcommand(name: str, words: list[str], stage: str) -> str:
    if name == "xargs":
        return next((f"xargs {tool}" for tool in ("grep", "rg") if f" {tool} " in stage), name)
    return f"{name} {words[1]}" if len(words) > 1 else name


def _hides(program: str, before: str, line: str) -> bool:
    if before in _PIPES:
        return (program in _FILTERS or program in _MATCHERS) and "pipefail" not in line
    if before in ("||", ";", "\n"):
        return program in _SPEAKERS or (program == "exit" and line.rstrip().endswith("exit 0"))
    return False


def may_be_benign(line: str, code: int) -> bool:
    """Whether the line is worth taking apart to ask what its exit code means."""
    if code not in (1, 123):
        return False
    # A heredoc may be a whole program; what runs stands before it or behind it.
    ends = line if len(line) <= 600 else f"{line[:300]}\n{line[-300:]}"
    return contains_any(ends, _BENIGN_PARTS) or not _BENIGN_WORDS.isdisjoint(ends.split())


def explain_exit(command: ShellCommand, code: int) -> str | None:
    """Why a non-zero exit code is not a failure of this command, or None if it is one."""
    if code == 1 and command.program in _BENIGN:
        if command.program == "git diff" and "--check" in command.last:
            return None
        return _BENIGN[command.program]
    if code == 123 and command.program in ("xargs grep", "xargs rg"):
        return "no match"
    return None


def may_search(line: str) -> bool:
    """Whether the line is worth taking apart to ask if silence means that nothing was found."""
    return contains_any(line, _MAY_SEARCH)


def expects_output(command: ShellCommand) -> bool:
    """Whether silence from this command means that it found nothing and exited 1."""
    if command.program not in _MATCHERS and command.program not in ("xargs grep", "which"):
        return False
    flags = [word for word in command.last.split() if word.startswith("-")]
    quiet = any(
        flag in ("--quiet", "--silent", "-L") or (flag[1:2] != "-" and "q" in flag)
        for flag in flags
    )
    return not quiet and ">" not in _ERRORS_AWAY.sub("", command.last)


@lru_cache(maxsize=8192)
def name_command(line: str) -> str:
    """The program a line runs, with its subcommand; empty where it is not clear."""
    return _name_plainly(line) or _name_by_stages(line)


def _name_plainly(line: str) -> str:
    """The name of most lines, at a fourth of the time; empty for any other."""
    plain = _PLAIN_LINE.match(line)
    if plain is None:
        return ""
    module, program, sub = plain.groups()
    if module is not None:
        return module
    if program in _NAMED_WITH_SUBCOMMAND:
        return f"{program} {sub}" if sub is not None else ""
    return "" if program in _SPECIAL else program


def _name_by_stages(line: str) -> str:
    for stage in _split(line, keep_words=True)[0]:
        words = _program_words(stage)
        if words and words[0] not in _SETTINGS:
            return _join_subcommand(words)
    return ""


def _program_words(stage: str) -> list[str]:
    """The words of a stage from its program on."""
    words = stage.split(None, _MAX_WORDS)
    words[_MAX_WORDS:] = [rest.split(None, 1)[0] for rest in words[_MAX_WORDS:]]
    while words and (words[0] in _PASSED_OVER or _is_assignment(words[0])):
        words = words[1:]
    if words[:1] == ["timeout"]:
        words = words[1:]
        while words and words[0][0] in "-0123456789":
            words = words[1:]
    return words


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def _is_module(word: str) -> bool:
    """Whether the word is a dotted name; of anything else a part may be a part of a key."""
    return len(word) <= _MAX_MODULE_CHARS and word.replace(".", "_").isidentifier()


def _join_subcommand(words: list[str]) -> str:
    program = words[0].strip("'\"").lstrip("({").rpartition("/")[2]
    if len(program) > _MAX_NAME_CHARS or not _NO_PROGRAM.isdisjoint(program):
        return ""
    if program in _PYTHONS and words[1:2] == ["-m"] and len(words) > 2:
        return words[2].partition(".")[0] if _is_module(words[2]) else program
    if program in _NAMED_WITH_SUBCOMMAND:
        sub = next((word for word in words[1:] if not word.startswith("-")), "")
        if len(sub) <= _MAX_NAME_CHARS and sub.translate(_JOINTS).isalnum():
            return f"{program} {sub}"
    return program
