"""The connection: addresses and tokens, errors by their names, retries with the same key, and nothing that gives a token away."""

from __future__ import annotations

import http.server
import io
import json
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow
import pytest
from session.remote.losing import losing

import discreet
from discreet.errors import BudgetExceeded, EngineError, Error, Invalid, Refused, Unreachable, WrongType
from discreet.session.remote.http import Connection

SECRET = "dp_secret0123456789"
COUNT = {"request": [["sql", ["SELECT COUNT(*) AS n FROM visits"], {}]], "price": {"epsilon": 0.5}}


# ── addresses and tokens ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://host/visits", "https://host"),
        ("https://Host:8443/dp/visits/", "https://host:8443/dp"),
        ("http://127.0.0.1:8000/visits", "http://127.0.0.1:8000"),
        ("http://[::1]:8000/visits", "http://[::1]:8000"),
        ("HTTP://localhost/visits", "http://localhost"),
    ],
)
def test_addresses(url: str, address: str) -> None:
    found = Connection.of(url, SECRET)
    assert (found.address, found.dataset) == (address, "visits")
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://host", "names no data set: write https://host/visits"),
        ("https://host:8443/", "names no data set: write https://host:8443/visits"),
        ("https://ann:pw@host/", "names no data set: write https://host/visits"),
        ("https:///visits", "https://host/name"),
        ("https://host/visits?x=1", "https://host/name"),
        ("https://host:port/visits", "https://host/name"),
        ("https://host/visits\n", "https://host/name"),
        ("https://ann:pw@host/visits", "token="),
        ("http://example.org/visits", "use https://"),
        ("http://localhost.example.org/visits", "use https://"),
        ("http://127.0.0.1.example.org/visits", "use https://"),
    ],
)
def test_addresses_that_are_refused(url: str, said: str) -> None:
    with pytest.raises(Invalid, match=said) as caught:
        Connection.of(url, SECRET)
    assert "pw" not in str(caught.value)


def test_the_other_scheme_is_named_at_once() -> None:
    """A server without TLS that is addressed with https://; the reverse is in test_http_tls.py."""
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as plain:
        threading.Thread(target=plain.serve_forever, daemon=True).start()
        try:
            with pytest.raises(Unreachable, match=rf"speaks http: write http://127\.0\.0\.1:{plain.server_port}$"):
                Connection(f"https://127.0.0.1:{plain.server_port}", "visits", SECRET, pause=60).get()
        finally:
            plain.shutdown()


def test_without_tls_only_by_a_clear_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCREET_ALLOW_HTTP", "1")
    assert Connection.of("http://inside/visits", SECRET).address == "http://inside"


def test_the_token_is_given_or_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_TOKEN", raising=False)
    with pytest.raises(Invalid, match="DISCREET_TOKEN"):
        Connection.of("https://host/visits")
    for wrong in ("", "  ", "a b", "a\r\nX: y", "ü"):
        with pytest.raises(Invalid, match="token"):
            Connection.of("https://host/visits", wrong)
    monkeypatch.setenv("DISCREET_TOKEN", SECRET)
    assert Connection.of("https://host/visits").address == "https://host"


def test_only_a_token_goes_with_an_address() -> None:
    for more in ({"unit": "id"}, {"epsilon": 1}, {"delta": 1e-6}, {"analyst": "ann"}, {"engine": "spark"}, {"version": "2"}):
        with pytest.raises(Invalid, match="pass only the address"):
            discreet.connect("https://host/visits", token=SECRET, **more)
    with pytest.raises(Invalid, match="a token is for a data set of a server"):
        discreet.connect("visits.parquet", unit="id", epsilon=1, token=SECRET)


# ── a server of a few lines ──────────────────────────────────────────────────────────────────────────────────────────

Answer = Callable[[int, Any], tuple[int, dict[str, str], bytes]]


@contextmanager
def answering(answer: Answer) -> Iterator[tuple[Connection, list[Any]]]:
    """A connection to a server that gives these answers, and the requests that it received."""
    seen: list[Any] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append(self)
            status, headers, body = answer(len(seen), self)
            self.send_response(status)
            for name, text in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Connection(f"http://127.0.0.1:{server.server_address[1]}", "visits", SECRET, timeout=5, pause=0.01), seen
        server.shutdown()


