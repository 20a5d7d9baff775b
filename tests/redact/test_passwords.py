"""Passwords beside what announces them go with all their signs; code, labels and prose stay."""

from __future__ import annotations

import base64
import html
import json
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest

from redact.planted import HEX, dice, is_gone, pick, plant, random_word
from warmstart.redact import redact, redact_value

BENCH = Path(__file__).resolve().parents[2] / "bench"
SIGNS = "Xy%d9Kq{2!$(z<["
GO = [
    f'DB_PASSWORD="{SIGNS}"', f"'password': '{SIGNS}'", f"DB_PASSWORD={SIGNS}", f"password: {SIGNS}",
    f"mysql -u root -p'{SIGNS}' shop", f"curl -u 'bob:{SIGNS}' https://h", f"IDENTIFIED BY '{SIGNS}'",
    f"ALTER USER bob WITH PASSWORD '{SIGNS}'", f'["sshpass","-p","{SIGNS}"]', f"redis-cli -a '{SIGNS}'",
    f"htpasswd -b .htpasswd bob '{SIGNS}'", f"az login -u bob -p '{SIGNS}'", f"zip -P '{SIGNS}' a b",
    f"smbclient //h/s -U 'bob%{SIGNS}'", f"ldapsearch -w '{SIGNS}'", f"openssl rsa -passin 'pass:{SIGNS}'",
    f"kubectl create secret generic x --from-literal=password='{SIGNS}'", f"Server=h;Password={SIGNS};Db=x",
    f"--password '{SIGNS}'", f"docker login -u bob -p '{SIGNS}' h",
]  # fmt: skip
QUOTED = "Xy9'Kq\"2&z<B7"
"""A password with the signs that its surroundings write in another way."""
WRITTEN = [
    ("mysql -u root -p'{}' shop", QUOTED.replace("'", "'\\''")), ("IDENTIFIED BY '{}';", QUOTED.replace("'", "''")),
    ("SET PASSWORD FOR 'a'@'h' = '{}';", QUOTED.replace("'", "''")), ("echo '{}' | sudo -S true", QUOTED.replace("'", "'\\''")),
    ("<password>{}</password>", html.escape(QUOTED)), ('<add key="DbPassword" value="{}"/>', html.escape(QUOTED)),
    ("GET /login?user=a&password={}&x=1", quote(QUOTED)), ("password: '{}' # now", QUOTED.replace("'", "''")),
    ("| password | {} |", "Xy9(Kq<2&z;B7"), ("The password is {} for now.", "Xy9|Kq{2&z<B7"), ('ds.setPassword("{}");', "Xy9(Kq<2&z;B7"),
    (".env:12:DB_PASSWORD={}", "Xy9|Kq{2&z<B7"), ("password: {}", "uhvc(3v)rd.td5A"), ("psk={}", "Xy9|Kq{2&z<B7"),
]  # fmt: skip
WORDS = [
    ("DB_PASSWORD={}", "cobalttiger"), ('"password": "{}"', "cobalttiger"), ("JWT_SECRET={}", "amber-falcon-marble-704"),
    ("mysql -p{} shop", "cobalttiger"), ('MNEMONIC="{}"', "acid alien bacon advance armor album bamboo admit beach bridge autumn brave"),
    ("seed phrase: {}", "acid alien bacon advance armor album bamboo admit beach bridge autumn brave"),
    ('<input type="password" value="{}">', "cobalttiger7"), ('<input value="{}" type="password">', "cobalttiger7"),
    ("?X-Amz-Signature={}", pick(dice(8), HEX, 64)), ("wandb login {}", pick(dice(9), HEX, 40)), ("<password>{}</password>", "cobalt7tiger"),
    ("root:{}:19000:0", "$6$" + random_word(1, 12) + "$" + random_word(2, 86)), ("bob:{}", "$2y$12$" + random_word(3, 53)),
]  # fmt: skip
STAY = [
    'password = "<your-password>"', "DB_PASSWORD=${DB_PASSWORD}", "password: str = Field(..., min_length=12)",
    "connect(user=user, password=password)", "password = get_password(user, 'x')", "password: '%(password)s'",
    'getpass.getpass("Password: ")', "print('password: ', end='')", "password must be at least 12 characters",
    "password: required", '"password": "string"', "token = tokens[i].strip()", "secret: kubernetes-dashboard-token-reader",
    "DB_PASSWORD=changeme", "api_key=os.environ.get('API_KEY')", "['bandpass', 'lowpass', 'highpass']", "low-pass filter",
    "git push -u origin main", "docker run -p 8080:80 nginx", "mkdir -p src/password_reset", "the vault when login fails there",
    "SELECT password FROM users WHERE id = $1", '<input type="password" placeholder="Your password">',
    "| password | varchar(255) | NOT NULL |", "'password' => 'required|string|min:8'", "WITH PASSWORD :'app_password'",
    "key=df3b3b089bec9708", "if password is None or token is user.token:", "user.setPassword(form.getPassword());",
    "https://h/reset?token={token}", "Authorization: Bearer {token}", 'autocomplete="current-password"',
]  # fmt: skip


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("text", GO)
def test_signs_do_not_make_a_password_code(text: str, depth: int) -> None:
    secret = SIGNS
    for _ in range(depth):
        text, secret = json.dumps({"out": text}), json.dumps(secret)[1:-1]
    assert is_gone(secret, redact(text).text, 6)


