"""SCRAM-SHA-256 (RFC 5802, RFC 7677): what is stored of a password, with which a login can be checked and not repeated."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import final

from attrs import frozen

ITERATIONS = 4096  # the least that the RFC allows: tokens are random, and nobody guesses 200 bits


@final
@frozen
class Verifier:
    """The hash of the client's key, and the server's key."""

    stored: bytes
    server: bytes

    @classmethod
    def of(cls, password: str, salt: bytes, iterations: int = ITERATIONS) -> Verifier:
        """The verifier of a password."""
        salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)
        return cls(hashlib.sha256(signature(salted, b"Client Key")).digest(), signature(salted, b"Server Key"))

    def to_text(self) -> str:
        """As it is stored."""
        return f"{base64.b64encode(self.stored).decode()}:{base64.b64encode(self.server).decode()}"

    @classmethod
    def from_text(cls, text: str) -> Verifier:
        """Read back what `to_text` gave."""
        stored, server = map(base64.b64decode, text.split(":"))
        return cls(stored, server)


def signature(key: bytes, message: bytes) -> bytes:
    """HMAC with SHA-256."""
    return hmac.digest(key, message, "sha256")


def salt_of(secret: str, account: str) -> bytes:
    """The salt of a name: always the same, so that it does not tell whether there is such an account."""
    return signature(secret.encode(), f"salt of {account}".encode("utf-8", "replace"))[:16]
