"""Why a call failed, from what the result says: first match in this order wins.

The order puts the particular before the general: a test run that timed out is a timeout, a
missing module is not a test failure. Phrases are plain lower-case text; they are found by their
first word, since looking for each of them in each result would cost more than all other rules.
"""

from __future__ import annotations

from collections.abc import Iterable

from warmstart.model import ErrorClass

_PHRASES: dict[ErrorClass, tuple[str, ...]] = {
    ErrorClass.TIMEOUT: (
        "timed out", "timeout", "timeouterror", "timeoutexpired", "time out",
        "deadline exceeded", "etimedout",
    ),
    ErrorClass.RATE_LIMIT: (
        "rate limit", "rate_limit", "ratelimit", "rate_limit_error", "too many requests", "429",
        "quota exceeded",
        "overloaded", "overloaded_error", "temporarily unavailable",
    ),
    ErrorClass.UNKNOWN_TOOL: (
        "unknown tool", "unknown action", "unknown skill", "unknown function", "no such tool",
        "unsupported call", "is not a valid tool", "agent type '", "available tools:",
    ),
    ErrorClass.BAD_ARGUMENTS: (
        "validationerror", "inputvalidationerror", "validation error", "invalid argument",
        "invalid parameter",
        "invalid input", "invalid option", "invalid flag", "invalid value", "unexpected argument",
        "unexpected keyword argument", "missing required", "missing argument", "missing operand",
        "missing parameter", "missing 1 required", "required positional", "unrecognized option",
        "unrecognized argument", "unrecognized flag", "unrecognized subcommand", "unknown option",
        "unknown flag", "unknown argument", "unknown command", "unknown predicate",
        "illegal option", "is required", "required property", "exceeds maximum", "too large",
        "is expected to be one of", "unknown json field", "accepts at most", "usage:",
        "option requires", "no changes to make", "does not match format", "must be",
    ),
    ErrorClass.CONFLICT: (
        "merge conflict", "conflict (", "could not apply", "already exists", "modified since",
        "has not been read", "matches of the string", "multiple matches", "multiple occurrences",
        "would be overwritten", "[rejected]", "non-fast-forward", "resource busy", "eexist",
    ),
    ErrorClass.PERMISSION: (
        "permission denied", "access denied", "access is denied", "not permitted", "eacces",
        "eperm", "unauthorized", "forbidden", "read-only file system", "not allowed",
        "must be within", "outside the", "outside of the", "authentication failed",
        "authentication required", "not in workspace",
    ),
    ErrorClass.NETWORK: (
        "connection refused", "connection reset", "connection aborted", "connection error",
        "connection broken", "connection closed", "could not resolve", "couldn't resolve",
        "name resolution", "network is unreachable", "econnrefused", "econnreset", "enotfound",
        "getaddrinfo",
        "sslerror", "ssl error", "failed to connect", "could not connect", "service unavailable",
        "bad gateway", "no route to host",
    ),
    ErrorClass.TEST_FAILURE: (
        "failures=", "--- fail", "assertionerror", "test result: failed", "tests failed",
        "test failed", "(fail)", "assertion failed",
    ),
    ErrorClass.SYNTAX: (
        "syntaxerror", "syntax error", "parse error", "parseerror", "indentationerror",
        "unexpected token", "unexpected eof", "unexpected end of", "unmatched", "unterminated",
        "sql syntax", "jsondecodeerror", "invalid json", "malformed", "error ts", "compile error",
        "could not compile", "error[e", "invalid regular expression", "failed to parse",
        "undefined:", "not used",
    ),
    ErrorClass.NOT_FOUND: (
        "no such ", "not found", "does not exist", "doesn't exist", "cannot find", "cannot open",
        "cannot access", "cannot stat", "can't open", "can't read", "can't find", "can't cd",
        "could not find", "enoent", "unknown column", "no module named", "modulenotfounderror",
        "not a git repository", "unable to find", "404", "no match", "did not match any",
        "unknown revision", "no replacement was performed", "0 occurrences",
        "failed to find",
    ),
    ErrorClass.CRASH: (
        "traceback (most recent", "panic:", "segmentation fault", "core dumped", "fatal error",
        "error", "exception", "exception in thread", "unhandled", "killed", "out of memory",
        "node.js v", "stack trace",
    ),
}  # fmt: skip
_FAILURES = frozenset(
    {b"failed", b"failing", b"failure", b"failures", b"fail", b"error", b"errors"}
)
_BY_EXIT = {124: ErrorClass.TIMEOUT, 126: ErrorClass.PERMISSION, 127: ErrorClass.NOT_FOUND}
_LINE_CHARS = 120
_FAR_CHARS = 500


def classify(first: str, last: str, tail: str, exit_code: int | None) -> ErrorClass:
    """The class of a failed call; its first and last lines are asked before the rest."""
    if exit_code in _BY_EXIT:
        return _BY_EXIT[exit_code]
    outer = first if len(first) <= _LINE_CHARS else first[:_LINE_CHARS]
    if last != first:
        outer = f"{outer}\n{last if len(last) <= _LINE_CHARS else last[-_LINE_CHARS:]}"
    found = _match(outer.lower()) or _match(tail[-_FAR_CHARS:].lower())
    return found or (ErrorClass.NONZERO_EXIT if exit_code else ErrorClass.OTHER)


Phrase = tuple[int, str, ErrorClass]
"""A telling phrase between the rank of its class in the order above and that class.

A plain tuple, because a named one takes five times as long to unpack.
"""
_WORD_CHARS = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_'")
_SPACED = bytes(char if char in _WORD_CHARS else 32 for char in range(256))


def _split_words(text: str) -> list[bytes]:
    """The words of a text: runs of ASCII letters, digits, ``_`` and ``'``.

    In bytes, because that is three times as fast as an expression.
    """
    return text.encode(errors="replace").translate(_SPACED).split()


def _index_phrases() -> dict[bytes, list[Phrase]]:
    index: dict[bytes, list[Phrase]] = {}
    for rank, (error_class, phrases) in enumerate(_PHRASES.items()):
        for text in phrases:
            first = _split_words(text)[0]
            index.setdefault(first, []).append((rank, text, error_class))
    return index


_BY_FIRST_WORD = _index_phrases()
_TELLING_WORDS = _FAILURES.union(_BY_FIRST_WORD)
_LAST_RANK = len(_PHRASES)
_TEST_RANK = list(_PHRASES).index(ErrorClass.TEST_FAILURE)


def _match(text: str) -> ErrorClass | None:
    """The first class, in order, one of whose phrases occurs."""
    best, found = _LAST_RANK, None
    words = _split_words(text)
    telling = _TELLING_WORDS.intersection(words)
    for word in telling:
        for rank, phrase, error_class in _BY_FIRST_WORD.get(word, ()):
            if rank >= best:
                break  # the phrases of a word stand in the order of their ranks
            if phrase in text:
                best, found = rank, error_class
                break
    if best > _TEST_RANK and telling and _counts_failures(words, telling & _FAILURES):
        return ErrorClass.TEST_FAILURE
    if found is None and "error" in text:
        return ErrorClass.CRASH
    return found


def _counts_failures(words: list[bytes], failures: Iterable[bytes]) -> bool:
    """Whether a number above zero stands before a word for failures ("3 failed")."""
    for word in failures:
        place = -1
        for _ in range(words.count(word)):
            place = words.index(word, place + 1)
            if place and words[place - 1].strip(b"0").isdigit():
                return True
        if word == b"fail" and word in (words[0], words[-1]):
            return True
    return False
