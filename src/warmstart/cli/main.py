"""The ``warmstart`` command: finds the subcommand, and is the one place errors become exit codes.

Subcommands are imported only when they run, and their one-line help stands in the table here, so
that ``warmstart --help`` costs no more than an empty click program. Whatever goes wrong inside a
command ends in one line on stderr, never in a traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple, NoReturn

import click

from warmstart._version import __version__
from warmstart.errors import WarmstartError

EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141
"""What a shell reports for a program that SIGPIPE ended."""
EXIT_SYSTEM = 4


class Entry(NamedTuple):
    """A subcommand: where it is, and what it is for."""

    target: str
    """``module:attribute``."""
    help: str


COMMANDS = {
    "doctor": Entry("warmstart.cli.doctor:doctor", "Find every session store on this machine."),
    "sessions": Entry("warmstart.cli.sessions:sessions", "List, show and export sessions."),
    "profile": Entry("warmstart.cli.profile:profile", "How reliable your agent is, and why."),
    "compare": Entry("warmstart.cli.compare:compare", "Two sessions, or two sets, side by side."),
    "facts": Entry("warmstart.cli.facts:facts", "See or rebuild the index behind the figures."),
    "gateway": Entry("warmstart.cli.gateway:gateway", "See and steer a chat gateway's sessions."),
    "template": Entry("warmstart.cli.template:template", "Make, review and share templates."),
    "warm": Entry("warmstart.cli.warm:warm", "What a new session would start with."),
    "run": Entry("warmstart.cli.run:run", "Start the real agent warm."),
    "sync": Entry("warmstart.cli.sync:sync", "Find out what became of started sessions."),
    "redact": Entry("warmstart.cli.redact:redact", "Take secrets out of a file."),
    "experiment": Entry("warmstart.cli.experiment:experiment", "Prove that a warm start helps."),
    "bootstrap": Entry("warmstart.cli.bootstrap:bootstrap", "A first template from tasks."),
    "mcp": Entry("warmstart.cli.mcp:mcp", "Serve templates and profiles to an agent over MCP."),
    "install": Entry("warmstart.cli.install:install", "Put warmstart into an agent's settings."),
    "uninstall": Entry("warmstart.cli.install:uninstall", "Take it out of them again."),
    "hook": Entry("warmstart.cli.install:hook", "Answer an agent's hook."),
    "demo": Entry("warmstart.cli.demo:demo", "Show what warmstart does, on sample sessions."),
}


class LazyGroup(click.Group):
    """A group that knows its subcommands by name and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one subcommand."""
        del ctx
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Help from the table alone."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Run the subcommand and turn whatever stops it into an exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except WarmstartError as error:
            _fail(ctx, error.message, error.hint, error.exit_code)
        except KeyboardInterrupt:
            ctx.exit(EXIT_INTERRUPTED)
        except BrokenPipeError:
            _detach_stdout()
            ctx.exit(EXIT_CLOSED_PIPE)
        except OSError as error:
            place = f": {error.filename!r}" if error.filename else ""
            _fail(ctx, f"{error.strerror or error}{place}", None, EXIT_SYSTEM)
        return result


def _fail(ctx: click.Context, message: str, hint: str | None, code: int) -> NoReturn:
    from warmstart.cli._text import clean  # noqa: PLC0415 - its patterns are not for --help

    click.echo(f"error: {clean(message)}", err=True)
    if hint:
        click.echo(f"hint: {clean(hint)}", err=True)
    ctx.exit(code)


def _detach_stdout() -> None:
    """Nobody reads any more: let the interpreter's last flush go nowhere instead of failing."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = None


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="warmstart")
def cli() -> None:
    """Start every agent session as good as your best one, and prove it.

    warmstart reads the sessions your agents already keep on disk (Claude Code, Codex, Hermes and
    more), judges every tool call, and says how reliable they are. Begin with: warmstart doctor
    """


def main(arguments: Sequence[str] | None = None, prog_name: str = "warmstart") -> None:
    """Entry point of the console script, of ``python -m warmstart`` and of ``hermes warm``."""
    for stream in (sys.stdout, sys.stderr):
        # Transcripts hold every character there is; a narrow terminal must not end the command.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    cli(args=arguments, prog_name=prog_name)
