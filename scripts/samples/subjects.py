"""What the recurring tasks are about, by name."""

from __future__ import annotations

from samples.tasks import Bug, Column, Endpoint, Field, Page, Question

PRICING, PRICING_TEST = "src/shop/pricing.py", "tests/test_pricing.py"
RENDER, JOBS, WORKER_TEST = "src/worker/render.py", "src/worker/jobs.py", "tests/test_worker.py"
ROUTES, SCHEMAS = "src/shop/routes/orders.py", "src/shop/schemas.py"

BUGS = {
    "rounding": Bug(
        path=PRICING,
        guess="src/shop/money.py",
        test=f"{PRICING_TEST}::test_money_rounds_half_up",
        right="    return amount.quantize(CENT, rounding=ROUND_HALF_UP)",
        wrong="    return amount.quantize(CENT)  # default rounding",
        complaint='>       assert round_money(Decimal("2.345")) == Decimal("2.35")\n'
        "E       AssertionError: assert Decimal('2.34') == Decimal('2.35')",
        why="`quantize` was called without ROUND_HALF_UP and rounds half to even",
    ),
    "discount": Bug(
        path=PRICING,
        guess="src/shop/discounts.py",
        test=f"{PRICING_TEST}::test_discount_is_taken_off",
        right="    return round_money(total * (100 - discount_pct) / 100)",
        wrong="    return round_money(total * discount_pct / 100)",
        complaint='>       assert apply_discount(Decimal("100"), 15) == Decimal("85.00")\n'
        "E       AssertionError: assert Decimal('15.00') == Decimal('85.00')",
        why="it returned the discount instead of what is left of the total",
    ),
    "shipping": Bug(
        path=PRICING,
        guess="src/shop/shipping.py",
        test=f"{PRICING_TEST}::test_shipping_is_free_from_fifty",
        right='if total >= Decimal("50.00") else',
        wrong='if total > Decimal("50.00") else',
        complaint='>       assert shipping(Decimal("50.00")) == Decimal("0.00")\n'
        "E       AssertionError: assert Decimal('4.90') == Decimal('0.00')",
        why="the limit itself was left out (`>` instead of `>=`)",
    ),
    "backoff": Bug(
        path=JOBS,
        guess="src/worker/retry.py",
        test=f"{WORKER_TEST}::test_backoff_is_capped",
        right="    return min(2.0**tries, 300.0)",
        wrong="    return 2.0**tries",
        complaint=">       assert backoff(20) == 300.0\nE       assert 1048576.0 == 300.0",
        why="the delay had lost its cap of 300 seconds",
    ),
    "pages": Bug(
        path=RENDER,
        guess="src/worker/pages.py",
        test=f"{WORKER_TEST}::test_pages_hold_forty_lines",
        right="for i in range(0, len(lines), PAGE_LINES)]",
        wrong="for i in range(0, len(lines), PAGE_LINES + 1)]",
        complaint=">       assert [len(page) for page in paginate(list(range(85)))]\n"
        "E       assert [40, 40, 3] == [40, 40, 5]",
        why="every page swallowed one line, the step was PAGE_LINES + 1",
    ),
    "names": Bug(
        path=RENDER,
        guess="src/worker/naming.py",
        test=f"{WORKER_TEST}::test_file_name_sorts_by_month",
        right='    return f"{invoice.issued:%Y-%m}-{invoice.number:06d}.pdf"',
        wrong='    return f"{invoice.issued:%Y-%m}-{invoice.number}.pdf"',
        complaint='>       assert file_name(invoice) == "2026-03-000042.pdf"\n'
        "E       AssertionError: assert '2026-03-42.pdf' == '2026-03-000042.pdf'",
        why="the number was no longer padded to six digits",
    ),
}

FIELDS = {
    "cust_id": Field("cust_id", "customer_id", (SCHEMAS, ROUTES)),
    "ship_addr": Field("ship_addr", "shipping_address", (SCHEMAS,)),
    "discount_pct": Field("discount_pct", "discount_percent", (SCHEMAS, PRICING)),
    "tries": Field("MAX_TRIES", "MAX_ATTEMPTS", (JOBS,)),
    "lines": Field("PAGE_LINES", "LINES_PER_PAGE", (RENDER,)),
    "lease": Field("visibility_timeout", "lease_seconds", ("config.toml",)),
    "docs_cust": Field("cust_id", "customer_id", ("docs/api/orders.md",)),
}

ENDPOINTS = {
    "recent": Endpoint(
        "/orders/recent",
        "recent_orders",
        "SELECT * FROM orders ORDER BY id DESC LIMIT 20",
        "OrderOut",
    ),
    "open": Endpoint(
        "/orders/open", "open_orders", "SELECT * FROM orders WHERE shipped_at IS NULL", "OrderOut"
    ),
    "failed": Endpoint(
        "/orders/failed",
        "failed_orders",
        "SELECT * FROM orders WHERE error IS NOT NULL",
        "OrderOut",
    ),
    "vips": Endpoint(
        "/orders/vip-customers",
        "vip_customers",
        "SELECT * FROM customers WHERE discount_pct > 10",
        "CustomerOut",
    ),
}

COLUMNS = {
    "note": Column("orders", "note", "Text"),
    "paid_at": Column("orders", "paid_at", "DateTime"),
    "locale": Column("customers", "locale", "String"),
    "vat_id": Column("customers", "vat_id", "String"),
}

PAGES = {
    "orders": Page(
        path="docs/api/orders.md",
        guess="docs/reference/orders.md",
        old="| `offset` | 0 | where to start |",
        new="| `offset` | 0 | where to start |\n| `status` | all | open, shipped or failed |",
        broken="../limits.md",
        mended="../guides/limits.md",
    ),
    "config": Page(
        path="docs/config.md",
        guess="docs/configuration.md",
        old="| `SHOP_TIMEOUT` | seconds, default 10 |",
        new="| `SHOP_TIMEOUT` | seconds, default 30 |\n| `SHOP_RETRIES` | default 2 |",
        broken="no-such-link",
        mended="",
    ),
    "start": Page(
        path="docs/getting-started.md",
        guess="docs/index.md",
        old="    shop orders list --limit 10",
        new="    shop orders list --limit 10 --status open",
        broken="api/errors.md",
        mended="guides/errors.md",
    ),
}

QUESTIONS = {
    "retry": Question(
        text="How are failed jobs retried? Start from `run_once`.",
        word="run_once",
        paths=(JOBS, RENDER),
        answer="`run_once` catches QueueError, logs it and puts the job back with a delay that"
        " doubles up to 300 seconds. Nothing gives up after MAX_TRIES: the constant is never read.",
    ),
    "money": Question(
        text="Where do we round, and is any total a float?",
        word="round_money",
        paths=(PRICING, ROUTES),
        answer="Rounding happens only in `round_money`, half up to the cent. No total is a float;"
        " the schemas use Decimal throughout.",
    ),
    "limits": Question(
        text="Which pages still link to the old limits page?",
        word="limits.md",
        paths=("docs/api/orders.md", "docs/getting-started.md"),
        answer="Only docs/api/orders.md links to the old limits page.",
    ),
}
