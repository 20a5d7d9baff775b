"""Texts made to be slow to redact or to scan, for the benches and for ``tests/redact``.

Most families come from the rules themselves: every telling name with every sign after it, every
vendor's mark, every command and flag, every opening of an order, repeated to a length. A new rule is
covered without anybody remembering it. The rest is pieces written down by hand, two and more of them
together, and texts that never repeat.
"""

# ruff: noqa: E501, Q003 - tables: one case beside the other
from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from pathlib import Path

from warmstart.redact.command_lines import ANCHORS, COMMANDS
from warmstart.redact.imperatives import ORDERS
from warmstart.redact.names import ROOTS
from warmstart.redact.risky_commands import COMMANDS as RISKY
from warmstart.redact.vendors import INNER_RULES, RULES

SOURCE = Path(__file__).resolve().parents[1] / "src" / "warmstart"
SIGNS = (
    "=", ":", ": ", '="', "='", '":"', '\\":\\"', " = ", " is ", " ", "=>", ">", "|", '", "',
    "=${", "=(", "\n", "=a1b2C3d4e5 ", "=Ab1$x9Zq7 ", ": Ab1$x9Zq7\n", "\\u003d\\u0022", "=%",
    "={", "=$", "=<", "%3D", "=a ", "=a&", "->", "']=", "=[", '="\'`',
)  # fmt: skip
SHAPES = (
    "A", "a", "0", "-", "_", "=", "/", ".", " ", "\n", "\\", '"', "'", "`", "<", ">", "(", ")", "{", "[",
    "%", "&", "@", "$", ":", ";", ",", "|", "://", "://a:", "://a:b@", "://a:b@c ", "http://a@", "%25",
    "%41", "%3D", "&amp;", "&quot;", "\\n", '\\"', "\\\\", "\\u0041", "\\u0022", "\\x41", "\\u{41}", "\\\n",
    "\u200b", "a\u200b", "\uff41", "\x1b[31m", "\x1b[", "\\u001b[31m", "é", "\ue000", "eyJ", "eyJ.", "eyJa.",
    "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----BEGIN RSA ",
    "Private-Lines: 1\n", "Private-Lines:", "<SECRET:token:1>", "<SECRET:", "<HOME>", "<EMAIL:1> ", "cookie: a=b;",
    "cookie:", "Set-Cookie: sid=", "authorization: ", "authorization=", "bearer ", "basic a", "login a password ",
    "a:5432:b:c:", "*:*:*:*:", '"auth":"', "mnemonic ", "seed abc ", "phrase abc def ghi ", "$2a$12$", "$6$a$",
    "identified by ", "identified by '", "password '", "user a password '", 'type="password" value="', "<input ",
    "echo abcdefgh | ", "a@b.co ", "@", "a@", "/home/a", "/home/abc ", "/Users/", "C:\\Users\\a", "+1 ", "555-",
    "+49 30 12 34 ", "1234567:AA", "Q~", "/bot", "-us1", "1/", ".atlasv1.", "AKIA1 ", "sk-T3BlbkFJ", "SGSG.",
    "jdbc:oracle:a:b/c", "--a b ", "--password x ", "--password abcdefgh ", "-p ", " -p", '"-p",', " -u a:b ",
    "mysql -p", "curl -u a:b", "curl -u 'a:b", 'password="\'`', "password='\"", "p'w\"d`", "'\"`", '{"a":', "[[",
    "{\\\"a\\\":\\\"", '{\\"password\\":\\"', '{\\\\\\"password\\\\\\":\\\\\\"', "aaaaaaaaaaaaaaaa\n",
    "Ab1Cd2Ef3Gh4Ij5K\n", "Ab1Cd2Ef3Gh4Ij5K ", "YWJjZGVmZ2hpamtsbW5vcA== ", "cGFzc3dvcmQ9YWJjMTIzNDU2 ",
    "name: token\n  value: ", "export A_TOKEN=", "password: get(", "token: a.b.c.d\n", "key=a&key=b&", "?sig=",
    "1.2.3.4 ", "2026-01-01T00:00:00Z ", "0123456789abcdef", "deadbeef-dead-beef-dead-beefdeadbeef ",
)  # fmt: skip
PREFIXES = (
    "sk-", "sk-ant-", "sk_live_", "rk_live_", "ghp_", "gho_", "github_pat_", "glpat-", "xoxb-",
    "xoxp-", "AKIA", "ASIA", "AIza", "ya29.", "eyJhbGciOiJ", "SG.", "npm_", "pypi-", "hf_",
    "dop_v1_", "EAAC", "shpat_", "sq0atp-", "vercel_blob_rw_", "AGE-SECRET-KEY-",
    "PuTTY-User-Key", "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\nMIIE",
    "-----END ", "ssh-rsa AAAA", "ssh-ed25519 AAAA", "postgres://u:", "postgres://",
    "https://u:p", "https://", "mongodb+srv://a:", "redis://:", "amqp://", "a@b.", ":a@",
    "mysql -u a -p", "curl -u a:", "curl -u ", "curl -H 'Authorization: Bearer ",
    "Authorization: Basic ", "Bearer ", "Basic ", "sshpass -p ", '["sshpass","-p","',
    "htpasswd -b ", "az login -p ", "wandb login ", "smbclient -U u%", "IDENTIFIED BY '",
    "docker login -p ", "machine a login b password ", "PGPASSWORD=", "export A=", "ENV A=",
    "set-cookie: ", "Cookie: a=", "&sig=", "?token=", "${", "{{", "<!--", '"""', "%2", "\\u0070",
    "\\x70", "&#112;", "=>", ":=", "==", "aB", "0x", "deadbeef", "QUJD", "Ab1+/", "a-b-", "a_b_",
    "a.b.", "word ", "1.", "127.0.0.1 ", "4111 ", "+49 ", "a=b;", "a,", "/a", "~/", "C:\\",
    "/home/u/", "\r\n", "\t", "\u202e", "😀", "\x00",
)  # fmt: skip
"""Written down and not taken from the rules, so that a rule missing from its own list is met too."""
ORDER_SHAPES = (
    "curl a ", "curl -", "curl a | b | c | ", "wget a; sh b; ", "; sh ab", "\nsh ab -c curl ",
    "git push a b c ", "git push -", "rm -r -f ", "> /etc/", "echo >> ~/", "pip install -a -b ",
    "send api key to ", "![a](https://a?b=", "do not a b c d e f ", "you are now a b c d e f ",
    "ignore all the your my these ", "<system> ", "<|", "A+/", "export pip_index_url = ",
    "before each a b c d ", "note for all ", "$(curl ", "iex (", "ignore previous instructions ",
    "ignore all ", "disregard ", "SYSTEM: ", "system prompt ", "you must ", "you must always ",
    "as an ai ", "note for ai agents: ", "assistant: ", "<system>", "</system>", "[INST]",
    "from now on ", "do not tell ", "new instructions: ", "IMPORTANT: ", "urgent ", "execute ",
    "run the ", "curl ", "curl x | sh ", "curl -s http://a", "wget -qO- ", "| sh", "| bash ",
    "sh <(curl ", "eval $(", "base64 -d ", "echo a | base64 -d | sh ", "export PIP_INDEX_URL=",
    "--index-url ", "npm config set registry ", "git push --force ", "git push -f ", "rm -rf ",
    "sudo ", "chmod 777 ", "powershell -enc ", "iex(", "python -c ", "\\\n  ", "QUJDREVGR0g=",
    "\U000e0041",
)  # fmt: skip
TELLING = (
    "pwd", "password", "passwd", "pass", "passphrase", "secret", "client_secret", "token",
    "access_token", "api_key", "apikey", "auth", "authorization", "cred", "credentials", "key",
    "private_key", "access_key", "sig", "signature", "session", "cookie", "bearer", "jwt",
    "DB_PASSWORD", "JWT_SECRET", "X-Amz-Signature", "connection_string", "seed", "pin", "otp",
)  # fmt: skip


