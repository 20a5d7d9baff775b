"""Any other command, given its warm-up in a file.

``WARMSTART_WARMUP_FILE`` names the file, and so does every ``{warmup}`` on the command line. Which
form it has is the user's to say; without one the command starts cold, with an empty file.
"""

from __future__ import annotations

from collections.abc import Sequence

from warmstart.app.start import WarmStart
from warmstart.integrations.launch_parts import Ask, Launch, Place, Seed
from warmstart.model.warmup import WarmUp
from warmstart.placeholders import fill_words
from warmstart.warm import Target

VARIABLE = "WARMSTART_WARMUP_FILE"
PLACEHOLDER = "warmup"
"""A path of ours, so it may also stand in a line for a shell."""
FOLDER = "launch"


class Other:
    """Launches of a command nothing is known about."""

    def __init__(self, agent: str, form: str) -> None:
        self.agent = agent
        self.form = form

    def read(self, arguments: Sequence[str], place: Place) -> Ask | None:
        """Where its message is, nobody knows."""
        unknown = f"{self.agent} is no agent known here; --as text gives it the warm-up in a file"
        return Ask(
            agent=self.agent,
            arguments=tuple(arguments),
            cwd=place.cwd,
            obstacle="" if self.form else unknown,
        )

    def name_form(self, ask: Ask, warmup: WarmUp) -> str:
        """What the user said."""
        del ask, warmup
        return self.form

    def put(self, ask: Ask, prepared: WarmStart, form: str, place: Place) -> Launch:
        """A file of that form."""
        target = Target(
            cwd=ask.cwd, session_id=place.session_id, version="0", now=place.now,
            messages=None,
        )  # fmt: skip
        data = prepared.render(form, target).to_bytes()
        return self._name_file(ask, place, data)

    def stay_cold(self, ask: Ask, place: Place) -> Launch:
        """An empty file where the command wants one, so that it runs the same."""
        wants_file = bool(self.form) or any(f"{{{PLACEHOLDER}}}" in word for word in ask.arguments)
        return self._name_file(ask, place, b"") if wants_file else Launch(arguments=ask.arguments)

    def defer(self, ask: Ask, place: Place) -> Launch | None:
        """Nobody knows how."""
        del ask, place
        return None

    def _name_file(self, ask: Ask, place: Place, data: bytes) -> Launch:
        path = place.home / FOLDER / f"{place.session_id}.txt"
        return Launch(
            arguments=tuple(fill_words(ask.arguments, {PLACEHOLDER: str(path)})),
            environ={VARIABLE: str(path)},
            seeds=(Seed(path, data),),
        )


__all__ = ["Other"]
