"""Passwords given to commands: ``mysql -p…``, ``curl -u bob:…``, ``["sshpass", "-p", "…"]``.

A command is found by its name before a short flag; its arguments are read as a shell or a JSON list
would, up to the end of the command. Which of them is the password is a table, one row for each kind
of command. Flags that say it themselves (``--password``) need no row: ``pairs`` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from warmstart.redact.decoded import View
from warmstart.redact.names import Strength, classify_name
from warmstart.redact.pairs import Value, read_argument
from warmstart.redact.span import Span
from warmstart.redact.urls_headers import RANK, find_at, is_argument
from warmstart.redact.values import Place, is_random, is_secret_value
from warmstart.redact.work import Work

MAX_ARGUMENTS = 24
MAX_COMMAND = 400
MAX_BACK = 160
"""How far before a flag its command may stand."""


class Command(NamedTuple):
    """How commands of one kind are given a secret."""

    names: str
    flags: str = ""
    """The next argument is the secret, or what is left of this one: ``-p secret``, ``-psecret``."""
    after: str = ""
    """The secret stands after this sign in the flag's argument: ``-u user:secret``."""
    needs: str = ""
    """Only with one of these words among the arguments."""
    position: int = 0
    """Which argument, flags not counted, is the secret, counted from 1; -1 is the last."""


COMMANDS: tuple[Command, ...] = (
    Command("mysql mysqldump mysqladmin mysqlimport mysqlshow mariadb mariadb-dump", "-p"),
    Command("sshpass psexec evil-winrm crackmapexec netexec winexe useradd usermod", "-p"),
    Command("ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami", "-w"),
    Command("redis-cli valkey-cli", "-a"),
    Command("mongo mongosh mongodump mongorestore mongoexport mongoimport", "-p"),
    Command("sqlcmd osql bcp isql mssql-cli ipmitool mosquitto_pub mosquitto_sub", "-P"),
    Command("docker podman nerdctl buildah skopeo helm oras crane az", "-p", needs="login"),
    Command("oc twine nuget cf influx", "-p -t", needs="login upload push"),
    Command("plink pscp psftp", "-pw"),
    Command("7z 7za 7zz rar unrar", "-p -hp"),
    Command("zip unzip", "-P"),
    Command("xfreerdp wfreerdp rdesktop", "/p: -p"),
    Command("openssl", "-k"),
    Command("openssl", "-passin -passout -pass", after=":"),
    Command("curl wget http https xh lftp ab siege", "-u -U -a --user --proxy-user", after=":,"),
    Command("smbclient rpcclient smbget smbmap winexe", "-U --user", after="%"),
    Command("gh", "-b --body", needs="secret"),
    Command("kubectl oc", "--from-literal", after="=", needs="secret"),
    Command("htpasswd", needs="-b -nb -bc -cb -bn -bb -nbb -cbb -bcb -nbm -bm", position=-1),
    Command("wandb vault", needs="login", position=2),
    Command("rabbitmqctl", needs="add_user change_password authenticate_user", position=3),
    Command("mc", needs="alias", position=6),
    Command("nuget", needs="setapikey", position=2),
    Command("wpa_passphrase", position=2),
    Command("flyctl fly heroku", needs="set config:set", after="=", position=-1),
    Command("net", needs="use", position=4),
)  # fmt: skip
ANCHORS = (
    "htpasswd", "wandb login", "vault login", "rabbitmqctl", "alias set", "setapikey",
    "wpa_passphrase", "secrets set", "config:set", "net use", "gh secret", "--from-literal", "/p:",
    "-user",
)  # fmt: skip
"""Words that stand in a command whose secret is not told by one of the short flags."""
_SHORT_FLAGS = tuple(re.compile(f"{before}-[pwauhtkb]") for before in (" ", '"', "'"))
_ANCHORS = tuple(map(re.compile, map(re.escape, ANCHORS)))
_BY_NAME: dict[str, list[Command]] = {}
for _command in COMMANDS:
    for _name in _command.names.split():
        _BY_NAME.setdefault(_name, []).append(_command)
