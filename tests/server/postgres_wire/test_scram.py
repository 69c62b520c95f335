"""Logins by SCRAM-SHA-256: the RFC's example, several tokens of one account, and what proves nothing."""

from __future__ import annotations

import base64

import pytest

from discreet.server.postgres_wire.messages import Malformed
from discreet.server.postgres_wire.scram import Exchange
from discreet.server.store.scram import Verifier

# RFC 7677, section 3
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
CHALLENGE = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
WITHOUT = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
PROOF = b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
SIGNATURE = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def exchange(*passwords: str) -> Exchange[str]:
    return Exchange(SALT, [(one, Verifier.of(one, SALT)) for one in passwords], NONCE)


def test_the_example_of_the_rfc() -> None:
    login = exchange("pencil")
    assert login.challenge(FIRST) == CHALLENGE
    assert login.outcome(WITHOUT + PROOF) == ("pencil", SIGNATURE)


def test_one_of_several_tokens() -> None:
    login = exchange("pen", "pencil", "brush")
    login.challenge(FIRST)
    assert login.outcome(WITHOUT + PROOF) == ("pencil", SIGNATURE)


@pytest.mark.parametrize("known", [(), ("pen",), ("pen", "brush")])
def test_a_proof_of_something_else(known: tuple[str, ...]) -> None:
    login = exchange(*known)
    assert login.challenge(FIRST) == CHALLENGE  # the same, whoever that is
    assert login.outcome(WITHOUT + PROOF) is None


@pytest.mark.parametrize(
    "first", [b"", b"p=tls-unique,,n=user,r=x", b"n,,n=user", b"n,,m=x,n=user,r=x", b"n,b=x,n=user,r=x", b"\xff", b"n"]
)
def test_what_is_no_first_message(first: bytes) -> None:
    with pytest.raises(Malformed):
        exchange("pencil").challenge(first)


@pytest.mark.parametrize(
    "final",
    [
        b"",
        WITHOUT,
        WITHOUT + b",p=????",
        WITHOUT + b",p=AAAA",
        WITHOUT.replace(b"biws", b"eSws") + PROOF,  # another header than the first message had
        WITHOUT.replace(b"k0", b"k1") + PROOF,
        b"r=x" + PROOF,
    ],
)
def test_what_is_no_final_message(final: bytes) -> None:
    login = exchange("pencil")
    login.challenge(FIRST)
    with pytest.raises(Malformed):
        login.outcome(final)


def test_the_final_message_comes_second() -> None:
    with pytest.raises(Malformed):
        exchange("pencil").outcome(WITHOUT + PROOF)
