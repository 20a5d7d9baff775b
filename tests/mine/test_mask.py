"""Masking before mining: every text, whole, and nothing that holds no secret is made anew."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from support.mining import make_shop, make_worked
from support.planting import Planter, find_leaks, make_steps
from warmstart.facts import CUT, OPENING_CHARS, derive_facts
from warmstart.mine.mask import mask_facts, mask_sessions
from warmstart.model import Marker, MarkerKind, Message, Request, Role, Session
from warmstart.redact import Redactor


def shown(session: Session) -> str:
    return json.dumps(msgspec.to_builtins(session))


def test_a_session_without_secrets_keeps_its_very_messages_and_calls() -> None:
    session = make_shop()[0]
    masked = mask_sessions([session], Redactor())[0]
    assert all(map(lambda one, other: one is other, masked.messages, session.messages))
    assert all(map(lambda one, other: one is other, masked.calls, session.calls))


def test_a_call_holds_the_masked_request_and_result_of_its_messages() -> None:
    secret = Planter(4).self_telling("command", "github_pat")
    session = make_worked("one", [("Bash", {"command": f"push {secret}"}, f"ok {secret}", False)])
    masked = mask_sessions([session], Redactor())[0]
    call = masked.calls[0]
    assert call.request is masked.messages[1].requests[0]
    assert call.result is masked.messages[2].results[0]
    assert call.request.arguments == {"command": "push <SECRET:github_pat:1>"}
    assert call.outcome == session.calls[0].outcome


def test_reasoning_and_arguments_that_cannot_be_looked_through_are_left_out() -> None:
    odd = Request(tool="t", id="c", arguments={"x": {"y": {1, 2}}})
    message = Message(role=Role.ASSISTANT, text="hm", reasoning="think", requests=(odd,))
    session = replace(make_worked("one", []), messages=(message,))
    masked = mask_sessions([session], Redactor())[0].messages[0]
    assert (masked.text, masked.reasoning, masked.requests[0].arguments) == ("hm", "", {})


def test_what_one_message_tells_goes_from_the_messages_before_it_at_sealing_only() -> None:
    """Masking goes forward; what is told later is known when the template is sealed."""
    value = Planter(6).random("told later", 30)
    steps = [("Bash", {"command": f"echo {value}"}, "ok", False),
             ("Bash", {"command": "env"}, f"DB_PASSWORD={value}", False),
             ("Bash", {"command": f"echo {value}"}, "ok", False)]  # fmt: skip
    redactor = Redactor()
    masked = mask_sessions([make_worked("one", steps)], redactor)[0]
    assert value not in shown(replace(masked, messages=masked.messages[3:], calls=()))
    assert value not in redactor.text(f"echo {value}")


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000))
def test_no_text_of_a_masked_session_holds_a_secret(seed: int) -> None:
    plant = Planter(seed)
    session = make_worked("one", make_steps(plant, "/srv/shop", 1), asked=plant.self_telling("ask"),
                          title=f"Cart {plant.self_telling('title')}",
                          project=f"/srv/{plant.self_telling('project')}")  # fmt: skip
    masked = mask_sessions([session], Redactor())[0]
    # Names of tools and people are taken out when a template is sealed.
    secrets = [one for one in plant.planted if one.where not in ("tool name", "author")]
    assert not find_leaks(secrets, shown(masked))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), back=st.integers(0, 110))
def test_a_secret_across_the_end_of_an_opening_leaves_no_piece(seed: int, back: int) -> None:
    plant = Planter(seed)
    asked = ("fix it " * 200)[: OPENING_CHARS - back - 1] + " " + plant.self_telling("opening")
    facts = derive_facts(make_worked("one", [], asked=f"{asked}{' and more' * 20}"))
    assert facts.opening.endswith(CUT)
    assert not find_leaks(plant.planted, mask_facts([facts], Redactor())[0].opening)


@pytest.mark.parametrize("field", ["title", "project"])
def test_facts_are_masked_in_every_field_they_quote(field: str) -> None:
    plant = Planter(8)
    marker = Marker(MarkerKind.URL, f"https://h/bot{plant.self_telling('url', 'telegram')}/x", 2)
    facts = replace(
        derive_facts(make_shop()[0]), markers=(marker,), **{field: f"x {plant.self_telling('f')}"}
    )
    masked = mask_facts([facts], Redactor())[0]
    assert masked.markers[0].uses == 2
    assert not find_leaks(plant.planted, json.dumps(msgspec.to_builtins(masked)))
