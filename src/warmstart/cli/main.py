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


class CommandEntry(NamedTuple):
    """A subcommand: where it is, and what it is for."""

    target: str
    """``module:attribute`` in this package."""
    help: str


GROUPS: dict[str, dict[str, CommandEntry]] = {
    "Look": {
        "profile": CommandEntry("profile:profile", "How reliable your agent is, and why."),
        "sessions": CommandEntry("sessions:sessions", "List, show and export sessions."),
        "compare": CommandEntry("compare:compare", "Two sessions, or two sets, side by side."),
        "doctor": CommandEntry("doctor:doctor", "Find every session store on this machine."),
        "demo": CommandEntry("demo:demo", "Run the commands on sample sessions."),
    },
    "Learn": {
        "template": CommandEntry("template:template", "Make, review and share templates."),
        "bootstrap": CommandEntry("bootstrap:bootstrap", "A first template from tasks."),
    },
    "Start": {
        "run": CommandEntry("run:run", "Start the real agent warm."),
        "warm": CommandEntry("warm:warm", "What a new session would start with."),
        "install": CommandEntry("install:install", "Put warmstart into an agent's settings."),
        "uninstall": CommandEntry("install:uninstall", "Take it out of them again."),
        "mcp": CommandEntry("mcp:mcp", "Serve templates and profiles to an agent over MCP."),
        "hook": CommandEntry("install:hook", "Answer an agent's hook."),
    },
    "Prove": {
        "experiment": CommandEntry("experiment:experiment", "Prove that a warm start helps."),
        "sync": CommandEntry("sync:sync", "Find out how started sessions ended."),
    },
    "Keep": {
        "redact": CommandEntry("redact:redact", "Take secrets out of a file."),
        "facts": CommandEntry("facts:facts", "See or rebuild the index behind the figures."),
        "gateway": CommandEntry("gateway:gateway", "See and steer a chat gateway's sessions."),
    },
}
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}
OTHER_WORDS = {
    "analyze": ("profile",),
    "build": ("template build",),
    "create-template": ("template build",),
    "delete": ("template delete",),
    "export": ("sessions export", "template export"),
    "extract": ("template extract",),
    "import": ("sessions import", "template import"),
    "list": ("sessions list", "template list"),
    "list-templates": ("template list",),
    "search": ("sessions search",),
    "show": ("sessions show", "template show"),
    "test": ("template test",),
}
"""Words that people try, with the commands they mean."""


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
        command: click.Command = getattr(import_module(f"warmstart.cli.{module}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand that is meant; an unknown word is answered with those it may mean."""
        word = args[0]
        if word not in COMMANDS and not word.startswith("-"):
            meant = suggest(word)
            hint = f" Did you mean: {', '.join(f'warmstart {one}' for one in meant)}?"
            ctx.fail(f"There is no command {word!r}.{hint if meant else ''}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Help from the table alone."""
        del ctx
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, entry.help) for name, entry in group.items()])

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


def suggest(word: str) -> list[str]:
    """Commands that an unknown word may mean: what others call them, else near words."""
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    known = OTHER_WORDS.get(word)
    if known is not None:
        return list(known)
    found: list[str] = []
    for near in get_close_matches(word, [*COMMANDS, *OTHER_WORDS], n=3):
        found += OTHER_WORDS.get(near, (near,))
    return list(dict.fromkeys(found))


def _fail(ctx: click.Context, message: str, hint: str | None, code: int) -> NoReturn:
    from warmstart.present import clean  # noqa: PLC0415 - its patterns are not for --help

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


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="warmstart")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Start every agent session as good as your best one, and prove it.

    warmstart reads the sessions your agents already keep on disk (Claude Code, Codex, Hermes and
    more), judges every tool call, and says how reliable they are. Begin with: warmstart profile
    """
    if ctx.invoked_subcommand is None:
        _show_overview()


def _show_overview() -> None:
    """What warmstart is, the sessions on this machine, and the command to run next."""
    from warmstart.app import (  # noqa: PLC0415 - only where it is needed
        Workspace,
        check_stores,
    )
    from warmstart.cli._output import put_out  # noqa: PLC0415 - same
    from warmstart.present import overview_document, show_progress  # noqa: PLC0415 - same

    with show_progress("looking for sessions") as on_progress:
        result = check_stores(Workspace.open(), on_progress=on_progress)
    put_out(overview_document(result))


def main(arguments: Sequence[str] | None = None, prog_name: str = "warmstart") -> None:
    """Entry point of the console script, of ``python -m warmstart`` and of ``hermes warm``."""
    for stream in (sys.stdout, sys.stderr):
        # Transcripts hold every character there is; a narrow terminal must not end the command.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    cli(args=arguments, prog_name=prog_name)
