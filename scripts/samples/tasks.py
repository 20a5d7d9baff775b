"""The work that recurs: the same kinds of task with another subject each time."""

from __future__ import annotations

from typing import NamedTuple

from samples import printouts
from samples.desk import Desk
from samples.habits import change, commit, lint, look, orient, review, run_tests, study


class Bug(NamedTuple):
    """A line that is wrong, and the test that says so."""

    path: str
    guess: str
    test: str
    right: str
    wrong: str
    complaint: str
    why: str


class Field(NamedTuple):
    """A field to be renamed everywhere."""

    old: str
    new: str
    paths: tuple[str, ...]


class Endpoint(NamedTuple):
    """A route to be added."""

    route: str
    name: str
    query: str
    schema: str


class Column(NamedTuple):
    """A column to be added by a migration."""

    table: str
    name: str
    kind: str


class Page(NamedTuple):
    """A documentation page to be brought up to date."""

    path: str
    guess: str
    old: str
    new: str
    broken: str
    mended: str


class Question(NamedTuple):
    """Something a person wants to know."""

    text: str
    word: str
    """What to search for."""
    paths: tuple[str, ...]
    answer: str


def fix_test(desk: Desk, bug: Bug, branch: str) -> None:
    """A failing test: reproduce, read, repair, prove."""
    desk.plant(bug.path, bug.right, bug.wrong)
    name = bug.test.rpartition("::")[2]
    desk.ask(desk.pick(
        f"{bug.test} fails on {branch}. Please find out why and fix it.",
        f"CI is red: {name}. Fix it, and run everything before you stop.",
        f"fix {name}",
    ))  # fmt: skip
    if desk.pick("look", "run") == "look":
        orient(desk)
    run_tests(desk, printouts.failed(bug.test, bug.complaint), 1)
    look(desk, bug.path, bug.guess, "The test fails as reported. Now the code it tests.")
    desk.read(bug.test.partition("::")[0])
    study(desk, bug.complaint.partition("assert ")[2].partition("(")[0].strip("[") or "def ")
    change(desk, bug.path, bug.wrong, bug.right, f"Found it: {bug.why}.")
    review(desk, bug.path, bug.wrong, bug.right)
    run_tests(desk)
    commit(desk, branch, f"Fix {name.removeprefix('test_').replace('_', ' ')}", 1)
    desk.say(f"Fixed: {bug.why}. {name} and the rest of the suite pass.")


def rename_field(desk: Desk, field: Field, branch: str) -> None:
    """A field with another name: find every use, change them together, look for leftovers."""
    desk.ask(desk.pick(
        f"Rename `{field.old}` to `{field.new}` everywhere, no aliases.",
        f"{field.old} should be called {field.new}. Change all uses and the tests.",
    ))  # fmt: skip
    desk.search(field.old, f"Finding every use of `{field.old}`.")
    desk.do(*(desk.reading(path) for path in field.paths))
    for path in field.paths:
        line = next(line for line in desk.files[path].splitlines() if field.old in line)
        change(desk, path, line, line.replace(field.old, field.new))
        if field.old in desk.files[path]:
            desk.edit(path, field.old, field.new)
        review(desk, path, line, line.replace(field.old, field.new))
    run_tests(desk)
    desk.search(field.new)
    desk.shell(f"grep -rn '{field.old}' src tests docs", "", 1, "Checking that none is left.")
    commit(desk, branch, f"Rename {field.old} to {field.new}", len(field.paths))
    desk.say(
        f"`{field.old}` is now `{field.new}` in {len(field.paths)} files; nothing refers to it."
    )


def add_endpoint(desk: Desk, endpoint: Endpoint, branch: str) -> None:
    """A new route with its test."""
    routes, schemas = "src/shop/routes/orders.py", "src/shop/schemas.py"
    desk.ask(desk.pick(
        f"Add GET {endpoint.route} that returns {endpoint.schema}. Same style as the others, with"
        " a test.",
        f"we need GET {endpoint.route}",
    ))  # fmt: skip
    desk.plan("read the existing routes", "add the route", "add a test", "run everything")
    look(desk, routes, "src/shop/api/orders.py")
    desk.read(schemas)
    study(desk, "fetch_all")
    anchor = '@router.post("/", status_code=201)'
    route = (
        f'@router.get("{endpoint.route.removeprefix("/orders")}")\n'
        f"def {endpoint.name}() -> list[{endpoint.schema}]:\n"
        f'    rows = fetch_all("{endpoint.query}")\n'
        f"    return [{endpoint.schema}(**row) for row in rows]\n\n\n{anchor}"
    )
    change(desk, routes, anchor, route, "Adding the route beside the others.")
    desk.write(
        f"tests/test_{endpoint.name}.py",
        f"def test_{endpoint.name}_answers(client):\n"
        f'    assert client.get("{endpoint.route}").status_code == 200\n',
    )
    review(desk, routes, anchor, route)
    run_tests(desk)
    lint(desk, routes, "shop.errors.NotFoundError")
    if desk.slips("server"):
        desk.shell(f"curl -s localhost:8000{endpoint.route}", printouts.NOT_LISTENING, 7)
        desk.shell("make serve >/tmp/serve.log 2>&1 & sleep 2; tail -1 /tmp/serve.log",
                   "Application startup complete.")  # fmt: skip
        desk.shell(f"curl -s localhost:8000{endpoint.route} | head -c 200", "[]")
    commit(desk, branch, f"Add GET {endpoint.route}", 2)
    desk.say(f"GET {endpoint.route} is there, with a test; all tests and the linter pass.")


