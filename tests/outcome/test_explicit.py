"""Fields whose meaning is success or failure decide, and whose failure it was is told apart."""

from __future__ import annotations

import pytest

from support.calls import judged, shell
from warmstart.model import Certainty, ErrorClass, Request, Status
from warmstart.outcome import judge


def test_a_call_without_a_result_is_unanswered_and_no_success() -> None:
    outcome = judge(Request(tool="Read"), None)
    assert outcome.status is Status.UNANSWERED
    assert outcome.evidence == "no_result"


def test_a_harness_error_is_an_error_whatever_the_text_says() -> None:
    outcome = judged("Read", "all fine", is_error=True)
    assert (outcome.status, outcome.certainty) == (Status.ERROR, Certainty.EXPLICIT)
    assert outcome.harness_error is True


def test_a_harness_success_beats_every_word_in_the_text() -> None:
    outcome = judged("mcp__crm__lookup", "Error: no such customer", is_error=False)
    assert (outcome.status, outcome.evidence) == (Status.OK, "harness_flags_success")


def test_a_status_stated_by_the_source_is_taken_over() -> None:
    assert judged("Edit", "x", status=Status.REJECTED).status is Status.REJECTED


@pytest.mark.parametrize(
    ("text", "status", "evidence"),
    [
        ("The user doesn't want to proceed with this tool use. …", Status.REJECTED, "user_rejected"),
        ("Permission to use Bash with command rm has been denied.", Status.REJECTED, "policy_rejected"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", Status.CANCELLED, "cascade"),
        ("<tool_use_error>Cancelled: parallel tool call Bash(x) errored", Status.CANCELLED, "cascade"),
        ("[Request interrupted by user for tool use]", Status.CANCELLED, "user_interrupted"),
        ("exec_command failed: rejected by user", Status.REJECTED, "user_rejected"),
        ("This command requires approval", Status.REJECTED, "policy_rejected"),
        ("Error: The user rejected permission to use this tool", Status.REJECTED, "user_rejected"),
    ],
)  # fmt: skip
def test_a_no_from_outside_is_not_the_agents_error(
    text: str, status: Status, evidence: str
) -> None:
    outcome = judged("Bash", text, is_error=True)
    assert (outcome.status, outcome.evidence) == (status, evidence)
    assert outcome.error_class is None


def test_a_command_that_was_never_approved_is_rejected_without_a_flag_too() -> None:
    outcome = shell("rm -r build", "This command requires approval", origin="claude_code")
    assert (outcome.status, outcome.certainty) == (Status.REJECTED, Certainty.STRUCTURAL)


def test_prose_about_approvals_is_no_refusal() -> None:
    outcome = judged("Task", "This command requires approval by two people. Both said yes.")
    assert outcome.status is Status.OK


@pytest.mark.parametrize(
    ("command", "code", "reason"),
    [
        ("grep -rn needle src/", 1, "no match"),
        ("cd /home/dev/shop && rg needle", 1, "no match"),
        ("git log --oneline | grep needle", 1, "no match"),
        ("git grep needle", 1, "no match"),
        ("find . -name '*.py' | xargs grep -l needle", 123, "no match"),
        ("diff old.txt new.txt", 1, "files differ"),
        ("test -f missing.txt", 1, "condition is false"),
        ("[ -d build ]", 1, "condition is false"),
        ("which ponyc", 1, "not installed"),
        ("command -v ponyc", 1, "not installed"),
    ],
)
def test_a_benign_exit_is_ok_with_a_reason(command: str, code: int, reason: str) -> None:
    outcome = shell(command, "", exit_code=code)
    assert (outcome.status, outcome.reason) == (Status.OK, reason)
    assert outcome.exit_code == code
    assert outcome.observed_failure


@pytest.mark.parametrize(
    ("command", "text", "code"),
    [
        ("grep -rn needle missing/", "grep: missing/: No such file or directory", 2),
        ("cd nowhere && grep needle x", "bash: line 1: cd: nowhere: No such file or directory", 1),
        ("make test", "", 1),
        ("git diff --check", "src/a.py:1: trailing whitespace.", 1),
    ],
)
def test_a_real_failure_of_the_same_programs_is_an_error(
    command: str, text: str, code: int
) -> None:
    assert shell(command, text, exit_code=code).status is Status.ERROR


def test_exit_zero_is_ok_even_when_the_output_talks_of_errors() -> None:
    outcome = shell("cat app.log", "ERROR: failed to connect\n", exit_code=0)
    assert outcome.status is Status.OK


def test_exit_code_137_with_an_interrupt_is_cancelled() -> None:
    text = "Exit code 137\n[Request interrupted by user for tool use]"
    outcome = judged("Bash", text, is_error=True, command="make")
    assert (outcome.status, outcome.exit_code) == (Status.CANCELLED, 137)


MASKED = [
    ("pytest -q 2>&1 | tail -5", "FAILED tests/test_cart.py::test_total\n2 failed, 8 passed in 1.2s"),
    ("go test ./... | tail -3", "--- FAIL: TestTotal\nFAIL\nFAIL\tshop/cart\t0.01s"),
    ("npm run lint 2>&1 | tail -20", 'error: script "lint" exited with code 1'),
    ("python run.py 2>&1 | head -50",
     'Traceback (most recent call last):\n  File "run.py", line 3, in <module>\n    boom()\nNameError: name \'boom\''),
    ("frob build 2>&1 | tail -2", "error: unrecognized subcommand 'build'\n\nUsage: frob <COMMAND>"),
    ("make check || true", "bash: make: command not found"),
    ('make check; echo "exit: $?"', "compiling\nexit: 2"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "text"), MASKED)
def test_an_exit_code_hidden_by_the_command_is_judged_by_its_text(command: str, text: str) -> None:
    outcome = shell(command, text, exit_code=0)
    assert (outcome.status, outcome.certainty) == (Status.ERROR, Certainty.TEXTUAL)
    assert outcome.masked
    assert not outcome.observed_failure


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("pytest -q | tail -5", "10 passed in 1.2s"),
        ("cat app.log | tail -5", "ERROR: failed to connect"),
        ("grep -rn FAIL src | head", "src/a.py:1: FAIL"),
        ("ls missing; echo done", "done"),
        ('make; echo "exit: $?"', "exit: 0"),
        ("grep -c x f | cat; true", "0"),
    ],
)
def test_a_masked_command_that_went_well_is_ok_and_marked(command: str, text: str) -> None:
    outcome = shell(command, text, exit_code=0)
    assert (outcome.status, outcome.masked) == (Status.OK, True)


