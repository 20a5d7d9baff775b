"""A temporary folder per trial, and paths that cannot leave it.

What it does: the task's files are laid out in a fresh private folder that is deleted afterwards;
the built-in file tools refuse every path that leads out of it, also through symbolic links. What
it does not do: a command that the agent runs is an ordinary process of this user, with its
network and its rights. Run untrusted models in a container.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

MAX_FILE_BYTES = 2_000_000


class SandboxError(ValueError):
    """A path or file the sandbox refuses; said to the model, never fatal."""


class Sandbox:
    """One trial's folder; a context manager that removes it."""

    def __init__(self, files: Mapping[str, str] | None = None, parent: Path | None = None) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="warmstart-trial-", dir=parent)).resolve()
        for name, text in (files or {}).items():
            self.write(name, text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Delete the folder and all in it, also what a command made read-only."""
        for folder, below, _ in os.walk(self.root):
            for name in below:
                # Before the walk goes down there; a link's target is not ours to change.
                path = Path(folder, name)
                if not path.is_symlink():
                    with suppress(OSError):
                        path.chmod(stat.S_IRWXU)
        shutil.rmtree(self.root, ignore_errors=True)

    def resolve(self, name: str) -> Path:
        """The path of a name inside the sandbox.

        Raises:
            SandboxError: it leads out, or is no path.
        """
        if not name.strip() or "\0" in name:
            raise SandboxError(f"not a path: {name!r:.80}")
        try:
            path = (self.root / name).resolve()
        except (OSError, RuntimeError) as error:
            raise SandboxError(f"not a path: {name!r:.80}") from error
        if path != self.root and self.root not in path.parents:
            raise SandboxError(f"{name!r:.200} is outside the working folder; use a relative path")
        return path

    def relative(self, path: Path) -> str:
        """A path as the model is to write it."""
        return path.relative_to(self.root).as_posix()

    def read(self, name: str) -> str:
        """The text of a file.

        Raises:
            SandboxError: it leads out, is no file, or is too large.
        """
        path = self.resolve(name)
        try:
            if not path.is_file():
                what = "is a folder" if path.is_dir() else "no such file"
                raise SandboxError(f"{what}: {name}")
            if path.stat().st_size > MAX_FILE_BYTES:
                raise SandboxError(f"file too large: {name}")
            return path.read_text("utf-8", "replace")
        except OSError as error:
            raise SandboxError(f"cannot read {name}: {error.strerror}") from error

    def find(self, name: str) -> str | None:
        """The text of a file, None where there is none to read."""
        try:
            return self.read(name)
        except SandboxError:
            return None

    def write(self, name: str, text: str) -> Path:
        """Write a file whole, making its folders.

        Raises:
            SandboxError: it leads out, or cannot be written.
        """
        path = self.resolve(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", "replace", newline="")
        except OSError as error:
            raise SandboxError(f"cannot write {name}: {error.strerror}") from error
        return path
