"""The library as the workspace offers it to surfaces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from support.template_cases import make_template
from warmstart.app import Workspace
from warmstart.app.sharing import export_template, make_dataset
from warmstart.app.starts import StartOutcome, settle_start
from warmstart.app.templates import list_templates, open_library
from warmstart.model.template import Example, TemplateState
from warmstart.model.warmup import Arm
from warmstart.store import Start
from warmstart.template import template_id

if TYPE_CHECKING:
    import pytest

ONE = make_template()


def test_only_approved_templates_may_be_chosen(home: Path) -> None:
    workspace = Workspace(home)
    with open_library(workspace) as library:
        library.save(ONE, state=TemplateState.DRAFT)
        assert list_templates(workspace, states=("approved",)) == []
        library.approve("py-tests")
    assert [row.name for row in list_templates(workspace, states=("approved",))] == ["py-tests"]


def test_what_an_env_file_holds_does_not_leave(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("SHOP_PASSWORD=battery-staple-99x\n")
    monkeypatch.chdir(tmp_path)
    leak = Example(tool="t", arguments={}, result="logged in with battery-staple-99x")
    workspace = Workspace(home)
    with open_library(workspace) as library:
        library.save(replace(ONE, examples=(leak,)), state=TemplateState.DRAFT)
    export_template(workspace, "py-tests@1", tmp_path / "x.json")
    assert "staple" not in (tmp_path / "x.json").read_text()
    assert b"staple" not in b"".join(make_dataset(workspace, every_state=True).lines)


def test_settling_retires_what_does_harm(home: Path) -> None:
    retired = []
    with open_library(Workspace(home)) as library:
        library.save(ONE, state=TemplateState.DRAFT)
        db = library.require_db()
        for arm, success in ((Arm.HOLDOUT, True), (Arm.WARM, False)):
            for number in range(12):
                start = db.record_start(
                    Start(agent="x", arm=arm, template=ONE.name, template_id=template_id(ONE),
                          started_at=1.0)
                )  # fmt: skip
                said = StartOutcome(f"x:{arm}{number}", 3, 1, success)
                retired += settle_start(library, start, said)
                assert settle_start(library, start, said) == []
        assert [row.name for row in retired] == ["py-tests"]
        assert library.get("py-tests").state is TemplateState.RETIRED
