"""Random secrets and passwords. What is stored are hashes: SHA-256 of random secrets, Argon2id of what people choose."""

from __future__ import annotations

import hashlib
import hmac
import threading
import unicodedata

import argon2

from discreet.errors import Invalid
from discreet.noise.bits import SystemBits

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # 32 letters that are not mistaken for one another
_LEAST, _MOST = 12, 200  # characters of a password
_HASHER = argon2.PasswordHasher()  # Argon2id with the library's recommended cost
_AT_ONCE = threading.BoundedSemaphore(2)  # each takes 64 MB: a flood of logins must not exhaust memory
_NOBODY = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXRoaW5nIGZpeGVk$HVl9YtWLUYEfVaVzDrTvSGuTS8JFNeVmuBdKChLOCqo"


def new_secret(bits: int = 160) -> str:
    """A secret of so many random bits, in letters that can be typed."""
    words = SystemBits()
    return "".join(_ALPHABET[words.word() & 31] for _ in range(-(-bits // 5)))


def digest(secret: str) -> str:
    """The hash of a random secret; it needs no salt and no cost, for nobody guesses 160 bits."""
    return hashlib.sha256(secret.encode()).hexdigest()


def same(one: str, other: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())


def hash_password(password: str) -> str:
    """The hash of a password; Invalid if it is too short or too long."""
    normal = unicodedata.normalize("NFKC", password)
    if not _LEAST <= len(normal) <= _MOST:
        raise Invalid(f"a password has {_LEAST} to {_MOST} characters: choose another one")
    with _AT_ONCE:
        return _HASHER.hash(normal)


def password_fits(password: str, stored: str | None) -> bool:
    """Whether a password belongs to a hash; without one the same work is done, so that the time does not tell who has an account."""
    normal = unicodedata.normalize("NFKC", password)[: _MOST + 1]
    with _AT_ONCE:
        try:
            fits = bool(_HASHER.verify(stored or _NOBODY, normal))
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return False
    return fits and stored is not None
