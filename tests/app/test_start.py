"""A session made ready: library, store and stages together."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.candidates import Candidates
from warmstart.app.templates import open_library
from warmstart.app.warm_start import StartRequest, WarmConfig, prepare_start, start
from warmstart.errors import NotFoundError, UsageError
from warmstart.library import UnapprovedError
from warmstart.model.template import TemplateState
from warmstart.model.warmup import Arm
from warmstart.store import RecordedStart
from warmstart.template import TemplateError
from warmstart.warm import Policy

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
    request = StartRequest(message=MESSAGE, agent="hermes", model="acme", cwd="/p", form="openai")
    prepared = prepare_start(workspace, request, ALWAYS)
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
    prepared = prepare_start(
        workspace, StartRequest(message=MESSAGE), WarmConfig(holdout=1.0), record=False
    )
    assert prepared.is_warm
    assert prepared.start is None
    with open_library(workspace) as library:
        assert library.db
        assert library.db.list_starts() == []


def test_a_holdout_is_cold_and_remembers_what_it_missed(workspace: Workspace) -> None:
    prepared = prepare_start(workspace, StartRequest(message=MESSAGE), WarmConfig(holdout=1.0))
    assert not prepared.is_warm
    ask = [{"role": "user", "content": MESSAGE}]
    assert prepared.openai(ask) == {"messages": ask}
    with open_library(workspace) as library:
        assert library.db
        (row,) = library.db.list_starts()
    assert (row.arm, row.template) == (Arm.HOLDOUT, "fix-tests")


def test_a_draft_is_used_only_when_it_is_asked_for_unreviewed(workspace: Workspace) -> None:
    assert (
        prepare_start(workspace, StartRequest(message="write the guide"), ALWAYS).choice.template
        is None
    )
    with pytest.raises(UnapprovedError, match="docs@1 is a draft") as refused:
        prepare_start(workspace, StartRequest(template="docs"), ALWAYS)
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
        library.set_state("docs@1", TemplateState.RETIRED, "stale")
    with pytest.raises(UnapprovedError, match="retired: stale"):
        prepare_start(workspace, StartRequest(template="docs", unreviewed=True), ALWAYS)
    with open_library(workspace) as library:
        library.save(make_template("foreign"), state=TemplateState.QUARANTINED)
    with pytest.raises(UnapprovedError, match="foreign@1 is quarantined"):
        prepare_start(workspace, StartRequest(template="foreign", unreviewed=True), ALWAYS)
    with pytest.raises(NotFoundError):
        prepare_start(workspace, StartRequest(template="nothing"), ALWAYS)


def test_an_empty_home_stays_cold(tmp_path: Path) -> None:
    fresh = Workspace.open(tmp_path / "fresh")
    prepared = prepare_start(fresh, StartRequest(message=MESSAGE), record=False)
    assert prepared.choice.reason == "the library is empty"
    assert not (tmp_path / "fresh").exists()


def test_a_cold_start_is_written_down_even_in_a_fresh_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WARMSTART_STORE", raising=False)
    prepared = start(MESSAGE, workspace=Workspace.open(tmp_path / "fresh"))
    assert (prepared.choice.arm, prepared.start) == (Arm.COLD, 1)


def test_files_that_are_gone_are_left_out(workspace: Workspace) -> None:
    gone = prepare_start(workspace, StartRequest(message=MESSAGE), ALWAYS, record=False)
    assert gone.choice.ranking[0].freshness == 0.0
    assert "marker:cart.py: it is gone" in gone.warmup.left_out
    Path("cart.py").touch()
    there = prepare_start(workspace, StartRequest(message=MESSAGE), ALWAYS, record=False)
    assert there.choice.ranking[0].freshness == 1.0
    assert "- cart.py" in there.warmup.system


def test_a_session_without_the_tools_stays_cold_and_says_so(workspace: Workspace) -> None:
    request = StartRequest(template="fix-tests", tools=["browser"])
    prepared = prepare_start(workspace, request, ALWAYS)
    assert prepared.choice.arm is Arm.COLD
    assert "this session has no tool" in prepared.choice.reason


def test_records_of_this_model_count_whole_and_of_others_half(workspace: Workspace) -> None:
    for model, success in (("acme", True), ("acme", True), ("other", False)):
        prepared = prepare_start(workspace, StartRequest(message=MESSAGE, model=model), ALWAYS)
        with open_library(workspace) as library:
            assert library.db
            assert prepared.start
            library.db.settle_start(prepared.start, f"hermes:{prepared.start}", 9, 1, success)
    with open_library(workspace) as library:
        candidates = Candidates(library)
        entry = candidates.make_index("acme").get(0)
        assert (entry.alpha, entry.beta, entry.uses) == (3.0, 1.5, 3)
        entry = candidates.make_index("other").get(0)
        assert (entry.alpha, entry.beta) == (2.0, 2.0)


def test_settings_reach_the_choice(workspace: Workspace) -> None:
    request = StartRequest(message=MESSAGE)
    for threshold, is_warm in ((0.2, True), (2.0, False)):
        config = WarmConfig(holdout=0, policy=Policy.BEST, threshold=threshold)
        assert prepare_start(workspace, request, config, record=False).is_warm is is_warm


def test_past_sessions_say_what_a_bare_message_does_not(workspace: Workspace) -> None:
    request = StartRequest(message="go on with the shop", history={"code": 9, "file": 1})
    assert prepare_start(workspace, request, ALWAYS, record=False).choice.task_type == "code"


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


def talk(result: str) -> list[dict[str, Any]]:
    """A conversation as OpenAI's chat API has it, with one test run."""
    call = {
        "id": "c1", "type": "function",
        "function": {"name": "terminal", "arguments": '{"command": "pytest -q"}'},
    }  # fmt: skip
    return [
        {"role": "user", "content": MESSAGE},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": result},
        {"role": "assistant", "content": "Done."},
    ]


