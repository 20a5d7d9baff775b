"""The three invented projects: a few short files each, enough to read, edit and search in."""

from __future__ import annotations

SHOP_ORDERS = '''\
"""Orders: list, fetch, create, cancel."""

from fastapi import APIRouter, HTTPException

from shop.db import fetch_all, fetch_one, execute
from shop.schemas import OrderIn, OrderOut
from shop.errors import NotFoundError, OrderError

router = APIRouter(prefix="/orders")


@router.get("/")
def list_orders(limit: int = 50, offset: int = 0) -> list[OrderOut]:
    rows = fetch_all("SELECT * FROM orders ORDER BY id LIMIT %s OFFSET %s", limit, offset)
    return [OrderOut(**row) for row in rows]


@router.get("/{order_id}")
def get_order(order_id: int) -> OrderOut:
    row = fetch_one("SELECT * FROM orders WHERE id = %s", order_id)
    if row is None:
        raise HTTPException(status_code=404, detail="order not found")
    return OrderOut(**row)


@router.post("/", status_code=201)
def create_order(order: OrderIn) -> OrderOut:
    total = sum(line.quantity * line.unit_price for line in order.lines)
    if total <= 0:
        raise OrderError("an order needs a positive total")
    return execute("INSERT INTO orders (customer_id, total) VALUES (%s, %s)", order.cust_id, total)


@router.get("/by-customer/{customer_id}")
def orders_of(customer_id: int) -> list[OrderOut]:
    rows = fetch_all("SELECT * FROM orders WHERE customer_id = %s", customer_id)
    return [OrderOut(**row) for row in rows]
'''

SHOP_SCHEMAS = '''\
"""What travels over HTTP."""

from decimal import Decimal

from pydantic import BaseModel, Field


class LineIn(BaseModel):
    sku: str
    quantity: int = Field(gt=0)
    unit_price: Decimal


class OrderIn(BaseModel):
    cust_id: int
    lines: list[LineIn]
    currency: str = "EUR"


class OrderOut(BaseModel):
    id: int
    cust_id: int
    total: Decimal
    ship_addr: str | None = None


class CustomerOut(BaseModel):
    id: int
    mail: str
    discount_pct: int = 0
'''

SHOP_PRICING = '''\
"""Totals, discounts and rounding; money is Decimal, never float."""

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


def round_money(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def apply_discount(total: Decimal, discount_pct: int) -> Decimal:
    if not 0 <= discount_pct <= 100:
        raise ValueError(f"discount out of range: {discount_pct}")
    return round_money(total * (100 - discount_pct) / 100)


def shipping(total: Decimal) -> Decimal:
    return Decimal("0.00") if total >= Decimal("50.00") else Decimal("4.90")
'''

SHOP_TESTS = """\
from decimal import Decimal

from shop.pricing import apply_discount, round_money, shipping


def test_discount_is_taken_off():
    assert apply_discount(Decimal("100"), 15) == Decimal("85.00")


def test_money_rounds_half_up():
    assert round_money(Decimal("2.345")) == Decimal("2.35")


def test_shipping_is_free_from_fifty():
    assert shipping(Decimal("50.00")) == Decimal("0.00")
"""

SHOP_MIGRATION = '''\
"""Add customers.discount_pct."""

from alembic import op
import sqlalchemy as sa

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("customers", sa.Column("discount_pct", sa.Integer(), server_default="0"))


def downgrade() -> None:
    op.drop_column("customers", "discount_pct")
'''

SHOP_MAKEFILE = """\
# Tests need a database; these targets set DATABASE_URL for you.
export DATABASE_URL ?= postgresql://shop@localhost:5433/shop_test

test:
\tuv run pytest -q

migrate:
\tuv run alembic upgrade head

lint:
\tuv run ruff check src tests
"""

