"""What goes and what stays: one line per fact about real text."""

from __future__ import annotations

import base64
import json

import pytest

from redact.planted import ALNUM, HEX, dice, is_gone, pick, plant, random_word
from warmstart.redact import redact
from warmstart.redact.vendors import RULES, RULES_BY_MARK, VENDOR_KINDS

V = random_word(11, 28)
P = "Kx9" + random_word(12, 9)
HASH = pick(dice(1), HEX, 40)
DIGEST = pick(dice(2), HEX, 64)
UUID = "5f0c1d3e-9a7b-4c2d-8e1f-6a5b4c3d2e1f"
PEM_BODY = "\n".join(pick(dice(n), ALNUM + "+/", 64) for n in range(4))
GO = [
    f"password={P}", f"PASSWORD: {P}", f'"password": "{P}"', f"DB_PASS='{P}'", f"pwd = `{P}`",
    f"export API_KEY={V}", f"api-key: {V}", f'"apiKey":"{V}"', f"x-api-key: {V}", f"API key: {V}",
    f"client_secret => '{V}'", f'token := "{V}"', f"authToken={V}", f"accountkey={V};x=1",
    f"--token {V}", f"--token={V}", f"--db-password '{P}'", f"curl -u bob:{P} https://h",
    f"sshpass -p {P} ssh h", f"mysql -u root -p{P} db", f"Authorization: Bearer {V}",
    f"authorization: Basic {base64.b64encode(b'bob:Kx9hunter').decode()}", f"Authorization: {V}",
    f"Cookie: theme=dark; sessionid={V}", f"Set-Cookie: sid={V}; Path=/", f"?access_token={V}&p=1",
    f"&sig={V}%3D", f"postgres://bob:{P}@db:5432/x", f"redis://:{P}@c", f"https://{V}@git.h/r.git",
    f"amqp://svc:{P}@mq/v", f"jdbc:oracle:thin:bob/{P}@db:1521", f"jdbc:mysql://h/d?password={P}",
    f"Server=h;User Id=sa;Password={P};", f"<password>{P}</password>", f"SECRET_KEY = b'{V}'",
    f"machine h login bob password {P}", f"db:5432:app:bob:{P}", f'"auths":{{"h":{{"auth":"{V}"}}}}',
    f"define('DB_PASSWORD', '{P}');", f'- name: API_TOKEN\n  value: "{V}"', f'token: str = "{V}"',
    f"HEROKU_API_KEY={UUID}", f"FASTLY_KEY={HASH[:32]}", f"DATADOG_APP_KEY={HASH[:32]}", f"the password is {P}", f"ENV TOKEN {V}",
    f"-----BEGIN PRIVATE KEY-----\n{PEM_BODY}\n-----END PRIVATE KEY-----",
    f"-----BEGIN OPENSSH PRIVATE KEY-----\n{PEM_BODY}", f"Private-Lines: 4\n{PEM_BODY}\nPrivate-MAC: 1",
]  # fmt: skip
STAY = [
    f"commit {HASH}", f"sha256:{DIGEST}", f'"id": "{UUID}"', f"request_id={UUID}", f"etag={HASH[:32]}",
    f"cache_key={DIGEST}", "integrity sha512-" + base64.b64encode(bytes(range(64))).decode(),
    "AKIA" + "IOSFODNN7EXAMPLE", "OPENAI_API_KEY=sk-...", "api_key=your-api-key-here", "token: xxxx",
    "TOKEN=<token>", "password: ${DB_PASSWORD}", "password=$PASSWORD", "token: {{ secrets.TOKEN }}",
    "apiKey: process.env.API_KEY", 'api_key = os.environ["API_KEY"]', "password = get_password()",
    "token: str", "api_key=None", "max_tokens=4096", "token_count: 12000", "password: string;",
    "const token = await fetchToken();", "secretName: db-credentials", "type=password", "--- PASS: TestX1",
    "password = self.password_field", "auth = AuthHandler(settings)", "key: value12", "author: bob1234567",
    "postgres://user:password@localhost/db", "postgres://postgres:postgres@db/x", "tokens: [1, 2, 3]",
    "https://user:${PASS}@host/x", "git@github.com:a/b.git", "keyboard: qwerty12", "session started 2026-01-01",
    "Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "password123", "/etc/passwd root:x:0:0",
    "jsonwebtoken@9.0.2", "token-parser = 3.31.1-rc1", "PASSWORD_RESET_URL = '/reset/v2'", "import secrets",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kg",
    "token: abc123def456", "api_key: test_key_12345", "Bearer YOUR_TOKEN", "sk-" + "1234567890abcdef" * 2,
    "gh" + "p_abcdefghijklmnopqrstuvwxyz0123456789", "key: a1b2c3d4e5f6g7h8i9", "sk_" + "test_4eC39HqLyjWDarjtT1zdp7dc",
    "test_refresh_token_expires_after_logout", "password: '********'", "secret: [hidden]", "x" * 64,
]  # fmt: skip


@pytest.mark.parametrize("text", GO)
@pytest.mark.parametrize("depth", [0, 1, 3])
def test_it_goes(text: str, depth: int) -> None:
    for _ in range(depth):
        text = json.dumps({"x": text})
    clean = redact(text)
    secret = next(s for s in (V, P, UUID, HASH[:32], "Ym9iOkt4OWh1", PEM_BODY[:64]) if s in text)
    assert is_gone(secret, clean.text)
    assert sum(clean.found.values()) == 1


