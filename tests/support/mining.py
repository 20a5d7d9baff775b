"""Sessions that went well or badly in ways a miner can find, with invented content."""

from __future__ import annotations

from typing import Any

from warmstart.model import Message, Request, Result, Role, Session
from warmstart.sources.assemble import build_session

Step = tuple[str, dict[str, Any], str, bool]
"""Tool, arguments, result, whether it failed."""


def make_worked(native_id: str, steps: list[Step], **fields: Any) -> Session:
    """A session of single calls, each followed by its result and a remark."""
    asked = fields.pop("asked", "Please make the checkout round totals correctly.")
    messages = [Message(role=Role.USER, text=asked)]
    for number, (tool, arguments, result, failed) in enumerate(steps):
        call_id = f"c{number}"
        request = Request(tool=tool, id=call_id, arguments=arguments)
        answer = Result(text=result, call_id=call_id, is_error=failed)
        messages += [
            Message(role=Role.ASSISTANT, text=f"Step {number}.", requests=(request,)),
            Message(role=Role.TOOL, results=(answer,)),
        ]
    messages.append(Message(role=Role.ASSISTANT, text="Done: totals are rounded once."))
    fields.setdefault("project", f"/home/{fields.pop('user', 'dev')}/shop")
    return build_session(fields.pop("origin", "claude_code"), native_id, messages, **fields)


def edit_steps(root: str, name: str, *, times: int = 5) -> list[Step]:
    """Read, a failed edit, read again, the edit, the tests; several times over."""
    steps: list[Step] = []
    for number in range(times):
        path = f"{root}/src/{name}_{number}.py"
        wrong = {"file_path": path, "old_string": f"total = {number}", "new_string": "total = 1"}
        right = {**wrong, "old_string": f"total = {number}  # cents"}
        steps += [
            ("Read", {"file_path": path, "limit": 40}, f"1 total = {number}  # cents", False),
            ("Edit", wrong, "String to replace not found in file.", True),
            ("Read", {"file_path": path, "limit": 40}, f"1 total = {number}  # cents", False),
            ("Edit", right, f"The file {path} has been updated.", False),
            ("Bash", {"command": "pytest -q tests"}, "12 passed in 0.31s", False),
            ("Grep", {"pattern": "round(", "path": f"{root}/src"}, f"{path}:1:round(x)", False),
            ("Bash", {"command": "git diff --stat"}, " 1 file changed, 1 insertion(+)", False),
            ("Bash", {"command": f"git add {path}"}, "", False),
        ]
    return steps


def make_shop(count: int = 4, **fields: Any) -> list[Session]:
    """Sessions of different users on the same project, with the same habits."""
    return [
        make_worked(
            f"shop-{number}",
            edit_steps(f"/home/user{number}/shop", f"cart{number}"),
            user=f"user{number}",
            **fields,
        )
        for number in range(count)
    ]
