from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.claude_lines import encode, got, name, progress, said
from warmstart.sources.readers.claude_code import parse_known, read_progress

PLACE = (name(4), name(3))
FILE = {"filePath": "a.py", "content": "x = 1\n" * 900, "numLines": 900, "totalLines": 900}
READ = {"type": "text", "file": FILE}
EDIT = {
    "filePath": "a.py",
    "originalFile": "y = 2\n" * 900,
    "userModified": False,
    "replaceAll": False,
}
SOURCE = {"sourceToolAssistantUUID": name(3)}


def with_details(details: Any, **behind: Any) -> dict[str, Any]:
    return got(4, "toolu_1", "seen", toolUseResult=details, **behind)


def test_of_a_progress_line_only_its_place_in_the_chain_is_read() -> None:
    line = progress(4)
    assert read_progress(encode(line)) == PLACE
    swapped = {key: line[key] for key in line if key != "uuid"} | {"uuid": line["uuid"]}
    assert read_progress(encode(swapped)) == PLACE


@pytest.mark.parametrize("folder", ["C:\\Users\\dev", 'a "quoted" folder', "a}b", "é"])
def test_folders_with_any_name_show_progress(folder: str) -> None:
    assert read_progress(encode(progress(4, cwd=folder))) == PLACE


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "user"},
        {"isSidechain": True},
        {"parentUuid": None},
        {"cwd": "a{b"},
        {"data": {"type": "progress", "data": {}}, "type": "user"},
        {'x"type': "progress", "type": "user"},
        {"more": 1},
        {"timestamp": "2026-01-01"},
        {"uuid": "short"},
    ],
)
def test_any_other_line_is_parsed(changes: dict[str, object]) -> None:
    assert read_progress(encode({**progress(4), **changes})) is None


def test_a_half_written_line_is_parsed() -> None:
    assert read_progress(encode(progress(4))[:-1]) is None


@pytest.mark.parametrize("details", [READ, EDIT, EDIT | {"replaceAll": True}])
@pytest.mark.parametrize("behind", [{}, {"userType": "external", "gitBranch": "", "isMeta": False}])
def test_details_of_files_are_left_out(details: Any, behind: dict[str, Any]) -> None:
    line = with_details(details, **SOURCE, **behind)
    data = parse_known(encode(line))
    del line["toolUseResult"]
    assert data == line


@pytest.mark.parametrize(
    "line",
    [
        with_details(READ),
        with_details(READ, **SOURCE, origin={"kind": "human"}),
        with_details(READ, **SOURCE, count=3),
        with_details({**EDIT, "interrupted": True}, **SOURCE),
        with_details({"stdout": "x" * 4000, "interrupted": True}, **SOURCE),
        with_details({"interrupted": True, **READ}, **SOURCE),
        with_details("x" * 4000, **SOURCE),
        with_details({"totalLines": 3}, **SOURCE),
        said(4, "x" * 4000),
        said(4, [{"a": 1, "toolUseResult": READ}], **SOURCE),
        said(4, "x", nested={"b": 1, "toolUseResult": EDIT, **SOURCE}),
        said(4, 'x,"toolUseResult":{"a":"' + "x" * 4000, **SOURCE),
    ],
)
def test_any_other_line_keeps_everything(line: dict[str, Any]) -> None:
    data = encode(line)
    found = parse_known(data)
    assert found is None or found == orjson.loads(data)


@given(
    st.recursive(
        st.one_of(st.text(max_size=20), st.integers(0, 9), st.booleans(), st.none()),
        lambda inner: st.dictionaries(
            st.sampled_from(["a", "toolUseResult", "replaceAll", "file", "totalLines"]),
            inner,
            max_size=3,
        ),
        max_leaves=8,
    )
)
def test_nothing_but_the_details_of_the_line_itself_is_left_out(inner: Any) -> None:
    line = said(4, [{"type": "text", "text": "x" * 4000, "more": inner}], toolUseResult=inner)
    line |= SOURCE
    data = parse_known(encode(line))
    assert data is None or data | {"toolUseResult": inner} == line


@pytest.mark.parametrize("data", [b"\n", b"[1]\n", b'{"a":\n', b"x" * 4000 + b"\n"])
def test_what_is_no_object_is_left_to_others(data: bytes) -> None:
    assert parse_known(data) is None
