"""Sessions on disk to a template."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from support.mining import make_shop
from support.sessions import write_export
from warmstart.app import Workspace
from warmstart.app.mining import (
    build_from_session,
    build_proposals,
    build_template,
    fetch_sessions,
)
from warmstart.errors import NotFoundError, UsageError
from warmstart.facts import derive_facts
from warmstart.mine import BuildRequest, MiningRules
from warmstart.model import Selection
from warmstart.samples import samples_path
from warmstart.sources import ReadLog
from warmstart.template import canonical_json

REQUEST = BuildRequest(name="shop", rules=MiningRules(max_error_rate=0.3))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Workspace.open(tmp_path / "ws")


@pytest.fixture
def shop(tmp_path: Path) -> Selection:
    return Selection(paths=(str(write_export(tmp_path / "shop.jsonl", *make_shop(4))),))


def test_a_template_is_mined_from_files(workspace: Workspace, shop: Selection) -> None:
    mined = build_template(workspace, REQUEST, shop, ReadLog())
    assert mined.plan is not None
    assert (mined.plan.looked_at, mined.missing) == (4, 0)
    assert mined.template.recoveries
    again = build_template(workspace, REQUEST, shop, ReadLog())
    assert canonical_json(again.template) == canonical_json(mined.template)


def test_no_qualifying_session_is_said_with_reasons(workspace: Workspace, shop: Selection) -> None:
    strict = replace(REQUEST, rules=MiningRules(min_messages=9999))
    with pytest.raises(UsageError, match="4 too few messages"):
        build_template(workspace, strict, shop, ReadLog())


def test_one_session_is_found_by_its_prefix(workspace: Workspace, shop: Selection) -> None:
    mined = build_from_session(workspace, "shop-2", REQUEST, shop, ReadLog())
    assert mined.template.provenance.sessions == 1
    with pytest.raises(NotFoundError):
        build_from_session(workspace, "nothing", REQUEST, shop, ReadLog())


def test_proposals_come_one_by_one(workspace: Workspace, shop: Selection) -> None:
    (mined,) = build_proposals(workspace, REQUEST, shop, ReadLog())
    assert mined.template.name == "shop-file"
    lonely = replace(REQUEST, rules=MiningRules(min_messages=9999))
    with pytest.raises(UsageError):
        list(build_proposals(workspace, lonely, shop, ReadLog()))


def test_sessions_of_a_database_are_fetched_by_id(workspace: Workspace) -> None:
    selection = Selection(paths=(str(samples_path() / "hermes" / "state.db"),))
    found = list(workspace.read_sessions(selection, ReadLog()))
    wanted = [derive_facts(session) for session in found[:5]]
    fetched = list(fetch_sessions(workspace, wanted, selection, ReadLog()))
    assert {one.id for one in fetched} == {one.id for one in wanted}
    originals = {session.id: session for session in found}
    assert all(one.calls == originals[one.id].calls for one in fetched)


def test_a_session_that_is_gone_is_counted(workspace: Workspace, shop: Selection) -> None:
    facts = [derive_facts(session) for session in make_shop(2)]
    moved = [
        structs.replace(facts[0], path="/nowhere.jsonl"),
        structs.replace(facts[1], id="hermes:gone"),
    ]
    log = ReadLog()
    fetched = list(fetch_sessions(workspace, moved, shop, log))
    assert [one.id for one in fetched] == [facts[0].id]
    assert log.counts == {"session gone since its facts were kept": 1}


def test_a_damaged_database_is_skipped(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sessions (id)")
    facts = [structs.replace(derive_facts(make_shop(1)[0]), path=str(path))]
    assert list(fetch_sessions(workspace, facts, Selection(paths=(str(path),)), ReadLog())) == []