_WORDS = re.compile(r"(?<![\w-])[\w-]{2,20}+(?:\.exe)?(?=[\"'`]?[\s,]|$)")
_GAP = re.compile(r"[\"'`]?(?:[ \t]{1,8}|[ \t]{0,4},\s{0,8})(?=[^\s,])")
_STOP = re.compile(r"[|;&\n>)\]}#]")
_PIPED = re.compile(
    r"\|[ \t]{0,4}(?:sudo[ \t]{1,4}-s"
    r"|(?:sudo[ \t]{1,4})?(?:passwd|cryptsetup|chpasswd|\w{1,20} login))\b"
)
_ECHO = re.compile(r"(?i)\b(?:echo|printf)[ \t]{1,4}(?:-\w[ \t]{1,4})?")
_SET_PASSWORD = re.compile(
    r"set password for \S{1,80}+[ \t]{0,4}=[ \t]{0,4}(?:password\()?(?=['\"])"
)
_SQL = re.compile(r"password (?=['\"])")
_IDENTIFIED = re.compile(
    r"identified(?:[ \t]{1,4}with[ \t]{1,4}\S{1,40}+)?[ \t\n]{1,8}(?:by|as)"
    r"(?:[ \t]{1,4}password)?[ \t\n=(]{1,8}(?=['\"])"
)
_ACCOUNT = re.compile(r"(?i)\b(?:user|role|login)[ \t]{1,4}\S")
_PASSWORD_FIELD = re.compile(r"type=[\"']?password")
_INPUT = re.compile(r"value[ \t]{0,2}=[ \t]{0,2}(?=[\"'])", re.IGNORECASE)


def find_arguments(view: View, lowered: str, work: Work) -> Iterator[Span]:
    """Passwords among the arguments of commands, in SQL and in password fields of pages."""
    done: set[int] = set()

    def read(match: re.Match[str]) -> list[Span]:
        return _read(view, lowered, match.start(), done, work)

    for pattern in (*_SHORT_FLAGS, *_ANCHORS):
        yield from find_at(view, lowered, pattern, read, work)
    for pattern, reader in (
        (_SQL, _read_sql), (_IDENTIFIED, _read_identified), (_SET_PASSWORD, _read_identified),
        (_PASSWORD_FIELD, _read_input), (_PIPED, _read_piped),
    ):  # fmt: skip
        yield from find_at(view, lowered, pattern, partial(reader, view), work)


def _read(view: View, lowered: str, place: int, done: set[int], work: Work) -> list[Span]:
    """The secrets of the command that a place is in; each command is read once."""
    text = view.text
    work.spend(8)
    begin = lowered.rfind("\n", max(place - MAX_BACK, 0), place) + 1 or max(place - MAX_BACK, 0)
    before = lowered[begin : place + 16]
    name = next((w for w in reversed(_WORDS.findall(before)) if _bare(w) in _BY_NAME), None)
    after = begin + before.rindex(name) + len(name) if name else 0
    if name is None or after in done or not work.spend(24):
        return []
    done.add(after)
    arguments = list(_split(view, after))
    work.spend(8 * len(arguments))
    values = [one for row in _BY_NAME[_bare(name)] for one in _choose(row, text, arguments)]
    return [
        Span(*view.locate(one.start, one.end), "password", text[one.start : one.end], RANK)
        for one in values
    ]


def _bare(name: str) -> str:
    return name.removesuffix(".exe")


def _split(view: View, place: int) -> Iterator[Value]:
    """The arguments of a command, at most up to its end."""
    text, limit = view.text, place + MAX_COMMAND
    for _ in range(MAX_ARGUMENTS):
        gap = _GAP.match(text, place)
        if gap is None or gap.end() > limit or _STOP.match(text, gap.end()):
            return
        value = _read_word(view, gap.end())
        if value is None:
            return
        yield value
        place = value.end


_WORD = re.compile(r"[^\s\ue000]{1,300}+")


def _read_word(view: View, start: int) -> Value | None:
    text = view.text
    if text[start] in "\"'`":
        value = read_argument(view, start, least=0)
        if value is not None:
            return value
    match = _WORD.match(text, start)
    if match is None:
        return None
    word = match.group()
    cut = next((at for at, sign in enumerate(word) if sign in '"`' or word.startswith("',", at)), 0)
    if cut > 2 and view.count_backslashes(start + cut) == 0 and "'" not in word[:cut]:
        word = word[:cut]
    return Value(start, start + len(word), Place.LITERAL)


def _choose(command: Command, text: str, arguments: list[Value]) -> Iterator[Value]:
    """Which of the arguments hold a secret."""
    written = [text[value.start : value.end] for value in arguments]
    if command.needs and not _has_needed(command.needs.split(), written):
        return
    if command.position:
        yield from _by_position(command, arguments, written)
    for index, word in enumerate(written):
        for flag in command.flags.split():
            if _is_flag(flag, word):
                yield from _by_flag(command, flag, text, arguments[index : index + 2])
                break


