"""A template as text: what is written is what is read, and a mistake is named with its line."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.template_cases import make_template, templates
from warmstart.model.template import Guidance, Template
from warmstart.template import (
    TemplateError,
    TemplateTextError,
    format_text,
    parse_text,
    template_id,
)

ONE = make_template()
LESSON = '[[guidance]]\ntool = "terminal"\ntext = "Call `bun run test`; `rtk bun run` fails."\n'


@given(templates())
def test_reading_what_was_written_gives_the_same_template(template: Template) -> None:
    again = parse_text(format_text(template), template)
    assert again == template
    assert template_id(again) == template_id(template)


@pytest.mark.parametrize(
    "text",
    ["it's", "'''", 'a "b"', "a\\b", "two\nlines", "ends '", "tab\t", "\r\n", "\x00\x7f", ""],
)
def test_any_text_survives(text: str) -> None:
    template = Template(name="x", description=text, system_context=f"first\n{text}")
    assert parse_text(format_text(template), template) == template


def test_a_lesson_is_three_lines() -> None:
    written = parse_text(LESSON, Template(name="shop"))
    line = Guidance(tool="terminal", text="Call `bun run test`; `rtk bun run` fails.", calls=0,
                    errors=0)  # fmt: skip
    assert written == Template(name="shop", guidance=(line,))


def test_arguments_may_be_a_table_too() -> None:
    text = '[[examples]]\ntool = "t"\nresult = "ok"\n[examples.arguments]\ncommand = "ls"\n'
    (example,) = parse_text(text, Template(name="x")).examples
    assert example.arguments == {"command": "ls"}


def test_what_was_counted_from_sessions_is_kept() -> None:
    text = format_text(ONE).replace("read the lines before you patch", "read first")
    edited = parse_text(text, ONE)
    assert edited.guidance[0].text == "read first"
    assert (edited.arguments, edited.provenance) == (ONE.arguments, ONE.provenance)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('description = "open', 1, "not valid TOML"),
        ("a = 1\na = 2", 2, "not valid TOML"),
        ('description = "x"\ntags = ["ok", ""]', 2, "tags[1]: may not be empty"),
        (f'{LESSON}\n{LESSON}wrong = "x"', 8, "guidance[1]: the field 'wrong' is unknown"),
        ("descripton = 'x'", 1, "the field 'descripton' is unknown"),
        ("[user]\nstil = 'x'", 2, "user: the field 'stil' is unknown"),
        (f"{LESSON}\n[[guidance]]\ntool = 5\ntext = ''", 6, "guidance[1].tool: must be text"),
        ('[[examples]]\ntool = "t"\n', 1, "arguments is missing"),
        ("[[examples]]\ntool = 't'\nresult = ''\narguments = '{1'", 4, "not valid JSON"),
        ("[[examples]]\ntool = 't'\nresult = ''\narguments = 2020-01-01", 4, "must be an object"),
        ("\n[provenance]\nsessions = 9", 2, "counted from sessions"),
        ('name = "other"', 1, "must stay 'x'"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(TemplateTextError) as caught:
        parse_text(text, Template(name="x"))
    assert caught.value.line == line
    assert caught.value.message.startswith(f"line {line}: ")
    assert words in caught.value.message


def test_an_unknown_field_is_answered_with_those_there_are() -> None:
    with pytest.raises(TemplateTextError) as caught:
        parse_text(LESSON.replace("text", "txt"), Template(name="x"))
    assert caught.value.hint == "the fields here are tool, text, calls, errors"


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(TemplateError):
        parse_text(text, Template(name="x"))


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(TemplateError):
        parse_text("x = " + "[" * 5000 + "]" * 5000, Template(name="x"))
