"""Documents as Markdown, for issues, pull requests and notes.

Foreign text is escaped, so it can neither become markup nor leave its table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import singledispatch

from warmstart.present.document import (
    Block,
    Callout,
    Data,
    Details,
    Document,
    Excerpt,
    Facts,
    Figures,
    Heading,
    Inline,
    Listing,
    NextSteps,
    Plot,
    StyledText,
    Table,
    Text,
)
from warmstart.present.text import clean

__all__ = ["write_markdown"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")
_MARKER = re.compile(r"^(\s*\d*)([-+.])(?=\s)")


def write_markdown(document: Document) -> str:
    """The document as Markdown text."""
    lines = [f"# {escape(document.title)}", ""] if document.title else []
    for line in document.about:
        lines += [f"{escape(line)}  "]
    lines += [""] if document.about else []
    lines += _write_all(document.blocks)
    if document.footer:
        lines += ["---", "", escape(document.footer), ""]
    text = "\n".join(lines)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _MARKER.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", clean(text).replace("\n", " ")))


def _code(text: str) -> str:
    """Text as code, whatever backticks it holds."""
    flat = clean(text).replace("\n", " ")
    longest = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {flat} {fence}" if longest else f"`{flat}`"


def _inline(content: Inline) -> str:
    parts = [content] if isinstance(content, str | StyledText) else content
    made = []
    for part in parts:
        span = part if isinstance(part, StyledText) else StyledText(part)
        if "code" in span.style.split():
            made.append(_code(span.text))
        elif "strong" in span.style.split() and span.text.strip():
            made.append(f"**{escape(span.text.strip())}**")
        else:
            made.append(escape(span.text))
    return "".join(made)


def _write_all(blocks: Iterable[Block]) -> list[str]:
    return [line for block in blocks for line in _write(block)]


@singledispatch
def _write(block: Block) -> Iterator[str]:
    """The lines of one block."""
    raise TypeError(f"no Markdown form of {type(block).__name__}")


@_write.register
def _(block: Heading) -> Iterator[str]:
    yield from ("", f"## {escape(block.text)}", "")
    if block.detail:
        yield from (f"*{escape(block.detail)}*", "")


@_write.register
def _(block: Text) -> Iterator[str]:
    yield from (_inline(block.content), "")


@_write.register
def _(block: Excerpt) -> Iterator[str]:
    yield ""
    yield from (f"    {line}" for line in clean(block.text.strip("\n")).splitlines())
    yield ""


@_write.register
def _(block: Table) -> Iterator[str]:
    yield ""
    yield f"| {' | '.join(escape(column.name) for column in block.columns)} |"
    yield f"|{'|'.join(' ---: ' if column.right else ' --- ' for column in block.columns)}|"
    for row in block.rows:
        yield f"| {' | '.join(_inline(cell) for cell in row)} |"
    yield ""
    for remark in filter(None, (block.more, block.caption)):
        yield from (escape(remark), "")


@_write.register
def _(block: Figures) -> Iterator[str]:
    for value, label, detail, _tone in block.items:
        rest = f" ({escape(detail)})" if detail else ""
        yield f"- **{escape(value)}** {escape(label)}{rest}"
    yield ""


@_write.register
def _(block: Facts) -> Iterator[str]:
    yield from (f"- {escape(name)}: {_inline(value)}" for name, value in block.items)
    yield ""


@_write.register
def _(block: Plot) -> Iterator[str]:
    if block.fallback:
        yield from (_code(block.fallback), "")
    if block.fallback and block.caption:
        yield from (escape(block.caption), "")


@_write.register
def _(block: Callout) -> Iterator[str]:
    yield from ("", f"> **{escape(block.label)}**", f"> {_inline(block.content)}", "")


@_write.register
def _(block: Listing) -> Iterator[str]:
    yield from (f"- {_inline(item)}" for item in block.items)
    yield ""


@_write.register
def _(block: Details) -> Iterator[str]:
    yield from ("", f"### {escape(block.summary)}", "")
    yield from _write_all(block.blocks)


@_write.register
def _(block: NextSteps) -> Iterator[str]:
    yield from ("", "## Next", "")
    yield from (f"- {_code(command)}: {escape(why)}" for command, why in block.commands)
    yield ""


@_write.register
def _(block: Data) -> Iterator[str]:
    del block
    return iter(())
