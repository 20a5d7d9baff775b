"""How alike texts are, asked of an embedding model the user names; never needed.

Any server that speaks OpenAI's ``/embeddings`` will do, such as one on loopback. What it says of a
library's texts is kept in the home, so that a start sends the message and what is new. Nothing is
sent anywhere unless the settings name a server.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from warmstart.app.core import Workspace
from warmstart.errors import UsageError, WarmstartError

TIMEOUT_SECONDS = 10.0
BATCH = 128
MAX_KEPT = 20_000
MAX_ANSWER_BYTES = 64 * 1024 * 1024
UNRELATED = 0.3
"""The cosine at which texts have nothing to do with each other; models hardly ever say zero."""
Vector = list[float]


class SimilarityError(WarmstartError):
    """The embedding model could not be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSimilarity:
    """A model behind an address; call it with a message and texts."""

    workspace: Workspace
    address: str
    """Up to and without ``/embeddings``: ``http://127.0.0.1:8080/v1``."""
    model: str

    def __call__(self, message: str, texts: Sequence[str]) -> list[float]:
        """For each text how alike it is to the message, 0 to 1.

        Raises:
            SimilarityError: the model did not answer, or not with vectors.
        """
        known = self._read_kept()
        missing = [text for text in dict.fromkeys(texts) if _key(text) not in known]
        asked = self._embed([message, *missing])
        known |= {_key(t): vector for t, vector in zip(missing, asked[1:], strict=True)}
        if missing:
            self._keep(known)
        return [_scale(_cosine(asked[0], known[_key(text)])) for text in texts]

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for at in range(0, len(texts), BATCH):
            vectors += self._ask(texts[at : at + BATCH])
        return vectors

    def _ask(self, texts: Sequence[str]) -> list[Vector]:
        if not self.address.startswith(("http://", "https://")):
            raise UsageError(f"{self.address!r} is no http address", hint="[warm] embeddings")
        import urllib.request  # noqa: PLC0415 - brings TLS along; only for those who ask a model

        body = orjson.dumps({"model": self.model, "input": list(texts)})
        request = urllib.request.Request(  # noqa: S310 - http or https, checked above
            f"{self.address.rstrip('/')}/embeddings",
            data=body,
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - same
                data = orjson.loads(answer.read(MAX_ANSWER_BYTES))
            return _read_vectors(data, len(texts))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SimilarityError(
                f"the embedding model at {self.address!r} gave no answer: {_why(error)}"
            ) from error

    @property
    def _file(self) -> Path:
        name = hashlib.sha256(f"{self.address}\0{self.model}".encode()).hexdigest()[:16]
        return self.workspace.home / "cache" / f"embeddings-{name}.json"

    def _read_kept(self) -> dict[str, Vector]:
        try:
            kept = orjson.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        return kept if isinstance(kept, dict) and len(kept) <= MAX_KEPT else {}

    def _keep(self, vectors: dict[str, Vector]) -> None:
        self.workspace.write_file(self._file, [orjson.dumps(vectors)], overwrite=True)


def _read_vectors(data: Any, number: int) -> list[Vector]:
    rows = sorted(data["data"], key=lambda row: row["index"])
    vectors = [[float(value) for value in row["embedding"]] for row in rows]
    if len(vectors) != number or len(set(map(len, vectors))) != 1:
        raise ValueError("not one vector for each text")
    return vectors


def _key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


def _cosine(one: Vector, other: Vector) -> float:
    if len(one) != len(other):
        return 0.0
    size = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / size if size else 0.0


def _scale(cosine: float) -> float:
    return min(max((cosine - UNRELATED) / (1 - UNRELATED), 0.0), 1.0)


def _why(error: Exception) -> str:
    """Short: an HTTP status, the reason of a failed connection, or what was wrong with the data."""
    if isinstance(error, OSError):
        code = getattr(error, "code", None)
        return f"HTTP {code}" if code else str(getattr(error, "reason", error))
    return type(error).__name__ if isinstance(error, KeyError | TypeError) else str(error)


__all__ = ["EmbeddingSimilarity", "SimilarityError"]
