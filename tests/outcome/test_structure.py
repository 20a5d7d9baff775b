"""Shapes that only a tool or its harness writes: result JSON, tags, exit-code markers."""

from __future__ import annotations

import json

import pytest

from support.calls import judged, shell
from warmstart.model import Certainty, ErrorClass, Status

LONG = "line of output\n" * 4000


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("Exit code 3\ncat: x: No such file", "claude_code"),
        ("Error: Exit code 3\nboom", "claude_code"),
        (
            "Chunk ID: 1a2b\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\nx\n",
            "codex",
        ),
        ("Exit code: 3\nWall time: 0.2 seconds\nOutput:\nx", "codex"),
        ("<returncode>3</returncode>\n<output>\nx\n</output>", "mini_swe_agent"),
        ("x\n<shellId: 7 completed with exit code 3>", "copilot"),
        ("x\n<exited with exit code 3>", "copilot"),
        ("x\n[The command completed with exit code 3.]", "openhands"),
        ("Command: x\nOutput: y\nError: (none)\nExit Code: 3\nSignal: 0", "gemini"),
        ("x\n\nCommand exited with code 3", "pi"),
        ("[terminal] ran `npm test` -> exit 3, 47 lines output", "hermes"),
        ("Command failed with exit code 3: frob", "other"),
    ],
)
def test_every_harness_s_exit_marker_is_read(text: str, origin: str) -> None:
    outcome = shell("frob --now", text, origin)
    assert (outcome.status, outcome.exit_code) == (Status.ERROR, 3)
    assert outcome.certainty is Certainty.STRUCTURAL


def test_a_marker_in_the_middle_of_the_output_is_not_read() -> None:
    text = "reading log\nExit code 3\nProcess exited with code 4\nall good\n"
    assert shell("cat build.log", text).exit_code is None


def test_a_marker_that_the_command_itself_echoes_is_not_the_harness_s() -> None:
    outcome = shell('grep x f; echo "exit code: $?"', "exit code: 1", "claude_code")
    assert not outcome.observed_failure


def test_claude_code_without_a_marker_means_exit_zero() -> None:
    outcome = judged("Bash", "ok\n", "claude_code", command="make")
    assert (outcome.status, outcome.exit_code, outcome.evidence) == (
        Status.OK,
        0,
        "marker_left_out",
    )


def test_a_still_running_command_is_ok_and_says_so() -> None:
    text = (
        "Chunk ID: 9\nWall time: 10 seconds\nProcess running with session ID 7\nOutput:\nerror: x\n"
    )
    assert (
        judged("exec_command", text, "codex", arguments={"cmd": "serve"}).reason == "still running"
    )


TERMINAL = [
    ({"output": "ok", "exit_code": 0, "error": None}, Status.OK),
    ({"output": "", "exit_code": 1, "error": None}, Status.ERROR),
    ({"output": "", "exit_code": 1, "error": None,
      "exit_code_meaning": "No matches found (not an error)"}, Status.OK),
    ({"output": "", "exit_code": 22, "error": None, "exit_code_meaning": "HTTP error"}, Status.ERROR),
    ({"output": "", "exit_code": -1, "error": "BLOCKED: User denied", "status": "blocked"},
     Status.REJECTED),
    ({"output": "x", "exit_code": 0, "error": "lost the terminal"}, Status.ERROR),
    ({"output": "x", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}, Status.ERROR),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "status"), TERMINAL)
def test_a_terminal_s_json_is_judged_by_its_exit_code(
    answer: dict[str, object], status: Status
) -> None:
    assert judged("terminal", json.dumps(answer), "hermes", command="frob").status is status


@pytest.mark.parametrize(("answer", "status"), TERMINAL)
def test_a_long_terminal_result_gives_the_same_answer(
    answer: dict[str, object], status: Status
) -> None:
    long = json.dumps({**answer, "output": LONG})
    assert judged("terminal", long, "hermes", command="frob").status is status


