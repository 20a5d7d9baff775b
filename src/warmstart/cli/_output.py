"""How every command puts out its result: data on stdout, everything else on stderr.

Commands hand a document here; what it looks like is the business of ``warmstart.present``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from warmstart.present import clean

if TYPE_CHECKING:
    from warmstart.app import ReadLog, Workspace
    from warmstart.present import Document

_Command = TypeVar("_Command", bound=Callable[..., Any])
JSON = click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
QUIET = click.option("--quiet", "-q", is_flag=True, help="Print nothing on stderr but errors.")
_FILE = click.Path(dir_okay=False, path_type=Path)
_PAGES = (
    click.option("--html", type=_FILE, metavar="FILE",
                 help="Write one self-contained page to send or keep."),
    click.option("--md", "markdown", type=_FILE, metavar="FILE", help="Write Markdown."),
    click.option("--force", is_flag=True, help="Replace FILE if it exists."),
)  # fmt: skip


def page_options(command: _Command) -> _Command:
    """Give a command ``--html``, ``--md`` and ``--force``: the fields of ``Pages``."""
    for option in reversed(_PAGES):
        command = option(command)
    return command


def put_out(document: Document, *, as_json: bool = False, details: bool = False) -> None:
    """A document on stdout: JSON, or text for a terminal or a pipe."""
    if as_json:
        from warmstart.present import write_json  # noqa: PLC0415 - one writer is enough

        write_bytes(write_json(document, indent=sys.stdout.isatty()))
        return
    from warmstart.present import write_document  # noqa: PLC0415 - same

    write_document(document, details=details)


class Pages(NamedTuple):
    """Files to write beside what is printed."""

    html: Path | None
    markdown: Path | None
    force: bool

    def __bool__(self) -> bool:
        """Whether there is any."""
        return self.html is not None or self.markdown is not None


def share(workspace: Workspace, document: Document) -> Document:
    """The document without secrets, home folders and names: fit to be sent as a page."""
    from warmstart.app import share_texts  # noqa: PLC0415 - loads redaction
    from warmstart.present import Data  # noqa: PLC0415 - only for pages

    shown = [block for block in document.blocks if not isinstance(block, Data)]
    return cast("Document", share_texts(workspace, replace(document, blocks=shown, data={})))


def write_pages(
    workspace: Workspace, pages: Pages, make: Callable[[], Document], *, quiet: bool
) -> None:
    """Write the files that were asked for, readable by their user alone.

    ``make`` returns the document without what is not fit to be sent; it is called at most once.
    """
    if not pages:
        return
    from warmstart.present import write_html, write_markdown  # noqa: PLC0415 - loads jinja2

    document = make()
    for path, write in ((pages.html, write_html), (pages.markdown, write_markdown)):
        if path is not None:
            data = write(document).encode("utf-8", "replace")
            workspace.write_file(path, [data], overwrite=pages.force)
            note(f"written: {path}", quiet=quiet)


def print_json(value: Any) -> None:
    """One JSON object on stdout, indented for a person at a terminal."""
    from warmstart.present import write_fields  # noqa: PLC0415 - keeps --help light

    write_bytes(write_fields(value, indent=sys.stdout.isatty()))


def write_bytes(data: bytes) -> None:
    """Bytes on stdout as they are."""
    sys.stdout.buffer.write(data)


def note(text: str, *, quiet: bool = False) -> None:
    """A line for the person, on stderr."""
    if not quiet:
        sys.stderr.write(clean(text) + "\n")
        sys.stderr.flush()


def report_skips(log: ReadLog, *, quiet: bool = False) -> None:
    """Report on stderr what could not be read."""
    for sentence in log.sentences():
        note(sentence, quiet=quiet)
