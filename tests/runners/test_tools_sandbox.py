from __future__ import annotations

from pathlib import Path

import pytest

from warmstart.runners.tools import MAX_FILE_BYTES, Sandbox, SandboxError


def test_files_are_laid_out_and_gone_afterwards(tmp_path: Path) -> None:
    with Sandbox({"src/a.py": "x = 1"}, tmp_path) as sandbox:
        assert sandbox.read("src/a.py") == "x = 1"
        root = sandbox.root
        locked = root / "locked"
        locked.mkdir()
        (locked / "b").write_text("b")
        locked.chmod(0o500)
    assert not root.exists()


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "", " ", "a\0b"])
def test_no_path_leads_out(tmp_path: Path, name: str) -> None:
    with Sandbox(parent=tmp_path) as sandbox, pytest.raises(SandboxError):
        sandbox.resolve(name)


def test_no_symbolic_link_leads_out(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    with Sandbox(parent=tmp_path) as sandbox:
        (sandbox.root / "out").symlink_to(tmp_path)
        (sandbox.root / "file").symlink_to(tmp_path / "secret.txt")
        (sandbox.root / "loop").symlink_to("loop")
        for name in ("out/secret.txt", "file", "out/new.txt"):
            with pytest.raises(SandboxError, match="outside"):
                sandbox.write(name, "x")
            assert sandbox.find(name) is None
        assert sandbox.find("loop") is None
    assert (tmp_path / "secret.txt").read_text() == "secret"


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with Sandbox({"a/b": "x"}, tmp_path) as sandbox:
        (sandbox.root / "large").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
        for name, problem in (("none", "no such file"), ("a", "folder"), ("large", "too large")):
            with pytest.raises(SandboxError, match=problem):
                sandbox.read(name)
        with pytest.raises(SandboxError, match="cannot write"):
            sandbox.write("a", "x")
