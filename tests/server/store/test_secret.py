"""Secrets: random, compared in constant time, and passwords that cost the same whoever they are for."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import argon2
import pytest

from discreet.errors import Invalid
from discreet.server.store import secret
from discreet.server.store.secret import digest, hash_password, new_secret, password_fits, same

SERVER = Path(secret.__file__).parents[1]
GOOD = "correct horse battery"


def test_secrets_have_as_many_bits_as_they_say() -> None:
    found = {new_secret(160) for _ in range(500)}
    assert len(found) == 500
    assert all(len(one) == 32 and set(one) <= set(secret._ALPHABET) for one in found)
    assert len(secret._ALPHABET) == len(set(secret._ALPHABET)) == 32
    letters = "".join(found)
    assert all(abs(letters.count(letter) - 500) < 6 * math.sqrt(500) for letter in secret._ALPHABET)


def test_comparing() -> None:
    assert same("aé", "aé")
    assert not same("a", "b")
    assert not same("a", "")


def test_passwords_are_hashed_with_salt() -> None:
    one, two = hash_password(GOOD), hash_password(GOOD)
    assert one != two
    assert one.startswith("$argon2id$")
    assert password_fits(GOOD, one)
    assert password_fits(GOOD, two)
    assert not password_fits(GOOD + "!", one)
    assert not password_fits("x" * 1_000_000, one)
    assert not password_fits(GOOD, "not a hash")


@pytest.mark.parametrize("password", ["", "eleven char", "x" * 201])
def test_passwords_of_the_wrong_length(password: str) -> None:
    with pytest.raises(Invalid, match="12 to 200"):
        hash_password(password)


def test_the_same_password_typed_on_another_keyboard() -> None:
    assert password_fits("cafe\u0301 au lait!", hash_password("café au lait!"))


def test_nobody_costs_as_much_as_somebody() -> None:
    """Without an account the same work is done: a hash with the same parameters is computed and compared."""
    assert argon2.extract_parameters(secret._NOBODY) == argon2.extract_parameters(hash_password(GOOD)) or (
        argon2.extract_parameters(secret._NOBODY).memory_cost == secret._HASHER.memory_cost
        and argon2.extract_parameters(secret._NOBODY).time_cost == secret._HASHER.time_cost
        and argon2.extract_parameters(secret._NOBODY).parallelism == secret._HASHER.parallelism
    )
    with pytest.raises(argon2.exceptions.VerifyMismatchError):  # computed to the end, not rejected as malformed
        secret._HASHER.verify(secret._NOBODY, GOOD)
    assert not password_fits(GOOD, None)


def test_hashes_of_secrets_are_compared_in_constant_time() -> None:
    """No `==` anywhere in the server has a digest, a secret, a cookie or a form on one side."""
    words = ("digest", "secret", "cookie", "password", "form", "hash", "token")
    for path in SERVER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
                said = ast.unparse(node)
                allowed = path.name in ("audit.py", "jobs.py") or "_PREFIX" in said  # hashes of events and of requests are no secrets
                assert allowed or not any(f"{word}(" in said or said.split()[0].endswith(word) for word in words), f"{path.name}: {said}"


def test_digests() -> None:
    assert digest("a") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
