"""Which values of a user's environment count as secrets."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from redact.planted import random_word
from warmstart.app import Workspace
from warmstart.app.redaction import list_own_secrets, open_redactor

V = random_word(3)
NOT_SECRET = {
    "PATH": "/usr/bin:/usr/local/bin", "EDITOR": "nano", "LANG": "en_US.UTF-8", "TOKEN_COUNT": "100000",
    "PASSWORD_FILE": "/run/secrets/password", "API_KEY": "your-api-key-here", "SECRET_NAME": "shop-front-db",
    "AUTH_URL": "https://auth.internal/login", "TERM": "xterm-256color", "API_TOKEN": "short",
    "DATABASE_URL": "postgres://app@db/shop", "SESSION_MANAGER": "local/host:@/tmp/.ICE-unix/1234",
    "BROKEN_URL": "http://[broken",
}  # fmt: skip


def test_words_paths_and_examples_are_not_secrets() -> None:
    assert list_own_secrets(NOT_SECRET) == []


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [("SHOP_TOKEN", V, V), ("PLAIN", V, V), ("DB_PASSWORD", "Tr0ub4dor&3", "Tr0ub4dor&3"),
     ("DATABASE_URL", "postgres://app:s3cr3t%40Pw@db/x", "s3cr3t@Pw")],
)  # fmt: skip
def test_secrets_are(name: str, value: str, secret: str) -> None:
    assert list_own_secrets({name: value}) == [secret]


def test_env_files_above_are_read_up_to_the_repository(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "src"
    inner.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    (tmp_path / ".env").write_text(f"A_TOKEN={random_word(4)}")
    (tmp_path / "repo" / ".env.local").write_text(f'export B_TOKEN="{V}" \n# C_TOKEN=x\nbroken')
    (tmp_path / "repo" / ".env.example").write_text(f"D_TOKEN={random_word(5)}")
    assert list_own_secrets({}, [inner, inner]) == [V]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_env_file_that_cannot_be_read_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"A_TOKEN={V}")
    (tmp_path / ".env").chmod(0)
    (tmp_path / ".git").mkdir()
    assert list_own_secrets({}, [tmp_path]) == []


def test_the_redactor_knows_its_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "zoe77"
    home.mkdir()
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("LOGNAME", "zoe77")
    monkeypatch.setenv("SHOP_TOKEN", V)
    redactor = open_redactor(Workspace(tmp_path), pii=True, folder=tmp_path)
    assert redactor.text(f"{home}/x zoe77 {V}") == "<HOME>/x <USER:1> <SECRET:env:1>"


def test_a_password_of_plain_words_is_known_by_the_name_of_its_variable() -> None:
    environ = {
        "SERVICE_PASSWORD": "correct-horse-battery",
        "PASSWORD_FILE": "/run/secrets/password",
        "AUTH_TOKEN_MODE": "disabled",
        "EDITOR_MODE": "vim-with-plugins",
    }
    assert list_own_secrets(environ) == ["correct-horse-battery"]
