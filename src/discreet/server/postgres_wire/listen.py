"""Listen for PostgreSQL's clients: sockets, TLS, limits on length and time, and requests to cancel."""

from __future__ import annotations

import asyncio
import ssl
import struct
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, final

from discreet.noise.bits import SystemBits
from discreet.server.limits import network_of
from discreet.server.postgres_wire import messages
from discreet.server.postgres_wire.asking import Questions
from discreet.server.postgres_wire.catalogue.catalogue import Catalogues
from discreet.server.postgres_wire.connection import Connection
from discreet.server.postgres_wire.interpreter import Interpreter
from discreet.server.postgres_wire.login import Admitted, log_in
from discreet.server.postgres_wire.messages import CANCEL, GSS, LONGEST_STARTUP, TLS, VERSION, Malformed, Message, Startup
from discreet.server.postgres_wire.sqlstates import NOT_SUPPORTED, PROTOCOL, STOPPING, TOO_MANY, Failure, fields_of
from discreet.server.postgres_wire.variables import Variables
from discreet.server.server import Server

_MOST, _MOST_OF_ONE, _MOST_UNKNOWN = 1000, 100, 100  # connections in all, of one account, and before they have logged in
_ENTERING = 10.0  # seconds for the login
_READING = 60.0  # seconds in which a client must read what it is sent
_LONGEST_LOGIN = 10_000  # bytes of a message before the login has succeeded


@final
class _Reader(asyncio.StreamReader):
    """A stream that counts the bytes that arrived: nothing may follow a request for TLS before TLS begins."""

    arrived = 0

    def feed_data(self, data: Any) -> None:
        """Count bytes that arrive."""
        self.arrived += len(data)
        super().feed_data(data)


@final
class _Socket:
    """One client's socket, as messages."""

    def __init__(self, reader: _Reader, writer: asyncio.StreamWriter, body_seconds: float) -> None:
        self._reader, self._writer, self._body_seconds, self._read = reader, writer, body_seconds, 0
        name = writer.get_extra_info("peername")
        self.address = str(name[0]) if isinstance(name, tuple) else ""
        self.encrypted, self.longest = False, _LONGEST_LOGIN

    async def startup(self) -> Startup:
        """The first message."""
        length = struct.unpack("!i", await self._exactly(4))[0]
        if not 8 <= length <= LONGEST_STARTUP:
            raise Malformed("the first message has an impossible length")
        return messages.read_startup(await self._exactly(length - 4))

    async def message(self) -> Message:
        """The next message; one that has begun must arrive in time."""
        letter = await self._exactly(1)
        async with asyncio.timeout(self._body_seconds):
            length = struct.unpack("!i", await self._exactly(4))[0]
            if not 4 <= length <= self.longest:
                raise Malformed("a message has an impossible length")
            body = await self._exactly(length - 4)
        return messages.read_message(letter.decode("latin-1"), body)

    async def _exactly(self, count: int) -> bytes:
        found = await self._reader.readexactly(count)
        self._read += count
        return found

    async def encrypt(self, context: ssl.SSLContext) -> None:
        """Begin TLS; Malformed if something was sent before it began, which anybody could have added."""
        if self._reader.arrived != self._read:
            raise Malformed("something was sent before TLS began")
        self.put(b"S")
        await self.flush()
        await self._writer.start_tls(context, ssl_handshake_timeout=_ENTERING)
        self.encrypted = True

    def put(self, data: bytes) -> None:
        """Add bytes."""
        self._writer.write(data)

    async def flush(self) -> None:
        """Send them, and let others have their turn; a client that does not read is left."""
        async with asyncio.timeout(_READING):
            await self._writer.drain()
        await asyncio.sleep(0)


