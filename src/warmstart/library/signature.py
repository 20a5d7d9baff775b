"""Detached signatures by ``ssh-keygen -Y``: who made a file, said by a key people already have.

A signature is ``FILE.sig`` beside the file. Keys that are trusted here stand in
``allowed_signers`` in the home, in the format of ssh-keygen: ``name namespaces="…" key``.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from warmstart.children import ChildSetup, Completed, allow_cpu, run_child
from warmstart.library.files import read_regular
from warmstart.library.model import Signature
from warmstart.template import TemplateError

NAMESPACE = "warmstart-template"
ALLOWED_SIGNERS = "allowed_signers"
TIMEOUT_SECONDS = 30
MAX_SIGNATURE_BYTES = 20_000
_SIGNER = re.compile(r"[\w.@+-]{1,200}")


def signature_path(path: Path) -> Path:
    """Where the signature of a file is, whether it exists or not."""
    return path.with_name(path.name + ".sig")


def sign_file(path: Path, key: Path) -> Path:
    """Sign a file with a private key; the signature.

    Raises:
        TemplateError: ssh-keygen is not there or refuses.
    """
    target = signature_path(path)
    target.unlink(missing_ok=True)
    words = ["-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(path.absolute())]
    done = _run(words, b"", may_ask=True)  # for the key's passphrase
    if done.exit_code or not target.is_file():
        raise TemplateError(
            f"{str(path)!r} could not be signed with {str(key)!r}",
            hint="name a private SSH key; one with a passphrase must be in the agent",
        )
    target.chmod(0o600)
    return target


def check_signature(path: Path, data: bytes, allowed: Path) -> Signature:
    """Who signed the bytes that were read from a file.

    Raises:
        TemplateError: there is a signature, and it is not of these bytes.
    """
    signature = signature_path(path)
    if not signature.exists() and not signature.is_symlink():
        return Signature("none")
    read_regular(signature, MAX_SIGNATURE_BYTES)
    common = ["-n", NAMESPACE, "-s", str(signature)]
    if _run(["-Y", "check-novalidate", *common], data).exit_code:
        raise TemplateError(
            "the signature beside it is not of this file",
            field=signature.name,
            hint="the file was changed after it was signed; ask for it again",
        )
    signer = _find_signer(signature, allowed)
    if not signer:
        return Signature("unknown")
    verify = ["-Y", "verify", "-f", str(allowed), "-I", signer, *common]
    return Signature("unknown") if _run(verify, data).exit_code else Signature("good", signer)


def _find_signer(signature: Path, allowed: Path) -> str:
    """The name under which the key is trusted here, or nothing."""
    if not allowed.is_file():
        return ""
    done = _run(["-Y", "find-principals", "-f", str(allowed), "-s", str(signature)], b"")
    names = done.stdout.decode("utf-8", "replace").split()
    return names[0] if names and _SIGNER.fullmatch(names[0]) else ""


def _run(arguments: list[str], data: bytes, *, may_ask: bool = False) -> Completed:
    setup = ChildSetup(
        kind="terminal" if may_ask else "command",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cpu_seconds=allow_cpu(TIMEOUT_SECONDS),
    )
    try:
        return run_child(["ssh-keygen", *arguments], setup, data, seconds=TIMEOUT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TemplateError(
            "ssh-keygen could not be run", hint="install OpenSSH 8.1 or newer"
        ) from error