@pytest.mark.parametrize("text", STAY)
def test_it_stays(text: str) -> None:
    assert redact(text).text == text
    assert redact(json.dumps({"x": text})).text == json.dumps({"x": text})


@pytest.mark.parametrize("hide", ["\u200b", "\u2060", "\u00ad", "\U000e0041", "\x00", "\ufeff"])
def test_hidden_characters_do_not_help(hide: str) -> None:
    secret = plant("github_pat", 1)
    assert redact(f"a {hide.join(secret)} b").text == "a <SECRET:github_pat:1> b"


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [("gitlab_pat", "-", "\\u002d"), ("gitlab_pat", "-", "%2D"), ("gitlab_pat", "-", "%252D"),
     ("gitlab_pat", "-", "\\x2d"), ("gitlab_pat", "g", "\uff47"), ("npm", "_", "\\\\u005f")],
)  # fmt: skip
def test_escapes_do_not_help(kind: str, old: str, new: str) -> None:
    text = "x " + plant(kind, 2).replace(old, new, 1) + " y"
    assert redact(text).text == f"x <SECRET:{kind}:1> y"


def test_a_key_in_base64_goes() -> None:
    blob = base64.b64encode(f"token {plant('npm', 1)}\n".encode()).decode()
    assert redact(f"data: {blob}").found == {"npm": 1}


@pytest.mark.parametrize(
    "text",
    ["DB_PASSWORD={}", "  password: {}", "export API_PASS={}", "- password: {}\n- x", '"pwd": "{}"',
     "password='{}'"],
)  # fmt: skip
@pytest.mark.parametrize("value", ["Pa$$w0rd,x,y9zz8(a", "!Kq8zz7;[12]34|ef56", "a&b1c&d2e3f4"])
def test_passwords_go_with_all_their_signs(text: str, value: str) -> None:
    assert is_gone(value, redact(text.format(value)).text)


def test_an_aws_secret_beside_its_id_goes() -> None:
    secret = pick(dice(3), ALNUM + "/+", 40)
    assert redact(f"{plant('aws_access_key', 1)},{secret}\n").found == {
        "aws_access_key": 1,
        "aws_secret_key": 1,
    }


def test_there_are_many_vendors_and_every_mark_leads_to_a_rule() -> None:
    assert len(VENDOR_KINDS) >= 100
    assert all(RULES_BY_MARK.values())


def test_a_placeholder_never_holds_eight_characters_of_a_mark() -> None:
    for mark, rules in RULES_BY_MARK.items():
        for rule in rules:
            name = f"<SECRET:{rule.kind}:1>"
            assert not any(mark[i : i + 8] in name for i in range(len(mark) - 7)), mark


GLUED = [
    "github_pat", "gitlab_pat", "aws_access_key", "gcp_api_key", "anthropic", "openai", "slack_bot",
    "stripe", "npm", "telegram", "databricks", "vault", "digitalocean", "linear", "huggingface",
]  # fmt: skip


@pytest.mark.parametrize("before", ["x", "abc", "token", "myKEY", "line7", "bot", "KEY=abc"])
@pytest.mark.parametrize("kind", GLUED)
def test_letters_right_before_a_key_do_not_help(kind: str, before: str) -> None:
    for seed in range(8):
        secret = plant(kind, seed)
        assert is_gone(secret, redact(f"see {before}{secret} there").text), seed


@pytest.mark.parametrize(
    ("mark", "length"),
    [("gs" + "k_", 52), ("xa" + "i-", 80), ("pp" + "lx-", 48), ("r" + "8_", 37), ("nt" + "n_", 46),
     ("AK" + "Cp", 69), ("EZ" + "AK", 54), ("se" + "ss-", 40), ("ya" + "29.", 120)],
)  # fmt: skip
def test_a_random_rest_tells_where_the_mark_is_in_the_middle_of_a_word(
    mark: str, length: int
) -> None:
    secret = mark + random_word(length, length)
    assert is_gone(secret, redact(f"tokenOf{secret}").text)


def test_a_signed_token_after_a_word_goes_with_its_signature() -> None:
    parts = (base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=")
             for p in ({"alg": "HS256", "typ": "JWT"}, {"sub": "8841", "name": "Jo Doe"}))  # fmt: skip
    secret = ".".join((*parts, random_word(3, 43)))
    assert is_gone(secret, redact(f"token{secret}, ok").text)


@pytest.mark.parametrize(
    "text",
    [
        f"task-{random_word(4, 24).lower()}", f"disk_{HASH}", f"favico-{HASH[:32]}", f"ver8_{HASH}",
        f"store_{HASH[:8]}_{HASH[:24]}", f"cachekey-{HASH[:32]}", f"openapi-{UUID}", f"TASK{HASH[:32]}",
        "usb_secret_service_handler_for_the_local_bus", "compat.module.function_of_the_library",
        "SOUTHEASTASIAPACIFICREGIONALOFFICE", "AUSTRALASIANANDPACIFICISLANDS1", "12:30:45:AAB",
        "tapi_some_quite_long_function_name_in_a_module_of_ours", "at 1234567:AAAA",
        "risk-assessment-of-the-whole-project-in-the-year-2026", f"impul-{HASH}",
    ],
)  # fmt: skip
def test_words_that_end_like_a_mark_stay(text: str) -> None:
    assert redact(text).text == text


def test_every_rule_compiles_though_only_when_it_is_met() -> None:
    for rule in RULES:
        assert rule.pattern is rule.pattern
        assert not rule.pattern.match(""), rule.kind
