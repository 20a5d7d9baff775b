"""Shell commands that a person must see before an agent copies them from an example.

Each is common in honest work too: a finding says "look", never "attack". Expressions are matched as
those of ``imperatives``: against lower-case text, at their opening words, and what may
lie between two words is bounded.
"""

from __future__ import annotations

import re
from itertools import islice

from warmstart.redact.imperatives import Order, order

__all__ = ["COMMANDS", "find_download_run"]

LOOK_BACK_CHARS = 400
"""How far before a command its download may stand."""


_END = r"(?=\s|$|[;&|\"'`)<>\\])"
_FETCH = r"(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod)"
_SHELL = r"(?:/(?:usr/)?bin/)?(?:ba|z|da|k|fi)?sh"
_SCRIPT = r"(?:python[\d.]{0,4}|perl|ruby|node|php)"
_AS_ROOT = r"(?:sudo (?:-[a-z]{1,4} ){0,2}|env (?:\w{1,40}=\S{0,80} ){0,3}){0,2}"
_OFFICIAL = (
    r"(?!https?://(?:pypi\.org|registry\.npmjs\.org|registry\.yarnpkg\.com|proxy\.golang\.org"
    r"|rubygems\.org|index\.crates\.io)(?:/|:443/|[\"'\s,;]|$))"
)
_OTHER_URL = rf"[ =:]{{1,3}}[\"']?{_OFFICIAL}https?://"

