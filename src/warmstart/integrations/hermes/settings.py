"""The ``[hermes]`` section of the settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmstart.app import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class HermesConfig:
    """What the plugin does."""

    enabled: bool = True
    """Start sessions warm; the tool and the commands are there in any case."""
    template: str = "auto"
    """A template's name to give to every session, or ``auto``."""
    cold: str = "subagent,cron,tool"
    """Where sessions stay cold, joined by commas: platforms and sources as Hermes names them."""

    def is_cold(self, *origins: str) -> bool:
        """Whether sessions of one of these platforms or sources stay cold."""
        named = {name.strip() for name in self.cold.split(",") if name.strip()}
        return not self.enabled or not named.isdisjoint(origins)


def load_hermes_config(workspace: Workspace) -> HermesConfig:
    """The settings in force.

    Raises:
        UsageError: a setting cannot be right.
    """
    from warmstart.app import load_section  # noqa: PLC0415 - kept out of registering

    return load_section(workspace, "hermes", HermesConfig)


__all__ = ["HermesConfig", "load_hermes_config"]
