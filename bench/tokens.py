"""How far the token estimate is from o200k, by kind of text.

    python bench/tokens.py FOLDER [--corpus PATH] [--json] [--check]

FOLDER is where npm put ``gpt-tokenizer`` (``npm install gpt-tokenizer``), which holds the real
vocabulary; ``node`` counts with it. Texts are the documents of this project, the sources and the
docstrings of Python's standard library, JSON and logs made here, Chinese written for this, and,
with ``--corpus``, results of real tool calls (``labelled/calls.jsonl.gz``). Documents of more than
500 characters, 6,000 at most. Figures are shares of the real count: median, 90th percentile, worst.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from warmstart.warm import estimate_tokens

MAX_MEDIAN, MAX_P90 = 0.05, 0.10
MIN_CHARS, MAX_CHARS = 500, 6000
FILES = 200
MIN_DOCUMENTS = 10
MIN_JUDGED = 30
"""Of fewer documents, a 90th percentile says nothing."""
ROOT = Path(__file__).resolve().parents[1]
COUNT = """
import {{readFileSync, writeFileSync}} from 'fs';
const {{encode}} = await import({module});
const texts = JSON.parse(readFileSync(process.argv[2]));
const count = text => encode(text, {{disallowedSpecial: new Set()}}).length;
writeFileSync(process.argv[3], JSON.stringify(texts.map(count)));
"""
CHINESE = (
    "数据库的备份每天凌晨两点自动开始。如果磁盘空间不足，脚本会先删除三十天以前的旧文件，然后再尝试一次。"  # noqa: RUF001 - Chinese
    "运行失败时，系统会给值班人员发送邮件，并且在日志里写下具体的错误信息。请不要手动修改配置文件，"  # noqa: RUF001 - same
    "因为下一次部署会把它覆盖掉。我想要你帮我看一下这个测试为什么会失败。昨天晚上还是好的，"  # noqa: RUF001 - same
    "今天早上更新了依赖以后就出现了超时的问题。你可以先运行单元测试，再看看最近的提交记录。"  # noqa: RUF001 - same
)


def list_texts(corpus: Path | None) -> Iterator[tuple[str, str]]:
    chance = random.Random(7)  # noqa: S311 - a fixed choice
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        yield "markdown", path.read_text()
    library = sorted(Path(os.__file__).parent.rglob("*.py"))
    for path in chance.sample(library, min(FILES, len(library))):
        code = path.read_text(errors="replace")
        yield "code", code
        yield "prose", "\n\n".join(list_docstrings(code))
    for number in range(40):
        yield "json", make_json(chance)
        yield "log", make_log(chance)
        yield "chinese", CHINESE * 3 + f"第{number}次备份成功。"
        yield "mixed", CHINESE + make_log(chance)[:400] + make_json(chance)[:400]
    if corpus is not None:
        yield from list_results(corpus, chance)


def list_docstrings(code: str) -> Iterator[str]:
    try:
        nodes = ast.walk(ast.parse(code))
    except (SyntaxError, ValueError):
        return
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


def make_json(chance: random.Random) -> str:
    rows = [
        {
            "id": chance.randrange(10**6),
            "path": f"src/{chance.choice(('cart', 'invoice'))}/{chance.choice('abcd')}_total.py",
            "exit_code": chance.randrange(3),
            "error": None,
            "output": f"{chance.randrange(90)} passed, {chance.randrange(9)} failed",
        }
        for _ in range(20)
    ]
    return json.dumps(rows, indent=chance.choice((None, 2)))


def make_log(chance: random.Random) -> str:
    lines = []
    for _ in range(30):
        day, hour, second = chance.randrange(1, 29), chance.randrange(24), chance.random() * 60
        level = chance.choice(("INFO", "WARN", "ERROR"))
        what = chance.choice(("connection reset by peer", "job finished", "cache miss for key"))
        where = f"worker-{chance.randrange(9)} id={chance.getrandbits(48):x}"
        lines.append(f"2026-01-{day:02}T{hour:02}:14:{second:06.3f}Z {level} {where} {what}")
    return "\n".join(lines)


def list_results(corpus: Path, chance: random.Random) -> Iterator[tuple[str, str]]:
    with gzip.open(corpus / "labelled" / "calls.jsonl.gz", "rt") as lines:
        rows = [json.loads(line) for line in lines]
    for row in chance.sample(rows, min(3000, len(rows))):
        yield f"results:{row['source']}", row["result_text"] or ""


def count_tokens(texts: list[str], folder: Path) -> list[int]:
    found = folder.resolve() / "node_modules" / "gpt-tokenizer" / "esm" / "encoding"
    module = found / "o200k_base.js"
    if not module.exists():
        sys.exit(f"no gpt-tokenizer in {folder}: npm install --prefix {folder} gpt-tokenizer")
    with tempfile.TemporaryDirectory() as name:
        script, given, counted = (Path(name) / n for n in ("count.mjs", "texts.json", "out.json"))
        script.write_text(COUNT.format(module=json.dumps(module.as_uri())))
        given.write_text(json.dumps(texts))
        subprocess.run(["node", str(script), str(given), str(counted)], check=True)  # noqa: S607 - the user's own node
        counts: list[int] = json.loads(counted.read_text())
    return counts


def measure(texts: list[tuple[str, str]], folder: Path) -> dict[str, dict[str, Any]]:
    kept = [(kind, text[:MAX_CHARS]) for kind, text in texts if len(text) > MIN_CHARS]
    errors: dict[str, list[float]] = {}
    for (kind, text), real in zip(kept, count_tokens([t for _, t in kept], folder), strict=True):
        errors.setdefault(kind, []).append(estimate_tokens(text) / real - 1)
    return {
        kind: {
            "documents": len(found),
            "median": statistics.median(map(abs, found)),
            "p90": sorted(map(abs, found))[int(len(found) * 0.9)],
            "worst": max(map(abs, found)),
            "bias": statistics.mean(found),
        }
        for kind, found in sorted(errors.items())
        if len(found) >= MIN_DOCUMENTS
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = parser.parse_args()
    figures = measure(list(list_texts(options.corpus)), options.folder)
    bars = {
        f"{kind}: median within {MAX_MEDIAN:.0%}, nine of ten within {MAX_P90:.0%}": row["median"]
        <= MAX_MEDIAN
        and row["p90"] <= MAX_P90
        for kind, row in figures.items()
        if row["documents"] >= MIN_JUDGED
    }
    if options.json:
        print(json.dumps({"schema_version": 1, "kinds": figures, "bars": bars}, indent=1))
    else:
        table = Table("kind", "documents", "median", "p90", "worst", "bias", title="token estimate")
        for kind, row in figures.items():
            shares = [f"{row[name]:.1%}" for name in ("median", "p90", "worst", "bias")]
            table.add_row(kind, str(row["documents"]), *shares)
        console = Console(width=110)
        console.print(table)
        for name, good in bars.items():
            console.print(f"{'ok  ' if good else 'MISS'} {name}")
    return int(options.check and not all(bars.values()))


if __name__ == "__main__":
    sys.exit(main())
