"""What the docs say is what the code does.

Every ``warmstart`` line of a sh or console block is run on the sample sessions, page by page in a
home of its own; lines that need an agent, a model or a network are parsed instead (``PARSED``). Where
a block shows output, each shown line must come up in the real output, in order.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner

from warmstart.cli.main import cli
from warmstart.model import ErrorClass, Status
from warmstart.outcome import complaints, explicit, refusals, structure, words
from warmstart.samples import samples_path
from warmstart.testing import Reply, Script, ScriptedEndpoint

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
GENERATED = "commands.md"
PAGES = {
    page.name if page.parent != DOCS else f"docs/{page.name}": page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")))
    if page.name != GENERATED
}
TYPED_PAGES = ("README.md", "docs/own-agent.md", "docs/tool-and-mcp.md")
WIDTH = "96"

MODEL = "needs a model that answers"
PARSED = {
    "run": "starts the real agent",
    "demo": "takes seconds, and tests/cli/test_demo.py runs it",
    "mcp": "serves until its client goes away",
    "bootstrap": MODEL,
    "experiment new": MODEL,
    "experiment run": MODEL,
    "experiment report": MODEL,
    "experiment ablate": MODEL,
    "experiment plan --pilot": MODEL,
    "install hermes": "starts Hermes",
    "template edit": "opens an editor",
    "template export shop-api --sign": "needs a key",
    "sessions import BACKUP": "BACKUP stands for a file",
    "sessions backup copy.db --store postgresql": "needs a server",
}
"""Commands that are parsed and not run, by how they begin, with the reason."""
OPENS_EDITOR = {"template new shop"}
QUESTIONS = (["template", "approve"], ["sessions", "prune"])
EXIT_CODES = {"redact build.log --check": 1}
"""What a line ends with, where it is not 0."""
BUILD = "template build --name {} --project shop-api --agent claude_code"
SETUP = {
    "docs/agents.md": [],
    "docs/agents-hermes.md": [BUILD.format("shop")],
    "docs/warm.md": [BUILD.format("fix-tests"), "template approve fix-tests@1 --yes"],
    "docs/store.md": ["sessions import old-runs"],
    "docs/gateway.md": ["sessions import old-runs"],
}
"""What a page takes for granted."""
KEYS = ("ghp_a8Kq2Lm9Zx4Wv7Tn3Rb6Yc1Pd5Sf0Gh2Jk4Q", "ghp_Q4kJ2hG0fS5dP1cY6bR3nT7vW4xZ9mL2qK8a")
BUILD_LOG = f"using {KEYS[0]} here,\nand {KEYS[1]} there\nhttps://ann:wonder-2land-x@example.org/\n"
OTHER_PROGRAMS = frozenset(
    {"cat", "cd", "codex", "git", "hermes", "make", "pip", "python", "warmstart"}
)


class Line(NamedTuple):
    """A command of a page with the output that is shown below it."""

    command: str
    shown: list[str]


def find_blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of these languages."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [text for language, text in found if language in languages]


def find_lines(page: Path) -> Iterator[Line]:
    """Every command of the page's sh and console blocks."""
    for block in find_blocks(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            yield Line(line, [])
    for block in find_blocks(page, "console"):
        for part in re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield Line(command, shown)


def split_commands(line: str) -> Iterator[tuple[list[str], str | None]]:
    """The programs a line starts with their words, and the file that is piped into each."""
    words, piped = [], None
    for word in [*shlex.split(line, comments=True), "&&"]:
        if word not in ("&&", "|"):
            words.append(word)
            continue
        if words:
            yield words, piped
        piped = words[1] if word == "|" and words[0] == "cat" else None
        words = []


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user whose agents keep the sample sessions, and a few files of theirs."""
    samples, folder = samples_path(), tmp_path / "home"
    for source, target in (("claude_code", ".claude"), ("codex", ".codex"), ("gemini", ".gemini")):
        shutil.copytree(samples / source, folder / target)
    shutil.copytree(samples / "hermes", folder / ".hermes")
    shutil.copytree(samples / "openai_chat", folder / "old-runs")
    (toml,) = find_blocks(DOCS / "first-hour.md", "toml")
    (logged,) = find_blocks(DOCS / "own-agent.md", "json")
    for name, text in {
        "shop.toml": toml,
        "my-agent.jsonl": json.dumps(json.loads(logged)) + "\n",
        "transcript.jsonl": logged,
        "notes.md": "password = hunter2-and-more\n",
        "build.log": BUILD_LOG,
        "tasks.jsonl": '{"id": "a", "prompt": "Say hello."}\n',
    }.items():
        (folder / name).write_text(text, "utf-8")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "HERMES_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "WARMSTART_STORE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": str(folder), "USERPROFILE": str(folder), "COLUMNS": WIDTH}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("WARMSTART_HOME", str(folder / "warmstart"))
    monkeypatch.setenv("WARMSTART_WARM_HOLDOUT", "0")
    monkeypatch.chdir(folder)
    return folder


def run(arguments: list[str], piped: str | None = None) -> tuple[int, str]:
    """The exit code and everything printed; a traceback is a failed test."""
    text = Path(piped).read_text("utf-8") if piped else None
    result = CliRunner().invoke(cli, arguments, input=text)
    is_ended = result.exception is None or isinstance(result.exception, SystemExit)
    assert is_ended, (arguments, result.exception)
    return result.exit_code, result.output


def parse(arguments: list[str]) -> None:
    """Read a command line to its last word, as click does before running it."""
    command: click.Command = cli
    words = list(arguments)
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words.pop(0))
        assert found is not None, arguments
        command = found
    command.make_context("warmstart", words)


def check_command(arguments: list[str], piped: str | None) -> str:
    """What the command printed; nothing if it can only be parsed."""
    spelled = " ".join(arguments)
    is_question = arguments[:2] in QUESTIONS and "--yes" not in arguments
    if is_question:  # a person at a terminal answers it
        arguments = [*arguments, "--yes"]
    if spelled in OPENS_EDITOR or any(f"{spelled} ".startswith(f"{start} ") for start in PARSED):
        parse(arguments)
        return ""
    target = None
    if ">" in arguments:
        target = arguments[arguments.index(">") + 1]
        arguments = arguments[: arguments.index(">")]
    code, output = run(arguments, piped)
    assert code == EXIT_CODES.get(spelled, 0), f"{spelled}\n{output}"
    if target is not None:
        Path(target).write_text(output, "utf-8")
    return output


def check_shown(shown: list[str], output: str) -> None:
    """Each shown line is in the output, in order; … stands for anything, blanks do not matter."""
    printed = [" ".join(line.split()) for line in output.splitlines()]
    for line in shown:
        pattern = ".*".join(re.escape(" ".join(part.split())) for part in line.split("…"))
        while pattern not in ("", ".*"):
            assert printed, f"not printed: {line}\n{output}"
            if re.fullmatch(pattern, printed.pop(0)):
                break


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if list(find_lines(page))])
def test_every_command_works_and_prints_what_is_shown(home: Path, name: str) -> None:
    del home
    for line in SETUP.get(name, []):
        assert run(shlex.split(line))[0] == 0, line
    for line in find_lines(PAGES[name]):
        output = ""
        for (program, *arguments), piped in split_commands(line.command):
            if program == "warmstart":
                output = check_command([*map(os.path.expanduser, arguments)], piped)
            else:
                assert Path(program).name in OTHER_PROGRAMS, line.command
        if output:
            check_shown(line.shown, output)


def test_queries_of_the_facts_page_give_rows(home: Path) -> None:
    assert run(["profile"])[0] == 0
    queries = "".join(find_blocks(DOCS / "facts.md", "sql")).split(";\n")
    with closing(sqlite3.connect(home / "warmstart" / "facts.db")) as db:
        counts = [len(db.execute(query).fetchall()) for query in queries if query.strip()]
    assert len(counts) == 2
    assert min(counts) > 0


def test_only_what_can_be_installed_is_named() -> None:
    for page in [*PAGES.values(), DOCS / GENERATED]:
        text = page.read_text("utf-8")
        assert "warmstart[" not in text, page.name
        if page.name != "releasing.md":
            assert "pip install warmstart" not in text, page.name


def has_name(module: str, name: str) -> bool:
    """Whether the module has the name, or a module of that name below it."""
    return hasattr(import_module(module), name) or find_spec(f"{module}.{name}") is not None


@pytest.mark.parametrize(
    "name", [name for name, page in PAGES.items() if find_blocks(page, "python")]
)
def test_python_on_a_page_is_python(name: str) -> None:
    for block in find_blocks(PAGES[name], "python"):
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
        tree = compile(block, name, "exec", flags=flags)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("warmstart"):
                for alias in node.names:
                    assert has_name(node.module or "", alias.name), f"{node.module}: {alias.name}"


@pytest.mark.parametrize("name", TYPED_PAGES)
def test_examples_for_users_run(home: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    del home
    pytest.importorskip("openai")
    pytest.importorskip("agents")
    pytest.importorskip("anthropic")
    with ScriptedEndpoint(Script(Reply("Done."), Reply("Done."))) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", endpoint.url)
        for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            monkeypatch.setenv(variable, "none")
        exec(compile("\n".join(find_blocks(PAGES[name], "python")), name, "exec"), {})  # noqa: S102 - ours


def test_examples_for_users_are_well_typed(tmp_path: Path) -> None:
    files = [tmp_path / f"page_{number}.py" for number in range(len(TYPED_PAGES) + 1)]
    for file, name in zip(files, TYPED_PAGES, strict=False):
        file.write_text("\n".join(find_blocks(PAGES[name], "python")), "utf-8")
    (readme, *_) = find_blocks(PAGES["README.md"], "python")
    files[-1].write_text(readme.replace("start.finish(", "start.finnish("), "utf-8")
    api = pytest.importorskip("mypy.api")
    config = tmp_path / "mypy.ini"  # what others typed takes most of the time and is not asked for
    config.write_text(
        "[mypy]\n[mypy-agents.*,anthropic.*,openai.*]\nfollow_imports = skip\n", "utf-8"
    )
    options = ["--no-incremental", "--follow-imports=silent", "--config-file", str(config)]
    problems, _, _ = api.run([*map(str, files), *options])
    found = [line for line in problems.splitlines() if ": error: " in line]
    assert [line for line in found if "finnish" in line] == found
    assert len(found) == 1, problems


def test_generated_pages_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "make_docs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_rule_of_the_judge_is_documented() -> None:
    page = (DOCS / "outcomes.md").read_text("utf-8")
    sources = [Path(m.__file__ or "").read_text("utf-8") for m in (explicit, structure, words)]
    named = {
        name for text in sources for name in re.findall(r'"([a-z]+(?:_[a-z]+)+)", (?:_|Cert)', text)
    }
    named |= {rule.name for rule in complaints._RULES}
    named |= {refusal.name for refusal in refusals._REFUSALS.values()}
    assert len(named) > 25
    assert {name for name in named if f"`{name}`" not in page} == set()


def test_every_status_and_error_class_is_documented() -> None:
    page = (DOCS / "outcomes.md").read_text("utf-8")
    assert all(f"`{value}`" in page for value in (*Status, *ErrorClass))


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES.values():
        for target, part in re.findall(
            r"\]\((?!https?:)([^)#]*)(#[^)]+)?\)", page.read_text("utf-8")
        ):
            there = page.parent / target if target else page
            assert there.exists(), f"{page.name}: {target}"
            if part:
                titles = re.findall(r"^#+ (.*)$", there.read_text("utf-8"), re.MULTILINE)
                names = {
                    re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles
                }
                assert part[1:] in names, f"{page.name}: {target}{part}"


def test_files_that_pages_name_are_there() -> None:
    for page in PAGES.values():
        named = re.findall(
            r"\b((?:tests|bench|scripts|src|design)/[\w./-]*\w)", page.read_text("utf-8")
        )
        missing = {name for name in named if not (ROOT / name).exists()}
        assert missing == set(), page.name


def test_the_map_is_the_tree_on_disk() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    package = ROOT / "src" / "warmstart"
    folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    table = text.partition("## Map")[2].partition("## Where")[0]
    assert set(re.findall(r"`(\w+/)`", table)) - {"readers/"} == folders
    named = set(re.findall(r"`(\w+)/(\w+\.py)`", text))
    assert {
        f"{folder}/{name}"
        for folder, name in named
        if not any((root / folder / name).exists() for root in (package, ROOT))
    } == set()


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    assert [page.name for page in DOCS.glob("*.md") if f"({page.name}" not in index] == [
        "README.md"
    ]
