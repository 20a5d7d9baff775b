"""A small experiment for tests: tasks of reading files, and a template that shows how."""

from __future__ import annotations

import json
from pathlib import Path

from warmstart.app import Workspace
from warmstart.app.templates import open_library
from warmstart.model.template import Example, Provenance, Template, TemplateState


def write_tasks(path: Path, count: int, **more: object) -> Path:
    """Tasks that the learning model of ``warmstart.testing`` can do."""
    rows = [
        {
            "id": f"t{number:02}",
            "prompt": f"Read notes/a{number}.txt and notes/b{number}.txt and tell me.",
            "files": {f"notes/{name}{number}.txt": f"{name} {number}" for name in "ab"},
            "tools": ["read_file"],
            "check": {"answer": f"a {number} .*b {number}"},
            **more,
        }
        for number in range(count)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def save_template(
    home: Path,
    name: str = "reads",
    tasks: tuple[str, ...] = (),
    state: TemplateState = TemplateState.APPROVED,
) -> str:
    """A template with one example; its id."""
    example = Example(
        tool="read_file", arguments={"path": "docs/guide.txt"}, result="A short guide.",
        intent="Read docs/guide.txt.", closing="It is a short guide.",
    )  # fmt: skip
    template = Template(name=name, examples=(example,), provenance=Provenance(tasks=tasks))
    with open_library(Workspace.open(home)) as library:
        return library.save(template, state=state).id
