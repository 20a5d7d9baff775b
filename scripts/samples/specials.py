"""Moments that are no task of their own: refusals, interruptions, compactions, leaked secrets."""

from __future__ import annotations

from samples import printouts
from samples.desk import Desk
from samples.steps import ApiError, Call, Compact, Delegate, Ending, Interrupt, Tool, Turn


def reject(desk: Desk) -> None:
    """The person says no to a destructive command."""
    desk.ask("The test database is full of old rows. Clean it up.")
    command = "docker compose exec -T db psql -U shop -c 'TRUNCATE orders CASCADE'"
    call = Call(tool=Tool.SHELL, arguments={"command": command}, ending=Ending.REJECTED)
    desk.do(call, text="I'll empty the orders table.")
    desk.steps.append(Interrupt())
    desk.ask("Not like that: only rows older than 90 days.")
    desk.shell(
        "docker compose exec -T db psql -U shop -c"
        " \"DELETE FROM orders WHERE created_at < now() - interval '90 days'\"",
        "DELETE 18204",
    )
    desk.say("18,204 rows older than 90 days are gone; newer ones are untouched.")


def cascade(desk: Desk) -> None:
    """One call of a batch fails and takes the others with it."""
    desk.ask("Compare the three pricing modules and tell me which one is used.")
    paths = ("src/shop/pricing_v2.py", "src/shop/pricing.py", "src/shop/schemas.py")
    first = desk.reading(paths[0])
    others = [
        Call(tool=Tool.READ, arguments={"path": f"{desk.cwd}/{path}"}, ending=Ending.CANCELLED)
        for path in paths[1:]
    ]
    search = Call(
        tool=Tool.SEARCH,
        arguments={"pattern": "import pricing", "path": desk.cwd},
        ending=Ending.CANCELLED,
    )
    desk.do(first, *others, search, text="Reading all of them at once.")
    desk.shell("ls src/shop", "pricing.py\nroutes\nschemas.py")
    desk.do(*(desk.reading(path) for path in paths[1:]))
    desk.say("There is only one: src/shop/pricing.py. The other two names were never merged.")


def interrupt(desk: Desk) -> None:
    """The person stops a command that takes too long."""
    desk.ask("Reindex the search tables.")
    call = Call(
        tool=Tool.SHELL,
        arguments={"command": "uv run python -m shop.search reindex --all"},
        text="reindexing 1/400 ...\nreindexing 2/400 ...",
        ending=Ending.INTERRUPTED,
    )
    desk.do(call)
    desk.steps.append(Interrupt())
    desk.ask("That takes hours, only the products table please.")
    desk.shell("uv run python -m shop.search reindex products", "reindexing 1/1 ... done, 0 errors")
    desk.say("The products table is reindexed.")


def endpoint_down(desk: Desk) -> None:
    """The model's own API fails once."""
    desk.steps.append(
        ApiError('API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}')
    )
    desk.ask("continue")


def compact(desk: Desk) -> None:
    """The context is full."""
    desk.steps.append(Compact(
        f"The work so far on {desk.project}: the reported problems were found and fixed, tests pass"
        " with `make test`, everything is committed. Next: what the user asks now.",
    ))  # fmt: skip


def delegate(desk: Desk) -> None:
    """A subagent searches while the agent goes on."""
    inner = Desk(desk.project, "subagent", {})
    inner.search("fetch_all")
    inner.read("src/shop/routes/products.py")
    inner.read("src/shop/routes/orders.py")
    inner.shell("grep -rn 'N+1' src", "", 1)
    answer = "orders.py runs one query per request; there is no N+1 pattern in the routes."
    inner.say(answer)
    desk.ask("Check all routes for N+1 queries, use a subagent for the search.")
    desk.steps.append(
        Delegate("Find N+1 query patterns in src/shop/routes.", tuple(inner.steps), answer)
    )
    desk.say("No route has an N+1 pattern.")


def read_env(desk: Desk) -> None:
    """A look at settings that prints credentials."""
    desk.ask("Which environment does the dev server use?")
    desk.shell("cat .env.local", printouts.SECRETS)
    desk.say("It uses the local database on port 5433 and the dev environment of Sentry.")


