from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from support.badinput import damaged, read_all, retyped, survive, write
from warmstart.errors import SourceError
from warmstart.model import Compaction, Fate, Kind, Link, Role, Session, Status
from warmstart.sources import ReadLog
from warmstart.sources.probe import probe_path
from warmstart.sources.readers.opencode import Opencode
from warmstart.sources.registry import find_reader

START = 1_790_000_000_000
Entry = dict[str, Any]


def entry(number: int, role: str, *parts: dict[str, Any], **info: Any) -> Entry:
    message = f"msg_{number:03}"
    base = {"id": message, "sessionID": "ses_a", "role": role, "time": {"created": START + number}}
    return {
        "info": base | info,
        "parts": [
            {"id": f"prt_{number:03}_{n}", "messageID": message} | part
            for n, part in enumerate(parts)
        ],
    }


def text(value: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **fields}


def tool(call_id: str, name: str = "bash", **state: Any) -> dict[str, Any]:
    return {
        "type": "tool",
        "callID": call_id,
        "tool": name,
        "state": {"status": "completed", "input": {"command": "ls"}, "output": "a.txt"} | state,
    }


def export(*messages: Entry, **info: Any) -> dict[str, Any]:
    base = {
        "id": "ses_a",
        "projectID": "p1",
        "directory": "/home/dev/shop",
        "title": "Shop",
        "version": "1.2.3",
        "time": {"created": START, "updated": START + 9_000},
    }
    return {"info": base | info, "messages": list(messages)}


def to_export(folder: Path, *documents: dict[str, Any]) -> Path:
    for document in documents:
        name = f"{document['info']['id']}.json"
        path = write(folder, name, json.dumps(document, indent=2).encode())
    return path if len(documents) == 1 else folder


def to_database(folder: Path, *documents: dict[str, Any]) -> Path:
    path = folder / "opencode.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,"
            " version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER)"
        )
        database.execute(
            "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,"
            " time_updated INTEGER, data TEXT)"
        )
        database.execute(
            "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,"
            " time_created INTEGER, time_updated INTEGER, data TEXT)"
        )
        for document in documents:
            insert_session(database, document)
    return path


def insert_session(database: sqlite3.Connection, document: dict[str, Any]) -> None:
    info = document["info"]
    revert = json.dumps(info["revert"]) if "revert" in info else None
    row = [info["id"], info.get("parentID"), info["directory"], info["title"], info["version"],
           revert, info["time"]["created"], info["time"]["updated"]]  # fmt: skip
    database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    for message in document["messages"]:
        data = dict(message["info"])
        message_id = f"{data.pop('id')}{info['id'][3:]}"
        row = [message_id, info["id"], START, START, json.dumps(data)]
        database.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
        for part in message["parts"]:
            part_id = f"{part['id']}{info['id'][3:]}"
            row = [part_id, message_id, info["id"], START, START, json.dumps(part)]
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)


def to_storage(folder: Path, *documents: dict[str, Any]) -> Path:
    for document in documents:
        info = document["info"]
        session = info["id"]
        write(folder, f"storage/session/p1/{session}.json", json.dumps(info).encode())
        for message in document["messages"]:
            name = message["info"]["id"]
            data = json.dumps(message["info"]).encode()
            write(folder, f"storage/message/{session}/{name}.json", data)
            for part in message["parts"]:
                data = json.dumps(part).encode()
                write(folder, f"storage/part/{name}/{part['id']}.json", data)
    return folder


