"""Who comes in: a token of the account with the scope ask, proved by SCRAM; all others get the same answer."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import struct
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from server.clinic import Served, make_server
from server.postgres_wire.raw import Raw, fields, framed, letters, query, startup
from server.postgres_wire.wire import Wire, wired

from discreet.server.postgres_wire import login
from discreet.server.postgres_wire.messages import CANCEL, TLS


def refusal(wire: Wire, account: str, password: str | None = None, **more: str) -> dict[str, str]:
    with Raw(wire) as client:
        found = client.log_in(account, password, **more)
        assert letters(found).endswith("E")
        return fields(found[-1][1])


@pytest.fixture
def fresh(served: Served) -> Iterator[Wire]:
    with wired(served) as found:
        yield found


def test_a_token_logs_in(wire: Wire) -> None:
    with Raw(wire) as client:
        found = client.log_in()
        assert letters(found) == "RR" + "S" * 12 + "KZ"
        assert found[1] == ("R", struct.pack("!i", 0))
        told = dict(
            body.rstrip(b"\0").split(b"\0", 1) for letter, body in found if letter == "S" if body.count(b"\0") == 2 and body[-2] != 0
        )
        assert told[b"server_encoding"] == b"UTF8"


def test_whoever_it_is_not_gets_the_same_answer(fresh: Wire) -> None:
    server, tokens = fresh.served.server, fresh.served.tokens
    expired, text = server.tokens.add("bob", "x", "ask", 1, None, "bob")
    server.tokens.revoke(expired.id, "bob")
    answers = [
        refusal(fresh, "nobody", tokens["ann"]),
        refusal(fresh, "ann", "wrong"),
        refusal(fresh, "ann", tokens["bob"]),
        refusal(fresh, "bob", text),
        refusal(fresh, "ann", ""),
    ]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["C"] == "28P01"
    assert answers[0]["M"] == login.WRONG
    assert len(server.database.rows("SELECT 1 FROM audit WHERE event = 'login refused'")) == len(answers)


def test_a_token_without_a_verifier_cannot_log_in_and_is_told_how(fresh: Wire) -> None:
    with fresh.served.server.database.writing() as run:
        run("UPDATE tokens SET scram = NULL")
    assert "make a new one" in refusal(fresh, "ann")["H"]


def test_the_salt_tells_nothing(wire: Wire) -> None:
    def challenge(account: str) -> str:
        with Raw(wire) as client:
            client.send(startup(user=account, database="clinic"))
            client.message()
            client.send(framed("p", b"SCRAM-SHA-256\0" + struct.pack("!i", 8) + b"n,,n=,r=x"[:8]))
            kind, body = client.message()
            assert kind in "RE"
            return body.decode("latin-1")

    assert len(challenge("ann")) == len(challenge("nobody"))

    def salt(account: str) -> bytes:
        return wire.served.server.tokens.salt(account)

    assert salt("nobody") == salt("nobody")
    assert len(salt("nobody")) == len(salt("ann"))


def test_scopes_roles_and_data_sets(fresh: Wire) -> None:
    server = fresh.served.server
    _, read_only = server.tokens.add("ann", "x", "read", 1, None, "ann")
    assert refusal(fresh, "ann", read_only)["C"] == "42501"
    assert refusal(fresh, "eve")["C"] == "42501"
    unknown = refusal(fresh, "ann", database="nothing")
    assert unknown["C"] == "3D000"
    _, elsewhere = server.tokens.add("ann", "x", "ask", 1, ["other"], "ann")
    assert refusal(fresh, "ann", elsewhere) == unknown
    server.accounts.add("zoe", "analyst", "owner")
    _, ungranted = server.tokens.add("zoe", "x", "ask", 1, None, "zoe")
    assert refusal(fresh, "zoe", ungranted) == unknown  # without a grant nobody learns that it exists


def test_wrong_tokens_are_limited_and_right_ones_are_not(served: Served) -> None:
    with wired(served) as wire:
        for _ in range(15):
            with Raw(wire) as client:
                assert letters(client.log_in()).endswith("Z")
        assert [refusal(wire, "bob", "wrong")["C"] for _ in range(10)] == ["28P01"] * 10
        with Raw(wire) as client:
            client.send(startup(user="bob", database="clinic"))
            assert client.error()["C"] == "53300"
        with Raw(wire) as client:
            assert letters(client.log_in("ann")).endswith("Z")  # nobody locks out others


def test_a_revoked_token_ends_its_connections(fresh: Wire) -> None:
    with Raw(fresh) as client:
        client.log_in()
        for token in fresh.served.server.tokens.of("ann"):
            fresh.served.server.tokens.revoke(token.id, "ann")
        client.send(query("SELECT 1"))
        found = client.error()
        assert (found["S"], found["C"]) == ("FATAL", "28000")


@pytest.mark.parametrize(
    "sent",
    [
        query("SELECT 1"),
        framed("S"),
        framed("p", b""),
        framed("p", b"SCRAM-SHA-256-PLUS\0\0\0\0\0"),
        framed("p", b"SCRAM-SHA-256\0\0\0\0\x09n,,"),
        framed("p", b"SCRAM-SHA-256\0\0\0\0\x03n,,"),
        framed("p", b"x" * 9000),
    ],
)
def test_a_login_that_is_none(wire: Wire, sent: bytes) -> None:
    with Raw(wire) as client:
        client.send(startup(user="ann", database="clinic"))
        client.message()
        client.send(sent)
        assert client.error()["C"] == "08P01"


def certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    made = made.not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(1))
    made = made.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
    (folder / "cert.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(private)
    return folder / "cert.pem", folder / "key.pem"


def test_tls(served: Served, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with wired(served, cert, key) as wire:
        with psycopg.connect(wire.uri(more=f"?sslmode=verify-full&sslrootcert={cert}")) as connection:
            assert connection.pgconn.ssl_in_use
            assert connection.execute("SELECT 1").fetchone() == (1,)
        with Raw(wire) as client:  # what is sent before TLS has begun is not believed
            client.send(struct.pack("!ii", 8, TLS) + startup(user="ann", database="clinic"))
            assert client.exactly(1) == b"E"
        with Raw(wire) as client:
            client.send(struct.pack("!ii", 8, TLS))
            assert client.exactly(1) == b"S"
            context = ssl.create_default_context(cafile=str(cert))
            client.socket = context.wrap_socket(client.socket, server_hostname="127.0.0.1")
            assert letters(client.log_in()).endswith("Z")


def test_without_a_certificate_tls_is_declined(wire: Wire) -> None:
    with Raw(wire) as client:
        client.send(struct.pack("!ii", 8, TLS))
        assert client.exactly(1) == b"N"
        assert letters(client.log_in()).endswith("Z")
    with pytest.raises(psycopg.OperationalError, match="SSL"):
        psycopg.connect(wire.uri(more="?sslmode=require"))


def test_plain_text_from_elsewhere_is_refused_where_the_server_has_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = make_server(tmp_path, address="https://dp.example.org")
    try:
        with wired(served) as wire:
            with Raw(wire) as client:
                assert letters(client.log_in()).endswith("Z")  # from this machine
            monkeypatch.setattr(login, "is_local", lambda _: False)
            with Raw(wire) as client:
                client.send(startup(user="ann", database="clinic"))
                assert client.error()["M"] == "this server needs TLS"
    finally:
        served.server.queue.close()
        served.server.datasets.close()
        served.server.database.close()


def test_addresses_of_this_machine() -> None:
    assert all(map(login.is_local, ("127.0.0.1", "127.8.0.1", "::1", "")))
    assert not any(map(login.is_local, ("10.0.0.1", "::2", "fe80::1%eth0", "example.org")))


def test_a_wrong_cancel_key_does_nothing(wire: Wire) -> None:
    with Raw(wire) as client:
        client.send(struct.pack("!iii", 16, CANCEL, 1) + b"xxxx")
        with pytest.raises(EOFError):
            client.message()