@pytest.mark.parametrize(("text", "secret"), WRITTEN)
def test_a_sign_written_in_another_way_does_not_end_a_password(text: str, secret: str) -> None:
    assert is_gone(secret, redact(text.format(secret)).text, 6)
    inner = redact(json.dumps({"out": text.format(secret)})).text
    assert is_gone(json.dumps(secret)[1:-1], inner, 6)


@pytest.mark.parametrize("name", ["signature", "thoughtSignature"])
def test_the_signature_of_a_thought_stays(name: str) -> None:
    block = {"type": "thinking", "thinking": "", name: random_word(5, 400)}
    assert redact(json.dumps(block)).text == json.dumps(block)
    assert redact_value(block) == block


@pytest.mark.parametrize(("text", "secret"), WORDS)
def test_words_and_hashes_go_where_nothing_else_can_stand(text: str, secret: str) -> None:
    assert is_gone(secret, redact(text.format(secret)).text, 6)
    line = base64.b64encode(text.format(secret).encode()).decode()
    assert is_gone(line, redact(f"echo {line}").text, 20)


@pytest.mark.parametrize("text", STAY)
def test_code_labels_and_prose_stay(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("signs", ['ab"cd\\ef"gh9!', "it's\\n9\\t`x`Q", "\\\\\\\"q9'Z#"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_quotes_and_backslashes_inside_a_string_do_not_end_it(signs: str, depth: int) -> None:
    text = {"password": signs, "n": 1}
    for _ in range(depth):
        text = json.dumps(text)
    clean = redact(text).text
    for _ in range(depth):
        clean = json.loads(clean)
    assert clean == {"password": "<SECRET:password:1>", "n": 1}


@pytest.mark.parametrize("between", ["\n", "\r\n", "\\\n", "\n    ", "\\\n    "])
@pytest.mark.parametrize("kind", ["github_pat", "anthropic", "npm", "telegram", "terraform"])
def test_a_key_broken_over_two_lines_goes_with_both_halves(kind: str, between: str) -> None:
    secret = plant(kind, 5)
    first, second = secret[: len(secret) // 2], secret[len(secret) // 2 :]
    clean = redact(f"use {first}{between}{second} now").text
    assert is_gone(first, clean, 12)
    assert is_gone(second, clean, 12)


def test_words_on_the_next_line_are_not_taken_for_a_second_half() -> None:
    secret = plant("npm", 6)
    assert (
        redact(f"{secret}\nnext_line_of_text here").text == "<SECRET:npm:1>\nnext_line_of_text here"
    )


def test_the_bench_holds_on_a_seed_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    from redact_lookalikes import make_lookalikes

    rows = [row["text"] for row in make_lookalikes(4242)]
    changed = Counter(text for text in rows[::3] if redact(text).text != text)
    assert len(rows) >= 5000
    assert not changed
