"""What the commands that people wait for may load: nothing they have no use for.

Speed itself is measured in ``bench/``; these hold what it rests on.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.model.template import TemplateState

ROOT = Path(__file__).resolve().parents[1] / "src" / "warmstart"
DRIVERS = ("psycopg", "sqlalchemy", "numpy", "mcp", "starlette", "httpx")
STAGES = ("warmstart.mine", "warmstart.profile", "warmstart.facts", "warmstart.redact")
ALWAYS = (*DRIVERS, *STAGES, "rich", "warmstart.sources", "warmstart.outcome", "warmstart.runners",
          "warmstart.experiment", "warmstart.gateway", "warmstart.store.sessiondb",
          "warmstart.store.postgres_backend", "zipfile", "asyncio", "email")  # fmt: skip
CONTENTS = ("warmstart.model.template", "warmstart.model.message", "warmstart.model.session",
            "warmstart.library.review", "warmstart.template.schema", "warmstart.app.starts",
            "warmstart.stats", "warmstart.warm", "hashlib")  # fmt: skip
FORBIDDEN = {
    ("--help",): (*ALWAYS, *CONTENTS, "sqlite3", "orjson", "warmstart.store", "warmstart.library"),
    ("template", "list"): (*ALWAYS, *CONTENTS),
    ("template", "list", "--json"): (*ALWAYS, *CONTENTS),
    ("warm", "fix the failing tests"): (*ALWAYS, "tomllib", "warmstart.model.session"),
}
RUN = """
import json, sys
from warmstart.cli.main import cli
try:
    cli(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
LAZY = sorted(
    path.parent for path in ROOT.rglob("*/__init__.py") if "load_on_use" in path.read_text()
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("light")
    with open_library(Workspace(folder)) as library:
        library.save(make_template(), state=TemplateState.APPROVED)
    return folder


def list_loaded(*arguments: str, home: Path, event: str = "") -> list[str]:
    plain = {name: value for name, value in os.environ.items() if "COV" not in name}
    plain.pop("COLUMNS", None)
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        env={**plain, "WARMSTART_HOME": str(home), "WARMSTART_STORE": ""},
        input=event, capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded: list[str] = json.loads(done.stderr.splitlines()[-1])
    return loaded


def find_banned(loaded: list[str], banned: tuple[str, ...]) -> list[str]:
    return [name for name in loaded for one in banned if f"{name}.".startswith(f"{one}.")]


@pytest.mark.parametrize("arguments", FORBIDDEN, ids=" ".join)
def test_a_command_loads_only_what_it_needs(arguments: tuple[str, ...], home: Path) -> None:
    loaded = list_loaded(*arguments, home=home)
    assert "click" in loaded
    assert find_banned(loaded, FORBIDDEN[arguments]) == []


def test_a_hook_loads_the_stages_at_the_first_message_only(home: Path) -> None:
    event = {
        "hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": str(home),
        "prompt": "fix the failing tests",
    }  # fmt: skip
    first = list_loaded("hook", "claude-code", home=home, event=json.dumps(event))
    later = list_loaded("hook", "claude-code", home=home, event=json.dumps(event))
    assert "warmstart.warm.build" in first
    banned = (*ALWAYS, "warmstart.warm", "warmstart.model.template", "warmstart.library.library")
    assert find_banned(later, banned) == find_banned(first, (*DRIVERS, *STAGES, "rich")) == []


def test_readers_are_loaded_one_at_a_time() -> None:
    code = (
        "import sys; from warmstart.sources import READERS; names = list(READERS);"
        " assert 'codex' in READERS and len(READERS) == len(names);"
        " print(sum('.readers.' in m for m in sys.modules));"
        " READERS['sharegpt'];"
        " print([m for m in sys.modules if m.rpartition('.readers.')[2] in names and '.readers.' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["0", "['warmstart.sources.readers.sharegpt']"]


@pytest.mark.parametrize("folder", LAZY, ids=lambda folder: folder.name)
def test_a_lazy_package_has_every_name_it_lists(folder: Path) -> None:
    package = importlib.import_module(f"warmstart.{folder.name}")
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        package.nonsense  # noqa: B018 - asking is the test


@pytest.mark.parametrize("folder", LAZY, ids=lambda folder: folder.name)
def test_type_checkers_and_python_find_names_in_the_same_modules(folder: Path) -> None:
    tree = ast.parse((folder / "__init__.py").read_text())
    branch = next(node for node in tree.body if isinstance(node, ast.If))
    own = f"warmstart.{folder.name}."
    checked = {
        (node.module or "").removeprefix(own): {alias.name for alias in node.names}
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
    }
    table = ast.literal_eval(next(node for node in ast.walk(branch) if isinstance(node, ast.Dict)))
    assert {module: set(names) for module, names in table.items()} == checked


def test_there_are_lazy_packages() -> None:
    assert {"model", "store", "library"} <= {folder.name for folder in LAZY}