def told(status: int, said: Any, **headers: str) -> Answer:
    return lambda *_: (status, headers, json.dumps(said).encode())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("BudgetExceeded", BudgetExceeded), ("WrongType", WrongType), ("EngineError", EngineError), ("Unauthenticated", Invalid),
        ("Forbidden", Refused), ("Error", Error), ("SystemExit", Error), ("__all__", Error),
    ],
)  # fmt: skip
def test_errors_come_back_by_their_names(name: str, kind: type[Error]) -> None:
    said = {"error": name, "message": f"do this ({SECRET})", "notes": ["a note", f"{SECRET}"]}
    with answering(told(400, said)) as (connection, seen), pytest.raises(kind) as caught:
        connection.get()
    assert type(caught.value) is kind
    assert str(caught.value) == "do this (…)"
    assert caught.value.__notes__ == ["a note", "…"]
    assert len(seen) == 1


def test_a_redirection_is_not_followed() -> None:
    with answering(told(200, {})) as (elsewhere, there):
        moved = told(302, {}, Location=elsewhere.address)
        with answering(moved) as (connection, _), pytest.raises(Unreachable, match="302"):
            connection.get()
    assert there == []


def test_a_proxy_of_the_environment_does_not_see_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with answering(told(200, {"ok": 1})) as (connection, _):
        assert connection.get() == {"ok": 1}


def test_busy_servers_and_gateways_are_asked_again() -> None:
    answers = [(503, {}, b"<html>"), (429, {"Retry-After": "0"}, b'{"error": "TooManyRequests", "message": "wait"}'), (200, {}, b"{}")]
    with answering(lambda number, _: answers[number - 1]) as (connection, seen):
        assert connection.step("runs", {}) == {}
    assert len({request.headers["Idempotency-Key"] for request in seen}) == 1
    busy = told(429, {"error": "TooManyRequests", "message": "wait 1 seconds"})
    with answering(busy) as (connection, _), pytest.raises(Refused, match="wait 1 seconds"):
        connection.get()


@pytest.mark.parametrize("body", [b"<html>", b"", b"{"])
def test_what_is_no_server_of_ours_says_so(body: bytes) -> None:
    for status in (200, 404):
        with (
            answering(lambda *_, status=status: (status, {}, body)) as (connection, _),
            pytest.raises(Unreachable, match="check the address"),
        ):
            connection.get()


def test_nobody_there() -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        Connection("http://127.0.0.1:9", "visits", SECRET, pause=0.001).get()


def test_jobs_are_waited_for_and_their_progress_is_told() -> None:
    job = {"job": "j/1", "state": "running", "step": "fitting", "progress": 0.5}
    answers = [told(202, job | {"state": "queued", "step": "", "progress": 0}), told(202, job), told(200, {"release": 1})]
    said: list[Any] = []
    with answering(lambda number, request: answers[number - 1](number, request)) as (connection, seen):
        assert connection.order({}, lambda step, share: said.append((step, share))) == {"release": 1}
    assert said == [("queued", 0.0), ("fitting", 0.5)]
    assert [request.path for request in seen] == ["/api/v1/datasets/visits/releases", *["/api/v1/jobs/j%2F1/answer"] * 2]
    assert seen[0].headers["Prefer"] == "respond-async"


# ── idempotency, on a real server ────────────────────────────────────────────────────────────────────────────────────


def through(db: Any, address: str) -> Connection:
    return Connection(address, "data", db._connection._token, timeout=20, pause=0.05)


def test_a_lost_answer_is_received_again_and_paid_once(db: Any) -> None:
    with losing(db._connection.address) as (address, proxy):
        proxy.lose = 2
        first = through(db, address).order(COUNT)
    posts = [key for line, key in zip(proxy.seen, proxy.keys, strict=True) if line.startswith("POST")]
    assert (len(posts), len(set(posts))) == (3, 1)
    assert db.spent.epsilon == 0.5
    assert db.sql("SELECT COUNT(*) AS n FROM visits").release(0.5).rows[0]["n"] == first["release"]["answers"]["columns"][0]["values"][0]