COMMANDS: tuple[Order, ...] = (
    order(
        "fetch_and_run",
        "curl,wget,iwr ,irm ,invoke-,downloadstring",
        # curl … | sh, also with a step or two between; python alone reads a program, not data
        rf"\b{_FETCH}\b[^\n|]{{0,300}}+\|(?:[^\n|]{{0,80}}+\|){{0,2}} {{0,3}}{_AS_ROOT}"
        rf"(?:{_SHELL}{_END}|{_SCRIPT}(?: -)?(?= {{0,3}}(?:$|[\n;&|\"'`)]))|iex\b"
        r"|invoke-expression\b)",
        r"\bdownloadstring\b[^\n|]{0,200}+\| {0,3}iex\b",
        lines=True,
    ),
    order(
        "fetch_and_run",
        "curl,wget,iwr ,irm ,invoke-webrequest,invoke-restmethod,downloadstring",
        # sh -c "$(curl …)", bash <(curl …), eval `wget …`
        rf"(?:\b(?:{_SHELL}|{_SCRIPT}|source|eval)|(?:^|[\s;&|])\.) {{1,3}}"
        rf"(?:-[\w-]{{1,12}} ){{0,3}}[\\\"']{{0,3}}(?:[<$]\( {{0,3}}|`){_FETCH}\b",
        rf"\b(?:iex|invoke-expression)\b[\s(&$\"']{{0,8}}{_FETCH}\b",
        r"\b(?:iex|invoke-expression)\b[^\n|]{0,50}\bdownloadstring\b",
        lines=True,
        back=60,
    ),
    order(
        "remote_package",
        "pip,npx ,npm ,pnpm ,yarn ,bun,uv ,uvx ,cargo ,easy_install",
        r"\b(?:pip[\d.]{0,4}|pipx|uvx?|npx|npm|pnpm|yarn|bunx?|cargo|easy_install)"
        r"(?: (?:pip|tool|install|add|run|exec|dlx|i|x)){1,3}(?: -(?!-?(?:(?:extra-)?index|registry"
        r"|default-index|find-links|i ))[\w.-]{1,40}){0,4} [\"']?(?:[\w.\[\],-]{1,60} ?@ ?)?"
        r"(?:git\+|git://|https?://)",
        r"\b(?:npx|uvx|bunx)(?: -{1,2}[\w-]{1,20}){0,3} [\"']?(?:git\+|git://|https?://)",
        lines=True,
    ),
    order(
        "package_index",
        "pip,uv_,npm,pnpm ,yarn,bundle,poetry ,goproxy,cargo_registries,goflags=,--extra-index,"
        "--index-url,--default-index,--registry,--find-links,registry,index-url,extra-index-url,"
        "gem ,nuget ,replace-with,> /etc/apt,>/etc/apt,tee ,add-apt-,apt-key",
        r"\b(?:pip_(?:extra_)?index_url|uv_(?:default_|extra_)?index(?:_url)?|npm_config_registry"
        r"|yarn_(?:npm_)?registry(?:_server)?|goproxy|cargo_registries_\w{1,40}_index"
        rf"|bundle_mirror\w{{0,40}})[\"']?\]?{_OTHER_URL}",
        r"\bgoflags=[\"']?[^\n\"']{0,80}-(?:insecure|toolexec|overlay)\b",
        rf"(?<!\w)--(?:extra-index-url|index-url|default-index|registry|find-links){_OTHER_URL}",
        rf"\bpip[\d.]{{0,4}} (?:install|download)\b[^\n|;&]{{0,120}}? -i{_OTHER_URL}",
        r"\b(?:pip[\d.]{0,4}|npm|pnpm|yarn|bundle|poetry) config (?:set )?(?:--\w{1,10} ){0,2}"
        r"[\"']?(?:global\.|install\.|@[\w-]{1,40}:)?(?:(?:extra-)?index-url|registry"
        r"|npmregistryserver|mirror\.\S{1,60}|repositories\.\S{1,40})",
        rf"(?<![^\n :])(?:registry|(?:extra-)?index-url) ?= ?[\"']?{_OFFICIAL}https?://",
        rf"\b(?:gem|nuget) sources? (?:-a|--add|add) [\"']?{_OFFICIAL}https?://",
        rf"\bpoetry source add\b|\bgem install\b[^\n|;&]{{0,120}}? --source{_OTHER_URL}",
        r"(?<![^\n ])replace-with ?= ?[\"']",
        r"(?:>|\btee(?: -a)?) {0,3}/etc/apt/sources\.list|\badd-apt-repository\b|\bapt-key add\b",
        lines=True,
    ),
    order(
        "forced_push",
        "git push,git -c",
        r"\bgit (?:-c [^\s]{1,60} ){0,2}push\b[^\n;|&]{0,160}? (?:--force"
        rf"{_END}|--mirror{_END}|-[a-z]{{0,3}}f[a-z]{{0,3}}{_END}|\+[\w./-]{{1,60}})",
        lines=True,
    ),
    order(
        "unchecked_tls",
        "curl,--no-check-cert,-skipcert,--trusted-host,node_tls,git_ssl,http.sslverify,strict-ssl,"
        "pythonhttpsverify,stricthostkey",
        rf"\bcurl\b[^\n;|&]{{0,160}}? (?:--insecure|-[a-z]{{0,5}}k[a-z]{{0,5}}){_END}",
        r"(?<!\w)--no-check-certificate\b|(?<!\w)-skipcertificatecheck\b|(?<!\w)--trusted-host[ =]",
        r"\bnode_tls_reject_unauthorized[\"']?\]?[ =:]{1,3}[\"']?0",
        r"\bgit_ssl_no_verify ?= ?[\"']?(?:1|true|yes)\b|\bhttp\.sslverify[ =]{1,3}[\"']?false\b",
        r"\bstrict-ssl[ =]{1,3}false\b|\bpythonhttpsverify=0|\bstricthostkeychecking[ =]no\b",
        lines=True,
    ),
    order(
        "destructive",
        "rm -,chmod ,mkfs.,of=/dev/,--no-preserve",
        r"\brm (?:-[\w-]{1,20} ){1,4}[\"']?(?:/|~/?|\$home/?|\$\{home\}/?)\*?[\"']?(?=\s|$|[;&|)])",
        r"(?<!\w)--no-preserve-root\b|\bmkfs\.\w{2,5} /dev/|\bof=/dev/(?:sd|nvme|hd|vd|disk)",
        r"\bchmod (?:-[a-z]{1,3} ){0,2}(?:0?777|a\+rwx)\b",
        lines=True,
    ),
    order(
        "machine_settings",
        ".ssh/,.bashrc,.zshrc,.kshrc,.shrc,.fishrc,.profile,.bash_profile,.zprofile,/etc/,.git/hooks/,"
        "crontab,git config --",
        r"(?:>|\btee(?: -a)?) {0,3}[\"']?[\w~$.{}/-]{0,60}(?:\.ssh/(?:authorized_keys|config)"
        r"|\.(?:bash|zsh|k?sh|fish)rc\b|\.(?:bash_|z)?profile\b|/etc/(?:profile|cron|sudoers|hosts\b"
        r"|ld\.so|passwd|shadow)|\.git/hooks/)",
        r"\| {0,3}crontab\b(?! -l)",
        lines=True,
        back=80,
    ),
    order(
        "machine_settings",
        "crontab ,git config --",
        r"\bcrontab -(?=\s|$|e\b|u )|\bcrontab (?:~|\./|/)[\w./-]{1,80}",
        r"\bgit config --(?:global|system) (?:--(?:add|replace-all) )?(?:core\.(?:hookspath"
        r"|sshcommand|editor|pager|fsmonitor|gitproxy)|credential\.|url\.|http\.|https\.|alias\.|include\."
        r"|includeif\.|filter\.|gpg\.|protocol\.|remote\.)",
        lines=True,
    ),
)

_RUN = re.compile(
    rf"(?:&&|;|\n)\s{{0,8}}{_AS_ROOT}(?:(?:{_SHELL}|{_SCRIPT}|source|\.|chmod [\w+=]{{2,6}})"
    r" {1,3}(?:-[\w-]{1,8} ){0,2}[\"']?(?:\./)?|\./)([\w./~${}-]{1,80})"
)
_DOWNLOADS = ("curl ", "wget ", "iwr ", "invoke-webrequest ")
MAX_RUNS = 500
"""Commands looked at; a text with more of them is not an example."""


def find_download_run(text: str) -> str:
    """A command that runs what a download before it wrote: ``curl -o x …; sh x``."""
    if not any(word in text for word in _DOWNLOADS):
        return ""
    for match in islice(_RUN.finditer(text), MAX_RUNS):
        end = match.start()
        before = text[max(0, end - LOOK_BACK_CHARS) : end]
        begin = max(before.rfind(word) for word in _DOWNLOADS)
        if begin >= 0 and len(match[1]) > 2 and match[1] in before[begin:]:
            return before[begin:] + match.group()
    return ""
