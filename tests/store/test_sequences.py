"""Any sequence of appends, flushes and rewrites leaves what a plain list would hold."""

from __future__ import annotations

from typing import Any

import pytest  # noqa: TC002 - hypothesis reads the annotations
from hypothesis import given, settings
from hypothesis import strategies as st

from warmstart.store import SessionDB, TranscriptWriter

MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": st.none() | st.text()},
    optional={
        "platform_message_id": st.sampled_from("123"),
        "tool_calls": st.lists(st.fixed_dictionaries({"id": st.text()}), max_size=2),
        "reasoning": st.text(),
        "reasoning_details": st.recursive(
            st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
            lambda inner: (
                st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2)
            ),
            max_leaves=4,
        ),
    },
)
STEPS = st.lists(
    st.tuples(st.just("append"), st.lists(MESSAGES, min_size=1, max_size=3))
    | st.tuples(st.just("replace"), st.lists(MESSAGES, max_size=3))
    | st.tuples(st.just("clear"), st.just([])),
    max_size=8,
)
Message = dict[str, Any]


def key_of(message: Message) -> object:
    native = message.get("platform_message_id")
    return (message["role"], native) if native else None


class Model:
    """What the session should hold."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.keys: set[object] = set()

    def append(self, batch: list[Message]) -> None:
        for message in batch:
            if key_of(message) not in self.keys:
                self.add(message)

    def replace(self, batch: list[Message]) -> None:
        self.messages, self.keys = [], set()
        for message in batch:
            self.add(message)

    def add(self, message: Message) -> None:
        self.messages.append(message)
        self.keys |= {key_of(message)} - {None}


def check(db: SessionDB, steps: list[tuple[str, list[Message]]]) -> None:
    model = Model()
    for step, batch in steps:
        if step == "append":
            db.append_messages("s1", batch)
            model.append(batch)
        elif step == "replace":
            db.replace_messages("s1", batch)
            model.replace(batch)
        else:
            db.clear_messages("s1")
            model.replace([])
    stored = db.get_messages("s1")
    assert [
        {name: row[name] for name in message}
        for row, message in zip(stored, model.messages, strict=True)
    ] == model.messages
    assert db.verify().is_clean


@given(steps=STEPS)
def test_a_file_holds_what_a_list_would(
    tmp_path_factory: pytest.TempPathFactory, steps: Any
) -> None:
    with SessionDB(tmp_path_factory.mktemp("s") / "store.db") as db:
        check(db, steps)


@given(steps=STEPS)
@settings(max_examples=30)
def test_a_server_holds_what_a_list_would(schema: str, steps: Any) -> None:
    with SessionDB.open(schema) as db:
        db.delete_session("s1")
        check(db, steps)


@given(flushes=st.lists(st.integers(0, 12), max_size=10))
def test_however_often_a_writer_flushes_each_message_is_stored_once(
    tmp_path_factory: pytest.TempPathFactory, flushes: list[int]
) -> None:
    transcript = [{"role": "user", "content": str(number)} for number in range(12)]
    with SessionDB(tmp_path_factory.mktemp("w") / "store.db") as db:
        writer = TranscriptWriter(db, "s1", "cli")
        reached = 0
        for length in flushes:
            reached = max(reached, length)
            writer.flush(transcript[:reached])
        assert [row["content"] for row in db.get_messages("s1")] == [
            str(number) for number in range(reached)
        ]
        assert db.session_count() == int(reached > 0)