@pytest.mark.parametrize(
    ("tool", "answer", "status"),
    [
        ("read_file", {"content": "1|x", "total_lines": 1}, Status.OK),
        ("read_file", {"content": "", "error": "File not found: /x"}, Status.ERROR),
        ("patch", {"success": True, "diff": "…"}, Status.OK),
        ("patch", {"success": False, "error": "Could not find a match"}, Status.ERROR),
        ("search_files", {"total_count": 0}, Status.OK),
        ("memory", {"success": True, "error": None}, Status.OK),
        ("api", {"status": "error", "message": "no quota"}, Status.ERROR),
        ("flights", {"status": "failed", "number": "HA1"}, Status.OK),
        ("api", {"ok": False}, Status.ERROR),
        ("api", {"isError": True, "content": []}, Status.ERROR),
        ("api", {"error": {"code": 5}}, Status.ERROR),
        ("api", {"error": "The user denied this operation"}, Status.REJECTED),
    ],
)
def test_a_json_answer_is_judged_by_its_own_fields(
    tool: str, answer: dict[str, object], status: Status
) -> None:
    assert judged(tool, json.dumps(answer)).status is status


def test_a_warning_behind_the_json_does_not_hide_it() -> None:
    text = '{"output": "", "exit_code": 1, "error": null}\n\n[Tool loop warning: same; count=3]'
    assert judged("terminal", text, "hermes", command="frob").status is Status.ERROR
    long = (
        json.dumps({"output": LONG, "exit_code": 1, "error": None}) + "\n\n[Tool loop warning: 3]"
    )
    assert judged("terminal", long, "hermes", command="frob").status is Status.ERROR


def test_an_untrusted_envelope_is_peeled() -> None:
    text = (
        '<untrusted_tool_result source="web_search">\nThe content below is data.\n'
        '{"success": false, "error": "search failed: 500"}\n</untrusted_tool_result>'
    )
    assert judged("web_search", text, "hermes").status is Status.ERROR


def test_an_error_of_one_page_among_many_is_no_failure_of_the_call() -> None:
    answer = {"results": [{"url": "a", "content": LONG}, {"url": "b", "error": "Blocked: robots"}]}
    assert judged("web_extract", json.dumps(answer)).status is Status.OK


def test_json_that_a_command_printed_is_not_the_tool_s_answer() -> None:
    assert shell("curl -s localhost/health", '{"error": "db down"}').status is Status.OK


def test_a_python_dict_as_text_is_understood() -> None:
    assert judged("lookup", "{'error': 'no such order'}").status is Status.ERROR
    assert judged("lookup", "{'error': None, 'id': 3}").status is Status.OK


def test_an_error_tag_is_an_error() -> None:
    text = "<tool_use_error>String to replace not found in file.</tool_use_error>"
    outcome = judged("Edit", text)
    assert (outcome.status, outcome.evidence) == (Status.ERROR, "error_tag")


def test_a_cleared_result_is_unknown_and_never_a_success() -> None:
    assert judged("Read", "[Old tool result content cleared]").status is Status.UNKNOWN


def test_a_harness_timeout_is_a_timeout() -> None:
    outcome = judged("Bash", "Command timed out after 2m 0s\npartial", command="make")
    assert (outcome.status, outcome.error_class) == (Status.ERROR, ErrorClass.TIMEOUT)


def test_half_a_json_object_is_read_as_text() -> None:
    assert judged("api", '{"success": fal').status is Status.OK


@pytest.mark.parametrize("padding", ["", LONG])
@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("", ErrorClass.NONZERO_EXIT),
        ("bash: frob: No such file or directory", ErrorClass.NOT_FOUND),
        ("2 failed, 3 passed in 0.5s", ErrorClass.TEST_FAILURE),
    ],
)
def test_a_failure_in_json_is_classed_by_what_was_printed(
    padding: str, output: str, expected: ErrorClass
) -> None:
    text = json.dumps({"output": padding + output, "exit_code": 1, "error": None})
    assert judged("terminal", text, "hermes", command="frob").error_class is expected


@pytest.mark.parametrize("padding", ["", LONG])
def test_a_failure_hidden_by_a_pipe_is_found_inside_json(padding: str) -> None:
    text = json.dumps(
        {"output": padding + "2 failed, 3 passed in 0.5s", "exit_code": 0, "error": None}
    )
    outcome = judged("terminal", text, "hermes", command="pytest 2>&1 | tail -3")
    assert (outcome.status, outcome.masked) == (Status.ERROR, True)


def test_the_class_of_a_json_error_is_that_of_its_message() -> None:
    outcome = judged("read_file", '{"content": "", "error": "File not found: /x"}')
    assert outcome.error_class is ErrorClass.NOT_FOUND
