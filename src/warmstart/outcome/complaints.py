"""Complaints in the output of commands, for where no exit code is known or a pipe hid it.

Words count at the first and last lines only, and only if the program speaks for itself there:
what ``cat`` prints is somebody else's text, but a line that opens with ``cat:`` is its own. Where
the command hid a zero exit (``masked``) only what ends the output, or a test summary, counts.

Each rule has the words that must occur before its test is worth running.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from warmstart.outcome.case import Case
from warmstart.outcome.output import Output
from warmstart.outcome.phrases import contains_any

_PRINTERS = frozenset({
    "cat", "head", "tail", "sed", "awk", "gawk", "less", "more", "nl", "grep", "egrep", "fgrep",
    "rg", "ag", "find", "ls", "tree", "wc", "sort", "uniq", "cut", "jq", "strings", "echo",
    "printf", "journalctl", "xxd", "env", "base64", "column", "diff", "cd", "pwd", "true", "tee",
    "xargs",
})  # fmt: skip
"""Programs whose output is content: it may hold any words at all."""
_FETCHERS = frozenset({
    "curl", "wget", "gh", "git show", "git log", "git diff", "git blame", "git grep",
    "git status", "git branch", "git ls-files", "docker logs", "kubectl logs",
})  # fmt: skip
"""Programs that print content too, but open with a complaint of their own when they fail."""

_SHELL_LINE = re.compile(
    r"(?:/\S*/)?(?:ba|z|da|k|a|c)?sh(?:\.exe)?(?:\[\d+\])?: (?!.{0,12}warning)"
    r"|(?:zsh|\(eval\)):(?:\w+:)?\d+: |\S+: -c: line \d+: "
)
_REFUSED_LINE = re.compile(
    r"(?:\A|.*: )(?:-c: line \d+: |zsh:\d+: |\(eval\):\d+: |bash: |sh: \d+: )(?:line \d+: )?"
    r"(?:syntax error|unexpected EOF|parse error|unmatched|unterminated)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"""[\w./+@-]{1,60}: (?:\d+:)* \  (?:line\ \d+:\ )? (?:\(\d+\)\ |\*{3,4}\ |command\ line:\ )?
    (?: error\b | fatal\b | cannot\  | can't\  | couldn't\  | could\ not\  | unable\ to[ ]
      | failed\  | invalid\  | unknown\  | unrecogni[sz]ed\  | unexpected\  | illegal\  | missing[ ]
      | no\ such[ ]
      | not\ found | read\ error | syntax\ error | parse\ error | unmatched | malformed
      | no\ module\ named | not\ a\  | option\ .{1,40}(?:requires|is)
      | .{1,200}:\ (?: no\ such\ file | permission\ denied | not\ found | is\ a\ directory
          | not\ a\ directory | command\ not\ found | cannot\ open | file\ exists
          | directory\ not\ empty | invalid | operation\ not\ permitted ) )""",
    re.VERBOSE,
)
"""This and the next two are matched against lower-case lines: twice as fast as ignoring case."""
ERROR_OPENING = re.compile(
    r"""(?!\s)[^\w{]{0,3}(?:error|fatal|panic|uncaught\ exception|unhandled\ exception|fatal\ error
        |runtime\ error)\b (?:\[\w+\])? \W*:
    | e:\  | \[error\] | npm\ (?:err!|error) | error\ executing\  | failed\ to\  | unable\ to[ ]
    | could\ not\  | cannot\  | \S{1,40}\ failed:\  | accepts\ (?:at\ most|between|\d+)[ ]
    | unknown\ (?:json\ field|flag|command|option|shorthand)
    | error\ \d+ | \(error\)\  | error\ from\ server | an\ error\ occurred | parse\ error
    | php\ (?:fatal|parse)\ error | cmake\ error""",
    re.VERBOSE,
)
_USAGE = re.compile(r"usage: |malformed command")
_EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning)\b(?:: |$)"
    r"|Sorry: \w+Error"
)
_FRAME = re.compile(
    r".{3,} at \S+ line \d+\.$|\s+(?:at|from) \S.*(?::\d+|:in )|\s+\.\.\. \d+ more$"
)
_DOTTED = re.compile(r"[A-Za-z_][\w.]*(?:: .*)?$")
_AT_MARGIN = re.compile(r"\S")
_DIAGNOSTIC = re.compile(
    r"(?:vet: )?[\w./\\@-]+\.[a-z]{1,4}(?::\d+){2}:? (?:error\b|[a-z\"'].{8,})"
    r"|[\w./\\@-]+\.[a-z]{1,4}:\d+:? (?:\w+ )?"
    r"(?:error|fatal|undefined|unexpected|invalid|missing)\b"
    r"|[\w./\\@-]+\(\d+,\d+\): error"
)
_DEATH = re.compile(
    r"(?:.*: line \d+: +\d+ )?(?:Killed|Segmentation fault|Aborted|Terminated|Bus error"
    r"|Illegal instruction|Trace/breakpoint trap)\b|Node\.js v\d+|Bun v[\d.]+ \("
)
_EXITED = re.compile(
    r"""exit(?:ed)?\ (?:with\ )?(?:an\ )?(?:code|status|error\ code)[:\ ]+[1-9]\d*
    | non-zero\ exit | exit\ status\ [1-9] | command\ failed\b | elifecycle
    | returned\ exit\ code\ [1-9] | exited\ \(?[1-9]\d*\)?$ | make(?:\[\d+\])?:\ \*\*\*[ ]
    | failed\ \((?:code|status|exit\ code):?\ [1-9] | build\ stopped | errors\ occurred!""",
    re.VERBOSE,
)
_SUMMARY = re.compile(
    r"""=+\ (?:.*,\ )?[1-9]\d*\ (?:failed|errors?)\b.*\ in\ [\d.]+
    | [1-9]\d*\ (?:failed|errors?)(?:,\ |\b.*\ in\ [\d.]+s) | FAILED\ \((?:failures|errors)=
    | FAIL(?:$|\t|:\ ) | test\ result:\ FAILED | \s*Tests?:?\ +.*\b[1-9]\d*\ failed
    | \s*Test\ (?:Suites|Files):?\ +.*\b[1-9]\d*\ failed | \s*[1-9]\d*\ Error\(s\)
    | [1-9]\d*\ (?:issues?:|errors?)$ | [1-9]\d*\ out\ of\ \d+\ hunks?\ | FAILURES!|ERRORS!
    | \d+\ (?:runs|tests),.*\ [1-9]\d*\ (?:failures|errors)\b | Build\ FAILED
    | \*\*\ \w+\ FAILED | [\w./-]+:\d+(?::\d+)?:\ (?:fatal\ )?error:
    | \s*[1-9]\d*\ failing\b | \s*[1-9]\d*\ fail$ | [1-9]\d*\ tests?\ failed
    | \d+\ examples?,\ [1-9]\d*\ failures? | BUILD\ FAIL | >\ Task\ .*\ FAILED
    | Found\ [1-9]\d*\ errors?\b | Failed\ tests?: | error\ TS\d+ | no\ tests\ ran\ in[ ]
    | \s*[✖✘\u00d7]\ [1-9]\d*\ (?:problems?\ \([1-9]\d*\ errors?|errors?\b)
    | Interrupted:\ \d+\ error | !+\ .*Interrupted | Oh\ no!\ """,
    re.VERBOSE,
)
_SUMMARY_PHRASES = (
    ": error TS", "Some errors were emitted", "error: could not compile", "error: aborting due to",
    "ERROR task failed", "FAILURE: Build failed", "would reformat,", "Code style issues found",
    "FullyQualifiedErrorId", "compilation terminated",
)  # fmt: skip
_CONFLICT = re.compile(
    r"^(?:CONFLICT \(|Automatic merge failed|Could not apply |error: could not apply|Aborting$"
    r"|.*! \[rejected\]|The following paths are ignored by one of)",
    re.MULTILINE,
)
_HARMLESS = re.compile(
    r"warning|is a directory|binary file matches|skipping|note:|removing leading", re.IGNORECASE
)
_FAILURE_WORDS = (
    "ail", "AIL", "rror", "RROR", "no tests", "reformat", "Oh no", "issue", "hunk", "terminated",
)  # fmt: skip
_NOTHING_COMMITTED = ("nothing to commit", "no changes added", "nothing added to commit")
_STATUS = re.compile(r"(?:\A|exit|code|status|rc|ret)\W{0,4}(\d{1,3})\W{0,3}\Z", re.IGNORECASE)


def _shell_refuses(output: Output, *, masked: bool) -> bool:
    """The shell could not parse the line, so nothing of it ran."""
    del masked
    return any(_REFUSED_LINE.match(line) for line in output.last_lines[-2:])


def _shell_complains(output: Output, *, masked: bool) -> bool:
    """The shell itself could not run something."""
    lines = output.last_lines
    if masked:
        return len(lines) == 1 and bool(_SHELL_LINE.match(output.final))
    return any(_SHELL_LINE.match(line) for line in lines[-2:])


def _ends_in_traceback(output: Output, *, masked: bool) -> bool:
    """A Python traceback whose exception closes the output, or that opens it uncaught."""
    opened = not masked and output.first.startswith("Traceback (most recent")
    if not opened and '  File "' not in output.tail:
        return False
    flat = _below_traceback(output)
    if not flat or not _DOTTED.match(flat[0]):
        return opened
    return not _was_caught(flat) and (opened or len(flat) <= (1 if masked else 4))


def _below_traceback(output: Output) -> list[str]:
    """The lines at the margin below the last frame: the exception, and what came after it."""
    behind = output.tail.rpartition('  File "')[2].splitlines()[1:]
    return list(filter(_AT_MARGIN.match, behind))


def _was_caught(lines: list[str]) -> bool:
    """The program printed the exception's message again, so it went on after it."""
    message = lines[0].partition(": ")[2]
    return bool(message) and len(lines) > 1 and message in lines[-1]


def _ends_in_exception(output: Output, *, masked: bool) -> bool:
    """The last line is an exception's, with no traceback shown."""
    del masked
    return bool(_EXCEPTION.match(output.final))


def _ends_in_stack(output: Output, *, masked: bool) -> bool:
    """The last line is a frame of a stack trace (JavaScript, Java, Ruby)."""
    del masked
    return bool(_FRAME.match(output.final))


def _closes_with_error(output: Output, *, masked: bool) -> bool:
    """The last line is a program's complaint, or opens like one."""
    if masked and len(output.last_lines) > 2:
        return False
    if '  File "' in output.tail and _was_caught(_below_traceback(output) or [""]):
        return False
    final = output.final.lower()
    if ERROR_OPENING.match(final) or (": " in final and _NAMED.match(final)):
        return True
    return not masked and bool(_DEATH.match(output.final))


def _opens_with_error(output: Output, *, masked: bool) -> bool:
    """A short output whose first line is a complaint, with usage or hints below it."""
    if not output.is_short:
        return False
    first = output.first.lower()
    if ERROR_OPENING.match(first):
        return output.is_brief or not masked
    if masked or not output.is_brief:
        return False
    return bool(_NAMED.match(first) or _USAGE.match(first))


def _closes_with_diagnostic(output: Output, *, masked: bool) -> bool:
    """The last line points at a place in a source file, as compilers and linters do."""
    del masked
    return bool(_DIAGNOSTIC.match(output.final)) and "warning" not in output.final.lower()


def _reports_failed_exit(output: Output, *, masked: bool) -> bool:
    """A runner says that what it ran failed."""
    near = output.last_lines[-1:] if masked else output.last_lines[-4:]
    return any(_EXITED.search(line.lower()) for line in near)


def _summary_counts_failures(output: Output, *, masked: bool) -> bool:
    """A test, lint or build summary with failures in it."""
    del masked
    lines = output.last_lines
    return any(map(_SUMMARY.match, lines)) or contains_any("\n".join(lines[-4:]), _SUMMARY_PHRASES)


def _checks_fail(output: Output, *, masked: bool) -> bool:
    """A table of checks (``gh pr checks``) with a failed one."""
    del masked
    return "\tfail\t" in output.tail or "\tfail\t" in output.head


def _version_control_refuses(output: Output, *, masked: bool) -> bool:
    """A merge, rebase or push stopped half-way."""
    del masked
    return bool(_CONFLICT.search("\n".join(output.last_lines)))


class Complaint(NamedTuple):
    """A way to complain: the rule's name, the words that must occur, and the test."""

    name: str
    words: tuple[str, ...]
    test: Callable[..., bool]
    if_masked: bool = True
    """Whether it is sure enough to overrule a zero exit."""


_SHELL_WORDS = ("sh:", "(eval)", "line ")
_SHELL_RULE_COUNT = 2
"""The first rules need one of these words; most outputs hold none."""
_RULES = (
    Complaint("shell_refuses", (), _shell_refuses),
    Complaint("shell_complains", ("sh:", "(eval)", "-c: line"), _shell_complains),
    Complaint(
        "ends_in_traceback", ("Traceback", '  File "', "Error", "Exception"), _ends_in_traceback
    ),
    Complaint("ends_in_stack", (), _ends_in_stack, if_masked=False),
    Complaint("ends_in_exception", (), _ends_in_exception, if_masked=False),
    Complaint("closes_with_error", (), _closes_with_error),
    Complaint("opens_with_error", (), _opens_with_error),
    Complaint("closes_with_diagnostic", (), _closes_with_diagnostic, if_masked=False),
    Complaint("reports_failed_exit", ("xit", "LIFECYCLE", "ailed", "***"), _reports_failed_exit),
    Complaint(
        "summary_counts_failures",
        _FAILURE_WORDS,
        _summary_counts_failures,
    ),
    Complaint(
        "checks_fail", ("\tfail\t", "\tpass\t", "\tpending\t"), _checks_fail, if_masked=False
    ),
    Complaint(
        "version_control_refuses",
        ("CONFLICT", "merge", "apply", "Aborting", "rejected", "ignored"),
        _version_control_refuses,
        if_masked=False,
    ),
)
MASKED_WORDS = (
    "rror", "ail", "AIL", "sh:", "(eval)", '  File "', "o such", "ot found", "annot", "o module",
)  # fmt: skip
"""One of these stands near the end of every output that a masked rule would speak of."""
_MASKED_RULES = tuple(rule for rule in _RULES if rule.if_masked)
_NEAR_CHARS = 400
_COMMIT = "commit"
_NAME_CHARS = 60
"""A line that a program signs has its name within these."""
_UNNAMED = ("fatal", "error", "Q")
"""What may sign a line though the command line does not hold it: git, and what was quoted."""
_BY_SHELL = frozenset({"shell_refuses", "shell_complains"})
_BY_FETCHERS = _BY_SHELL | {"opens_with_error", "checks_fail"}
_BY_SPEAKERS = frozenset(rule.name for rule in _RULES)
_IF_CAUGHT = {
    "except": frozenset({"ends_in_exception", "closes_with_error", "opens_with_error"}),
    "traceback": frozenset({"ends_in_traceback"}),
}
"""An inline script that catches its errors prints them as results; these rules then keep silent."""


def find_complaint(case: Case, *, masked: bool = False) -> str | None:
    """The rule by which a command's output says it failed, or None."""
    if not case.tail:
        return None
    output = case.output
    near = output.tail[-_NEAR_CHARS:]
    if masked and not _may_hide_failure(output, near):
        return None
    for name, words, test, _ in _worth_asking(near, masked=masked):
        if words and not contains_any(near, words):
            continue
        # Only when a rule speaks is it worth taking the command line apart.
        if test(output, masked=masked) and name in _allowed_rules(case):
            return name
    return None


def _worth_asking(near: str, *, masked: bool) -> tuple[Complaint, ...]:
    """The rules, without those about the shell where nothing sounds like one."""
    rules = _MASKED_RULES if masked else _RULES
    return rules if contains_any(near, _SHELL_WORDS) else rules[_SHELL_RULE_COUNT:]


def _may_hide_failure(output: Output, near: str) -> bool:
    """Whether any rule for masked commands could speak; nearly all of them went well."""
    return contains_any(near, MASKED_WORDS) or bool(ERROR_OPENING.match(output.first.lower()))


def _allowed_rules(case: Case) -> frozenset[str]:
    """Which rules may speak, by the programs whose words may end the output."""
    allowed = _rules_of(case.command.speakers)
    for word, rules in _IF_CAUGHT.items():
        if word in case.line:
            allowed -= rules
    return allowed


def _rules_of(speakers: tuple[str, ...]) -> frozenset[str]:
    if not speakers:
        return _BY_SPEAKERS
    if all(name in _PRINTERS for name in speakers):
        return _BY_SHELL
    fetched = (name in _PRINTERS or name in _FETCHERS or name[:3] == "gh " for name in speakers)
    return _BY_FETCHERS if all(fetched) else _BY_SPEAKERS


def find_own_complaint(case: Case) -> bool:
    """Whether a program whose exit code counts complains in its own name.

    Such a line means a non-zero exit even where other output follows: ``ls``, ``cat``, ``rg`` and
    the rest report what they could not do and go on.
    """
    if not case.line or (
        ": " not in case.tail and ": " not in case.head and _COMMIT not in case.tail
    ):
        return False
    output = case.output
    signed = _find_signed(output.outer_lines, case.line)
    if not signed:
        return False
    # Only when a line may be a complaint is it worth taking the command line apart.
    openings = _counted_openings(case)
    if case.command.sequence:
        signed = _find_signed(output.last_lines[-3:], case.line)
    return any(line.startswith(openings) and not _HARMLESS.search(line) for line in signed)


def _find_signed(lines: list[str], command_line: str) -> list[str]:
    """The lines that a program of the command line may have signed with its name."""
    signed = []
    for line in lines:
        name, colon, _ = line[:_NAME_CHARS].partition(": ")
        if (colon and (name in command_line or name in _UNNAMED)) or _COMMIT in line:
            signed.append(line)
    return signed


def _counted_openings(case: Case) -> tuple[str, ...]:
    """How the programs whose exit code counts would begin a complaint."""
    command = case.command
    stopped_early = command.chained and case.tail.count("\n") <= 2
    counted = {command.program}
    if stopped_early or not command.masked:
        counted.update(command.speakers)
    names = {name.partition(" ")[0] for name in counted if name}
    openings = tuple(f"{name}: " for name in names if name != "git")
    if "git" in names:
        openings += ("fatal: ", "error: ")
    return openings + (_NOTHING_COMMITTED if command.program == "git commit" else ())


def find_reported_status(case: Case) -> int | None:
    """The exit status a command printed about itself (``; echo "exit: $?"``)."""
    if "$?" not in case.line and "$LASTEXITCODE" not in case.line:
        return None
    found = _STATUS.search(case.output.final)
    return int(found[1]) if found else None
