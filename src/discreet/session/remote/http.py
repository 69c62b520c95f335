"""Talk to a server: JSON over HTTPS with a token. Errors come back as our classes, and what got lost on the way is sent again.

Everything that costs budget carries an idempotency key. The server binds it to the account and the body, so that sending a request again
returns the first outcome, whether that was an answer or a failure, and never draws or charges twice.
"""

from __future__ import annotations

import ipaddress
import json
import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any, final
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request, build_opener

from discreet import errors
from discreet.errors import Error, Invalid, Refused, Unreachable
from discreet.noise.bits import SystemBits

TOKEN, ALLOW_HTTP = "DISCREET_TOKEN", "DISCREET_ALLOW_HTTP"
CLOSED = "this session is closed: connect again"
_TRIES, _LONGEST_WAIT = 6, 60.0
_TRIAL = 3.0  # seconds for a handshake
_AGAIN = (502, 503, 504)  # of a proxy: the server itself explains its errors
_CLASSES = {name: getattr(errors, name) for name in errors.__all__} | {"Unauthenticated": Invalid, "Forbidden": Refused}
_NO_ADDRESS = "the address of a data set on a server looks like https://host/name"
Progress = Callable[[str, float], None]


@final
class Connection:
    """One data set of one server, as the holder of a token sees it."""

    def __init__(self, address: str, dataset: str, token: str, *, timeout: float = 90.0, pause: float = 0.2) -> None:
        """`timeout` is that of one request in seconds; a request that got lost is sent again after `pause`, then after twice that, …"""
        self.address, self.dataset, self.closed = address, dataset, False
        self._token, self._timeout, self._pause = token, timeout, pause
        self._opener = _opener(address)
        self._lost: dict[str, str] = {}  # keys of requests whose outcome never arrived: the same request goes on with its key

    @classmethod
    def of(cls, url: str, token: str | None = None) -> Connection:
        """Read an address, as in https://host/visits; the token is the one given, or that of the environment (DISCREET_TOKEN)."""
        address, dataset = _read(url)
        given = os.environ.get(TOKEN, "") if token is None else token
        if not isinstance(given, str) or not given.strip():
            raise Invalid(f"a server needs a token: give token=…, or set {TOKEN}; make one in the server's console")
        if not given.strip().isascii() or not given.strip().isprintable() or " " in given.strip():
            raise Invalid("this is no token: copy the text that the server's console showed when it was made")
        return cls(address, dataset, given.strip())

    def __repr__(self) -> str:
        return f"{self.address}/{self.dataset}"

    # ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def get(self, what: str = "") -> Any:
        """Read something about the data set."""
        return self._send("GET", self._at(what))[1]

    def post(self, what: str, body: Mapping[str, Any], *, even_closed: bool = False) -> Any:
        """Ask for something that is free, so that it may be sent twice."""
        return self._send("POST", self._at(what), body, even_closed=even_closed)[1]

    def step(self, path: str, body: Mapping[str, Any]) -> Any:
        """Take a step that may cost something, once: of the data set, or of an open run if the path begins with /."""
        place = path if path.startswith("/") else self._at(path)
        with self._key(place, body) as key:
            return self._send("POST", place, body, {"Idempotency-Key": key})[1]

    def forget(self, path: str) -> None:
        """Close something on the server."""
        self._send("DELETE", path)

    def order(self, body: Mapping[str, Any], progress: Progress | None = None) -> Any:
        """Order a release, wait until it is there, and return it; with `progress`, say from time to time how far it is."""
        place, wait = self._at("releases"), 0.05
        with self._key(place, body) as key:
            headers = {"Idempotency-Key": key} | ({} if progress is None else {"Prefer": "respond-async"})
            status, said = self._send("POST", place, body, headers)
            while status == 202:
                if progress is not None:
                    progress(str(said.get("step") or said.get("state") or ""), float(said.get("progress") or 0.0))
                time.sleep(wait)
                wait = min(1.5 * wait, 2.0)
                status, said = self._send("GET", f"/jobs/{quote(str(said['job']), safe='')}/answer")
            return said

    @contextmanager
    def _key(self, place: str, body: Mapping[str, Any]) -> Iterator[str]:
        """The key of a request. If its outcome does not arrive, the same request later is the same one, and not paid again."""
        said = json.dumps([place, body], sort_keys=True)
        key = self._lost.pop(said, None) or new_key()
        try:
            yield key
        except (Unreachable, KeyboardInterrupt) as stopped:
            self._lost[said] = key
            stopped.add_note("the server may have charged this and goes on: the same call again receives what comes of it")
            raise

    def _at(self, what: str) -> str:
        return f"/datasets/{quote(self.dataset, safe='')}" + (f"/{what}" if what else "")

    def _send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None, even_closed: bool = False
    ) -> tuple[int, Any]:
        if self.closed and not even_closed:
            raise Invalid(CLOSED)
        for attempt in range(_TRIES):
            wait = self._pause * 2**attempt
            try:
                with self._opener.open(self._request(method, path, body, headers or {}), timeout=self._timeout) as found:
                    return found.status, json.loads(found.read())
            except HTTPError as told:
                with told:
                    wait = self._wait(told, wait, attempt == _TRIES - 1)
            except (URLError, HTTPException, OSError, ValueError) as lost:
                if isinstance(getattr(lost, "reason", lost), ssl.SSLCertVerificationError):
                    raise Unreachable(
                        f"the certificate of {self.address} is not trusted: check the address, or let SSL_CERT_FILE name its authority"
                    ) from None
                if attempt == 0 and (other := _other_scheme(self.address, getattr(lost, "reason", lost))):
                    raise Unreachable(f"{self.address} speaks {other[:-3]}: write {other}{self.address.partition('://')[2]}") from None
                if attempt == _TRIES - 1:
                    raise Unreachable(
                        f"{self.address} does not answer: check the address and the network; what was answered before stays free"
                    ) from None
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _request(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Request:
        """A request with the token, which is in no variable of frames that errors pass through."""
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        sent = {"Accept": "application/json", "Authorization": f"Bearer {self._token}", "User-Agent": "discreet", **headers}
        return Request(
            f"{self.address}/api/v1{path}", data, sent | ({} if data is None else {"Content-Type": "application/json"}), method=method
        )

    def _wait(self, told: HTTPError, wait: float, last: bool) -> float:
        """How long to wait after a response that is no answer, before sending the request again; or the error that it means."""
        said = _problem(told)
        if told.code == 429 and not last:
            after = told.headers.get("Retry-After", "")
            return min(float(after), _LONGEST_WAIT) if after.isdigit() else wait
        if isinstance(said, dict) and isinstance(said.get("error"), str):
            raise self._error(said) from None
        if told.code in _AGAIN and not last:
            return wait
        raise Unreachable(f"{self.address} answered with status {told.code} and is perhaps no server of discreet: check the address")

    def _error(self, said: Mapping[str, Any]) -> Error:
        """An error as the server has told it; the token is in no message, whatever a server writes there."""
        kind = _CLASSES.get(said["error"], Refused if said["error"] == "TooManyRequests" else Error)
        found: Error = kind(str(said.get("message", "")).replace(self._token, "…"))
        for note in said.get("notes") or ():
            found.add_note(str(note).replace(self._token, "…"))
        return found


def new_key() -> str:
    """An idempotency key that nobody uses twice."""
    words = SystemBits()
    return f"{words.word():016x}{words.word():016x}"


def _read(url: str) -> tuple[str, str]:
    """The address of the server, and the name of the data set."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise Invalid(_NO_ADDRESS) from None
    above, _, name = parts.path.rstrip("/").rpartition("/")
    place = f"[{host}]" if host and ":" in host else host
    server = f"{parts.scheme.lower()}://{place}{'' if port is None else f':{port}'}{above}"
    if host and not name:
        raise Invalid(f"this address names no data set: write {server}/visits, with the name of one; the server's console lists them")
    if not host or not name or parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise Invalid(_NO_ADDRESS)
    if parts.username is not None or parts.password is not None:
        raise Invalid("an address holds no password: give token=…, or set DISCREET_TOKEN")
    if parts.scheme.lower() == "http" and not _is_here(host) and os.environ.get(ALLOW_HTTP) != "1":
        raise Invalid(
            f"http:// would send the token in the clear: use https://. On a network that is protected otherwise, set {ALLOW_HTTP}=1"
        )
    return server, name


def _other_scheme(address: str, lost: object) -> str | None:
    """http:// or https://, if that is what a server speaks that was addressed with the other; None if nothing says so."""
    if address.startswith("https://"):
        return "http://" if isinstance(lost, ssl.SSLError) and "WRONG_VERSION_NUMBER" in str(lost) else None
    if not isinstance(lost, HTTPException | ConnectionError) or isinstance(lost, ConnectionRefusedError):
        return None
    parts, context = urlsplit(address), ssl.create_default_context()
    host = parts.hostname or ""
    try:  # only a handshake: nothing is sent
        with socket.create_connection((host, parts.port or 80), _TRIAL) as plain, context.wrap_socket(plain, server_hostname=host):
            return "https://"
    except ssl.SSLCertVerificationError:
        return "https://"
    except OSError:
        return None


def _is_here(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@final
class _Stay(HTTPRedirectHandler):
    """A redirection would take the token elsewhere: none is followed."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _opener(address: str) -> OpenerDirector:
    """TLS is verified, and no proxy sees what is sent without it."""
    proxies = [] if address.startswith("https://") else [ProxyHandler({})]
    return build_opener(_Stay, HTTPSHandler(context=ssl.create_default_context()), *proxies)


def _problem(told: HTTPError) -> Any:
    """The body of a response; None if it is not JSON."""
    try:
        return json.loads(told.read())
    except (HTTPException, OSError, ValueError):
        return None
