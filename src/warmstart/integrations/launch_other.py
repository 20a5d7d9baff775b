"""Any other command, given its warm-up in a file.

``WARMSTART_WARMUP_FILE`` names the file, and so does every ``{warmup}`` on the command line. Which
form it has is the user's to say; without one the command starts cold, with an empty file.
"""

from __future__ import annotations

from collections.abc import Sequence

from warmstart.app import Target, WarmStart
from warmstart.integrations.launch_parts import AgentCommand, Host, Launch, SeedFile
from warmstart.model import WarmUp
from warmstart.placeholders import fill_words

VARIABLE = "WARMSTART_WARMUP_FILE"
PLACEHOLDER = "warmup"
"""A path of ours, so it may also stand in a line for a shell."""
FOLDER = "launch"


class Other:
    """Launches of a command nothing is known about."""

    def __init__(self, agent: str, form: str) -> None:
        self.agent = agent
        self.form = form

    def read(self, arguments: Sequence[str], host: Host) -> AgentCommand | None:
        """The command as it is; where its message stands is not known."""
        unknown = (
            f"{self.agent} is not an agent known here; --as text gives it the warm-up in a file"
        )
        return AgentCommand(
            agent=self.agent,
            arguments=tuple(arguments),
            cwd=host.cwd,
            obstacle="" if self.form else unknown,
        )

    def name_form(self, given: AgentCommand, warmup: WarmUp) -> str:
        """The form the user named."""
        del given, warmup
        return self.form

    def put(self, given: AgentCommand, prepared: WarmStart, form: str, host: Host) -> Launch:
        """A file of that form."""
        target = Target(
            cwd=given.cwd, session_id=host.session_id, version="0", now=host.now,
            messages=None,
        )  # fmt: skip
        data = prepared.render(form, target).to_bytes()
        return self._name_file(given, host, data)

    def stay_cold(self, given: AgentCommand, host: Host) -> Launch:
        """An empty file where the command wants one, so that it runs the same."""
        wants_file = bool(self.form) or any(
            f"{{{PLACEHOLDER}}}" in word for word in given.arguments
        )
        return (
            self._name_file(given, host, b"") if wants_file else Launch(arguments=given.arguments)
        )

    def defer(self, given: AgentCommand, host: Host) -> Launch | None:
        """None: such a command cannot choose later."""
        del given, host
        return None

    def _name_file(self, given: AgentCommand, host: Host, data: bytes) -> Launch:
        path = host.home / FOLDER / f"{host.session_id}.txt"
        return Launch(
            arguments=tuple(fill_words(given.arguments, {PLACEHOLDER: str(path)})),
            environ={VARIABLE: str(path)},
            seeds=(SeedFile(path, data),),
        )


__all__ = ["Other"]
