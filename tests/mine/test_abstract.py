"""What becomes a placeholder and what is kept."""

from __future__ import annotations

import pytest

from support.mining import make_worked
from warmstart.mine.abstract import Abstraction, Vocabulary, form_of
from warmstart.mine.volatile import kind_of_value, looks_like_path, relative_to

ROOT = "/home/ann/shop"


def abstraction(*commands: str, root: str | None = ROOT) -> Abstraction:
    """Placeholders as two sessions that share these commands would get them."""
    steps = [("Bash", {"command": command}, "ok", False) for command in commands]
    sessions = [make_worked(f"s{n}", steps, project=ROOT) for n in range(2)]
    return Abstraction(Vocabulary.of(sessions), root)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("src/cart.py", "path"),
        ("/etc/hosts", "path"),
        ("D:\\work\\cart.go", "path"),
        ("package.json", "path"),
        ("https://shop.example/cart", "url"),
        ("3f2504e0-4f89-41d3-9a0c-0305e82c3301", "id"),
        ("9fceb02d0ae598e95dc970b74767f19372d61af8", "hash"),
        ("2026-01-31", "date"),
        ("ann@shop.example", "email"),
        ("run_20260131_ab12", "id"),
        ("content", None),
        ("1.25", None),
        ("..", None),
    ],
)
def test_the_form_of_a_value_tells_its_kind(value: str, kind: str | None) -> None:
    assert kind_of_value(value) == kind


def test_paths_inside_the_project_lose_the_machine() -> None:
    assert relative_to("/home/ann/shop/src/a.py", ROOT) == "src/a.py"
    assert relative_to("D:\\shop\\src\\a.py", "D:\\shop") == "src/a.py"
    assert relative_to(ROOT, ROOT) == "."
    assert relative_to("/home/annette/a.py", "/home/ann") == "/home/annette/a.py"
    assert not looks_like_path("two words.py")


def test_programs_flags_and_shared_words_are_kept() -> None:
    shown = abstraction("pytest -q tests/unit | tail -5").command("pytest -q tests/unit | tail -5")
    assert shown == "pytest -q tests/unit | tail -5"


def test_what_one_session_used_becomes_a_placeholder() -> None:
    shown = abstraction().command("git add src/cart.py && git commit -m 'fix rounding' 2>&1")
    assert shown == "git add <path> && git commit -m '<text>' 2>&1"


def test_the_project_itself_has_a_name_of_its_own() -> None:
    assert abstraction().command(f"cd {ROOT} && make check") == "cd <project> && make check"


def test_the_same_value_has_the_same_placeholder_everywhere() -> None:
    example = abstraction()
    arguments = example.arguments("Edit", {"file_path": f"{ROOT}/src/cart.py", "count": 3})
    assert arguments == {"count": 3, "file_path": "<path>"}
    assert example.text(f"{ROOT}/src/cart.py changed; see cart.py and /srv/other.py") == (
        "<path> changed; see <path> and <path-2>"
    )


def test_long_texts_are_named_after_their_argument() -> None:
    shown = abstraction().arguments("Write", {"content": "word " * 80, "note": "short"})
    assert shown == {"content": "<content>", "note": "short"}


def test_structure_stays_what_it_was() -> None:
    given = {"edits": [{"path": "/srv/a.py", "line": 2}], "deep": {"on": True, "none": None}}
    shown = abstraction().arguments("tool", given)
    assert shown == {"deep": {"none": None, "on": True}, "edits": [{"line": 2, "path": "<path>"}]}


def test_heredocs_and_long_commands_are_cut() -> None:
    assert abstraction().command("cat > f.py <<'EOF'\nsecret words\nEOF").endswith("<<EOF <text>")
    assert abstraction().command("echo a; " * 100).endswith(" <more>")


def test_calls_of_one_form_differ_only_in_free_text_and_numbers() -> None:
    one = form_of("Grep", {"pattern": "Total Sum", "head": 3, "mode": "content"})
    other = form_of("Grep", {"pattern": "Round Up", "head": 9, "mode": "content"})
    assert one == other
    assert one != form_of("Grep", {"pattern": "Round Up", "head": 9, "mode": "files"})
    assert form_of("Bash", {"command": "head -5 <path>"}) == form_of(
        "Bash", {"command": "head -20 <path>"}
    )


def test_runs_of_one_task_do_not_make_a_convention() -> None:
    steps = [("book", {"reservation_id": "M05KNL", "cabin": "economy"}, "ok", False)]
    runs = [make_worked(f"r{n}", steps, task="t1") for n in range(3)]
    other = [("book", {"reservation_id": "XQ77AB", "cabin": "economy"}, "ok", False)]
    vocabulary = Vocabulary.of([*runs, make_worked("o", other, task="t2")])
    shown = Abstraction(vocabulary, None).arguments("book", dict(steps[0][1]))
    assert shown == {"cabin": "economy", "reservation_id": "<id>"}


def test_what_belongs_to_people_is_told_by_its_key() -> None:
    example = abstraction()
    shown = example.data({"first_name": "Ottilie", "seats": 2, "class": "economy", "user_id": "x9"})
    assert shown == {
        "class": "economy", "first_name": "<first_name>", "seats": 2, "user_id": "<id>",
    }  # fmt: skip
    assert example.text("Booked for Ottilie.") == "Booked for <first_name>."


def test_a_tools_own_scheme_is_kept_and_one_of_the_web_is_not() -> None:
    shown = abstraction().arguments("read_note", {"path": "vault://anna.txt"})
    assert shown == {"path": "vault://<path>"}
    assert abstraction().arguments("fetch", {"url": "https://a.example/b"}) == {"url": "<url>"}


def test_the_path_behind_a_scheme_is_the_path_the_user_spoke_of() -> None:
    placeholders = abstraction()
    placeholders.arguments("read_note", {"path": "vault://anna.txt"})
    assert placeholders.text("Read the note anna.txt.") == "Read the note <path>."
    assert placeholders.text("write it as vault://anna.txt") == "write it as vault://<path>"