def get_start(workspace: Workspace, number: int | None) -> RecordedStart:
    with open_library(workspace) as library:
        return library.require_db().get_start(number or 0)


FAILED = '{"output": "1 failed", "exit_code": 1}'


@pytest.mark.parametrize(
    ("given", "recorded"),
    [
        ({"success": True}, (0, 0, True)),
        ({"success": False, "calls": 9, "errors": 2}, (9, 2, False)),
        ({"messages": talk(FAILED)}, (1, 1, False)),
        ({"messages": talk(FAILED), "success": True}, (1, 1, True)),
        ({"messages": talk("ok")[:1]}, (0, 0, None)),
    ],
)
def test_a_start_of_ones_own_code_is_finished_once(
    workspace: Workspace, given: dict[str, Any], recorded: tuple[int, int, bool | None]
) -> None:
    begun = start(MESSAGE, agent="mine", template="fix-tests")
    assert begun.finish(**given)
    row = get_start(workspace, begun.start)
    assert (row.calls, row.errors, row.success) == recorded
    assert row.session_id == f"mine:start-{begun.start}"
    assert not begun.finish(success=True)


def test_the_warm_up_in_a_conversation_never_counts(workspace: Workspace) -> None:
    begun = start(MESSAGE, template="fix-tests")
    begun.finish([*begun.openai(talk(FAILED)[:1])["messages"], *talk(FAILED)[1:]])
    assert get_start(workspace, begun.start).calls == 1


def test_finishing_needs_something_to_record(workspace: Workspace) -> None:
    begun = start(MESSAGE, template="fix-tests")
    with pytest.raises(UsageError, match="nothing is known"):
        begun.finish()
    with pytest.raises(UsageError):
        begun.finish(success=True, calls=1, errors=2)
    assert get_start(workspace, begun.start).settled_at is None


def test_a_held_out_start_says_so(workspace: Workspace) -> None:
    held = prepare_start(workspace, StartRequest(message=MESSAGE), WarmConfig(holdout=1.0))
    assert held.arm == "holdout"
    assert str(held).startswith("holdout: fix-tests fits, but 100% of sessions stay cold")
    assert held.withheld is not None
    assert not held.withheld.is_empty
    assert held.finish(success=True)


def test_a_template_without_use_here_is_cold_in_both_groups(workspace: Workspace) -> None:
    for holdout in (0.0, 1.0):
        request = StartRequest(message=MESSAGE, cwd="/nowhere")
        config = WarmConfig(holdout=holdout, budget=0)
        assert prepare_start(workspace, request, config).arm is Arm.COLD


def test_trouble_starts_a_session_cold_and_says_why(workspace: Workspace) -> None:
    (workspace.home / "store.db").write_bytes(b"no database at all" * 90)
    begun = start(MESSAGE)
    assert (begun.arm, begun.start, begun.is_warm) == (Arm.COLD, None, False)
    assert "store.db" in begun.reason
    assert begun.openai(talk("")[:1]) == {"messages": talk("")[:1]}
    assert not begun.finish(success=True)


def test_a_damaged_template_is_trouble_only_where_it_was_named(workspace: Workspace) -> None:
    next(workspace.home.rglob("fix-tests/*.json")).write_text("{}")
    assert "is damaged" in start(MESSAGE).reason
    with pytest.raises(TemplateError, match="is damaged"):
        start(MESSAGE, template="fix-tests")


def test_the_root_has_the_names_of_a_start_and_type_checkers_know_them(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(
        "import warmstart\n\n"
        "start: warmstart.WarmStart = warmstart.start('x', workspace=warmstart.Workspace.open())\n"
        "start.finish(success=True)\n"
        "start.finnish(success=True)\n"
        "warmstart.start('x', templat='y')\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent",
         str(user)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    found = [line for line in done.stdout.splitlines() if "error:" in line]
    assert [line.split(":")[1] for line in found] == ["5", "6"], done.stdout


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
