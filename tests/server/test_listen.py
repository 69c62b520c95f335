"""Listening: TLS, slow and oversized requests, proxies."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import json
import re
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from attrs import evolve
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from fastapi.testclient import TestClient
from server.clinic import Served, make_server
from server.processes import free_port, is_closed

from discreet.errors import Invalid
from discreet.server import listen as module
from discreet.server.clock import Clock
from discreet.server.listen import options
from discreet.server.logs import Log
from discreet.server.settings import Listening


@contextlib.contextmanager
def listening(served: Served, **more: Path) -> Iterator[int]:
    """The server on a port, as `discreet serve` runs it."""
    port = free_port()
    running = uvicorn.Server(uvicorn.Config(**options(served.server, Listening(port=port, **more))))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield port
    finally:
        running.should_exit = True
        thread.join(30)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Served:
    monkeypatch.setattr(module, "_HEADERS", 0.3)
    return make_server(tmp_path, body_seconds=0.3, largest_body=2000)


@pytest.fixture
def port(served: Served) -> Iterator[int]:
    with listening(served) as found:
        yield found


def say(port: int, text: bytes) -> bytes:
    """What the server answers to bytes; nothing, if it hangs up while we still talk."""
    found = b""
    with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(text)
        connection.settimeout(10)
        while not (whole := re.search(rb"content-length: (\d+).*?\r\n\r\n(.*)", found, re.S | re.I)) or len(whole[2]) < int(whole[1]):
            if not (more := connection.recv(65536)):
                break
            found += more
    return found


def test_slow_first_lines_are_cut_off(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 10) as silent:
        assert is_closed(silent, 5)
    with socket.create_connection(("127.0.0.1", port), 10) as slow:
        begin = time.monotonic()
        slow.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n")
        while time.monotonic() - begin < 5 and not is_closed(slow, 0.05):
            try:
                slow.sendall(b"X-A: b\r\n")  # a line now and then does not prolong it
            except OSError:
                break
        assert time.monotonic() - begin < 3


def test_a_slow_second_request_is_cut_off_too(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in connection.recv(65536)
        connection.sendall(b"GET /hea")
        assert is_closed(connection, 5)


def test_a_slow_body_is_refused(port: int) -> None:
    begin = time.monotonic()
    answer = say(port, b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    assert answer.startswith(b"HTTP/1.1 408")
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (b"Content-Length: 2001", b"413"),
        (b"Content-Length: 999999999999999999", b"413"),
        (b"Content-Length: 99999999999999999999999", b"400"),
        (b"Content-Length: -1", b"400"),
        (b"Content-Length: x", b"400"),
        (b"Transfer-Encoding: chunked", b"411"),
        (b"Content-Length: 5\r\nTransfer-Encoding: chunked", b"411"),
        (b"Content-Length: 5\r\nContent-Length: 6", b"400"),
        (b"X-Long: " + b"a" * 1_000_000, b"400"),
        (b"Bad Header: x", b"400"),
    ],
)
def test_bodies_and_headers_that_are_refused(port: int, headers: bytes, status: bytes) -> None:
    answer = say(port, b"POST /login HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n\r\n")
    assert answer.split()[1] == status if answer or len(headers) < 1000 else not answer


@pytest.mark.parametrize(
    ("first", "status"),
    [
        (b"POST /tokens", b"303"),
        (b"POST /d/clinic/ask", b"303"),
        (b"GET /login", b"303"),
        (b"POST /nothing", b"303"),
        (b"POST /api/v1/tokens", b"401"),
        (b"POST /api/nothing", b"401"),
        (b"GET /health", b"401"),
    ],
)
def test_nothing_is_read_from_nobody(port: int, first: bytes, status: bytes) -> None:
    """The answer comes before the body, of which no byte is sent."""
    answer = say(port, first + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
    assert answer.split()[1] == status


def test_forms_for_everybody_are_short(tmp_path: Path) -> None:
    with listening(make_server(tmp_path)) as port:
        for path in (b"/login", b"/welcome/x"):
            assert say(port, b"POST " + path + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 10001\r\n\r\n").split()[1] == b"413"


def test_one_who_goes_away_hurts_nobody(port: int) -> None:
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    assert b"200 OK" in say(port, b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")


def test_health_and_readiness(port: int, served: Served) -> None:
    assert b"ready" in say(port, b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\n")
    served.server.ready = False
    assert say(port, b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\n").startswith(b"HTTP/1.1 503")
    assert b"200 OK" in say(port, b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")


def test_only_declared_proxies_are_believed(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for proxies, addresses in {
        (): ["192.0.2.1", "192.0.2.1"],
        ("192.0.2.0/24",): ["203.0.113.9", "192.0.2.1"],  # the last one that is no proxy: what stands before it, anybody could have written
    }.items():
        served = make_server(tmp_path / str(len(proxies)), proxies=proxies)
        seen: list[str] = []
        monkeypatch.setattr(served.server.address_limit, "take", lambda name, seen=seen: seen.append(name) or 0.0)
        app: Any = uvicorn.Config(**options(served.server, Listening()))
        app.load()
        client = TestClient(app.loaded_app, client=("192.0.2.1", 1), raise_server_exceptions=False)
        client.get("/welcome/x", headers={"X-Forwarded-For": "10.1.1.1, 203.0.113.9"})
        client.get("/welcome/x")
        assert seen == addresses
    assert options(served.server, Listening())["ws"] == "none"


# ── TLS ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, signed by itself, and its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "discreet tests")])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    chain, secret = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(built.public_bytes(serialization.Encoding.PEM))
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    secret.write_bytes(key.private_bytes(pem, form, serialization.NoEncryption()))
    return chain, secret


def test_tls(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    served = make_server(tmp_path, address="https://127.0.0.1")
    with listening(served, certificate=chain, key=key) as port:
        context = ssl.create_default_context(cafile=str(chain))
        request = urllib.request.Request(f"https://127.0.0.1:{port}/api/v1/me", headers=served.header("ann"))
        with urllib.request.urlopen(request, timeout=20, context=context) as answer:
            assert json.load(answer)["account"] == "ann"
            assert answer.headers["strict-transport-security"] == "max-age=31536000"
        with pytest.raises(urllib.error.URLError, match="certificate verify failed"):
            urllib.request.urlopen(request, timeout=20, context=ssl.create_default_context()).close()
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", port), 10) as plain, pytest.raises((ssl.SSLError, OSError)):
            old.wrap_socket(plain).close()
        with socket.create_connection(("127.0.0.1", port), 10) as plain:  # no answer in clear text
            plain.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            plain.settimeout(5)
            assert b"200" not in plain.recv(1000)


# ── before it listens ────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_port_that_is_in_use_is_named_before_anything_is_opened(served: Served) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(Invalid, match=f"port {port} is in use"):
            module.listen(served.server.settings, Listening(port=port), lambda line: pytest.fail(line))


def test_lines_of_a_policy_that_nobody_reviewed_are_mentioned(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.uvicorn, "run", lambda **_: None)
    path, lines = served.folder / "clinic" / "discreet.toml", list[str]()
    settings = evolve(served.server.settings, clock=Clock(), rows=1e6, database=str(served.folder / "another.db"))
    path.write_text(path.read_text() + "\n# CHECK: a line\n")
    module.listen(settings, Listening(port=free_port()), lines.append, log=Log.quiet())
    assert [line for line in lines if "is not public, so answers leave in slots for 1,000,000 rows: buy a profile, or give --rows" in line]
    assert "warning: the policy of clinic has 1 line marked CHECK: review each, then delete the word CHECK from it" in lines
