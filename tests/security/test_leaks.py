"""No secret of a transcript, and no piece of one, is in anything made to be shared or sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.machines import Machine, Run
from support.mining import make_worked
from support.planting import FIRST, SECOND, Planter, find_leaks, write_claude_code
from warmstart.app.profiles import ProfileResult, SessionResult
from warmstart.app.redaction import redact_texts
from warmstart.facts import OPENING_CHARS, derive_facts
from warmstart.mine import BuildRequest, extract_template
from warmstart.model.selection import Selection
from warmstart.present import profile_document, session_profile_document, write_html
from warmstart.profile.corpus import corpus_profile
from warmstart.profile.session import profile_whole_session
from warmstart.profile.summarise import summarise
from warmstart.redact import Redactor
from warmstart.sources import ReadLog
from warmstart.template import canonical_json
from warmstart.tool import run_tool_text
from warmstart.warm import RENDERERS

TASK = "Fix the cart in the shop and round totals"


def test_the_search_for_leaks_finds_whole_secrets_and_pieces() -> None:
    plant = Planter(1)
    secret = plant.self_telling("here", "github_pat")
    assert find_leaks(plant.planted, f"x {secret} y")
    assert find_leaks(plant.planted, secret[12:24])
    assert not find_leaks(plant.planted, "<SECRET:github_pat:1>")


def test_template_files_hold_none(machine: Machine) -> None:
    files = sorted((machine.home / "ws" / "templates").rglob("*.json"))
    assert files
    assert not find_leaks(machine.planted, *(path.read_bytes() for path in files))


@pytest.mark.parametrize(
    "arguments",
    [
        ("template", "list", "--json"),
        ("template", "show", "all"),
        ("template", "show", "all", "--json"),
        ("template", "test", "all", TASK),
        ("template", "dataset", "--all", "--sessions"),
        ("template", "build", "chat.jsonl", "--name", "chat", "--min-messages", "5",
         "--max-error-rate", "1", "--textual", "--dry-run", "--json"),
    ],
)  # fmt: skip
def test_commands_that_show_or_share_templates_print_none(
    machine: Machine, arguments: tuple[str, ...]
) -> None:
    done = machine.run(*arguments)
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout) > 100
    assert not find_leaks(machine.planted, done.stdout, done.stderr)


@pytest.mark.parametrize("form", sorted(RENDERERS))
def test_no_form_of_a_warm_up_holds_one(machine: Machine, form: str) -> None:
    done = machine.run("warm", TASK, "--template", "all", "--as", form)
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout) > 100
    assert not find_leaks(machine.planted, done.stdout, done.stderr)


def test_the_hook_of_an_agent_adds_none(machine: Machine) -> None:
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "prompt": TASK}
    done = machine.run("hook", "claude-code", stdin=json.dumps(event))
    assert not find_leaks(machine.planted, done.stdout, done.stderr)


def test_an_export_holds_none(machine: Machine) -> None:
    target = machine.home / "shared.json"
    done = machine.run("template", "export", "all", "-o", target)
    assert done.exit_code == 0, done.stderr
    assert not find_leaks(machine.planted, target.read_bytes(), done.stdout, done.stderr)


def test_pages_to_send_hold_none(machine: Machine) -> None:
    target = machine.home / "page.html"
    done = machine.run("profile", "--html", target, "-q")
    assert done.exit_code == 0, done.stderr
    assert not find_leaks(machine.planted, target.read_bytes(), done.stderr)


def test_a_model_that_asks_for_figures_is_told_none(machine: Machine) -> None:
    for arguments in (
        {"action": "profile", "session_id": FIRST},
        {"action": "compare", "session_id": FIRST, "compare_with": SECOND},
        {"action": "load", "name": "all", "message": TASK},
        {"action": "list"},
        {"action": "select", "message": TASK},
    ):
        answer = run_tool_text(arguments)
        assert json.loads(answer)["success"], answer
        assert not find_leaks(machine.planted, answer)


@pytest.mark.parametrize("shift", range(0, 60, 7))
def test_a_secret_across_the_place_of_a_cut_leaves_no_piece(shift: int) -> None:
    """Lines, results, commands and words are cut at fixed lengths; a key may stand anywhere."""
    plant = Planter(shift)
    steps = []
    for number, length in enumerate((0, 60, 100, 140, 200, 240, 280, 480, 4000, 7900)):
        pad = "x y " * (max(length - shift, 0) // 4)
        kinds = [plant.self_telling(f"{what} at {length}") for what in ("result", "word", "tail")]
        noise = "\n".join(f"line {line}" for line in range(30))
        steps += [
            ("Bash", {"command": f"run{number} {pad[:230]}{kinds[1]} done"},
             f"{pad}{kinds[0]}\n{noise}\n{kinds[2]} {pad[:900]}", False),
            ("Edit", {"file_path": f"/home/dev/shop/a{number}.py", "old_string": pad + kinds[1],
                      "new_string": "x"}, f"cannot find {pad[:110]}{kinds[0]} in file", True),
            ("Edit", {"file_path": f"/home/dev/shop/a{number}.py", "old_string": "y",
                      "new_string": "x"}, "The file has been updated.", False),
        ]  # fmt: skip
    asked = f"{'please fix it ' * 17}{'x' * shift} {plant.self_telling('intent')} and more " * 2
    session = make_worked("cut", steps, asked=asked)
    template = extract_template(session, BuildRequest(name="cut", textual=True), Redactor(pii=True))
    assert template.examples
    assert not find_leaks(plant.planted, canonical_json(template))


def test_a_private_key_of_which_only_the_end_is_left_is_none() -> None:
    plant = Planter(3)
    key = plant.pem("key")
    for cut in (key[200:], key[:-200], key[600:]):
        assert not find_leaks(plant.planted, Redactor().text(f"out\n{cut}\nok")[4:])


def test_errors_about_secret_names_do_not_repeat_them(home: Path, run: Run) -> None:
    plant = Planter(9)
    write_claude_code(home / ".claude", plant, 1)
    for arguments in (
        ("template", "build", "--name", "few"),
        ("sessions", "show", "none-such"),
        ("template", "extract", "none-such", "--name", "x"),
        ("warm", TASK),
    ):
        done = run(*arguments)
        assert not find_leaks(plant.planted, done.stdout, done.stderr)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_profile_in_the_terminal_shows_none(machine: Machine, form: tuple[str, ...]) -> None:
    for wanted in ((), (FIRST,)):
        done = machine.run("profile", *wanted, *form)
        assert done.exit_code == 0, done.stderr
        assert not find_leaks(machine.planted, done.stdout, done.stderr)


COMMANDS = (
    "export BOT='{pad}{secret}' && make test",
    "export BOT='a;{secret}|{secret}'; make test",
    'BOT="{pad}; {secret}" ./run {pad}',
    "A=1 B=2 C=3 D=4 E=5 F=6 G=7 H=8 I=9 J=1 K=2 L=3 ./run --key=/{secret}",
    "export P={pad}\n{secret}",
    "{pad}{secret} x",
    "python -m {secret}",
    "git {secret}",
    "curl https://api.local/bot{secret}/getMe",
)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), line=st.sampled_from(COMMANDS), at=st.integers(0, 2100))
@example(seed=11, line="python -m {secret}", at=0)
def test_no_page_shows_a_piece_of_what_markers_and_titles_were_cut_from(
    seed: int, line: str, at: int
) -> None:
    """Facts cut commands, addresses and openings before anything is masked."""
    plant, pad = Planter(seed), ("ab " * 800)[:at]
    secrets = [plant.self_telling(what) for what in ("command", "file", "address", "opening")]
    steps = [
        ("Bash", {"command": line.format(pad=pad, secret=secrets[0])}, "ok", False),
        ("Read", {"file_path": f"/srv/{'d/' * (at % 140)}{secrets[1]}/a.py"}, "x", False),
        ("WebFetch", {"url": f"https://bob:{secrets[2]}@h.local/x{'y' * (at % 250)}"}, "x", False),
        ("WebFetch", {"url": f"https://{secrets[2]}/x@h.local"}, "x", False),
    ]
    asked = ("w " * OPENING_CHARS)[: OPENING_CHARS - at % 90] + f" {secrets[3]}"
    session = make_worked("cut", steps, asked=asked, title=f"{'t' * (at % 40)} {secrets[3]}")
    pages = [
        write_html(
            profile_document(
                ProfileResult(
                    profile=_redacted(corpus_profile([summarise([derive_facts(session)])])),
                    selection=Selection(),
                    log=ReadLog(),
                )
            )
        ),
        write_html(
            session_profile_document(
                SessionResult(profile=_redacted(profile_whole_session(session)), log=ReadLog())
            )
        ),
    ]
    assert not find_leaks(plant.planted, *pages)


def _redacted(profile: Any) -> Any:
    return redact_texts(profile, Redactor(pii=True))
