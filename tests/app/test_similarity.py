"""An embedding model, behind a real server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from support.warming import make_template
from warmstart.app import Workspace
from warmstart.app.similarity import EmbeddingSimilarity, SimilarityError
from warmstart.app.templates import open_library
from warmstart.app.warming import Occasion, WarmConfig, prepare
from warmstart.errors import UsageError
from warmstart.model.template import TemplateState


class Server:
    """Vectors that count topics; holiday and beach are one."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.answer: Any = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append(body["input"])
                data = json.dumps(outer.answer or outer.embed(body["input"])).encode()
                self.send_response(500 if outer.answer == "fail" else 200)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.http.server_port}/v1"

    def embed(self, texts: list[str]) -> dict[str, Any]:
        rows = [
            {"index": n, "embedding": [float("shop" in t), float("holiday" in t or "beach" in t)]}
            for n, t in enumerate(texts)
        ]
        return {"data": rows[::-1]}


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.http.shutdown()
    found.http.server_close()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.delenv("WARMSTART_STORE", raising=False)
    return Workspace.open(tmp_path / "home")


def test_alike_texts_score_high_and_unrelated_ones_nothing(
    server: Server, workspace: Workspace
) -> None:
    alike = EmbeddingSimilarity(workspace=workspace, address=server.address, model="m")
    assert alike("my holiday", ["the beach", "the shop", "neither"]) == [1.0, 0.0, 0.0]


def test_texts_are_sent_once_and_messages_each_time(server: Server, workspace: Workspace) -> None:
    alike = EmbeddingSimilarity(workspace=workspace, address=server.address, model="m")
    alike("one", ["a", "b", "a"])
    alike("two", ["a", "b", "c"])
    assert server.asked == [["one", "a", "b"], ["two", "c"]]
    (kept,) = (workspace.home / "cache").iterdir()
    kept.write_text("[broken")
    assert alike("my holiday", ["beach"]) == [1.0]


@pytest.mark.parametrize("answer", ["fail", {"data": []}, {"data": [{"index": 0}]}, [1]])
def test_an_answer_without_vectors_is_an_error(
    server: Server, workspace: Workspace, answer: Any
) -> None:
    server.answer = answer
    alike = EmbeddingSimilarity(workspace=workspace, address=server.address, model="m")
    with pytest.raises(SimilarityError, match="gave no answer"):
        alike("x", ["a"])


def test_an_address_that_is_none_is_refused(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="is no http address"):
        EmbeddingSimilarity(workspace=workspace, address="file:///etc", model="m")("x", ["a"])


def test_the_settings_name_the_model_and_words_decide_without_it(
    server: Server, workspace: Workspace
) -> None:
    with open_library(workspace) as library:
        trip = make_template("trip", tags=("beach",), anchors=(), markers=())
        library.save(trip, state=TemplateState.APPROVED)
    config = WarmConfig(holdout=0, embeddings=server.address, embedding_model="m")
    occasion = Occasion(message="plan my holiday")
    assert prepare(workspace, occasion, config, record=False).choice.template == "trip"
    server.answer = "fail"
    choice = prepare(workspace, occasion, config, record=False).choice
    assert choice.template is None
    assert "by words alone" in choice.reason
    assert "HTTP 500" in choice.reason