def _by_flag(command: Command, flag: str, text: str, arguments: list[Value]) -> Iterator[Value]:
    value = _value_of(flag, text, arguments)
    part = _cut(command, text, value) if value else None
    if part is not None and _is_wanted(text[part.start : part.end]):
        yield part


def _value_of(flag: str, text: str, arguments: list[Value]) -> Value | None:
    """What a flag is given: the rest of its own argument, or the next one."""
    own = arguments[0]
    after = own.start + len(flag) + (text[own.start + len(flag) : own.end][:1] == "=")
    if after < own.end:
        return _unquote(text, own._replace(start=after))
    return arguments[1] if len(arguments) > 1 else None


def _has_needed(needs: list[str], written: list[str]) -> bool:
    """Whether one of the words stands there, alone or as the end of ``//registry/:word``."""
    return any(
        word.lower() in needs or word.lower().rpartition(":")[2] in needs for word in written
    )


def _is_flag(flag: str, word: str) -> bool:
    """Whether a word is a flag, or a flag with its value right after it."""
    if flag.startswith("--") or len(flag) > 3 or not word.startswith(flag):
        return word == flag or word.startswith(f"{flag}=")
    return True


def _unquote(text: str, value: Value) -> Value:
    quote = text[value.start]
    if quote in "\"'" and value.end - value.start > 2:
        closing = text.rfind(quote, value.start + 1, value.end)
        if closing > 0:
            return Value(value.start + 1, closing, Place.LITERAL)
    return value


def _cut(command: Command, text: str, value: Value) -> Value | None:
    """The part of an argument after the sign that stands before its secret."""
    if not command.after:
        return value
    for sign in command.after:
        at = text.find(sign, value.start, value.end)
        if at >= 0:
            return value._replace(start=at + 1)
    return None


def _by_position(command: Command, arguments: list[Value], written: list[str]) -> Iterator[Value]:
    """The argument at the command's place, where its word stands first or right before that."""
    plain = [(v, w) for v, w in zip(arguments, written, strict=True) if not w.startswith("-")]
    beside = [w for _, w in (*plain[:1], *plain[max(command.position - 2, 0) :][:1])]
    needs = [word for word in command.needs.split() if word[0] != "-"]
    if needs and not _has_needed(needs, beside):
        return  # the words of a sentence
    at = command.position - 1 if command.position > 0 else len(plain) - 1
    if 0 <= at < len(plain):
        yield from _after_name(command.after, *plain[at])


def _after_name(sign: str, value: Value, word: str) -> Iterator[Value]:
    """The argument, or what stands after a telling name in it."""
    name, _, rest = word.partition(sign) if sign else ("", "", word)
    if _is_wanted(rest) and (not sign or classify_name(name) is not None):
        yield value._replace(start=value.end - len(rest))


def _is_wanted(value: str) -> bool:
    return is_argument(value) or is_random(value, least=20)


def _read_identified(view: View, match: re.Match[str]) -> list[Span]:
    """``IDENTIFIED BY '…'``, ``SET PASSWORD FOR x = '…'``."""
    return _take(view, read_argument(view, match.end()))


def _read_sql(view: View, match: re.Match[str]) -> list[Span]:
    """``ALTER USER x WITH PASSWORD '…'``."""
    if not _ACCOUNT.search(view.text, max(match.start() - MAX_BACK, 0), match.start()):
        return []
    return _take(view, read_argument(view, match.end()))


def _read_input(view: View, match: re.Match[str]) -> list[Span]:
    """The value of a password field of a page, before or after its type."""
    text, place = view.text, match.start()
    begin, end = text.rfind("<", max(place - 300, 0), place), text.find(">", place, place + 300)
    value = _INPUT.search(text, begin, end) if 0 <= begin < end else None
    return _take(view, read_argument(view, value.end()) if value else None)


def _read_piped(view: View, match: re.Match[str]) -> list[Span]:
    """``echo secret | sudo -S``."""
    text, low = view.text, max(match.start() - MAX_BACK, 0)
    low = max(text.rfind("\n", low, match.start()), low)
    echoes = list(_ECHO.finditer(text, low, match.start()))
    value = read_argument(view, echoes[-1].end()) if echoes else None
    if value is None or value.start >= match.start():
        return []
    name = text.find(":", value.start, value.end) if "chpasswd" in match.group() else -1
    return _take(view, value._replace(start=name + 1) if name > 0 else value)


def _take(view: View, value: Value | None) -> list[Span]:
    if value is None:
        return []
    text = view.text[value.start : value.end]
    if not is_secret_value(text, Strength.PASSWORD, place=Place.LITERAL):
        return []
    return [Span(*view.locate(value.start, value.end), "password", text, RANK)]
