from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from warmstart.report.page import (
    Html,
    build_page,
    callout,
    cards,
    columns,
    details,
    escape,
    figure,
    note,
    paragraph,
    section,
    table,
)
from warmstart.report.svg import Mark, draw_bars, draw_forest, draw_line


class Tags(HTMLParser):
    """Collects the elements of a page, its text, and whatever would load something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "srcset", "data", "action") or name.startswith("on"):
                self.loads.append(f"{name}={value}")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def parse(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    return tags


HOSTILE = "</style></svg><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\u202e\x00\ud800"


def whole_page(text: str) -> str:
    marks = [Mark(label=text, value=0.1, low=0.05, high=0.2, note=text)]
    return build_page(
        text,
        text,
        [
            cards([(text, text, text)]),
            section(text, paragraph(text), note(text), callout("open", text, text)),
            columns(text, figure(draw_line(marks, text), text)),
            figure(draw_bars(marks, text), text),
            figure(draw_forest(marks, text, zero=0.0, margin=0.1, ends=(text, text)), text),
            details(text, table([text], [[text]])),
        ],
        text,
    )


def test_hostile_text_never_becomes_markup() -> None:
    tags = parse(whole_page(HOSTILE))
    assert not {"script", "img", "iframe", "link"} & set(tags.tags)
    assert tags.loads == []
    assert tags.tags.count("style") == 1


@given(st.text(max_size=40))
def test_any_text_leaves_the_structure_as_it_is(text: str) -> None:
    assert parse(whole_page(text)).tags == parse(whole_page("plain")).tags
    whole_page(text).encode("utf-8")


def test_a_page_asks_for_nothing_from_elsewhere() -> None:
    page = whole_page("plain")
    assert "default-src 'none'" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_markup_is_escaped_once() -> None:
    assert escape("a<b") == "a&lt;b"
    assert escape(Html("<b>")) == "<b>"
    assert escape("\u202eabc") == "\N{REPLACEMENT CHARACTER}abc"


def test_numbers_stand_right_and_text_left() -> None:
    made = table(["name", "count"], [["x", "1"]])
    assert "<td>x</td>" in made
    assert '<td class="num">1</td>' in made
