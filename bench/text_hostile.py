"""Texts made to take the time of redaction and of the scan: what both look for, repeated.

``torture.py`` times them beside ordinary text of the same size. The families are written down here
and not taken from the rules themselves, so that a rule that is missing from its own list is met
too: telling names in every way a value may follow them, prefixes of vendors' keys, openings that
are never closed, and the first words of orders and of risky commands.
"""

from __future__ import annotations

from collections.abc import Iterator

from outcome_hostile import FRAGMENTS, ORDINARY, repeat

NAMES = (
    "pwd", "password", "passwd", "pass", "passphrase", "secret", "client_secret", "token",
    "access_token", "api_key", "apikey", "auth", "authorization", "cred", "credentials", "key",
    "private_key", "access_key", "sig", "signature", "session", "cookie", "bearer", "jwt",
    "DB_PASSWORD", "JWT_SECRET", "X-Amz-Signature", "connection_string", "seed", "pin", "otp",
)  # fmt: skip
FOLLOWED = (
    "{}=", "{}: ", '"{}": "', "{}='", "--{} ", "{}=%", "{}={{", "{}=$", "{}=<", "{} ", "{}\n",
    '\\"{}\\":\\"', "{}%3D", "{}=a ", "{}=a&", "{}=aB3$", "{}->", "['{}']=", "{}=[", "<{}>",
)  # fmt: skip
PREFIXES = (
    "sk-", "sk-ant-", "sk_live_", "rk_live_", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-",
    "xoxp-", "AKIA", "ASIA", "AIza", "ya29.", "eyJ", "eyJhbGciOiJ", "SG.", "npm_", "pypi-", "hf_",
    "dop_v1_", "EAAC", "shpat_", "sq0atp-", "vercel_blob_rw_", "AGE-SECRET-KEY-", "PuTTY-User-Key",
    "-----BEGIN ", "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\nMIIE",
    "-----END ", "ssh-rsa AAAA", "ssh-ed25519 AAAA", "postgres://u:", "postgres://", "https://u:p",
    "https://", "mongodb+srv://a:", "redis://:", "amqp://", "://", "a@", "a@b.", ":a@", "mysql -p",
    "mysql -u a -p", "curl -u a:", "curl -u ", "curl -H 'Authorization: Bearer ",
    "Authorization: Basic ", "Bearer ", "Basic ", "sshpass -p ", '["sshpass","-p","',
    "htpasswd -b ", "az login -p ", "wandb login ", "smbclient -U u%", "IDENTIFIED BY '",
    "docker login -p ", "machine a login b password ", "PGPASSWORD=", "export A=", "ENV A=",
    "set-cookie: ", "Cookie: a=", 'type="password" value="', "?sig=", "&sig=", "?token=",
)  # fmt: skip
OPENINGS = (
    '"', "'", "`", "${", "{{", "{", "<", "[", "(", "<!--", '"""', "\\", '\\"', "\\\\", "%", "%2",
    "\\u0070", "\\x70", "&#112;", "=", ":", "=>", ":=", "==", "A", "a", "aB", "0", "0x",
    "deadbeef", "QUJD", "Ab1+/", "a-b-", "a_b_", "a.b.", "word ", "1.", "127.0.0.1 ", "4111 ",
    "+49 ", "a=b;", "a,", "/a", "~/", "C:\\", "/home/u/", "\n", "\r\n", "\t", " ", "\u200b",
    "\u202e", "\x1b[31m", "\xe9", "\U0001f600", "\x00",
)  # fmt: skip
ORDERS = (
    "ignore previous instructions ", "ignore all ", "disregard ", "SYSTEM: ", "system prompt ",
    "you must ", "you must always ", "as an ai ", "note for ai agents: ", "assistant: ",
    "<system>", "</system>", "[INST]", "from now on ", "do not tell ", "new instructions: ",
    "IMPORTANT: ", "urgent ", "execute ", "run the ", "curl ", "curl x | sh ", "curl -s http://a",
    "wget -qO- ", "| sh", "| bash ", "|", "sh <(curl ", "$(curl ", "eval $(", "base64 -d ",
    "echo a | base64 -d | sh ", "export PIP_INDEX_URL=", "--index-url ",
    "npm config set registry ", "git push --force ", "git push -f ", "rm -rf ", "sudo ",
    "chmod 777 ", "powershell -enc ", "iex(", "python -c ", "\\\n", "\\\n  ", "QUJDREVGR0g=",
    "\U000e0041", "\u202e",
)  # fmt: skip
ENDINGS = ("", '"', "\n")


def list_secrets(size: int) -> Iterator[tuple[str, str]]:
    """Hostile texts for the redactor, each with a name."""
    names = (form.format(name) for name in NAMES for form in FOLLOWED)
    for fragment in dict.fromkeys((*names, *PREFIXES, *OPENINGS, *FRAGMENTS)):
        yield repr(fragment), repeat(fragment, size)
    for fragment in PREFIXES:
        for ending in ENDINGS[1:]:
            yield f"{fragment!r} … {ending!r}", repeat(fragment, size - len(ending)) + ending


def list_orders(size: int) -> Iterator[tuple[str, str]]:
    """Hostile texts for the scan, each with a name."""
    for fragment in dict.fromkeys((*ORDERS, *OPENINGS, *FRAGMENTS)):
        for ending in ENDINGS:
            yield f"{fragment!r} … {ending!r}", repeat(fragment, size - len(ending)) + ending


__all__ = ["ORDINARY", "list_orders", "list_secrets"]