def test_pipefail_lifts_the_mask() -> None:
    outcome = shell("set -o pipefail; pytest | tail", "2 failed in 1s", exit_code=0)
    assert not outcome.masked


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        ("cat: x.txt: No such file or directory", 1, ErrorClass.NOT_FOUND),
        ("bash: frob: command not found", 127, ErrorClass.NOT_FOUND),
        ("rm: cannot remove 'x': Permission denied", 1, ErrorClass.PERMISSION),
        ("[Command timed out after 1s]", 124, ErrorClass.TIMEOUT),
        ('  File "a.py", line 3\nSyntaxError: invalid syntax', 1, ErrorClass.SYNTAX),
        ("2 failed, 3 passed in 0.5s", 1, ErrorClass.TEST_FAILURE),
        ("curl: (7) Failed to connect to localhost port 80: Connection refused", 7, ErrorClass.NETWORK),
        ("error: unrecognized option '--frob'", 2, ErrorClass.BAD_ARGUMENTS),
        ("CONFLICT (content): Merge conflict in a.py", 1, ErrorClass.CONFLICT),
        ("HTTP 429: too many requests", 1, ErrorClass.RATE_LIMIT),
        ("Segmentation fault (core dumped)", 139, ErrorClass.CRASH),
        ("ValueError: bad total", 1, ErrorClass.CRASH),
        ("quiet", 3, ErrorClass.NONZERO_EXIT),
    ],
)  # fmt: skip
def test_a_failure_has_a_class_users_understand(text: str, code: int, expected: ErrorClass) -> None:
    assert shell("make all", text, exit_code=code).error_class is expected


def test_an_error_without_a_telling_word_is_other() -> None:
    assert judged("Task", "hm", is_error=True).error_class is ErrorClass.OTHER


def test_an_unknown_tool_is_its_own_class() -> None:
    text = "Tool 'frob' does not exist. Available tools: terminal, read_file"
    assert judged("frob", text, is_error=True).error_class is ErrorClass.UNKNOWN_TOOL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"error": "amount is in cents; 3.25 is written 325"}', ErrorClass.OTHER),
        ('{"error": "unknown option: --fast"}', ErrorClass.BAD_ARGUMENTS),
        ('{"error": "Traceback (most recent call last): boom"}', ErrorClass.CRASH),
        ('{"error": "internal error"}', ErrorClass.CRASH),
        ("{'error': 'no unit given'}", ErrorClass.OTHER),
        ('{\n  "error": "no unit given"\n}', ErrorClass.OTHER),
        ('{\n  "error": "no unit given",\n  "trace": "fatal error"\n}', ErrorClass.CRASH),
    ],
)
def test_the_name_of_the_field_that_holds_a_reason_is_no_reason(
    text: str, expected: ErrorClass
) -> None:
    assert judged("pay", text, is_error=True).error_class is expected
