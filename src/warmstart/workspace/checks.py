"""Whether a session did its task, where its transcript can say so.

A reward of the format's own decides. Else the last test run of the session does: tests are what
agents and people go by, and both sides of a comparison run them alike. Where there is neither,
nothing is said; how a session reads is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from warmstart.model import Call, Session, Status

_TESTS = re.compile(
    r"""(?:^|[\s;&|(/])(?:
        pytest | tox | nox | jest | vitest | rspec | phpunit | ctest
      | python[\d.]*\s+-m\s+unittest
      | (?:npm|pnpm|yarn|bun)\s+(?:run\s+)?test
      | (?:go|cargo|dotnet|mix|swift|deno|flutter|mvnw?|gradlew?)
        \s(?:[^;&|]*\s)?(?:test|nextest|verify)
      | make\s+(?:[^;&|]*\s)?(?:test|check)s?
    )(?![\w.=/])""",
    re.VERBOSE,
)
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
        if is_test_run(call) and call.outcome.status in (Status.OK, Status.ERROR):
            if call.outcome.masked and call.outcome.status is Status.OK:
                continue  # an exit code that was hidden proves nothing
            return call.outcome.status is Status.OK
    return None


def is_test_run(call: Call) -> bool:
    """Whether a call ran a project's tests."""
    return any(_TESTS.search(_read(call, key)) for key in COMMAND_KEYS)


def _read(call: Call, key: str) -> str:
    value = call.request.arguments.get(key)
    if isinstance(value, list):
        return " ".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


__all__ = ["is_test_run", "judge_success"]
