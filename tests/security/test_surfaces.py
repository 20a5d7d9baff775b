"""Pages hold no foreign markup, terminals obey no foreign text, and files are their user's alone."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from support.machines import Run
from support.planting import FIRST, Planter, write_claude_code
from warmstart.samples import samples_path

MARKUP = "</title></style><script>alert(1)</script><svg onload=alert(2)>\"' onclick='x' {{7*7}}"
CONTROL = "a\x1b]0;owned\x07b\x1b[2Jc\x9b31md\x1b]52;c;aGk=\x07e\u202ef\rg\x08h"


class Hostile(Planter):
    """Plants the same text everywhere."""

    def __init__(self, text: str) -> None:
        super().__init__(0)
        self._text = text

    def self_telling(self, where: str, kind: str = "") -> str:
        del where, kind
        return self._text

    def random(self, where: str, length: int = 32) -> str:
        del where, length
        return self._text


class Tags(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []
        self.seen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen += 1
        if tag in ("script", "iframe", "object", "embed", "link", "base", "form", "img"):
            self.bad.append(tag)
        for name, value in attrs:
            if name.startswith("on") or (value or "").lower().startswith(("javascript:", "data:")):
                self.bad.append(f"{tag} {name}")


@pytest.mark.parametrize("one", [True, False])
def test_a_page_holds_no_foreign_markup(home: Path, run: Run, *, one: bool) -> None:
    write_claude_code(home / ".claude", Hostile(MARKUP), 2)
    arguments = [FIRST] if one else []
    assert run("profile", *arguments, "--html", home / "p.html").exit_code == 0
    page = (home / "p.html").read_text()
    tags = Tags()
    tags.feed(page)
    assert "alert(1)" in page  # it is there, as text
    assert tags.seen > 20
    assert tags.bad == []


def test_no_command_lets_a_transcript_speak_to_the_terminal(home: Path, run: Run) -> None:
    write_claude_code(home / ".claude", Hostile(CONTROL), 3)
    made = run("template", "build", "--name", "t", "--min-messages", "5", "--max-error-rate", "1",
               "--textual", "--keep-outside")  # fmt: skip
    assert made.exit_code == 0, made.stderr
    for arguments in (
        ("sessions", "list"), ("sessions", "show", FIRST), ("profile",), ("profile", FIRST),
        ("template", "show", "t"), ("template", "list"), ("template", "test", "t", "fix the cart"),
        ("template", "auto", "--min-messages", "5", "--max-error-rate", "1", "--dry-run"),
        ("warm", "fix the cart", "--template", "t"), ("doctor",), ("compare", FIRST, FIRST),
    ):  # fmt: skip
        done = run(*arguments)
        for name in ("\x1b", "\x9b", "\u202e", "\x07", "\x08", "\r"):
            assert name not in done.stdout, (arguments, name)
            assert name not in done.stderr, (arguments, name)


def test_a_name_with_controls_is_not_printed_raw(run: Run) -> None:
    for arguments in (
        ("sessions", "show", CONTROL), ("template", "show", CONTROL), ("profile", CONTROL),
        ("template", "import", CONTROL), ("experiment", "report", CONTROL), ("warm", CONTROL),
        ("template", "build", "--name", CONTROL), ("redact", CONTROL),
    ):  # fmt: skip
        done = run(*arguments)
        assert "\x1b" not in done.stdout + done.stderr, arguments


SCRIPT = """
import os, sys
os.umask(0)
from warmstart.cli.main import cli
for line in sys.stdin.read().splitlines():
    try:
        cli(line.split(), standalone_mode=False)
    except SystemExit as error:
        assert not error.code, line
"""


def test_whatever_the_umask_files_are_their_users_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    out = home / "out"
    out.mkdir()
    environ = {**os.environ, "HOME": str(home), "WARMSTART_HOME": str(home / "ws"),
               "CLAUDE_CONFIG_DIR": str(samples_path() / "claude_code"),
               "HERMES_HOME": str(samples_path() / "hermes"), "CODEX_HOME": str(home / ".codex"),
               "GEMINI_CLI_HOME": str(home)}  # fmt: skip
    lines = [
        "template build --name t --min-messages 10 -q", "template approve t --despite-flags",
        f"template export t -o {out}/t.json", f"template dataset -o {out}/d.jsonl",
        f"profile --html {out}/p.html -q", f"sessions export -o {out}/s.jsonl",
        "warm fix --template t --record", "install codex --write", "install gemini --write",
        f"sessions backup {out}/copy.db",
    ]  # fmt: skip
    done = subprocess.run([sys.executable, "-c", SCRIPT], input="\n".join(lines), env=environ,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    files = [path for path in home.rglob("*") if path != out]
    assert len(files) > 10
    for path in files:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), (path, oct(mode))


def test_without_the_token_nothing_is_answered_and_nothing_else_is_spoken() -> None:
    pytest.importorskip("mcp")
    from warmstart.mcp.http import require_token

    reached: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        del receive, send
        reached.append(scope["type"])

    guarded = require_token(app, "right-token-for-tests")
    sent: list[dict[str, Any]] = []

    async def ask(kind: str, headers: list[tuple[bytes, bytes]]) -> None:
        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b""}

        await guarded({"type": kind, "headers": headers}, receive, send)

    for given in (b"", b"Bearer ", b"Bearer wrong", b"bearer right-token-for-tests", b"\xff"):
        asyncio.run(ask("http", [(b"authorization", given), (b"origin", b"http://evil.example")]))
    asyncio.run(ask("http", []))
    asyncio.run(ask("websocket", [(b"authorization", b"Bearer wrong")]))
    assert reached == []
    assert {one["status"] for one in sent if "status" in one} == {401}
    names = {name for one in sent for name, _ in one.get("headers", [])}
    assert not any(name.startswith(b"access-control") for name in names)
    asyncio.run(ask("http", [(b"authorization", b"Bearer right-token-for-tests")]))
    assert reached == ["http"]


def test_a_token_that_could_be_guessed_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARMSTART_MCP_TOKEN", "short")
    done = run("mcp", "--http")
    assert done.exit_code == 2
    assert "short" not in done.stderr.replace("shorter", "")
