"""Whether a session did its task, where its transcript can say so.

A reward of the format's own decides. Else the last test run of the session does: tests are what
agents and people go by, and both sides of a comparison run them alike. Where there is neither,
the answer is None; how a session reads is not evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from warmstart.model import Call, ErrorClass, Outcome, Session, Status

_TESTS = re.compile(
    r"""(?:^|[\s;&|(/])(?:
        pytest | tox | nox | jest | vitest | rspec | phpunit | ctest
      | python[\d.]*\s+-m\s+unittest
      | (?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test
      | (?:go|cargo|dotnet|mix|swift|deno|flutter|mvnw?|gradlew?)
        \s(?:[^;&|]*\s)?(?:test|nextest|verify)
      | make\s+(?:[^;&|]*\s)?(?:test|check)s?
    )(?![\w.=/-])""",
    re.VERBOSE,
)
SAYS_FAILED = (ErrorClass.TEST_FAILURE, ErrorClass.NONZERO_EXIT, ErrorClass.CRASH)
"""A runner that is missing or not permitted says nothing about the code."""
COMMAND_KEYS = ("command", "cmd", "script")


def judge_success(session: Session, calls: Iterable[Call] | None = None) -> bool | None:
    """True or false where there is evidence, else None.

    Args:
        session: the session.
        calls: those that count, if not all of them.
    """
    if session.reward is not None:
        return session.reward > 0
    for call in reversed(list(session.calls if calls is None else calls)):
        passed = _read_verdict(call.outcome) if is_test_run(call) else None
        if passed is not None:
            return passed
    return None


def is_test_run(call: Call) -> bool:
    """Whether a call ran a project's tests."""
    return any(_TESTS.search(_read(call, key)) for key in COMMAND_KEYS)


def _read_verdict(outcome: Outcome) -> bool | None:
    """Whether the tests passed; None where they did not get to run, or hid how they ended."""
    if outcome.status is Status.OK:
        return None if outcome.masked else True
    return False if outcome.error_class in SAYS_FAILED else None


def _read(call: Call, key: str) -> str:
    value = call.request.arguments.get(key)
    if isinstance(value, list):
        return " ".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


__all__ = ["is_test_run", "judge_success"]
