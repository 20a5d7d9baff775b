"""The redactor as an object: JSON values, known values, people, and refusing to run."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest

from redact.planted import is_gone, plant, random_word
from warmstart.redact import RedactionError, Redactor, redact, redact_value
from warmstart.redact import redactor as module

OWN = "correct-Horse/battery+9"


def test_nothing_printed_holds_a_value() -> None:
    secret = plant("npm", 1)
    redactor = Redactor([OWN], users=["zelda"])
    shown = repr(redact(f"{secret} x")) + repr(redactor) + str(redactor.found)
    assert "npm" in shown
    assert is_gone(secret, shown)
    assert OWN not in shown


@pytest.mark.parametrize("value", [None, b"x", 3, ["x"]])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(RedactionError):
        redact(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [{"a": b"x"}, [object()], {1: "x"}, {"a": {"b": {3}}}])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(RedactionError) as caught:
        redact_value(value)
    assert "x" not in caught.value.message.replace("cannot redact a", "")


def test_what_is_nested_too_deep_is_refused() -> None:
    value: object = plant("npm", 1)
    for _ in range(5000):
        value = [value]
    with pytest.raises(RedactionError):
        redact_value(value)


def test_what_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CHARACTERS", 10)
    with pytest.raises(RedactionError):
        redact("a" * 11)


def test_a_known_value_that_is_no_text_is_refused() -> None:
    with pytest.raises(RedactionError):
        Redactor([3])  # type: ignore[list-item]


def test_fields_tell_what_their_values_are() -> None:
    value = {"password": "Tr0ub4dor&3x", "note": "Tr0ub4dor", "max_tokens": "4096000000"}
    assert redact_value(value) == {**value, "password": "<SECRET:password:1>"}


def test_a_name_beside_a_value_tells() -> None:
    value = [{"name": "API_TOKEN", "value": random_word(1)}, {"name": "PORT", "value": "8080"}]
    clean = redact_value(value)
    assert clean[0]["value"] == "<SECRET:token:1>"
    assert clean[1] == value[1]


def test_a_flag_tells_about_the_next_argument() -> None:
    clean = redact_value(["tool", "--password", "Kx9hunter", "--verbose", "Kx9hunter8"])
    assert clean == ["tool", "--password", "<SECRET:password:1>", "--verbose", "Kx9hunter8"]


def test_keys_are_redacted_and_none_is_lost() -> None:
    secret = plant("npm", 1)
    clean = redact_value({secret: 1, "/home/ann/x": 2, "/home/bob/x": 3}, pii=True)
    assert list(clean.values()) == [1, 2, 3]
    assert set(clean) == {"<SECRET:npm:1>", "<HOME>/x", "<HOME>/x'"}


def test_json_in_a_string_is_redacted_inside() -> None:
    inner = json.dumps({"password": "Tr0ub4dor&3x", "n": 1})
    clean = redact_value({"arguments": inner})
    assert json.loads(clean["arguments"]) == {"password": "<SECRET:password:1>", "n": 1}


@pytest.mark.parametrize(
    "written",
    [OWN, json.dumps(f"é{OWN}"), quote(OWN, safe=""), base64.b64encode(OWN.encode()).decode()],
)
def test_a_known_value_goes_in_every_dress(written: str) -> None:
    clean = redact(f"see {written}", known={"MY_VALUE": OWN})
    assert clean.found == {"env": 1}
    assert "battery" not in clean.text


def test_short_known_values_are_not_looked_for() -> None:
    assert redact("a short one", known=["short"]).text == "a short one"


def test_known_values_leave_no_half_escape() -> None:
    text = json.dumps({"x": "a\nnewvalue77"})
    assert json.loads(redact(text, known=["newvalue77"]).text)


def test_new_numbers_start_after_those_in_the_text() -> None:
    text = f"<SECRET:npm:4> and {plant('npm', 1)}"
    assert redact(text).text == "<SECRET:npm:4> and <SECRET:npm:5>"


PEOPLE = [
    ("mail bob.k@corp.io now", "mail <EMAIL:1> now"),
    ("call +49 30 1234567 or (555) 123-4567", "call <PHONE:1> or <PHONE:2>"),
    ("/home/zelda/src and /Users/zelda/src", "<HOME>/src and <HOME>/src"),
    (r"C:\Users\zelda\src", r"<HOME>\src"),
    (r'{"p":"C:\\Users\\zelda\\src"}', r'{"p":"<HOME>\\src"}'),
    (r'{"p":"a\nC:\\Users\\zelda\\src"}', r'{"p":"a\n<HOME>\\src"}'),
    ("/mnt/c/Users/zelda/x", "<HOME>/x"),
    ("file:///home/zelda/x by Zelda", "file://<HOME>/x by <USER:1>"),
    ("projects/-Users-zelda-shop/x", "projects/-Users-<USER:1>-shop/x"),
    (r"\nbob@corp.io", r"\n<EMAIL:1>"),
]


@pytest.mark.parametrize(("text", "wanted"), PEOPLE)
def test_people_go_when_asked(text: str, wanted: str) -> None:
    assert redact(text, pii=True).text == wanted
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text",
    ["git@github.com:a/b", "a@example.com", "icon@2x.png", "pkg@1.2.3", "@app.route", "10.0.0.1",
     "2026-01-02", "1234567890", "see ~/x", "/usr/home", "root and ubuntu", "/Users/Shared/x"],
)  # fmt: skip
def test_what_is_no_person_stays(text: str) -> None:
    assert redact(text, pii=True).text == text


def test_own_names_and_home_go() -> None:
    redactor = Redactor(pii=True, users=["zelda", "dev"], hosts=["tower9"], homes=["/srv/zhome"])
    assert redactor.text("zelda@tower9 /srv/zhome/x dev") == "<USER:1>@<HOST:1> <HOME>/x dev"
    assert redactor.found == {"home": 1, "host": 1, "user": 1}


def test_names_can_be_learned_before_the_first_text() -> None:
    redactor = Redactor(pii=True)
    redactor.learn("cwd /home/zelda/x")
    assert redactor.text("hello zelda") == "hello <USER:1>"
    assert redactor.text("Zeldas") == "Zeldas"


def test_a_text_known_to_be_clean_is_looked_at_again_once_more_is_known() -> None:
    value, redactor = random_word(21, 30), Redactor()
    assert redactor.text(f"log {value}") == f"log {value}"
    assert is_gone(value, redactor.text(f"password={value}"))
    assert is_gone(value, redactor.text(f"log {value}"))


def test_a_name_learned_later_goes_from_a_text_that_was_clean() -> None:
    redactor = Redactor(pii=True)
    assert redactor.text("ask zelda") == "ask zelda"
    redactor.text("/home/zelda/shop")
    assert "zelda" not in redactor.text("ask zelda")


def test_what_is_clean_without_people_is_not_clean_with_them() -> None:
    redactor = Redactor(pii=True)
    text = "write to jo.doe@shop.net"
    assert redactor.without_people().text(text) == text
    assert "jo.doe" not in redactor.text(text)
    assert redactor.without_people().text(text) == text


def test_a_clean_text_is_counted_never_and_a_secret_every_time() -> None:
    redactor, secret = Redactor(), plant("npm", 3)
    for _ in range(3):
        redactor.text("plain words")
        redactor.text(f"x {secret}")
    assert dict(redactor.found) == {"npm": 3}
