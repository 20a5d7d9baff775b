"""A session made ready: library, store and stages together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.app.warming import Bookcase, Occasion, WarmConfig, prepare, start
from warmstart.errors import NotFoundError
from warmstart.library.gate import UnapprovedError
from warmstart.model.template import TemplateState
from warmstart.model.warmup import Arm

ALWAYS = WarmConfig(holdout=0.0)
MESSAGE = "fix the failing checkout test"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.delenv("WARMSTART_STORE", raising=False)
    monkeypatch.setenv("WARMSTART_HOME", str(tmp_path / "home"))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    found = Workspace.open()
    with open_library(found) as library:
        library.save(make_template(), state=TemplateState.APPROVED)
        library.save(
            make_template("docs", tags=("docs",), anchors=("Write the guide",)),
            state=TemplateState.DRAFT,
        )
    return found


def test_a_fitting_template_is_used_and_the_start_written_down(workspace: Workspace) -> None:
    occasion = Occasion(message=MESSAGE, agent="hermes", model="acme", cwd="/p", form="openai")
    prepared = prepare(workspace, occasion, ALWAYS)
    assert prepared.choice.template == prepared.warmup.template == "fix-tests"
    with open_library(workspace) as library:
        assert library.db
        (row,) = library.db.list_starts()
    assert (row.id, row.arm, row.template, row.version) == (
        prepared.start,
        Arm.WARM,
        "fix-tests",
        1,
    )
    assert (row.agent, row.model, row.cwd, row.form) == ("hermes", "acme", "/p", "openai")
    assert row.template_id == prepared.warmup.template_id
    assert MESSAGE not in repr(row)


def test_a_look_writes_nothing(workspace: Workspace) -> None:
    prepared = prepare(workspace, Occasion(message=MESSAGE), WarmConfig(holdout=1.0), record=False)
    assert prepared.is_warm
    assert prepared.start is None
    with open_library(workspace) as library:
        assert library.db
        assert library.db.list_starts() == []


def test_a_holdout_is_cold_and_remembers_what_it_missed(workspace: Workspace) -> None:
    prepared = prepare(workspace, Occasion(message=MESSAGE), WarmConfig(holdout=1.0))
    assert not prepared.is_warm
    ask = [{"role": "user", "content": MESSAGE}]
    assert prepared.openai(ask) == {"messages": ask}
    with open_library(workspace) as library:
        assert library.db
        (row,) = library.db.list_starts()
    assert (row.arm, row.template) == (Arm.HOLDOUT, "fix-tests")


def test_a_draft_is_used_only_when_it_is_asked_for_unreviewed(workspace: Workspace) -> None:
    assert prepare(workspace, Occasion(message="write the guide"), ALWAYS).choice.template is None
    with pytest.raises(UnapprovedError, match="docs@1 is a draft") as refused:
        prepare(workspace, Occasion(template="docs"), ALWAYS)
    hint = refused.value.hint or ""
    assert "warmstart template approve docs@1" in hint
    assert "--unreviewed" in hint
    with pytest.raises(UnapprovedError):
        start("x", workspace=workspace, template="docs@1")
    named = start("x", workspace=workspace, template="docs@1", unreviewed=True, form="text")
    assert named.is_warm
    assert named.unreviewed == "docs@1 is a draft that nobody has reviewed"
    with open_library(workspace) as library:
        assert library.db
        assert library.db.list_starts()[-1].form == "text unreviewed"


def test_what_is_quarantined_or_retired_is_never_used(workspace: Workspace) -> None:
    with open_library(workspace) as library:
        library.set_state("docs", 1, TemplateState.RETIRED, "stale")
    with pytest.raises(UnapprovedError, match="retired: stale"):
        prepare(workspace, Occasion(template="docs", unreviewed=True), ALWAYS)
    with open_library(workspace) as library:
        library.save(make_template("foreign"), state=TemplateState.QUARANTINED)
    with pytest.raises(UnapprovedError, match="foreign@1 is quarantined"):
        prepare(workspace, Occasion(template="foreign", unreviewed=True), ALWAYS)
    with pytest.raises(NotFoundError):
        prepare(workspace, Occasion(template="nothing"), ALWAYS)


def test_an_empty_home_stays_cold(tmp_path: Path) -> None:
    fresh = Workspace.open(tmp_path / "fresh")
    prepared = prepare(fresh, Occasion(message=MESSAGE), record=False)
    assert prepared.choice.reason == "the library is empty"
    assert not (tmp_path / "fresh").exists()


def test_a_cold_start_is_written_down_even_in_a_fresh_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WARMSTART_STORE", raising=False)
    prepared = start(MESSAGE, workspace=Workspace.open(tmp_path / "fresh"))
    assert (prepared.choice.arm, prepared.start) == (Arm.COLD, 1)


def test_files_that_are_gone_are_left_out(workspace: Workspace) -> None:
    gone = prepare(workspace, Occasion(message=MESSAGE), ALWAYS, record=False)
    assert gone.choice.ranking[0].freshness == 0.0
    assert "marker:cart.py: it is gone" in gone.warmup.left_out
    Path("cart.py").touch()
    there = prepare(workspace, Occasion(message=MESSAGE), ALWAYS, record=False)
    assert there.choice.ranking[0].freshness == 1.0
    assert "- cart.py" in there.warmup.system


def test_a_session_without_the_tools_stays_cold_and_says_so(workspace: Workspace) -> None:
    occasion = Occasion(template="fix-tests", tools=["browser"])
    prepared = prepare(workspace, occasion, ALWAYS)
    assert prepared.choice.arm is Arm.COLD
    assert "this session has no tool" in prepared.choice.reason


def test_records_of_this_model_count_whole_and_of_others_half(workspace: Workspace) -> None:
    for model, success in (("acme", True), ("acme", True), ("other", False)):
        prepared = prepare(workspace, Occasion(message=MESSAGE, model=model), ALWAYS)
        with open_library(workspace) as library:
            assert library.db
            assert prepared.start
            library.db.settle_start(prepared.start, f"hermes:{prepared.start}", 9, 1, success)
    with open_library(workspace) as library:
        bookcase = Bookcase(library)
        entry = bookcase.index("acme").get(0)
        assert (entry.alpha, entry.beta, entry.uses) == (3.0, 1.5, 3)
        entry = bookcase.index("other").get(0)
        assert (entry.alpha, entry.beta) == (2.0, 2.0)


def test_a_bookcase_is_kept_until_it_is_refreshed(workspace: Workspace) -> None:
    occasion = Occasion(message="write the guide", seed="s")
    with open_library(workspace) as library:
        bookcase = Bookcase(library)
        before = prepare(workspace, occasion, ALWAYS, record=False, bookcase=bookcase)
        library.approve("docs")
        still = prepare(workspace, occasion, ALWAYS, record=False, bookcase=bookcase)
        bookcase.refresh()
        after = prepare(workspace, occasion, ALWAYS, record=False, bookcase=bookcase)
    assert [p.choice.template for p in (before, still, after)] == [None, None, "docs"]


def test_past_sessions_say_what_a_bare_message_does_not(workspace: Workspace) -> None:
    occasion = Occasion(message="go on with the shop", history={"code": 9, "file": 1})
    assert prepare(workspace, occasion, ALWAYS, record=False).choice.task_type == "code"


def test_the_library_door_starts_and_renders_for_every_provider(workspace: Workspace) -> None:
    (workspace.home / "config.toml").write_text("[warm]\nholdout = 0\nbudget = 900\n")
    prepared = start(MESSAGE, model="acme", tools=["terminal", "read_file", "patch"])
    ask = [{"role": "user", "content": MESSAGE}]
    assert prepared.warmup.tokens <= 900
    assert prepared.start
    for body in (prepared.openai(ask), prepared.anthropic(ask)):
        assert body["messages"][-1] == ask[0]
    assert prepared.responses(ask)["input"][-1] == ask[0]
    assert prepared.gemini([])["contents"]
    assert prepared.render("text").text


def test_warm_is_a_name_of_the_package_and_light_to_import() -> None:
    code = (
        "import sys; from warmstart import warm; import warmstart;"
        "heavy = [m for m in ('sqlite3', 'click', 'rich', 'orjson') if m in sys.modules];"
        "print(heavy, callable(warm.start), warm.estimate_tokens('a b'), 'start' in dir(warm))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] True 2 True"


def test_warm_has_no_other_names() -> None:
    from warmstart import warm

    with pytest.raises(AttributeError, match="no attribute 'cold'"):
        _ = warm.cold
