"""A proxy that loses responses: the server has done its work, and the client never hears of it."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import struct
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit


class Losing(socketserver.ThreadingTCPServer):
    """Forwards requests to a server, and loses so many of the next responses; `seen` are the first lines of all requests."""

    daemon_threads = True
    lose: int
    seen: list[str]
    keys: list[str]
    upstream: tuple[str, int]


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        lost: Losing = self.server  # type: ignore[assignment]
        head = [self.rfile.readline()]
        while head[-1] not in (b"\r\n", b""):
            head.append(self.rfile.readline())
        names = {line.split(b":")[0].lower(): line.split(b":", 1)[1].strip() for line in head[1:-1]}
        body = self.rfile.read(int(names.get(b"content-length", b"0")))
        lost.seen.append(head[0].decode().rsplit(" ", 1)[0])
        lost.keys.append(names.get(b"idempotency-key", b"").decode())
        with socket.create_connection(lost.upstream) as server:
            server.sendall(b"".join(head) + body)
            answer = b"".join(iter(lambda: server.recv(65536), b""))
        if lost.lose > 0:
            lost.lose -= 1
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closes with a reset
            self.connection.close()
            return
        with contextlib.suppress(OSError):
            self.wfile.write(answer)

    def finish(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            super().finish()


@contextlib.contextmanager
def losing(address: str) -> Iterator[tuple[str, Losing]]:
    """A proxy before a server, and its address."""
    parts = urlsplit(address)
    with Losing(("127.0.0.1", 0), _Handler) as proxy:
        proxy.lose, proxy.seen, proxy.keys, proxy.upstream = 0, [], [], (str(parts.hostname), int(parts.port or 80))
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{proxy.server_address[1]}", proxy
        proxy.shutdown()
        thread.join(10)
