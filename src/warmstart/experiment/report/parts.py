"""HTML from parts. Whatever is no ``Html`` is escaped, so foreign text can never become markup.

The page is self-contained: styles inline, plots as inline SVG, no script, and a content policy
that forbids loading anything. It follows the reader's light or dark setting and prints well.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from warmstart.present.style import STYLE

__all__ = [
    "Html",
    "build_page",
    "callout",
    "cards",
    "columns",
    "details",
    "escape",
    "figure",
    "legend",
    "listing",
    "note",
    "paragraph",
    "section",
    "table",
]

_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\u2028\u2029\ud800-\udfff\ufffe\uffff]"
)


class Html(str):
    """Text that is markup already. Only this package and its callers' own words become one."""

    __slots__ = ()


def escape(text: object) -> Html:
    """Text as markup: special characters escaped, controls and direction marks made visible."""
    if isinstance(text, Html):
        return text
    return Html(html.escape(_UNSEEN.sub("\N{REPLACEMENT CHARACTER}", str(text)), quote=True))


def _join(parts: Iterable[object]) -> Html:
    return Html("".join(map(escape, parts)))


def build_page(
    title: str, subtitle: str | Sequence[str], parts: Iterable[Html], footer: str = ""
) -> str:
    """A whole document; a subtitle of several texts has a line for each."""
    under = [subtitle] if isinstance(subtitle, str) else subtitle
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
        " style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<header><h1>{escape(title)}</h1><p class="sub">{Html("<br>").join(map(escape, under))}'
        "</p></header>\n"
        f"{_join(parts)}\n<footer>{escape(footer)}</footer>\n</main>\n</body>\n</html>\n"
    )


def section(title: str, *parts: object) -> Html:
    """A heading and what stands under it."""
    return Html(f"<section><h2>{escape(title)}</h2>{_join(parts)}</section>\n")


def paragraph(text: object) -> Html:
    """A paragraph."""
    return Html(f"<p>{escape(text)}</p>")


def note(text: object) -> Html:
    """A remark in small print."""
    return Html(f'<p class="note">{escape(text)}</p>')


def callout(tone: str, label: str, text: object) -> Html:
    """The answer to a question: a word and the sentence it stands for.

    ``tone`` is good, bad or open.
    """
    return Html(
        f'<div class="callout {escape(tone)}"><strong>{escape(label)}</strong>'
        f"<p>{escape(text)}</p></div>"
    )


def cards(items: Iterable[tuple[str, str, str]]) -> Html:
    """Key figures: value, what it is, and a line of detail."""
    made = "".join(
        f'<div class="card"><div class="value">{escape(value)}</div>'
        f'<div class="label">{escape(label)}</div><div class="detail">{escape(detail)}</div></div>'
        for value, label, detail in items
    )
    return Html(f'<div class="cards">{made}</div>')


def columns(*parts: object) -> Html:
    """Parts side by side where there is room."""
    return Html(f'<div class="columns">{"".join(f"<div>{escape(p)}</div>" for p in parts)}</div>')


def figure(plot: Html, caption: object) -> Html:
    """A plot with the sentence that says how to read it."""
    return Html(f"<figure>{plot}<figcaption>{escape(caption)}</figcaption></figure>")


def details(summary: str, *parts: object, folded: bool = False) -> Html:
    """Something that may be folded away."""
    state = "" if folded else " open"
    return Html(f"<details{state}><summary>{escape(summary)}</summary>{_join(parts)}</details>")


def listing(items: Iterable[object]) -> Html:
    """Points one under the other."""
    return Html(f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>")


def legend(names: Iterable[str]) -> Html:
    """Which colour is whose, in the order of the series."""
    marks = "".join(
        f'<span class="c{index % 6}"><i></i>{escape(name)}</span>'
        for index, name in enumerate(names)
    )
    return Html(f'<div class="legend">{marks}</div>')


def table(names: Sequence[str], rows: Iterable[Sequence[object]], *, text_columns: int = 1) -> Html:
    """A table; all but the first ``text_columns`` are numbers."""

    def cell(tag: str, index: int, value: object) -> str:
        kind = "" if index < text_columns else ' class="num"'
        return f"<{tag}{kind}>{escape(value)}</{tag}>"

    head = "".join(cell("th", index, name) for index, name in enumerate(names))
    body = "".join(
        f"<tr>{''.join(cell('td', index, value) for index, value in enumerate(row))}</tr>"
        for row in rows
    )
    whole = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return Html(f'<div class="scroll">{whole}</div>')
