"""What holds for every text: planted secrets go, nothing breaks, twice is once."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redact.planted import SHAPES, is_gone, plant, random_word
from warmstart.redact import Redactor, redact, redact_value
from warmstart.redact.keys import _runs

SURROUNDINGS = st.sampled_from(
    ["{}", "see {} there", '"{}"', "'{}'", "`{}`", "({})", "[{}]", "key={}&x=1", "a: {}\n", "> {}",
     "\t{}\t", "<b>{}</b>", "https://h/p?t={}#f", "x={};", "{},{{", "\x1b[31m{}\x1b[0m", "é{}ü"]
)  # fmt: skip
SECRETS = st.builds(plant, st.sampled_from(sorted(SHAPES)), st.integers(0, 10_000))
TELLING = st.sampled_from(
    'password= token: api_key= secret=@--password @export;DB_PASSWORD= "client_secret":@'
    "authorization:@bearer@://u:p@AKIA ghp_ sk- eyJ -----BEGIN@PRIVATE@KEY----- <SECRET:token:1> "
    "<HOME> /home/ @b.com \\u002d \\n %20 &quot; value is pass".replace("@", " ").split(" ")
)
NOISE = st.text(max_size=60) | TELLING | st.text("aB3-_./=:@\"'\\<> \n", max_size=30)
MESSES = st.lists(NOISE, max_size=12).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | MESSES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MESSES, inner, max_size=3),
    max_leaves=8,
)


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return [shape(inner) for inner in value.values()]
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return type(value)


@given(SECRETS, SURROUNDINGS, st.text(max_size=40), st.integers(0, 3))
@settings(max_examples=200)
def test_a_planted_secret_never_survives(secret: str, around: str, noise: str, depth: int) -> None:
    text = noise + "\n" + around.format(secret) + "\n" + noise
    for _ in range(depth):
        text = json.dumps({"x": text})
    assert is_gone(secret, redact(text).text)


@given(MESSES, st.booleans())
@settings(max_examples=300)
def test_redacting_twice_changes_nothing(text: str, pii: bool) -> None:  # noqa: FBT001
    once = redact(text, pii=pii).text
    assert redact(once, pii=pii).text == once


@given(MESSES, SECRETS)
def test_the_same_texts_give_the_same_placeholders(text: str, secret: str) -> None:
    texts = [text, f"{secret} {text}", secret]
    assert [*map(Redactor().text, texts)] == [*map(Redactor().text, texts)]


@given(JSON)
@settings(max_examples=150)
def test_json_keeps_its_structure(value: Any) -> None:
    assert shape(redact_value(value, pii=True)) == shape(value)


@given(st.dictionaries(st.text(max_size=8), SECRETS | st.text(max_size=20), max_size=4))
def test_redacted_json_text_is_still_json(value: dict[str, str]) -> None:
    for text in (json.dumps(value), json.dumps({"inner": json.dumps(value)})):
        assert isinstance(json.loads(redact(text, pii=True).text), dict)


@given(st.text(min_size=8, max_size=30).filter(lambda t: t.strip("\\ ") == t), st.text(max_size=20))
def test_a_known_value_never_survives(value: str, noise: str) -> None:
    text = f"{noise} {value} {noise}"
    assert value not in redact(text, known=[value]).text


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_every_shape_is_named_by_its_kind(kind: str) -> None:
    assert redact(f"x {plant(kind, 1)} y").found == {kind: 1}


def test_one_value_has_one_placeholder_in_all_texts() -> None:
    redactor, secret = Redactor(), plant("npm", 3)
    first, second = redactor.text(f"use {secret}"), redactor.text(f"{secret} again")
    assert (first, second) == ("use <SECRET:npm:1>", "<SECRET:npm:1> again")
    assert redactor.text(plant("npm", 4)) == "<SECRET:npm:2>"


def test_a_value_told_once_goes_where_nothing_tells() -> None:
    value = random_word(5)
    assert redact(f"password={value}\nthen typed {value} twice").found == {"password": 2}


@given(st.text(alphabet="aZ0_-. é\ud800€", max_size=120))
def test_runs_are_those_of_the_expression(text: str) -> None:
    runs = [match.span() for match in re.finditer(r"[A-Za-z0-9_-]{16,}", text)]
    assert list(_runs(text)) == runs
