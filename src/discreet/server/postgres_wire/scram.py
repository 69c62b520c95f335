"""The server's side of a login by SCRAM-SHA-256, in which the client proves that it holds one of an account's tokens.

What is stored of a token for this is in `server/store/scram.py`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from typing import Generic, TypeVar, final

from discreet.server.postgres_wire.messages import Malformed
from discreet.server.store.scram import ITERATIONS, Verifier, signature

MECHANISM = "SCRAM-SHA-256"
T = TypeVar("T")


@final
class Exchange(Generic[T]):
    """One login. All tokens of an account have the same salt, and the proof tells which one the client holds.

    For an account without tokens, and for one that does not exist, the same is done with a verifier that nothing fits.
    """

    def __init__(self, salt: bytes, known: Sequence[tuple[T, Verifier]], nonce: str, iterations: int = ITERATIONS) -> None:
        self._salt, self._known, self._nonce, self._iterations = salt, known, nonce, iterations
        self._header = self._first = self._challenge = ""

    def challenge(self, first: bytes) -> bytes:
        """The server's answer to the client's first message; Malformed if it is none."""
        text = _text(first)
        binding, user, bare = (*text.split(",", 2), "", "")[:3]
        if binding not in ("n", "y") or (user and not user.startswith("a=")):
            raise Malformed("channel binding is not supported: use SCRAM-SHA-256")
        fields = _fields(bare)
        if "r" not in fields or "m" in fields:
            raise Malformed("this is no first message of SCRAM")
        self._header, self._first = f"{binding},{user},", bare
        salt = base64.b64encode(self._salt).decode()
        self._nonce = fields["r"] + self._nonce
        self._challenge = f"r={self._nonce},s={salt},i={self._iterations}"
        return self._challenge.encode()

    def outcome(self, last: bytes) -> tuple[T, bytes] | None:
        """Which token was proved, and the server's last message; None if none was. Malformed if `last` is no final message."""
        without_proof, _, proof = _text(last).rpartition(",p=")
        fields = _fields(without_proof)
        try:
            proof_bytes, header = base64.b64decode(proof, validate=True), base64.b64decode(fields.get("c", ""), validate=True)
        except (binascii.Error, ValueError):
            raise Malformed("this is no final message of SCRAM") from None
        if not self._challenge or fields.get("r") != self._nonce or header != self._header.encode() or len(proof_bytes) != 32:
            raise Malformed("this is no final message of SCRAM")
        signed = f"{self._first},{self._challenge},{without_proof}".encode()
        found: tuple[T, bytes] | None = None
        _fits(Verifier(bytes(32), bytes(32)), signed, proof_bytes)  # an account without tokens takes as long
        for token, verifier in self._known:  # all of them, so that the time does not tell which one fits
            if _fits(verifier, signed, proof_bytes):
                found = token, b"v=" + base64.b64encode(signature(verifier.server, signed))
        return found


def _fits(verifier: Verifier, signed: bytes, proof: bytes) -> bool:
    mask = signature(verifier.stored, signed)
    key = bytes(one ^ other for one, other in zip(proof, mask, strict=True))
    return hmac.compare_digest(hashlib.sha256(key).digest(), verifier.stored)


def _text(message: bytes) -> str:
    try:
        return message.decode()
    except UnicodeDecodeError:
        raise Malformed("this is no message of SCRAM") from None


def _fields(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not equals or len(name) != 1:
            raise Malformed("this is no message of SCRAM")
        found[name] = value
    return found