Store = Callable[..., Path]
STORES = pytest.mark.parametrize("store", [to_export, to_database, to_storage])
TALK = (
    entry(1, "user", text("list the files"), summary={"title": "List"}),
    entry(
        2,
        "assistant",
        {"type": "step-start"},
        {"type": "reasoning", "text": "use ls"},
        text("Looking."),
        tool("call_1", metadata={"exit": 3}),
        tool("call_2", "read", status="error", error="File not found: /x"),
        tool("call_3", status="running"),
        {"type": "step-finish", "tokens": {"input": 9}},
        modelID="m-1",
        providerID="acme",
        cost=0.5,
        tokens={"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 7, "write": 1}},
    ),
    entry(3, "assistant", text("Done."), modelID="m-1", cost=0.25),
)


def read(path: Path) -> list[Session]:
    sessions, log = read_all(Opencode(), path)
    assert log.total == 0
    return sessions


@STORES
def test_every_store_gives_the_same_session(tmp_path: Path, store: Store) -> None:
    (session,) = read(store(tmp_path, export(*TALK)))
    assert [m.role for m in session.messages] == [
        Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT,
    ]  # fmt: skip
    assert [m.text for m in session.messages] == ["list the files", "Looking.", "", "Done."]
    assert (session.id, session.model) == ("opencode:ses_a", "m-1")
    assert session.project == "/home/dev/shop"
    assert (session.title, session.agent_version, session.cost_usd) == ("Shop", "1.2.3", 0.75)


@STORES
def test_store_is_recognised(tmp_path: Path, store: Store) -> None:
    path = store(tmp_path, export(*TALK))
    assert isinstance(find_reader(probe_path(path)), Opencode)


def test_tool_state_fills_the_result(tmp_path: Path) -> None:
    (session,) = read(to_export(tmp_path, export(*TALK)))
    shell, file, running = (call.result for call in session.calls)
    assert shell is not None
    assert (shell.text, shell.is_error, shell.exit_code) == ("a.txt", False, 3)
    assert file is not None
    assert (file.text, file.is_error, file.exit_code) == ("File not found: /x", True, None)
    assert running is None


def test_an_interrupted_call_is_cancelled(tmp_path: Path) -> None:
    part = tool("c", status="error", error="Tool execution aborted", metadata={"interrupted": True})
    (session,) = read(to_export(tmp_path, export(entry(1, "assistant", part))))
    assert session.messages[1].results[0].status is Status.CANCELLED


def test_tokens_and_reasoning_come_from_the_message(tmp_path: Path) -> None:
    (session,) = read(to_export(tmp_path, export(*TALK)))
    assert (session.tokens.total, session.tokens.reasoning) == (23, 2)
    assert session.messages[1].reasoning == "use ls"


def test_synthetic_text_is_kept_apart_and_ignored_text_left_out(tmp_path: Path) -> None:
    said = entry(
        1,
        "user",
        text("read it"),
        {"type": "file", "filename": "a.txt"},
        text("Called the Read tool", synthetic=True),
        text("never sent", ignored=True),
    )
    (session,) = read(to_export(tmp_path, export(said)))
    assert [(m.text, m.kind) for m in session.messages] == [
        ("read it\n[file a.txt]", Kind.TURN),
        ("Called the Read tool", Kind.INJECTED),
    ]


def test_results_that_are_no_text_are_kept(tmp_path: Path) -> None:
    parts = [tool("a", output={"n": 1}), tool("b", output=None), tool("c", output=[text("t")])]
    (session,) = read(to_export(tmp_path, export(entry(1, "assistant", *parts))))
    assert [result.text for result in session.messages[1].results] == ['{"n":1}', "", "t"]


def test_a_call_id_used_twice_answers_each_call(tmp_path: Path) -> None:
    talk = [entry(n, "assistant", tool("bash:0", output=f"out {n}")) for n in (1, 2)]
    (session,) = read(to_export(tmp_path, export(*talk)))
    assert [c.result.text for c in session.calls if c.result] == ["out 1", "out 2"]


@STORES
def test_messages_stand_in_order_of_creation_though_ids_wrapped(
    tmp_path: Path, store: Store
) -> None:
    late = entry(1, "user", text("late"), time={"created": START + 500})
    early = entry(9, "user", text("early"), time={"created": START + 100})
    (session,) = read(store(tmp_path, export(early, late)))
    assert [message.text for message in session.messages] == ["early", "late"]


@STORES
def test_a_child_session_is_a_subagent(tmp_path: Path, store: Store) -> None:
    (session,) = read(store(tmp_path, export(parentID="ses_parent")))
    assert session.parent is not None
    assert session.parent.id == "opencode:ses_parent"
    assert session.parent.link is Link.SUBAGENT


def compacted(**part: Any) -> dict[str, Any]:
    return export(
        entry(1, "user", text("one")),
        entry(2, "assistant", tool("call_1")),
        entry(3, "user", text("two")),
        entry(4, "user", {"type": "compaction", **part}),
        entry(5, "assistant", text("So far."), summary=True, finish="stop"),
        entry(6, "user", text("Continue", synthetic=True)),
    )


def test_a_compaction_archives_what_stands_before_it(tmp_path: Path) -> None:
    (session,) = read(to_export(tmp_path, compacted(auto=True)))
    assert session.compactions == (Compaction(at=4, trigger="auto"),)
    assert [m.fate for m in session.messages] == [Fate.ARCHIVED] * 4 + [Fate.LIVE] * 2
    assert session.messages[4].kind is Kind.SUMMARY
    assert len(session.calls) == 1


def test_a_compaction_keeps_the_tail_it_names(tmp_path: Path) -> None:
    (session,) = read(to_export(tmp_path, compacted(auto=False, tail_start_id="msg_003")))
    assert session.compactions[0].trigger == "manual"
    assert [m.fate for m in session.messages] == [Fate.ARCHIVED] * 3 + [Fate.LIVE] * 3


def test_a_summary_without_its_part_is_a_compaction(tmp_path: Path) -> None:
    talk = [entry(1, "user", text("one")), entry(2, "assistant", text("So far."), summary=True)]
    (session,) = read(to_export(tmp_path, export(*talk)))
    assert session.compactions == (Compaction(at=1),)
    assert session.messages[0].fate is Fate.ARCHIVED


def test_a_compaction_that_never_got_its_summary_archives_nothing(tmp_path: Path) -> None:
    talk = [entry(1, "user", text("one")), entry(2, "user", {"type": "compaction"})]
    (session,) = read(to_export(tmp_path, export(*talk)))
    assert session.compactions == (Compaction(at=1),)
    assert session.messages[0].fate is Fate.LIVE


@pytest.mark.parametrize(
    ("revert", "live"),
    [({"messageID": "msg_002"}, 1), ({"messageID": "msg_002", "partID": "prt_002_1"}, 3),
     ({"messageID": "msg_gone"}, 4)],
)  # fmt: skip
def test_what_the_user_reverted_is_rewound(
    tmp_path: Path, revert: dict[str, str], live: int
) -> None:
    (session,) = read(to_export(tmp_path, export(*TALK, revert=revert)))
    fates = [message.fate for message in session.messages]
    assert fates == [Fate.LIVE] * live + [Fate.REWOUND] * (4 - live)


def test_a_fork_repeats_no_call(tmp_path: Path) -> None:
    fork = export(*TALK, entry(4, "assistant", tool("call_9")), id="ses_b")
    fork["info"]["time"] = {"created": START + 50, "updated": START + 60}
    first, second = read(to_database(tmp_path, fork, export(*TALK)))
    assert (first.native_id, len(first.calls)) == ("ses_a", 3)
    assert [call.request.id for call in second.calls] == ["call_9"]
    assert second.cost_usd is None


def test_messages_without_a_time_are_never_taken_for_copies(tmp_path: Path) -> None:
    talk = [entry(n, "user", text("continue"), time=None) for n in (1, 2)]
    (session,) = read(to_export(tmp_path, export(*talk)))
    assert [message.fate for message in session.messages] == [Fate.LIVE] * 2


def test_a_data_folder_reads_a_migrated_session_once(tmp_path: Path) -> None:
    to_storage(tmp_path, export(*TALK), export(entry(7, "user", text("old")), id="ses_old"))
    to_database(tmp_path, export(*TALK))
    write(tmp_path, "opencode-dev.db", b"no database")
    sessions, log = read_all(Opencode(), tmp_path)
    assert [session.native_id for session in sessions] == ["ses_a", "ses_old"]
    assert dict(log.counts) == {"file is not a database": 1}


def test_the_oldest_storage_layout_is_read(tmp_path: Path) -> None:
    document = export(*TALK[1:2])
    message = document["messages"][0]
    base = "storage/session"
    write(tmp_path, f"{base}/info/ses_a.json", json.dumps(document["info"]).encode())
    data = json.dumps(message["info"]).encode()
    write(tmp_path, f"{base}/message/ses_a/msg_002.json", data)
    for part in message["parts"]:
        data = json.dumps(part).encode()
        write(tmp_path, f"{base}/part/ses_a/msg_002/{part['id']}.json", data)
    assert [len(session.calls) for session in read(tmp_path / "storage")] == [3]


def test_other_json_is_left_alone(tmp_path: Path) -> None:
    for document in ({"info": {"id": "x"}, "messages": []}, {"messages": []}, [export()]):
        path = write(tmp_path, "x.json", json.dumps(document).encode())
        assert not Opencode().recognises(probe_path(path))
    assert not Opencode().recognises(probe_path(tmp_path))


def test_a_document_that_is_no_export_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no opencode export"):
        read_all(Opencode(), write(tmp_path, "x.json", b"[]"))


def test_an_export_without_an_id_is_named_after_its_file(tmp_path: Path) -> None:
    path = write(tmp_path, "talk.json", b'{"info": {}, "messages": []}')
    assert [session.native_id for session in read(path)] == [f"{tmp_path.name}/talk"]


def test_what_is_no_message_is_counted(tmp_path: Path) -> None:
    document = export(entry(1, "alien", text("hi")))
    document["messages"] += ["text", None]
    _, log = read_all(Opencode(), to_export(tmp_path, document))
    assert log.counts == {"message of an unknown role": 1, "message is not a JSON object": 2}


def test_broken_cells_and_files_are_counted(tmp_path: Path) -> None:
    path = to_database(tmp_path, export(*TALK))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE part SET data = '{half' WHERE data LIKE '%call_1%'")
        database.execute("INSERT INTO session (id) VALUES (NULL)")
    write(tmp_path, "storage/session/p1/ses_x.json", b"{half")
    write(tmp_path, "storage/message/ses_x/msg_1.json", b"[]")
    _, log = read_all(Opencode(), tmp_path)
    assert log.counts == {
        "part is not a JSON object": 1,
        "session without an id": 1,
        "file is not valid JSON": 1,
        "file is JSON but not an object": 1,
    }


CHANGES = (
    "INSERT INTO message (id, session_id, data) VALUES ('m', 'ses_a', '{}')",
    "UPDATE message SET time_updated = 1 + time_updated WHERE session_id = 'ses_a'",
    "INSERT INTO part (id, session_id) VALUES ('p', 'ses_a')",
    "UPDATE session SET time_updated = 5 WHERE id = 'ses_a'",
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_changes_that_sessions_fingerprint_alone(tmp_path: Path, change: str) -> None:
    path = to_database(tmp_path, export(*TALK), export(*TALK, id="ses_b"))
    before = {unit.key: unit.fingerprint for unit in Opencode().units(path, ReadLog())}
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(change)
    after = {unit.key: unit.fingerprint for unit in Opencode().units(path, ReadLog())}
    assert after["ses_b"] == before["ses_b"]
    assert after["ses_a"] != before["ses_a"]


def test_a_new_message_file_changes_the_fingerprint(tmp_path: Path) -> None:
    path = to_storage(tmp_path, export(*TALK))
    (before,) = Opencode().units(path, ReadLog())
    write(path, "storage/message/ses_a/msg_009.json", b"{}")
    (after,) = Opencode().units(path, ReadLog())
    assert after.fingerprint != before.fingerprint


FULL = compacted(auto=True, tail_start_id="msg_002")
FULL["messages"] += TALK
FULL["info"]["revert"] = {"messageID": "msg_003", "partID": "x"}


@given(document=retyped(FULL))
def test_an_export_of_any_shape_is_survived(tmp_path: Path, document: Any) -> None:
    path = write(tmp_path, "x.json", json.dumps(document).encode())
    Opencode().recognises(probe_path(path))
    survive(Opencode(), path)


@given(document=retyped(FULL))
def test_database_cells_of_any_shape_are_survived(tmp_path: Path, document: Any) -> None:
    path = to_database(tmp_path, export(*TALK))
    messages = document.get("messages") if isinstance(document, dict) else document
    data = [json.dumps(item) for item in messages] if isinstance(messages, list) else ["5"]
    with closing(sqlite3.connect(path)) as database, database:
        for number, cell in enumerate(data):
            row = [f"m{number}", "ses_a", cell]
            database.execute("INSERT INTO message (id, session_id, data) VALUES (?, ?, ?)", row)
    assert survive(Opencode(), path) is not None


@given(data=damaged(json.dumps(FULL).encode()))
def test_a_damaged_export_is_survived(tmp_path: Path, data: bytes) -> None:
    survive(Opencode(), write(tmp_path, "x.json", data))


def test_a_damaged_database_is_survived(tmp_path: Path) -> None:
    valid = to_database(tmp_path, FULL | {"messages": FULL["messages"][:6]}).read_bytes()

    @given(data=damaged(valid))
    def check(data: bytes) -> None:
        survive(Opencode(), write(tmp_path, "opencode.db", data))

    check()
