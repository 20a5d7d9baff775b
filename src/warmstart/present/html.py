"""Documents as one self-contained HTML page: no script, no network, everything escaped.

Text reaches the page only through the template, which escapes it and makes control and direction
characters visible. The page carries a content policy that forbids loading anything, follows the
reader's light or dark setting, prints well, and works at 400 pixels. jinja2 is loaded with the
first page.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from warmstart._version import __version__
from warmstart.present.document import (
    Block,
    Callout,
    Column,
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
from warmstart.present.style import STYLE
from warmstart.present.svg import NARROW, WIDE
from warmstart.present.text import replace_unseen

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["write_html"]

KINDS: dict[type[Block], str] = {
    Heading: "heading",
    Text: "text",
    Excerpt: "excerpt",
    Table: "table",
    Figures: "figures",
    Facts: "facts",
    Plot: "plot",
    Callout: "callout",
    Listing: "listing",
    Details: "details",
    NextSteps: "steps",
    Data: "data",
}
TAGS = {"code": "code", "strong": "b"}
CLASSES = {"muted": "muted", "good": "tone-good", "bad": "tone-bad", "warn": "tone-warn"}
MAX_INDENT = 8
OPTIONAL_FROM = 3
"""Columns of this priority and above are not shown on a phone."""

TEMPLATE = """\
{%- macro inline(content) -%}
{%- for text, tag, kind in content | spans -%}
{%- if tag -%}<{{ tag }}{% if kind %} class="{{ kind }}"{% endif %}>{{ text }}</{{ tag }}>
{%- else -%}{{ text }}{%- endif -%}
{%- endfor -%}
{%- endmacro -%}
{%- macro show(block) -%}
{%- set kind = block | kind -%}
{%- if kind == 'heading' -%}
<h2>{{ block.text }}</h2>{% if block.detail %}<p class="note">{{ block.detail }}</p>{% endif %}
{%- elif kind == 'text' and block.content -%}
<p{% if 'muted' in block.style %} class="note"{% endif %}\
{% if block.indent %} style="margin-left:{{ block | indent_em }}em"{% endif %}>\
{% if 'strong' in block.style %}<b>{{ inline(block.content) }}</b>\
{% else %}{{ inline(block.content) }}{% endif %}</p>
{%- elif kind == 'excerpt' -%}
<pre{% if 'muted' in block.style %} class="muted"{% endif %}\
{% if block.indent %} style="margin-left:{{ block | indent_em }}em"{% endif %}>\
{{ block.text }}</pre>
{%- elif kind == 'table' -%}
<div class="scroll"><table><thead><tr>
{%- for column in block.columns -%}
<th{{ column | column_class }}>{{ column.name }}</th>{% endfor %}</tr></thead><tbody>
{%- for row in block.rows %}
<tr>{% for cell in row -%}
<td{{ block.columns[loop.index0] | column_class }}>{{ inline(cell) }}</td>{% endfor %}</tr>
{%- endfor %}
</tbody></table></div>
{%- for remark in (block.more, block.caption) if remark %}
<p class="note">{{ remark }}</p>{% endfor %}
{%- elif kind == 'figures' -%}
<div class="cards">{% for value, label, detail, tone in block['items'] %}
<div class="card {{ tone }}"><div class="value">{{ value }}</div>\
<div class="label">{{ label }}</div><div class="detail">{{ detail }}</div></div>{% endfor %}</div>
{%- elif kind == 'facts' -%}
<dl>{% for name, value in block['items'] %}<dt>{{ name }}</dt><dd>{{ inline(value) }}</dd>\
{% endfor %}</dl>
{%- elif kind == 'plot' -%}
<figure class="paired">{% if block.legend %}<div class="legend">\
{% for name in block.legend %}<span class="c{{ loop.index0 % 6 }}"><i></i>{{ name }}</span>\
{% endfor %}</div>{% endif %}
<div class="desk">{{ block | svg(wide) }}</div><div class="phone">{{ block | svg(narrow) }}</div>
{% if block.caption %}<figcaption>{{ block.caption }}</figcaption>{% endif %}</figure>
{%- elif kind == 'callout' -%}
<div class="callout {{ block.tone }}"><strong>{{ block.label }}</strong>\
<p>{{ inline(block.content) }}</p></div>
{%- elif kind == 'listing' -%}
<ul>{% for item in block['items'] %}<li>{{ inline(item) }}</li>{% endfor %}</ul>
{%- elif kind == 'details' -%}
<details><summary>{{ block.summary }}</summary>
{% for inner in block.blocks %}{{ show(inner) }}
{% endfor %}</details>
{%- elif kind == 'steps' -%}
<h2>Next</h2><ul class="steps">{% for command, why in block.commands %}
<li><code>{{ command }}</code> {{ why }}</li>{% endfor %}</ul>
{%- endif -%}
{%- endmacro -%}
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{ document.title or 'warmstart' }}</title>
<style>{{ style }}</style>
</head>
<body>
<main>
<header><h1>{{ document.title or 'warmstart' }}</h1><p class="sub">\
{% for line in document.about %}{{ line }}{% if not loop.last %}<br>{% endif %}{% endfor %}</p>
</header>
{% for block in document.blocks %}{{ show(block) }}
{% endfor %}
<footer>{{ document.footer or 'Made by warmstart ' + version + '.' }}</footer>
</main>
</body>
</html>
"""


def write_html(document: Document) -> str:
    """The document as a whole page."""
    return _load_template().render(document=document)


@cache
def _load_template() -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 - 60 ms that only pages pay
    from markupsafe import Markup  # noqa: PLC0415 - same

    def make_visible(value: Any) -> Any:
        plain = isinstance(value, str) and not isinstance(value, Markup)
        return replace_unseen(value) if plain else value

    def draw(block: Plot, width: int) -> Markup:
        return Markup(block.draw(width=width))  # noqa: S704 - plots escape their own text

    environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=make_visible)
    environment.filters |= {
        "spans": _list_spans,
        "kind": lambda block: KINDS[type(block)],
        "svg": draw,
        "column_class": lambda column: Markup(_name_column(column)),  # noqa: S704 - our own words
        "indent_em": lambda block: min(block.indent, MAX_INDENT) / 2,
    }
    environment.globals |= {
        "style": Markup(STYLE),  # noqa: S704 - our own text
        "wide": WIDE,
        "narrow": NARROW,
        "version": __version__,
    }
    return environment.from_string(TEMPLATE)


def _list_spans(content: Inline) -> list[tuple[str, str, str]]:
    """Each stretch of text with the element and the class it is shown by."""
    parts = [content] if isinstance(content, str | StyledText) else content
    return [_dress(part if isinstance(part, StyledText) else StyledText(part)) for part in parts]


def _dress(span: StyledText) -> tuple[str, str, str]:
    words = span.style.split()
    kinds = [CLASSES[word] for word in words if word in CLASSES]
    tag = next((TAGS[word] for word in words if word in TAGS), "span" if kinds else "")
    return span.text, tag, " ".join(kinds)


def _name_column(column: Column) -> str:
    kinds = ["num"] if column.right else []
    kinds += ["optional"] if column.priority >= OPTIONAL_FROM else []
    return f' class="{" ".join(kinds)}"' if kinds else ""
