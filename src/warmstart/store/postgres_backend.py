"""PostgreSQL: one server, gateways on several machines.

A connection that breaks is replaced, for as long as the deadline allows, and the transaction that
was under way is run again, but only when the server says it did not happen: each one knows its own
transaction id, so a COMMIT whose answer was lost is looked up, not guessed. A server that crashed
forgets the ids whose log had not reached the disk and gives them out again, so after a crash the
lookup first asks which ids the server still knew when it came back.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from warmstart.errors import UsageError
from warmstart.store.backend import Dialect, Options, Row, T, Value
from warmstart.store.errors import StoreBusyError, StoreError

try:
    import psycopg
    from psycopg.rows import dict_row
except ImportError as error:
    raise UsageError(
        "PostgreSQL needs the psycopg driver", hint="pip install 'psycopg[binary]'"
    ) from error

MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.02, 0.15
CONNECT_TIMEOUT_SECONDS = 10
RERUN = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)
COMMITTED, ABORTED, IN_PROGRESS = "committed", "aborted", "in progress"
INCARNATION = """SELECT pg_postmaster_start_time()::text || ' ' ||
    coalesce((SELECT stats_reset::text FROM pg_stat_bgwriter), '') AS started"""
"""Changes when the server starts, and (a crash resets the statistics) when it recovers."""
FIRST_NEW = "SELECT next_xid FROM pg_control_checkpoint()"
"""A recovery ends with a checkpoint: ids from this one on were unknown, and are given out again."""


class LostCommitError(StoreError):
    """The answer to a COMMIT never came; ``transaction`` is what to ask the server about."""

    def __init__(self, error: StoreError, transaction: str, result: Any) -> None:
        super().__init__(error.message, path=error.path, retryable=True)
        self.transaction = transaction
        self.result = result


class PostgresBackend:
    """One connection to one server, usable from any thread."""

    dialect = Dialect.POSTGRESQL

    def __init__(self, url: str, options: Options) -> None:
        self.location = hide_password(url)
        self.options = options
        self._url = url
        self._lock = threading.RLock()
        self._statements: dict[str, str] = {}
        self._in_transaction = False
        self._incarnation = ""
        self._connection: psycopg.Connection[Row] | None = None
        self._patiently(lambda: None)

    def query(self, sql: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """Rows of a statement that returns rows."""
        with self._lock:
            if self._in_transaction:
                return self._run(sql, parameters).fetchall()
            return self._patiently(lambda: self._run(sql, parameters).fetchall())

    def execute(self, sql: str, parameters: Sequence[Value] = ()) -> int:
        """Run a statement; the number of rows it changed."""
        with self._lock:
            if self._in_transaction:
                return self._run(sql, parameters).rowcount
            return self._patiently(lambda: self._run(sql, parameters).rowcount)

    def insert(self, sql: str, parameters: Sequence[Value] = ()) -> int | None:
        """Insert one row; its id, None if it was there."""
        with self._lock:
            rows = self._run(f"{sql} RETURNING id", parameters).fetchall()
            return rows[0]["id"] if rows else None

    def write(self, work: Callable[[], T], *, wait: bool = True, durable: bool = True) -> T:
        """Run ``work`` in one transaction, again where the server took nothing of it."""
        del wait, durable  # Writers here do not exclude each other, and every commit is durable.
        with self._lock:
            return work() if self._in_transaction else self._patiently(lambda: self._attempt(work))

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._drop()
            self._url = ""

    def _attempt(self, work: Callable[[], T]) -> T:
        self._in_transaction = True
        try:
            cursor = self._run("BEGIN; SELECT pg_current_xact_id()::text AS id")
            cursor.nextset()
            transaction = cursor.fetchall()[0]["id"]
            result = work()
            self._commit(transaction, result)
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._in_transaction = False
        return result

    def _commit(self, transaction: str, result: Any) -> None:
        try:
            answer = self._run("COMMIT").statusmessage
        except StoreError as error:
            if not error.retryable:
                raise
            raise LostCommitError(error, transaction, result) from error
        if answer != "COMMIT":
            # The server's answer if a statement failed before and its error was suppressed.
            raise StoreError(
                f"the store {self.location!r} took nothing of a write: a part of it had failed",
                path=self.location,
            )

    def _roll_back(self) -> None:
        try:
            self._run("ROLLBACK")
        except StoreError:
            self._drop()

    def _patiently(self, work: Callable[[], T]) -> T:
        give_up_at = time.monotonic() + self.options.deadline_seconds
        while True:
            try:
                self._ensure_connection()
                return work()
            except LostCommitError as error:
                if self._settle(error, self._incarnation, give_up_at):
                    result: T = error.result
                    return result
            except StoreError as error:
                if not error.retryable or time.monotonic() >= give_up_at:
                    raise
            _pause()

    def _settle(self, lost: LostCommitError, incarnation: str, give_up_at: float) -> bool:
        """Whether the transaction was committed, asked until the server can say.

        ``incarnation`` identifies the run of the server in which it was begun.

        Raises:
            StoreError: the server is away, or cannot say.
        """
        while True:
            try:
                self._ensure_connection()
                status = self._find_status(lost.transaction, incarnation)
            except StoreError as error:
                if not error.retryable or time.monotonic() >= give_up_at:
                    raise
            else:
                if status in (COMMITTED, ABORTED):
                    return status == COMMITTED
                # Another backend may still be writing it; one that is forgotten stays so.
                if status != IN_PROGRESS or time.monotonic() >= give_up_at:
                    raise self._undecided(lost) from lost
            _pause()

    def _find_status(self, transaction: str, incarnation: str) -> str | None:
        """The status of a transaction; None if the server has forgotten it."""
        if self._incarnation != incarnation and self._is_new_again(transaction):
            return ABORTED
        try:
            sql = "SELECT pg_xact_status(?::xid8) AS status"
            found: str | None = self._run(sql, (transaction,)).fetchall()[0]["status"]
        except StoreError as error:
            if isinstance(error.__cause__, psycopg.errors.InvalidParameterValue):
                return ABORTED  # "is in the future": a crash forgot that it was ever begun.
            raise
        return found

    def _is_new_again(self, transaction: str) -> bool:
        """Whether the server has recovered without knowing this id."""
        try:
            epoch, _, number = self._run(FIRST_NEW).fetchall()[0]["next_xid"].partition(":")
        except StoreError as error:
            if error.retryable:
                raise
            return False  # A hosted server may forbid the question; its status has to do.
        return int(transaction) >= (int(epoch) << 32) + int(number)

    def _undecided(self, lost: LostCommitError) -> StoreError:
        return StoreError(
            f"the store {self.location!r} cannot say whether the last write was kept"
            f" (transaction {lost.transaction})",
            path=self.location,
            hint="look before writing it again: warmstart sessions list",
        )

    def _ensure_connection(self) -> None:
        if self._connection is not None and not self._connection.closed:
            return
        if not self._url:
            raise StoreError(f"the store {self.location!r} is closed", path=self.location)
        try:
            self._connection = psycopg.connect(
                self._url,
                autocommit=True,
                row_factory=dict_row,
                connect_timeout=CONNECT_TIMEOUT_SECONDS,
            )
        except psycopg.Error as error:
            raise self._translate(error, retryable=_may_pass(error)) from error
        try:
            self._prepare()
        except StoreError:
            # Half prepared it would pass for one that is.
            self._drop()
            raise

    def _prepare(self) -> None:
        self._incarnation = self._run(INCARNATION).fetchall()[0]["started"]
        if self.options.read_only:
            self._run("SET default_transaction_read_only = on")
        if self.options.durability == "full":
            self._run("SET synchronous_commit = on")
        self._run(f"SET lock_timeout = {int(self.options.deadline_seconds * 1000)}")

    def _run(self, sql: str, parameters: Sequence[Value] = ()) -> psycopg.Cursor[Row]:
        connection = self._connection
        if connection is None:
            raise StoreError(f"the store {self.location!r} is closed", path=self.location)
        try:
            if not parameters:
                return connection.execute(sql)
            statement = self._statements.get(sql)
            if statement is None:
                statement = sql.replace("%", "%%").replace("?", "%s")
                self._statements[sql] = statement
            return connection.execute(statement, parameters)
        except psycopg.Error as error:
            lost = connection.closed or isinstance(error, RERUN)
            raise self._translate(error, retryable=bool(lost)) from error
        except UnicodeEncodeError as error:
            raise StoreError(
                f"the store {self.location!r} cannot take a value: {error}", path=self.location
            ) from error

    def _translate(self, error: psycopg.Error, *, retryable: bool) -> StoreError:
        if isinstance(error, psycopg.errors.LockNotAvailable):
            return StoreBusyError(
                f"the store {self.location!r} was held by another connection"
                f" for more than {self.options.deadline_seconds:g} s",
                path=self.location,
            )
        return StoreError(
            f"the store {self.location!r} failed: {str(error).strip()}",
            path=self.location,
            hint="check that the server runs and the address is right" if retryable else None,
            retryable=retryable,
        )

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def hide_password(url: str) -> str:
    """The address without its password."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    shown = parts.netloc.replace(f":{parts.password}@", ":***@")
    return urlunsplit(parts._replace(netloc=shown))


def _may_pass(error: psycopg.Error) -> bool:
    """Whether a refused connection may be a server that is starting or away for a moment."""
    text = str(error).lower()
    wrong = ("password", "does not exist", "no pg_hba", "could not translate", "invalid", "role")
    return isinstance(error, psycopg.OperationalError) and not any(word in text for word in wrong)


def _pause() -> None:
    time.sleep(random.uniform(MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS))  # noqa: S311 - only jitter
