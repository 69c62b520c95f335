"""TLS: a certificate that nobody vouches for is not believed, and an authority of one's own can be named."""

from __future__ import annotations

import datetime
import http.server
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from discreet.errors import Unreachable
from discreet.session.remote.http import Connection


def certificate(folder: Path) -> Path:
    """A self-signed certificate for 127.0.0.1, with its key, in one file."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "discreet tests")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1000)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    (folder / "authority.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return folder / "server.pem"


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server with such a certificate."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"ok": 1}')

        def log_message(self, *_: Any) -> None: ...

    class Quiet(http.server.ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None: ...

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(tmp_path))
    with Quiet(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_certificates_are_verified(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unreachable, match="is not trusted"):
        Connection.of(f"{address}/visits", "token").get()
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    assert Connection.of(f"{address}/visits", "token").get() == {"ok": 1}
    named = address.replace("127.0.0.1", "localhost")
    with pytest.raises(Unreachable, match="is not trusted"):  # it is a certificate of another name
        Connection.of(f"{named}/visits", "token").get()


def test_a_server_with_tls_that_is_addressed_without_is_named_at_once(address: str) -> None:
    plain = address.replace("https://", "http://")
    with pytest.raises(Unreachable, match=f"{plain} speaks https: write {address}$"):
        Connection(plain, "visits", "token", pause=60).get()