WORKER_RENDER = '''\
"""Invoice to PDF bytes."""

from worker.models import Invoice
from worker.template import load_template

PAGE_LINES = 40


def render(invoice: Invoice) -> bytes:
    template = load_template(invoice.locale)
    pages = paginate(invoice.lines)
    return template.fill(invoice=invoice, pages=pages).to_pdf()


def paginate(lines: list) -> list[list]:
    return [lines[i : i + PAGE_LINES] for i in range(0, len(lines), PAGE_LINES)]


def file_name(invoice: Invoice) -> str:
    return f"{invoice.issued:%Y-%m}-{invoice.number:06d}.pdf"
'''

WORKER_JOBS = '''\
"""Jobs taken from the queue, one at a time, retried with backoff."""

import logging
import time

from worker.queue import Queue, QueueError
from worker.render import render
from worker.storage import put

log = logging.getLogger(__name__)
MAX_TRIES = 5


def run_once(queue: Queue) -> bool:
    job = queue.take(timeout=30)
    if job is None:
        return False
    try:
        put(job.key, render(job.invoice))
        queue.done(job)
    except QueueError:
        log.exception("job %s failed, will retry", job.id)
        queue.retry(job, delay=backoff(job.tries))
    return True


def backoff(tries: int) -> float:
    return min(2.0**tries, 300.0)


def drain(queue: Queue) -> int:
    done = 0
    while run_once(queue):
        done += 1
        time.sleep(0.01)
    return done
'''

WORKER_TESTS = """\
from datetime import date

from worker.jobs import backoff
from worker.models import Invoice
from worker.render import file_name, paginate


def test_backoff_is_capped():
    assert backoff(20) == 300.0


def test_pages_hold_forty_lines():
    assert [len(page) for page in paginate(list(range(85)))] == [40, 40, 5]


def test_file_name_sorts_by_month():
    invoice = Invoice(number=42, issued=date(2026, 3, 1))
    assert file_name(invoice) == "2026-03-000042.pdf"
"""

WORKER_CONFIG = """\
[queue]
url = "redis://localhost:6379/0"
visibility_timeout = 60
batch = 10

[storage]
bucket = "acme-invoices"
region = "eu-central-1"
"""

DOCS_START = """\
# Getting started

Install the client and create an API key in the dashboard.

    pip install shop-client

Then list your orders:

    shop orders list --limit 10

See [Orders](api/orders.md) for every field and [Errors](api/errors.md) for what can go wrong.
"""

DOCS_ORDERS = """\
# Orders

## GET /orders

| parameter | default | meaning |
|---|---|---|
| `limit` | 50 | how many |
| `offset` | 0 | where to start |

## Fields

| field | type |
|---|---|
| `id` | integer |
| `cust_id` | integer |
| `total` | decimal |

Rate limits are described in [Limits](../limits.md).
"""

DOCS_CONFIG = """\
# Configuration

| variable | meaning |
|---|---|
| `SHOP_API_URL` | where the API listens |
| `SHOP_API_KEY` | your key |
| `SHOP_TIMEOUT` | seconds, default 10 |
"""

DOCS_PACKAGE = """\
{
  "name": "docs-site",
  "packageManager": "pnpm@9.12.0",
  "scripts": {
    "build": "vitepress build docs",
    "links": "node scripts/check-links.mjs docs"
  }
}
"""

FILES: dict[str, dict[str, str]] = {
    "shop-api": {
        "src/shop/routes/orders.py": SHOP_ORDERS,
        "src/shop/schemas.py": SHOP_SCHEMAS,
        "src/shop/pricing.py": SHOP_PRICING,
        "tests/test_pricing.py": SHOP_TESTS,
        "migrations/versions/0007_discount_pct.py": SHOP_MIGRATION,
        "Makefile": SHOP_MAKEFILE,
    },
    "invoice-worker": {
        "src/worker/render.py": WORKER_RENDER,
        "src/worker/jobs.py": WORKER_JOBS,
        "tests/test_worker.py": WORKER_TESTS,
        "config.toml": WORKER_CONFIG,
    },
    "docs-site": {
        "docs/getting-started.md": DOCS_START,
        "docs/api/orders.md": DOCS_ORDERS,
        "docs/config.md": DOCS_CONFIG,
        "package.json": DOCS_PACKAGE,
    },
}
"""Every project by name: path inside it -> text."""
