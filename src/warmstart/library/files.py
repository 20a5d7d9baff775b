"""The folder of templates, and reading files nobody vouches for.

``templates/NAME/v0003-<first 12 digits of the id>.json``, folders 0700, files 0600. A file appears
whole under its final name or not at all. Names are checked before they become paths, links are
never followed, and whatever is not a regular file of an expected name is not touched.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from warmstart.atomic import PREFIX, write_whole
from warmstart.errors import NotFoundError
from warmstart.template import TemplateError
from warmstart.template.names import MAX_VERSION, check_name

FOLDER_MODE = 0o700
FILE_MODE = 0o600
ID_DIGITS = 12
_FILE = re.compile(r"v(\d{4})-([0-9a-f]{12})\.json")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class FoundFile(NamedTuple):
    """A template file by what its name says."""

    version: int
    short_id: str
    path: Path


class TemplateFiles:
    """Every access to the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def list_names(self) -> set[str]:
        """Folders that are named like templates."""
        try:
            with os.scandir(self.folder) as entries:
                return {
                    entry.name
                    for entry in entries
                    if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
                }
        except FileNotFoundError:
            return set()

    def list_files(self, name: str) -> list[FoundFile]:
        """The versions of a template that are there, oldest first."""
        folder = self._folder_of(name)
        found = []
        for entry in _scan(folder):
            match = _FILE.fullmatch(entry.name)
            if match and entry.is_file(follow_symlinks=False):
                found.append(FoundFile(int(match[1]), match[2], folder / entry.name))
        return sorted(found)

    def list_strangers(self, name: str) -> list[str]:
        """What else lies in a template's folder."""
        folder = self._folder_of(name)
        known = {found.path.name for found in self.list_files(name)}
        return sorted(entry.name for entry in _scan(folder) if entry.name not in known)

    def path_of(self, name: str, version: int, identity: str) -> Path:
        """Where a version is, whether it exists or not."""
        return self._folder_of(name) / f"v{version:04}-{identity[:ID_DIGITS]}.json"

    def write(self, name: str, version: int, identity: str, data: bytes) -> Path:
        """Put a version there; one that is there already is replaced by the same bytes."""
        if not 0 < version <= MAX_VERSION:
            raise TemplateError(f"more than {MAX_VERSION:,} versions", field=name)
        path = self.path_of(name, version, identity)
        ensure_folder(self.folder)
        ensure_folder(path.parent)
        write_whole(path, [data])
        return path

    def read(self, path: Path, most: int) -> bytes:
        """The bytes of a template file."""
        return read_regular(path, most)

    def holds(self, path: Path, data: bytes) -> bool:
        """Whether a file has exactly these bytes; one that is gone or damaged has not."""
        try:
            return read_regular(path, len(data)) == data
        except (NotFoundError, TemplateError):
            return False

    def delete(self, paths: list[Path]) -> None:
        """Remove files, and their folder when nothing is left in it but our own leavings."""
        for path in paths:
            path.unlink(missing_ok=True)
        for folder in {path.parent for path in paths}:
            for entry in _scan(folder):
                if entry.name.startswith(PREFIX):
                    (folder / entry.name).unlink(missing_ok=True)
            if not any(_scan(folder)):
                folder.rmdir()

    def _folder_of(self, name: str) -> Path:
        folder = self.folder / check_name(name)
        for path in (self.folder, folder):
            if path.is_symlink():
                raise TemplateError(
                    f"{str(path)!r} is a link", hint="templates are kept in plain folders only"
                )
        return folder


def ensure_folder(folder: Path) -> None:
    """The folder, made for its user alone if it is not there."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)


def read_regular(path: Path, most: int) -> bytes:
    """The bytes of a regular file of limited size; links and devices are refused.

    Raises:
        NotFoundError: there is nothing.
        TemplateError: it is a link, a folder, a device, or too large.
    """
    # Without O_NONBLOCK a named pipe would be waited for.
    names = ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")  # not every system has them all
    flags = sum(getattr(os, name, 0) for name in names) | os.O_RDONLY
    try:
        handle = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFoundError(f"there is nothing at {str(path)!r}", wanted=str(path)) from error
    except (OSError, ValueError) as error:
        reason = "a link" if path.is_symlink() else getattr(error, "strerror", None) or "no path"
        raise TemplateError(
            f"{str(path)!r} cannot be read: {reason}", hint="name the file itself"
        ) from error
    try:
        data = _read_handle(handle, path, most)
    finally:
        os.close(handle)
    if len(data) > most:
        raise TemplateError(f"{str(path)!r} is larger than {most:,} bytes")
    return data


def _read_handle(handle: int, path: Path, most: int) -> bytes:
    """What is there, up to one byte more than allowed; the size may lie while others write."""
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        raise TemplateError(f"{str(path)!r} is not a regular file")
    if found.st_size > most:
        raise TemplateError(f"{str(path)!r} is larger than {most:,} bytes")
    with os.fdopen(handle, "rb", closefd=False) as file:
        return file.read(most + 1)


def _scan(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return