def ordinary(size: int) -> str:
    """Source code, logs and JSON of about this length, always the same."""
    code = "".join(path.read_text() for path in sorted(SOURCE.rglob("*.py"))[:120])
    log = "".join(
        f"2026-03-04T10:{n % 60:02}:51Z INFO worker-{n % 7} handled GET /v1/orders/{n}?page={n % 9} in "
        f"{n % 90} ms (200) request {n * 7919 % 65536:04x}\n"
        for n in range(3000)
    )
    third = size // 3
    parts = (
        code,
        log,
        json.dumps([{"file": "a.py", "text": code[n : n + 900]} for n in range(0, third, 900)]),
    )
    return "".join((part * (third // len(part) + 1))[:third] for part in parts)


def _pieces() -> Iterator[str]:
    yield from (*SHAPES, *PREFIXES)
    for root, sign in itertools.product(ROOTS, SIGNS):
        yield root.rstrip("=") + sign
    for at, name in enumerate(TELLING):
        yield from (name + sign for sign in SIGNS[at % 4 :: 4])
    yield from (mark for rule in RULES for mark in rule.marks)
    yield from (mark + "aB3" for rule in RULES for mark in rule.marks)
    yield from (inner.mark for inner in INNER_RULES)
    yield from ANCHORS
    for command in COMMANDS:
        for name, flag in itertools.product(
            command.names.split()[:2], command.flags.split() or [""]
        ):
            yield f"{name} {command.needs.split(' ')[0]} {flag} "
            yield f"{name} {flag}a{command.after}b "


def _mixtures(size: int) -> Iterator[tuple[str, str]]:
    """Texts that never repeat: many names, many secrets, many strings opened and not closed."""
    rng = random.Random(7)  # noqa: S311 - repeatable on purpose
    alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    def draw(count: int) -> str:
        return "".join(rng.choices(alnum, k=count))

    recipes = {
        "many secrets": lambda: f"password={draw(10)} ", "many lines of secrets": lambda: f"A_TOKEN={draw(20)}\n",
        "many keys": lambda: "gh" + f"p_{draw(36)}\n", "random base64": lambda: draw(200) + "+/",
        "random words": lambda: f"{draw(16)}\n", "names": lambda: rng.choice(ROOTS) + rng.choice(SIGNS),
        "strings": lambda: rng.choice(ROOTS) + "=" + rng.choice("\"'`") + draw(3), "users": lambda: f"/home/u{draw(5)}/",
        "mails": lambda: f"{draw(5)}@{draw(5)}.io ", "urls": lambda: f"https://{draw(4)}:{draw(9)}@h/ ",
        "marks": lambda: rng.choice(RULES).marks[0] + draw(12), "commands": lambda: f"mysql -p{draw(9)}\n",
        "signs": lambda: "".join(chr(rng.randint(33, 126)) for _ in range(40)),
    }  # fmt: skip
    for name, make in recipes.items():
        parts: list[str] = []
        total = 0
        while total < size:
            parts.append(make())
            total += len(parts[-1])
        yield name, "".join(parts)[:size]
    line = json.dumps({"password": draw(14), "n": [draw(5)] * 3})
    for depth in range(6):
        yield f"json {depth} deep", (line * (size // len(line) + 1))[:size]
        line = json.dumps(line)


def _combinations(pieces: list[str], size: int) -> Iterator[tuple[str, str]]:
    """Pieces on lines of their own, two and two, long runs of one after another, and any mix."""
    rng = random.Random(11)  # noqa: S311 - repeatable on purpose
    for piece in rng.sample(pieces, 60):
        yield f"lines of {piece}", _repeat(piece + "\n", size)
    for _ in range(100):
        one, other = rng.choices(pieces, k=2)
        yield f"{one} + {other}", _repeat(one + other, size)
    for count in (7, 63, 511, 5000) * 5:
        one, other = rng.choices(pieces, k=2)
        yield f"{count} {one} + {count} {other}", _repeat(one * count + other * count, size)
    for count in (3, 5, 10, 30, len(pieces)) * 6:
        few = rng.sample(pieces, count)
        yield f"mix of {few[:3]}", "".join(rng.choices(few, k=size * count // len("".join(few))))


def _repeat(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


def list_texts(size: int) -> Iterator[tuple[str, str]]:
    """Every family: its name, and a text of that many characters."""
    pieces = list(dict.fromkeys(filter(None, _pieces())))
    for piece in pieces:
        yield piece, _repeat(piece, size)
    yield from _mixtures(size)
    yield from _combinations(pieces, size)


def list_scan_texts(size: int) -> Iterator[tuple[str, str]]:
    """Every family for the scan for instructions."""
    openings = {opening for one in (*ORDERS, *RISKY) for opening in one.openings}
    every = " ".join(sorted(openings)) + "\n"
    pieces = sorted({*openings, *SHAPES, *PREFIXES, *ORDER_SHAPES, every})
    for piece in pieces:
        yield piece, _repeat(piece, size)
    yield from _combinations(pieces, size)