def test_a_request_whose_outcome_never_came_is_taken_up_again(db: Any) -> None:
    with losing(db._connection.address) as (address, proxy):
        away = through(db, address)
        proxy.lose = 6
        with pytest.raises(Unreachable) as caught:
            away.order(COUNT)
        assert "the same call again receives" in caught.value.__notes__[0]
        assert away.order(COUNT)["repeated"] is False
        assert len(set(proxy.keys)) == 1
        away.order(COUNT)
        assert len(set(filter(None, proxy.keys))) == 2  # an outcome that came is not asked for again
    assert db.spent.epsilon == 0.5


def test_a_body_that_is_too_large_is_told(db: Any) -> None:
    with pytest.raises(Invalid, match="too large"):
        db._connection.post("verifications", {"release": "x" * 3_000_000})


def test_a_paid_failure_is_told_again_without_a_new_draw(db: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Any] = []

    def fails(*asked: Any) -> Any:
        reads.append(asked)
        raise EngineError("the engine failed")

    monkeypatch.setattr(db._engine, "batches", fails)
    with losing(db._connection.address) as (address, proxy):
        proxy.lose = 1
        with pytest.raises(EngineError, match="the engine failed") as caught:
            through(db, address).order(COUNT)
    assert any("was charged and not answered" in note for note in caught.value.__notes__)
    assert (len(reads), db.spent.epsilon) == (1, 0.5)
    monkeypatch.undo()
    key = {"Idempotency-Key": proxy.keys[0]}
    with pytest.raises(EngineError, match="the engine failed"):  # even now that the engine works
        db._connection._send("POST", "/datasets/data/releases", COUNT | {"verb": "release", "refine": [], "of": None}, key)
    assert db.spent.epsilon == 0.5


def test_a_key_is_bound_to_its_body_and_account(db: Any) -> None:
    key = {"Idempotency-Key": "the same"}
    send = db._connection._send
    first = send("POST", "/datasets/data/releases", COUNT, key)
    assert send("POST", "/datasets/data/releases", COUNT, key)[1]["release"] == first[1]["release"]
    with pytest.raises(Invalid, match="used for another request"):
        send("POST", "/datasets/data/releases", COUNT | {"price": {"epsilon": 0.25}}, key)
    free = {"Idempotency-Key": "of a free answer"}
    assert send("POST", "/datasets/data/releases", COUNT, free)[1]["repeated"] is True
    with pytest.raises(Invalid, match="used for another request"):
        send("POST", "/datasets/data/releases", COUNT | {"price": {"epsilon": 0.25}}, free)
    token = db._server.tokens.add("owner", "tests", "ask", 1, None, "owner")[1]
    owner = Connection(db._connection.address, "data", token)
    assert owner._send("POST", "/datasets/data/releases", COUNT | {"price": {"epsilon": 0.25}}, key)[0] == 200


def test_answers_as_arrow_and_csv(db: Any) -> None:
    def ask(accept: str) -> bytes:
        sent = {"Authorization": f"Bearer {db._connection._token}", "Accept": accept, "Content-Type": "application/json"}
        url = f"{db._connection.address}/api/v1/datasets/data/releases"
        with urllib.request.urlopen(urllib.request.Request(url, json.dumps(COUNT).encode(), sent)) as found:
            assert found.headers["Content-Type"].startswith(accept)
            return bytes(found.read())

    table = pyarrow.ipc.open_stream(io.BytesIO(ask("application/vnd.apache.arrow.stream"))).read_all()
    lines = ask("text/csv").decode().splitlines()
    assert table.column_names == ["n", "n_low", "n_high"] == lines[0].split(",")
    assert float(lines[1].split(",")[0]) == table["n"][0].as_py()


def test_a_closed_connection_sends_nothing() -> None:
    began = time.monotonic()
    connection = Connection("http://127.0.0.1:9", "visits", SECRET)
    connection.closed = True
    with pytest.raises(Invalid, match="closed"):
        connection.get()
    assert time.monotonic() - began < 1
