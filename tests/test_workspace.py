"""The workspace: finding, reading and choosing sessions, and writing files whole."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.badinput import write
from support.sessions import make_session, write_export
from warmstart.app import Workspace
from warmstart.errors import AmbiguousError, FormatError, NotFoundError, UsageError
from warmstart.model import Selection, Session
from warmstart.sources import ReadLog


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "ws"))
    return Workspace.open()


def read(workspace: Workspace, *paths: Path, **filters: str) -> list[Session]:
    selection = Selection(paths=tuple(map(str, paths)), **filters)
    return list(workspace.read_sessions(selection, ReadLog()))


def get(workspace: Workspace, wanted: str, *paths: Path) -> str:
    selection = Selection(paths=tuple(map(str, paths)))
    return workspace.get_session(wanted, selection, ReadLog()).id


def test_opening_creates_nothing(workspace: Workspace, tmp_path: Path) -> None:
    assert workspace.home == tmp_path / "ws"
    assert not workspace.home.exists()
    assert stat.S_IMODE(workspace.ensure_home().stat().st_mode) == 0o700


def test_a_home_given_wins_over_the_environment(workspace: Workspace, tmp_path: Path) -> None:
    assert Workspace.open(tmp_path / "other").home != workspace.home


def test_sessions_are_read_from_every_path_and_filtered(
    workspace: Workspace, tmp_path: Path
) -> None:
    one = write_export(tmp_path / "in/a.jsonl", make_session("a"))
    two = write_export(tmp_path / "in/b.jsonl", make_session("b", origin="codex"))
    assert [s.native_id for s in read(workspace, one, two)] == ["a", "b"]
    assert [s.native_id for s in read(workspace, tmp_path / "in", source="codex")] == ["b"]


def test_the_archive_is_read_by_default_and_its_newer_copy_wins(workspace: Workspace) -> None:
    write_export(workspace.archive / "old.jsonl", make_session("a", title="old"))
    newer = write_export(workspace.archive / "new.jsonl", make_session("a", title="new"))
    newer.touch()
    assert [session.title for session in read(workspace)] == ["new"]
    assert read(workspace, format="codex") == []


def test_an_unknown_source_or_path_is_said(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nonsense"):
        read(workspace, source="nonsense")
    with pytest.raises(NotFoundError, match="nowhere"):
        read(workspace, tmp_path / "nowhere")


def test_one_unknown_file_is_an_error_and_among_others_it_is_counted(
    workspace: Workspace, tmp_path: Path
) -> None:
    known = write_export(tmp_path / "a.jsonl", make_session())
    unknown = write(tmp_path, "notes.txt", b"hello")
    with pytest.raises(FormatError):
        read(workspace, unknown)
    log = ReadLog()
    paths = (str(unknown), str(known))
    assert len(list(workspace.read_sessions(Selection(paths=paths), log))) == 1
    assert dict(log.counts) == {"file of no known format": 1}


def test_a_store_that_cannot_be_read_is_counted(workspace: Workspace, tmp_path: Path) -> None:
    write(tmp_path, ".hermes/state.db", b"SQLite format 3\x00 and garbage")
    log = ReadLog()
    assert list(workspace.read_sessions(Selection(), log)) == []
    assert log.total == 1


@pytest.mark.parametrize("wanted", ["hermes:abc-1", "abc-1", "abc-1x", "hermes:abc-1x"])
def test_an_id_or_a_unique_prefix_finds_its_session(
    workspace: Workspace, tmp_path: Path, wanted: str
) -> None:
    path = write_export(
        tmp_path / "s.jsonl", *map(make_session, ("abc-1", "abc-1xyz", "abd-2")),
    )  # fmt: skip
    expected = "hermes:abc-1" if wanted.endswith("-1") else "hermes:abc-1xyz"
    assert get(workspace, wanted, path) == expected


def test_a_prefix_of_several_names_them(workspace: Workspace, tmp_path: Path) -> None:
    path = write_export(tmp_path / "s.jsonl", *map(make_session, ("abc-1", "abc-2")))
    with pytest.raises(AmbiguousError) as caught:
        get(workspace, "abc", path)
    assert caught.value.candidates == ("hermes:abc-1", "hermes:abc-2")


def test_no_session_is_not_found(workspace: Workspace, tmp_path: Path) -> None:
    path = write_export(tmp_path / "s.jsonl", make_session())
    for wanted in ("zzz", "codex:ab12cd34-shop-1"):
        with pytest.raises(NotFoundError, match="no session"):
            get(workspace, wanted, path)


def test_a_file_named_after_the_id_is_read_instead_of_all(
    workspace: Workspace, tmp_path: Path
) -> None:
    write_export(tmp_path / "in/ab12cd34-shop-1.jsonl", make_session())
    write(tmp_path, "in/other.jsonl", b'{"schema":"warmstart.session/1"}\n')
    log = ReadLog()
    selection = Selection(paths=(str(tmp_path / "in"),))
    assert workspace.get_session("ab12cd34", selection, log).title
    assert log.total == 0


def test_a_file_appears_whole_and_private(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    workspace.write_file(path, [b"a\n", b"b\n"])
    assert path.read_bytes() == b"a\nb\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_write_that_fails_leaves_what_was_there(workspace: Workspace, tmp_path: Path) -> None:
    path = write(tmp_path, "out.jsonl", b"before")

    def chunks() -> Iterator[bytes]:
        yield b"half"
        raise NotFoundError("gone", wanted="x")

    with pytest.raises(NotFoundError):
        workspace.write_file(path, chunks(), overwrite=True)
    assert path.read_bytes() == b"before"
    assert [p.name for p in tmp_path.iterdir()] == ["out.jsonl"]


def test_nothing_is_overwritten_and_no_folder_invented(
    workspace: Workspace, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="exists"):
        workspace.write_file(write(tmp_path, "out.jsonl", b""), [])
    with pytest.raises(UsageError, match="no such folder"):
        workspace.write_file(tmp_path / "no/out.jsonl", [])


def test_folders_below_the_home_are_made_private(workspace: Workspace) -> None:
    workspace.write_file(workspace.archive / "a.jsonl", [b""])
    assert stat.S_IMODE(workspace.archive.stat().st_mode) == 0o700
