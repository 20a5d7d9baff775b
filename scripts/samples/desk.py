"""A simulated workplace: calls act on the project's invented files, and become steps.

An edit whose text is not in the file fails here for the same reason it fails in life, so the
transcripts are consistent: what was read is what is edited, and what was edited is what is found.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

from samples.projects import FILES
from samples.steps import Call, Ending, Say, Step, Tool, Turn, User

READ_LIMIT = 32


class Desk:
    """Records one session while it plays. ``habits`` maps a kind of slip to how likely it is."""

    def __init__(
        self, project: str, key: str, habits: Mapping[str, float], *, cuts_lines: bool = False
    ) -> None:
        self.project = project
        self.cwd = f"/home/dev/{project}"
        self.files = dict(FILES[project])
        self.steps: list[Step] = []
        self.cuts_lines = cuts_lines
        """The agent's reader shortens long lines, and the agent copies what it saw."""
        self._habits = habits
        self._learnt: set[str] = set()
        self._random = random.Random(f"warmstart-desk:{key}")  # noqa: S311 - must repeat

    def pick(self, *choices: str) -> str:
        """One of several ways to say the same."""
        return self._random.choice(choices)

    def slips(self, kind: str) -> bool:
        """Whether the agent makes this mistake now; a lesson of the project is learnt at once."""
        rate = self._habits.get(kind, 0.0)
        if kind in self._learnt or self._random.random() >= rate:
            return False
        if kind not in REPEATING:
            self._learnt.add(kind)
        return True

    def plant(self, path: str, right: str, wrong: str) -> None:
        """Break a file before the session starts."""
        if right not in self.files[path]:
            raise ValueError(f"nothing to break in {path}: {right!r}")
        self.files[path] = self.files[path].replace(right, wrong, 1)

    def ask(self, text: str) -> None:
        """The person types."""
        self.steps.append(User(text))

    def say(self, text: str) -> None:
        """The agent answers without calling anything."""
        self.steps.append(Say(text))

    def do(self, *calls: Call, text: str = "") -> None:
        """One assistant message with these calls."""
        self.steps.append(Turn(calls, text))

    def shell(self, command: str, output: str = "", exit_code: int = 0, text: str = "") -> None:
        """Run a command that prints ``output``."""
        self.do(self.command(command, output, exit_code), text=text)

    def command(self, command: str, output: str = "", exit_code: int = 0) -> Call:
        """A command as part of a batch."""
        ending = Ending.EXIT if exit_code else Ending.OK
        return Call(
            tool=Tool.SHELL,
            arguments={"command": command},
            text=output,
            ending=ending,
            exit_code=exit_code,
        )

    def read(self, path: str, text: str = "") -> None:
        """Look at a file."""
        self.do(self.reading(path), text=text)

    def reading(self, path: str) -> Call:
        """A look at a file as part of a batch; a path that is not there fails."""
        arguments = {"path": f"{self.cwd}/{path}"}
        if path not in self.files:
            return Call(tool=Tool.READ, arguments=arguments, ending=Ending.MISSING)
        lines = self.files[path].splitlines()[:READ_LIMIT]
        return Call(tool=Tool.READ, arguments=arguments, text="\n".join(lines))

    def edit(self, path: str, old: str, new: str, text: str = "") -> bool:
        """Replace text in a file; False when the old text is not there."""
        call = self.editing(path, old, new)
        self.do(call, text=text)
        return call.ending is Ending.OK

    def editing(self, path: str, old: str, new: str) -> Call:
        """An edit as part of a batch."""
        arguments = {"path": f"{self.cwd}/{path}", "old": old, "new": new}
        if old not in self.files[path]:
            return Call(tool=Tool.EDIT, arguments=arguments, ending=Ending.MISMATCH)
        self.files[path] = self.files[path].replace(old, new)
        return Call(tool=Tool.EDIT, arguments=arguments)

    def write(self, path: str, content: str, text: str = "") -> None:
        """Create or replace a file."""
        self.files[path] = content
        arguments = {"path": f"{self.cwd}/{path}", "content": content}
        self.do(Call(tool=Tool.WRITE, arguments=arguments), text=text)

    def search(self, pattern: str, text: str = "") -> None:
        """Look for a word in every file."""
        self.do(self.searching(pattern), text=text)

    def searching(self, pattern: str) -> Call:
        """A search as part of a batch; nothing found is a fine answer."""
        hits = [
            f"{path}:{number}:{line}"
            for path, content in self.files.items()
            for number, line in enumerate(content.splitlines(), 1)
            if pattern in line
        ]
        arguments = {"pattern": pattern, "path": self.cwd}
        return Call(tool=Tool.SEARCH, arguments=arguments, text="\n".join(hits))

    def code(self, source: str, output: str, exit_code: int = 0, text: str = "") -> None:
        """Run a few lines of Python."""
        ending = Ending.EXIT if exit_code else Ending.OK
        call = Call(
            tool=Tool.CODE,
            arguments={"code": source},
            text=output,
            ending=ending,
            exit_code=exit_code,
        )
        self.do(call, text=text)

    def web(self, query: str, answer: str, *, failed: bool = False) -> None:
        """Search the web."""
        ending = Ending.REFUSED if failed else Ending.OK
        self.do(Call(tool=Tool.WEB, arguments={"query": query}, text=answer, ending=ending))

    def plan(self, *items: str) -> None:
        """Write down a list of things to do."""
        self.do(Call(tool=Tool.TODO, arguments={"items": "\n".join(items)}))


REPEATING = frozenset({"mismatch", "lint", "masked", "guess", "usage"})
"""Slips that no single lesson cures; all others are made at most once in a session."""
