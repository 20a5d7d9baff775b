"""What a command line says about its own exit code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstart.outcome.shell import (
    expects_output,
    is_masked,
    list_programs,
    program_of,
    read_command,
)
from warmstart.outcome.tools import MAX_COMMAND_CHARS, ToolKind, command_of, kind_of


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ("ls -la", "ls"),
        ("cd /x && /usr/bin/make test", "make"),
        ("FOO=1 sudo env BAR=2 pytest -q", "pytest"),
        ("timeout 60 npm test", "npm"),
        ("git diff --stat", "git diff"),
        ("echo 'a | b; c' && cat x", "cat"),
        ("cat <<'EOF' > a.py\nprint('x | y')\nEOF\npython a.py", "python"),
        ("for f in *; do echo $f; done", ""),
        ("make # then | tail", "make"),
        ("find . -name x | xargs grep y", "xargs grep"),
        ("make;", "make"),
        ("", ""),
    ],
)
def test_the_program_whose_exit_code_counts(line: str, program: str) -> None:
    assert read_command(line).program == program


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("pytest | tail -5", True),
        ("pytest 2>&1 | sed -n '1,20p'", True),
        ("pytest || true", True),
        ("pytest; echo done", True),
        ("pytest\necho 'all done'", True),
        ("pytest || exit 0", True),
        ("pytest | grep FAILED", True),
        ("echo x | python run.py", False),
        ("pytest && echo ok", False),
        ("grep 'a|b' f", False),
        ("set -o pipefail; pytest | tail", False),
        ("cat <<EOF > f\nx | tail\nEOF\nmake", False),
        ("pytest", False),
        ("make; pytest", False),
    ],
)
def test_which_lines_hide_their_exit_code(line: str, masked: bool) -> None:  # noqa: FBT001
    assert is_masked(line) is masked
    assert read_command(line).masked is masked


@given(st.text(alphabet="ab |&;\n'\"`$(){}<>\\-#=/", max_size=60))
def test_no_line_is_too_odd(line: str) -> None:
    command = read_command(line)
    assert is_masked(line) in (True, False)
    assert isinstance(program_of(line), str)
    assert expects_output(command) in (True, False)


def test_speakers_are_the_programs_of_the_last_chain() -> None:
    command = read_command("ls; cd x && make | tail; echo done")
    assert command.speakers == ("cd", "make", "tail")
    assert command.sequence


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("Bash", ToolKind.SHELL),
        ("mcp__host__run_shell_command", ToolKind.SHELL),
        ("developer__shell", ToolKind.SHELL),
        ("execute_code", ToolKind.CODE),
        ("Read", ToolKind.READER),
        ("read_channel_messages", ToolKind.READER),
        ("send_email", ToolKind.OTHER),
    ],
)
def test_tools_are_known_by_their_names(tool: str, kind: ToolKind) -> None:
    assert kind_of(tool) is kind


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"command": "ls"}, "ls"),
        ({"cmd": ["bash", "-lc", "ls | tail"]}, "ls | tail"),
        ({"command": ["ls", "-la"]}, "ls -la"),
        ({"command": 5}, ""),
        ({"command": []}, ""),
        ({}, ""),
    ],
)
def test_the_command_line_is_found_among_the_arguments(
    arguments: dict[str, object], line: str
) -> None:
    assert command_of(arguments) == line


parts = st.sampled_from(["ls", "|", "grep", "git", "log", "-n", "3", "A=1", "sudo", "/bin/cat", "x.py",
                         "||", "&&", "'q'", "then", "timeout", "xargs", "\n", "time"])  # fmt: skip


@given(st.lists(parts, max_size=8))
def test_programs_of_a_simple_line_are_its_speakers(words: list[str]) -> None:
    programs = list_programs(" ".join(words))
    assert programs in ((), read_command(" ".join(words)).speakers)


def test_a_simple_line_is_taken_apart_at_its_pipes() -> None:
    assert list_programs("A=1 git log -n 3 | sudo head -2") == ("git log", "head")
    assert list_programs("cat 'a b'") == ()


def test_of_a_very_long_command_the_ends_are_read() -> None:
    """A file written through a heredoc may be of any length; what runs stands around it."""
    body = "print('a | b')\n" * 20_000
    line = command_of({"command": f"cat > a.py <<'EOF'\n{body}EOF\npython a.py | tail -5"})
    assert len(line) <= MAX_COMMAND_CHARS + 1
    assert is_masked(line)
    assert read_command(line).speakers == ("python", "tail")


def test_many_heredocs_are_all_left_out() -> None:
    line = "".join(f"cat <<E{n}\n| tail\nE{n}\n" for n in range(50))
    assert read_command(f"{line}make test").program == "make"
    assert not is_masked(f"{line}make test")