def read_remote(desk: Desk) -> None:
    """A look at the remote that prints a token."""
    desk.ask("Push this to a branch and open a pull request.")
    desk.shell("git remote -v", printouts.LEAKY_REMOTE)
    desk.shell("git push -u origin HEAD", "branch 'fix-pages' set up to track 'origin/fix-pages'.")
    desk.shell("gh pr create --fill", "/bin/bash: line 1: gh: command not found", 127)
    desk.say("Pushed. `gh` is not installed here, so please open the pull request in the browser.")


def rebase(desk: Desk) -> None:
    """A merge conflict, resolved by hand."""
    desk.ask("Rebase on main.")
    desk.shell("git fetch -q && git rebase origin/main", printouts.CONFLICT, 1)
    desk.read("src/shop/schemas.py", "Both sides renamed a field; keeping ours.")
    desk.shell(
        "git checkout --theirs src/shop/schemas.py && git add -A && git rebase --continue",
        "Successfully rebased and updated.",
    )
    desk.say("Rebased; the one conflict was the same rename on both sides.")


def reset_data(desk: Desk) -> None:
    """A script without its executable bit."""
    desk.ask("Reset the sample data.")
    desk.shell("./scripts/reset.sh", printouts.NOT_EXECUTABLE, 126)
    missing = "ls: cannot access 'fixtures/': No such file or directory"
    desk.shell("ls fixtures/", missing, 2)
    desk.shell("bash scripts/reset.sh", "dropped 4 tables\nloaded 4 fixtures\nno errors")
    desk.say("The sample data is fresh.")


def leave_open(desk: Desk) -> None:
    """The session ends while a call is running."""
    desk.ask("Start a full backup, I'll be back later.")
    call = Call(
        tool=Tool.SHELL,
        arguments={"command": "bash scripts/backup.sh --full"},
        ending=Ending.UNANSWERED,
    )
    desk.do(call, text="Starting the backup.")


def loop(desk: Desk) -> None:
    """The same failing command again and again, until the agent thinks."""
    desk.ask("Is the queue reachable from the worker?")
    command = "redis-cli -h queue ping"
    for count in range(1, 4):
        call = desk.command(command, "Could not connect to Redis at queue:6379: timed out", 1)
        desk.steps.append(Turn((_counted(call, count),)))
    desk.read("config.toml", "The host name is wrong; the configuration will say.")
    desk.shell("redis-cli -h localhost ping", "PONG")
    desk.say(
        "Yes: the queue answers at localhost:6379, the name `queue` only exists in production."
    )


def _counted(call: Call, count: int) -> Call:
    return Call(
        tool=call.tool,
        arguments=call.arguments,
        text=call.text,
        ending=call.ending,
        exit_code=call.exit_code,
        count=count,
    )


def research(desk: Desk) -> None:
    """Two searches on the web, one of them refused."""
    desk.ask("Does the new release of our PDF library fix the memory leak? Upgrade if so.")
    desk.web(
        "pdf library changelog memory leak", "Rate limit exceeded (429), retry later", failed=True
    )
    desk.web(
        "pdf library 4.2 release notes",
        "4.2.0: fixes a memory leak when a template is filled more than once. Error handling of"
        " broken fonts was improved.",
    )
    desk.shell("uv lock --upgrade-package pdfkit-lite", "Updated pdfkit-lite v4.1.3 -> v4.2.0")
    desk.shell("uv run pytest -q -p no:cacheprovider", printouts.passed(31, "2.91"))
    desk.say("4.2.0 fixes it. The lock file is updated and the tests pass.")


def dump_log(desk: Desk) -> None:
    """A result too large for the context."""
    desk.ask("Anything odd in yesterday's worker log?")
    lines = (
        f"2026-10-1{index % 10} 03:{index % 60:02d}:07 INFO worker.jobs job {4000 + index} done"
        for index in range(14)
    )
    desk.shell("cat /var/log/worker/worker.log.1", "\n".join(lines))
    desk.shell("grep -c ' ERROR ' /var/log/worker/worker.log.1", "0", 1)
    desk.say("No: every job of the night is done, no line has level ERROR.")


def greet(desk: Desk) -> None:
    """Somebody opened a session and left."""
    desk.ask("hi")
    desk.say("Hello! What shall we work on?")