def write_migration(desk: Desk, column: Column, branch: str) -> None:
    """A migration up and down again."""
    desk.ask(desk.pick(
        f"Write a migration: {column.table}.{column.name} ({column.kind}). Check that it goes down"
        " again too.",
        f"Add column {column.name} to {column.table}, with migration.",
    ))  # fmt: skip
    last = "migrations/versions/0007_discount_pct.py"
    look(
        desk, last, "alembic/versions/0007_discount_pct.py", "The latest migration shows the style."
    )
    study(desk, "down_revision")
    desk.shell(
        "ls migrations/versions | tail -3",
        "0005_shipped_at.py\n0006_errors.py\n0007_discount_pct.py",
    )
    body = desk.files[last].replace("0007", "0008").replace('"0006"', '"0007"')
    body = body.replace("discount_pct", column.name).replace('"customers"', f'"{column.table}"')
    body = body.replace("sa.Integer()", f"sa.{column.kind}()").replace(
        "customers.", f"{column.table}."
    )
    desk.write(f"migrations/versions/0008_{column.name}.py", body)
    if desk.slips("migrate"):
        desk.shell("uv run alembic upgrade head", "KeyError: 'DATABASE_URL'", 1)
        desk.read("Makefile", "The environment comes from the Makefile.")
    desk.shell("make migrate", printouts.MIGRATED)
    desk.shell(
        "DATABASE_URL=postgresql://shop@localhost:5433/shop_test uv run alembic downgrade -1",
        printouts.MIGRATED.replace("upgrade 0007 -> 0008", "downgrade 0008 -> 0007"),
    )
    desk.shell("make migrate", printouts.MIGRATED)
    run_tests(desk)
    commit(desk, branch, f"Add {column.table}.{column.name}", 1)
    desk.say(f"Migration 0008 adds {column.table}.{column.name}; it goes up, down and up again.")


def find_slow_query(desk: Desk, table: str, branch: str) -> None:
    """A slow endpoint: measure, explain, index, measure again."""
    desk.ask(desk.pick(
        f"GET /{table}/by-customer takes 200 ms. Find out why and make it fast.",
        f"{table} by customer is slow in production, have a look",
    ))  # fmt: skip
    desk.search("customer_id = %s")
    desk.read("src/shop/routes/orders.py")
    study(desk, "WHERE")
    query = f"EXPLAIN ANALYZE SELECT * FROM {table} WHERE customer_id = 4711"
    client = "docker compose exec -T db psql -U shop -c"
    if desk.slips("psql"):
        desk.shell(f'psql -U shop -c "{query}"', printouts.NO_PSQL, 127)
        desk.shell(
            "docker compose ps --services", "db\nredis", text="The database runs in a container."
        )
    desk.shell(f'{client} "{query}"', printouts.explained(table, indexed=False))
    timing = "import statistics\nprint(statistics.median([181.2, 184.4, 186.0]))"
    if desk.slips("typo"):
        trace = ('Traceback (most recent call last):\n  File "script.py", line 2, in <module>\n'
                 "NameError: name 'statistcs' is not defined")  # fmt: skip
        desk.code(timing.replace("print(statistics", "print(statistcs"), trace, 1)
    desk.code(timing, "184.4")
    index = f"CREATE INDEX CONCURRENTLY {table}_customer_id_idx ON {table} (customer_id)"
    why = "A sequential scan over a million rows; an index is missing."
    desk.shell(f'{client} "{index}"', "CREATE INDEX", text=why)
    desk.shell(f'{client} "{query}"', printouts.explained(table, indexed=True))
    body = f'op.create_index("{table}_customer_id_idx", "{table}", ["customer_id"])\n'
    desk.write(f"migrations/versions/0009_{table}_customer_idx.py", body)
    run_tests(desk)
    commit(desk, branch, f"Index {table} by customer", 1)
    desk.say("The query scanned the whole table. With an index it takes 0.2 ms instead of 184 ms.")


def update_docs(desk: Desk, page: Page, branch: str) -> None:
    """A page brought up to date, links checked."""
    desk.ask(desk.pick(
        f"Update {page.path}: {page.new.strip(' |`')}. Keep the tone.",
        f"{page.path} is out of date, please bring it in line with the API",
    ))  # fmt: skip
    look(desk, page.path, page.guess)
    study(desk, page.path.rpartition("/")[2].removesuffix(".md"))
    change(desk, page.path, page.old, page.new)
    review(desk, page.path, page.old, page.new)
    run_tests(desk)
    if page.broken in desk.files[page.path]:
        desk.shell("pnpm run links", printouts.broken_link(page.path, page.broken), 1)
        change(desk, page.path, page.broken, page.mended, "That page has moved.")
    desk.shell("pnpm run links", printouts.LINKS_FINE)
    commit(desk, branch, f"Update {page.path.rpartition('/')[2]}", 1)
    desk.say(f"{page.path} is up to date and every link works.")


def explain_code(desk: Desk, question: Question) -> None:
    """A question about the code: only reading."""
    desk.ask(question.text)
    desk.do(*(desk.reading(path) for path in question.paths), text="Let me read the code.")
    desk.search(question.word)
    desk.say(question.answer)
