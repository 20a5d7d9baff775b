"""Single lines that complain: how the first or the last line of an output says that it failed.

``ends_plainly`` and ``opens_plainly`` are what most lines need: they say in a few plain searches
that none of the expressions on such a line can match, and try the few that may.
"""

from __future__ import annotations

import re

NAMED = re.compile(
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
"""Signed by a program. This and the next two are matched against lower-case lines: twice as fast as
ignoring case."""
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
USAGE = re.compile(r"usage: |malformed command")
_HARMLESS_LETTERS = frozenset("bdghijklmoqstvwxyz0123456789_")
"""With these, only "... failed: " of the openings can begin."""
_PLAIN_LETTERS = _HARMLESS_LETTERS.union(" \t", map(str.upper, _HARMLESS_LETTERS)) - set("mM")
"""The harmless letters of a line in any case, and blanks; "m" begins an opening of ``USAGE``."""
EXCEPTION = re.compile(
    r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning)\b(?:: |$)"
    r"|Sorry: \w+Error"
)
_EXCEPTION_ENDS = ("Error", "Exception", "Exit", "Interrupt", "Warning")
FRAME = re.compile(
    r".{3,} at \S+ line \d+\.$|\s++(?:at|from) \S.*(?::\d+|:in )|\s++\.\.\. \d+ more$"
)
_FRAME_OPENINGS = ("at ", "from ", "... ")
"""How the last two of the above begin, behind blanks; the first holds " line "."""
DIAGNOSTIC = re.compile(
    r"(?:vet: )?[\w./\\@-]+\.[a-z]{1,4}(?::\d+){2}:? (?:error\b|[a-z\"'].{8,})"
    r"|[\w./\\@-]+\.[a-z]{1,4}:\d+:? (?:\w+ )?"
    r"(?:error|fatal|undefined|unexpected|invalid|missing)\b"
    r"|[\w./\\@-]+\(\d+,\d+\): error"
)
_PLACE = re.compile(r"(?:vet: )?\S*\.[a-z]{1,4}:\d")
"""How the first two of the above begin; the third holds "): error"."""
DEATH = re.compile(
    r"(?:.*: line \d+: +\d+ )?(?:Killed|Segmentation fault|Aborted|Terminated|Bus error"
    r"|Illegal instruction|Trace/breakpoint trap)\b|Node\.js v\d+|Bun v[\d.]+ \("
)
_DEATHS = (
    "Killed", "Segmentation fault", "Aborted", "Terminated", "Bus error", "Illegal instruction",
    "Trace/breakpoint trap", "Node.js v", "Bun v",
)  # fmt: skip
_QUIET_LETTERS = _PLAIN_LETTERS.difference(" \t", (death[0] for death in _DEATHS))
_SIGNED = re.compile(r"[\w./+@-]+:(?:\d+:)* ")


def opens_with_error(line: str) -> bool:
    """Whether a line in lower case opens as errors do."""
    if line and line[0] in _HARMLESS_LETTERS and " failed: " not in line:
        return False
    return ERROR_OPENING.match(line) is not None


def complains(line: str) -> bool:
    """Whether a line opens as errors do, or is a complaint that a program signed."""
    if ": " not in line and line[:1] in _PLAIN_LETTERS:
        return False
    line = line.lower()
    return bool(opens_with_error(line) or (": " in line and NAMED.match(line)))


def ends_plainly(line: str) -> bool:
    """Whether no expression on the last line of an output matches this one."""
    if line[:1] not in _QUIET_LETTERS and _opens_badly(line):
        return False
    if line[-1:] == "." and " line " in line:
        return False
    if ":" not in line:
        return not line.endswith(_EXCEPTION_ENDS)
    if ": " in line and (
        _complains_inside(line) or EXCEPTION.match(line) or ": line " in line or "): error" in line
    ):
        return False
    return _PLACE.match(line) is None


def _opens_badly(line: str) -> bool:
    """Whether a line opens as errors, deaths or frames do; behind blanks there are frames only."""
    if line[:1].isspace():
        return line.lstrip().startswith(_FRAME_OPENINGS)
    return line.startswith(_DEATHS) or ERROR_OPENING.match(line.lower()) is not None


def opens_plainly(line: str) -> bool:
    """Whether no expression on the first line of an output matches this one."""
    if line[:1] not in _PLAIN_LETTERS:
        lowered = line.lower()
        if ERROR_OPENING.match(lowered) or USAGE.match(lowered):
            return False
    return ": " not in line or not _complains_inside(line)


def _complains_inside(line: str) -> bool:
    """Whether a line complains by what stands around its first colon."""
    lowered = line.lower()
    return " failed: " in lowered or bool(_SIGNED.match(lowered) and NAMED.match(lowered))