@final
class PostgresListener:
    """All connections of PostgreSQL's clients."""

    def __init__(self, server: Server, context: ssl.SSLContext | None = None) -> None:
        self._server, self._context = server, context
        self._catalogues = Catalogues(server)
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: dict[tuple[int, bytes], Questions] = {}
        self._of, self._unknown = Counter[str](), Counter[str]()  # by account; by network, before they have logged in

    async def listen(self, host: str, port: int) -> asyncio.Server:
        """Accept connections."""
        loop = asyncio.get_running_loop()
        return await loop.create_server(lambda: asyncio.StreamReaderProtocol(_Reader(64 * 1024), self._accept), host, port)

    async def close(self) -> None:
        """End all connections."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=10)
        await self._catalogues.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert isinstance(reader, _Reader), "it was made for this"
        task = asyncio.current_task()
        assert task is not None, "this runs in one"
        self._tasks.add(task)
        socket = _Socket(reader, writer, self._server.settings.body_seconds)
        try:
            await self._serve(socket)
        except Failure as error:
            await self._end_with(socket, error)
        except Malformed as error:
            await self._end_with(socket, Failure(PROTOCOL, str(error), fatal=True))
        except asyncio.CancelledError:
            await self._end_with(socket, Failure(STOPPING, "the server is stopping", fatal=True))
        except (TimeoutError, OSError, EOFError, ssl.SSLError):
            pass  # they went away, or were too slow
        except Exception as error:
            self._server.log.crashed("postgres", error)
        finally:
            self._tasks.discard(task)
            with suppress(Exception):
                writer.close()
            # what a client never reads would keep its socket open, beyond all limits
            asyncio.get_running_loop().call_later(_READING, writer.transport.abort)

    async def _end_with(self, socket: _Socket, error: Failure) -> None:
        with suppress(TimeoutError, OSError):
            socket.put(messages.told(b"E", fields_of(error) | {"S": "FATAL", "V": "FATAL"}))
            await socket.flush()

    async def _serve(self, socket: _Socket) -> None:
        network = network_of(socket.address)
        # one network has at most half of the places: who never logs in must not keep everybody else out
        if len(self._tasks) > _MOST or self._unknown.total() >= _MOST_UNKNOWN or self._unknown[network] >= _MOST_UNKNOWN // 2:
            raise Failure(TOO_MANY, "there are too many connections", "close some, or wait", fatal=True)
        self._unknown[network] += 1
        try:
            async with asyncio.timeout(_ENTERING):
                startup = await self._first(socket)
                if startup is None:
                    return
                admitted = await log_in(self._server, socket, startup.parameters)
        finally:
            self._unknown -= Counter([network])  # which forgets those that have none left
        account = admitted.caller.account.name
        if self._of[account] >= _MOST_OF_ONE:
            raise Failure(TOO_MANY, "you have too many connections", "close some", fatal=True)
        self._of[account] += 1
        try:
            await self._converse(socket, startup, admitted)
        finally:
            self._of[account] -= 1

    async def _first(self, socket: _Socket) -> Startup | None:
        """The message that begins a session, after requests for encryption; None if it was a request to cancel."""
        for _ in range(3):
            startup = await socket.startup()
            if startup.code == CANCEL:
                self._cancel(startup, socket.address)
                return None
            if startup.code == TLS and self._context is not None and not socket.encrypted:
                await socket.encrypt(self._context)
            elif startup.code in (TLS, GSS):
                socket.put(b"N")
                await socket.flush()
            elif startup.code >> 16 == VERSION >> 16:
                options = [name for name in startup.parameters if name.startswith("_pq_.")]  # of newer versions
                if startup.code != VERSION or options:
                    socket.put(messages.version_supported(options))
                return startup
            else:
                raise Failure(NOT_SUPPORTED, "only version 3 of the protocol is supported", fatal=True)
        raise Malformed("encryption was asked for again and again")

    def _cancel(self, startup: Startup, address: str) -> None:
        """Stop waiting on another connection, whose key the client must know; who guesses too often is not heard."""
        if self._server.address_limit.wait(network_of(address)):
            return
        questions = self._open.get((startup.process, startup.secret))
        if questions is not None:
            questions.cancel()
        else:
            self._server.address_limit.take(network_of(address))

    async def _converse(self, socket: _Socket, startup: Startup, admitted: Admitted) -> None:
        server, account = self._server, admitted.caller.account.name
        prices = server.settings.pg_prices
        variables = Variables(account, prices.get(account, prices.get("*")))
        variables.set_at_startup(startup.parameters)
        questions = Questions(server, admitted.dataset, admitted.caller, variables)
        interpreter = Interpreter(questions, variables, self._catalogues.of(admitted.dataset, admitted.caller.account))
        connection = Connection(interpreter, socket, server.log.crashed)
        # the number is random too: in their order, they would tell how many others have connected
        drawn = SystemBits().word().to_bytes(8, "big")
        key = int.from_bytes(drawn[:4], "big") >> 1, drawn[4:]
        self._open[key] = questions
        socket.longest = server.settings.largest_body
        try:
            socket.put(messages.authentication(0))
            for name, value in variables.reported.items():
                socket.put(messages.parameter_status(name, value))
            socket.put(messages.backend_key(*key) + messages.ready("I"))
            await socket.flush()
            server.log.event("postgres login", account=account, tls=socket.encrypted)
            while connection.open:
                message = await socket.message()
                begin = time.monotonic()
                await connection.handle(message)
                if isinstance(message, messages.Query | messages.Execute):
                    took = round((time.monotonic() - begin) * 1000, 1)
                    server.metrics.request("POST", "postgres", 200 if connection.state == "00000" else 400)
                    server.log.event("statement", account=account, state=connection.state, ms=took)
        finally:
            self._open.pop(key, None)


@asynccontextmanager
async def listening(server: Server, host: str, port: int, certificate: Path | None, key: Path | None) -> AsyncIterator[None]:
    """Serve PostgreSQL's clients inside the block."""
    context = None
    if certificate is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate, key)
    listener = PostgresListener(server, context)
    sockets = await listener.listen(host, port)
    try:
        yield
    finally:
        sockets.close()
        await listener.close()
