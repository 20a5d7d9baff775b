"""Whether the library still holds what was put into it. Nothing is repaired here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warmstart.errors import NotFoundError, WarmstartError
from warmstart.library.catalogue import UNKNOWN
from warmstart.library.files import FILE_MODE, FOLDER_MODE
from warmstart.library.model import Problem
from warmstart.store import TemplateRow

if TYPE_CHECKING:
    from warmstart.library.library import Library


def find_problems(library: Library) -> list[Problem]:
    """Read every file again and compare it with its name and its row."""
    names = library.files.list_names()
    if library.db is not None:
        names |= {row.name for row in library.db.list_template_rows()}
    problems = list(_check_folder(library))
    for name in sorted(names):
        problems += _check_template(library, name)
    return problems


def _check_folder(library: Library) -> Iterator[Problem]:
    if not library.folder.exists():
        return
    named = library.files.list_names()
    for path in sorted(library.folder.iterdir()):
        if path.name not in named:
            yield Problem(path.name, None, "is no template's folder")


def _check_template(library: Library, name: str) -> Iterator[Problem]:
    try:
        rows = library.list_rows(name)
    except WarmstartError as error:
        yield Problem(name, None, error.message)
        return
    for row in rows:
        yield from _check_version(library, row)
    for stranger in library.files.list_strangers(name):
        yield Problem(name, None, f"{stranger!r} does not belong there")
    folder = library.folder / name
    if folder.exists() and folder.stat().st_mode & 0o777 != FOLDER_MODE:
        yield Problem(name, None, "its folder is open to others")


def _check_version(library: Library, row: TemplateRow) -> Iterator[Problem]:
    try:
        stored = library.get(row.name, row.version)
    except NotFoundError as error:
        yield Problem(row.name, row.version, _with_hint("its file is gone", error))
        return
    except WarmstartError as error:
        yield Problem(row.name, row.version, _with_hint(error.message, error))
        return
    if row.reason == UNKNOWN:
        yield Problem(row.name, row.version, "the store does not know it; quarantined")
    if stored.path.stat().st_mode & 0o777 != FILE_MODE:
        yield Problem(row.name, row.version, "its file is open to others")


def _with_hint(text: str, error: WarmstartError) -> str:
    return f"{text}; {error.hint}" if error.hint else text
