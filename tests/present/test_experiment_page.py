from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from support.reports import CASES, better, costs, inconclusive, make_report
from warmstart.experiment.plan import Plan
from warmstart.experiment.report import ExperimentReport
from warmstart.present.experiment import report_document
from warmstart.present.html import write_html

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
HOSTILE = "cold:</style><script>alert(1)</script>"


def write_page(report: ExperimentReport) -> str:
    return write_html(report_document(report))


@pytest.mark.parametrize("case", CASES)
def test_the_page_is_one_file_that_asks_for_nothing(case: str) -> None:
    page = write_page(CASES[case]())
    assert "default-src 'none'" in page
    assert not re.search(r"<script|<link|<img|\ssrc=|\shref=|https://", page)
    for plot in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ET.fromstring(plot)  # noqa: S314 - our own text
        assert not re.search(r"\b(nan|inf)\b", re.sub(r">[^<]*<", "><", plot))


@pytest.mark.parametrize("case", CASES)
def test_the_answer_comes_first(case: str) -> None:
    report = CASES[case]()
    page = write_page(report)
    word = report.verdict.arms[0].conclusion.value
    first = page.index("</header>")
    marked = "smallest" if report.smallest else word
    assert marked in page[first : page.index('<div class="cards">')]


def test_the_page_has_every_plot_of_a_paired_experiment() -> None:
    page = write_page(better())
    for label in (
        "Effect on tool-error rate", "Effects on rates", "Effects on costs",
        "tool-error rate of every task", "Difference after every task", "E-value after every task",
        "Error rate by position", "Tokens per solved task", "Cost per solved task",
    ):  # fmt: skip
        assert f'aria-label="{label}' in page


def test_costs_are_drawn_as_ratios() -> None:
    page = write_page(costs())
    assert ">x1.00</text>" in page
    assert "claim at 20" in page


def test_sessions_as_they_came_have_no_task_plot() -> None:
    page = write_page(CASES["observed"]())
    assert "of every task" not in page
    assert "arms may have had different tasks" in page


def test_many_arms_are_folded() -> None:
    effects = {"cold": 0.0, **{f"warm:t{number}": -0.5 for number in range(5)}}
    page = write_page(make_report(effects, tasks=8))
    assert "<details><summary>Task by task: warm:t4</summary>" in page
    assert "Measure the winner again" in page


def test_an_empty_experiment_has_a_page() -> None:
    report = make_report({"cold": 0.0, "warm:shop": 0.0}, tasks=0, planned=9)
    page = write_page(report)
    assert "unfinished" in page
    assert "warmstart experiment run first" in page


def test_hostile_names_stay_text() -> None:
    report = make_report({HOSTILE: 0.0, "warm:shop": -0.5})
    assert "<script" not in write_page(_rename(report, "<b>x"))


def _rename(report: ExperimentReport, name: str) -> ExperimentReport:
    plan: Plan = replace(report.plan, name=name, registered="<script>")
    return replace(report, plan=plan)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_shows_the_page_without_complaint(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(write_page(inconclusive()), "utf-8")
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
        f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.count("<svg") == write_page(inconclusive()).count("<svg")
    assert "CONSOLE" not in done.stderr
    shot = tmp_path / "shot.png"
    command[-2:] = [f"--screenshot={shot}", "--window-size=1100,3000", path.as_uri()]
    subprocess.run(command, capture_output=True, timeout=60, check=True)
    assert shot.stat().st_size > 50_000
