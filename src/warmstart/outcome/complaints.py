"""Complaints in the output of commands, for where no exit code is known or a pipe hid it.

Words count at the first and last lines only. Where the command hid a zero exit (``masked``) only
what ends the output, or a test summary, counts. Each rule has the words that must occur before its
test is worth running.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from warmstart.outcome.case import Case
from warmstart.outcome.lines import (
    DEATH,
    DIAGNOSTIC,
    EXCEPTION,
    FRAME,
    NAMED,
    USAGE,
    complains,
    opens_plainly,
    opens_with_error,
)
from warmstart.outcome.output import Output
from warmstart.outcome.phrases import (
    Grouped,
    contains_any,
    contains_grouped,
    find_lines,
    group_phrases,
)
from warmstart.outcome.speakers import may_speak

_SHELL_LINE = re.compile(
    r"(?:/\S*/)?(?:ba|z|da|k|a|c)?sh(?:\.exe)?(?:\[\d+\])?: (?!.{0,12}warning)"
    r"|(?:zsh|\(eval\)):(?:\w+:)?\d+: |\S+: -c: line \d+: "
)
_REFUSED_LINE = re.compile(
    r"(?:\A|.*: )(?:-c: line \d+: |zsh:\d+: |\(eval\):\d+: |bash: |sh: \d+: )(?:line \d+: )?"
    r"(?:syntax error|unexpected eof|parse error|unmatched|unterminated)"
)
_REFUSED_WORDS = ("syntax error", "unexpected eof", "parse error", "unmatched", "unterminated")
_DOTTED = re.compile(r"[A-Za-z_][\w.]*(?:: .*)?$")
_AT_MARGIN = re.compile(r"\S")
_EXITED = re.compile(
    r"""exit(?:ed)?\ (?:with\ )?(?:an\ )?(?:code|status|error\ code)[:\ ]+[1-9]\d*
    | non-zero\ exit | exit\ status\ [1-9] | command\ failed\b | elifecycle
    | returned\ exit\ code\ [1-9] | exited\ \(?[1-9]\d*\)?$ | make(?:\[\d+\])?:\ \*\*\*[ ]
    | failed\ \((?:code|status|exit\ code):?\ [1-9] | build\ stopped | errors\ occurred!""",
    re.VERBOSE,
)
_EXITED_WORDS = group_phrases(("exit", "failed", "lifecycle", "***", "stopped", "occurred"))
"""One of these stands in every line in which the expression above finds something."""
_SUMMARY = re.compile(
    r"""=+\ (?:.*,\ )?[1-9]\d*\ (?:failed|errors?)\b.*\ in\ [\d.]+
    | [1-9]\d*\ (?:failed|errors?)(?:,\ |\b.*\ in\ [\d.]+s) | FAILED\ \((?:failures|errors)=
    | FAIL(?:$|\t|:\ ) | test\ result:\ FAILED | \s*+Tests?:?\ +.*\b[1-9]\d*\ failed
    | \s*+Test\ (?:Suites|Files):?\ +.*\b[1-9]\d*\ failed | \s*+[1-9]\d*\ Error\(s\)
    | [1-9]\d*\ (?:issues?:|errors?)$ | [1-9]\d*\ out\ of\ \d+\ hunks?\ | FAILURES!|ERRORS!
    | \d+\ (?:runs|tests),.*\ [1-9]\d*\ (?:failures|errors)\b | Build\ FAILED
    | \*\*\ \w+\ FAILED | [\w./-]+:\d+(?::\d+)?:\ (?:fatal\ )?error:
    | \s*+[1-9]\d*\ failing\b | \s*+[1-9]\d*\ fail$ | [1-9]\d*\ tests?\ failed
    | \d+\ examples?,\ [1-9]\d*\ failures? | BUILD\ FAIL | >\ Task\ .*\ FAILED
    | Found\ [1-9]\d*\ errors?\b | Failed\ tests?: | error\ TS\d+ | no\ tests\ ran\ in[ ]
    | \s*+[✖✘\u00d7]\ [1-9]\d*\ (?:problems?\ \([1-9]\d*\ errors?|errors?\b)
    | Interrupted:\ \d+\ error | !+\ .*Interrupted | Oh\ no!\ """,
    re.VERBOSE,
)
_SUMMARY_WORDS = group_phrases((
    "fail", "Fail", "rror", "AIL", "RROR", "issue", "hunk", "no tests ran", "Interrupted", "Oh no!",
))  # fmt: skip
"""One of these stands in every line that the expression above matches."""
_SUMMARY_PHRASES = group_phrases((
    "ERROR task failed", "FAILURE: Build failed", "would reformat,", "Code style issues found",
    "compilation terminated",
))  # fmt: skip
_SUMMARY_ERRORS = (
    ": error TS", "Some errors were emitted", "error: could not compile", "error: aborting due to",
    "FullyQualifiedErrorId",
)  # fmt: skip
_CONFLICT = re.compile(
    r"^(?:CONFLICT \(|Automatic merge failed|Could not apply |error: could not apply|Aborting$"
    r"|.*! \[rejected\]|The following paths are ignored by one of)",
    re.MULTILINE,
)
_TRACEBACK_WORDS = ("Traceback", '  File "', "Error", "Exception")
_CHECK_WORDS = ("\tfail\t", "\tpass\t", "\tpending\t")
_FRAME_FILE = '  File "'
_FAILURE_WORDS = (
    "fail", "Fail", "AIL", "rror", "RROR", "no tests", "reformat", "Oh no", "issue", "hunk",
    "terminated",
)  # fmt: skip
_STATUS = re.compile(r"(?:\A|exit|code|status|rc|ret)\W{0,4}(\d{1,3})\W{0,3}\Z", re.IGNORECASE)


def _shell_refuses(output: Output) -> bool:
    """The shell could not parse the line, so nothing of it ran."""
    for line in output.last_lines()[-2:]:
        lowered = line.lower()
        if contains_any(lowered, _REFUSED_WORDS) and _REFUSED_LINE.match(lowered):
            return True
    return False


def _shell_complains(output: Output) -> bool:
    """The shell itself could not run something."""
    return any(map(_SHELL_LINE.match, output.last_lines()[-2:]))


def _shell_complains_alone(output: Output) -> bool:
    return len(output.last_lines()) == 1 and bool(_SHELL_LINE.match(output.final))


def _ends_in_traceback(output: Output) -> bool:
    """A Python traceback whose exception closes the output, or that opens it uncaught."""
    opened = output.first.startswith("Traceback (most recent")
    if not (opened or _FRAME_FILE in output.tail) or not _is_near(output, _TRACEBACK_WORDS):
        return False
    flat = _below_traceback(output)
    if not flat or not _DOTTED.match(flat[0]):
        return opened
    return not _was_caught(flat) and (opened or len(flat) <= 4)


def _closes_with_traceback(output: Output) -> bool:
    """A Python traceback with nothing after it."""
    if _FRAME_FILE not in output.tail or not _is_near(output, _TRACEBACK_WORDS):
        return False
    flat = _below_traceback(output)
    return len(flat) == 1 and bool(_DOTTED.match(flat[0]))


def _below_traceback(output: Output) -> list[str]:
    """The lines at the margin below the last frame: the exception, and what came after it."""
    behind = output.tail.rpartition(_FRAME_FILE)[2].splitlines()[1:]
    return list(filter(_AT_MARGIN.match, behind))


def _was_caught(lines: list[str]) -> bool:
    """The program printed the exception's message again, so it went on after it."""
    message = lines[0].partition(": ")[2]
    return bool(message) and len(lines) > 1 and message in lines[-1]


def _ends_in_exception(output: Output) -> bool:
    """The last line is an exception's, with no traceback shown."""
    return bool(EXCEPTION.match(output.final))


def _ends_in_stack(output: Output) -> bool:
    """The last line is a frame of a stack trace (JavaScript, Java, Ruby)."""
    final = output.final
    return (final[:1].isspace() or " line " in final) and bool(FRAME.match(final))


def _closes_with_error(output: Output) -> bool:
    """The last line is a program's complaint, or opens like one."""
    found = complains(output.final) or DEATH.match(output.final)
    return bool(found) and not _repeats_message(output)


def _prints_mere_error(output: Output) -> bool:
    """The last line is a complaint, and little else was printed."""
    if len(output.last_lines()) > 2:
        return False
    return complains(output.final) and not _repeats_message(output)


def _repeats_message(output: Output) -> bool:
    """The complaint only repeats the message of a caught exception."""
    return _FRAME_FILE in output.tail and _was_caught(_below_traceback(output) or [""])


def _opens_with_error(output: Output) -> bool:
    """A short output whose first line is a complaint, with usage or hints below it."""
    if not output.is_short or opens_plainly(output.first):
        return False
    first = output.first.lower()
    if opens_with_error(first):
        return True
    return output.is_brief() and bool(NAMED.match(first) or USAGE.match(first))


def _opens_with_plain_error(output: Output) -> bool:
    return output.is_brief() and opens_with_error(output.first.lower())


def _closes_with_diagnostic(output: Output) -> bool:
    """The last line points at a place in a source file, as compilers and linters do."""
    return bool(DIAGNOSTIC.match(output.final)) and "warning" not in output.final.lower()


def _reports_failed_exit(output: Output) -> bool:
    """A runner says that what it ran failed."""
    return _shows_failed_exit(output.last_lines()[-4:])


def _closes_with_failed_exit(output: Output) -> bool:
    return _shows_failed_exit(output.last_lines()[-1:])


def _shows_failed_exit(lines: list[str]) -> bool:
    return any(map(_EXITED.search, find_lines("\n".join(lines).lower(), _EXITED_WORDS)))


def _summary_counts_failures(output: Output) -> bool:
    """A test, lint or build summary with failures in it."""
    lines = output.last_lines()
    if any(map(_SUMMARY.match, find_lines("\n".join(lines), _SUMMARY_WORDS))):
        return True
    end = "\n".join(lines[-4:])
    return contains_grouped(end, _SUMMARY_PHRASES) or (
        "rror" in end and contains_any(end, _SUMMARY_ERRORS)
    )


def _checks_fail(output: Output) -> bool:
    """A table of checks (``gh pr checks``) with a failed one."""
    failed = "\tfail\t" in output.tail or "\tfail\t" in output.head
    return failed and _is_near(output, _CHECK_WORDS)


def _version_control_refuses(output: Output) -> bool:
    """A merge, rebase or push stopped half-way."""
    return bool(_CONFLICT.search("\n".join(output.last_lines())))


def _is_near(output: Output, words: tuple[str, ...]) -> bool:
    """Whether a word stands near the end of the output."""
    return contains_any(output.tail[-_NEAR_CHARS:], words)


Test = Callable[[Output], bool]


class Complaint(NamedTuple):
    """A way to complain: the rule's name, the words that must occur, and the test."""

    name: str
    words: tuple[str, ...]
    test: Test
    if_masked: Test | None = None
    """The test for overruling a zero exit; None where it would never be certain."""


_SHELL_WORDS = ("sh:", "(eval)", "line ")
_SHELL_RULE_COUNT = 2
"""The first rules need one of these words; most outputs hold none."""
_CONFLICT_WORDS = ("CONFLICT", "merge", "apply", "Aborting", "rejected", "ignored")
_RULES = (
    Complaint("shell_refuses", (), _shell_refuses, _shell_refuses),
    Complaint(
        "shell_complains", ("sh:", "(eval)", "-c: line"), _shell_complains, _shell_complains_alone
    ),
    Complaint("ends_in_traceback", (), _ends_in_traceback, _closes_with_traceback),
    Complaint("ends_in_stack", (), _ends_in_stack),
    Complaint("ends_in_exception", (), _ends_in_exception),
    Complaint("closes_with_error", (), _closes_with_error, _prints_mere_error),
    Complaint("opens_with_error", (), _opens_with_error, _opens_with_plain_error),
    Complaint("closes_with_diagnostic", (), _closes_with_diagnostic),
    Complaint(
        "reports_failed_exit",
        ("xit", "LIFECYCLE", "ailed", "***"),
        _reports_failed_exit,
        _closes_with_failed_exit,
    ),
    Complaint(
        "summary_counts_failures",
        _FAILURE_WORDS,
        _summary_counts_failures,
        _summary_counts_failures,
    ),
    Complaint("checks_fail", _CHECK_WORDS, _checks_fail),
    Complaint("version_control_refuses", _CONFLICT_WORDS, _version_control_refuses),
)
_Tests = tuple[tuple[str, Grouped, Test], ...]
_TESTS: _Tests = tuple((rule.name, group_phrases(rule.words), rule.test) for rule in _RULES)
_MASKED_TESTS: _Tests = tuple(
    (rule.name, group_phrases(rule.words), rule.if_masked) for rule in _RULES if rule.if_masked
)
"""Plain tuples, because named ones take five times as long to unpack."""
MASKED_WORDS = (
    "rror", "fail", "Fail", "AIL", "sh:", "(eval)", _FRAME_FILE, "o such", "ot found", "annot",
    "o module",
)  # fmt: skip
"""Every output that a masked rule applies to holds one of these near its end."""
MASKED_GROUPS = group_phrases(MASKED_WORDS)
_NEAR_CHARS = 400


def find_complaint(case: Case) -> str | None:
    """The rule by which a command's output says it failed, or None."""
    if not case.tail:
        return None
    output = case.output()
    return _ask(_TESTS, output, output.tail[-_NEAR_CHARS:], case)


def find_hidden_complaint(case: Case) -> str | None:
    """The rule by which the output of a command that hides its exit code says it failed.

    Only the plainest words count there.
    """
    if not case.tail:
        return None
    output = case.output()
    near = output.tail[-_NEAR_CHARS:]
    # Nearly all such commands went well.
    if not contains_grouped(near, MASKED_GROUPS) and not opens_with_error(output.first.lower()):
        return None
    return _ask(_MASKED_TESTS, output, near, case)


def is_uncomplaining(output: Output) -> bool:
    """Whether no rule applies to an output, whatever command printed it."""
    return _ask(_TESTS, output, output.tail[-_NEAR_CHARS:]) is None


def _ask(tests: _Tests, output: Output, near: str, case: Case | None = None) -> str | None:
    """The first rule that applies and counts for this case; ``near`` is the output's end."""
    if not contains_any(near, _SHELL_WORDS):
        tests = tests[_SHELL_RULE_COUNT:]
    for name, words, test in tests:
        if words and not contains_grouped(near, words):
            continue
        # Only when a rule applies is it worth taking the command line apart.
        if test(output) and (case is None or may_speak(name, case)):
            return name
    return None


def find_reported_status(case: Case) -> int | None:
    """The exit status a command printed about itself (``; echo "exit: $?"``)."""
    if "$?" not in case.line and "$LASTEXITCODE" not in case.line:
        return None
    found = _STATUS.search(case.output().final)
    return int(found[1]) if found else None
