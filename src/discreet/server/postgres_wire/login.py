"""Log a client in: its password is a token of the account, proved by SCRAM and never sent."""

from __future__ import annotations

import asyncio
import ipaddress
import struct
from collections.abc import Mapping
from typing import Protocol, final

from attrs import frozen

from discreet.errors import Error
from discreet.server.access import ASKING, Caller
from discreet.server.datasets import UNKNOWN
from discreet.server.limits import network_of
from discreet.server.postgres_wire import messages
from discreet.server.postgres_wire.messages import Malformed, Message, Password
from discreet.server.postgres_wire.scram import MECHANISM, Exchange
from discreet.server.postgres_wire.sqlstates import NO_DATABASE, NO_TLS, NOT_PERMITTED, PROTOCOL, TOO_MANY, WRONG_PASSWORD, Failure
from discreet.server.server import Server
from discreet.server.store.secret import new_secret
from discreet.server.store.tokens import Token

WRONG = "this account and token do not belong together"
WRONG_HINT = (
    "the password is a token of the account, made in the console; make a new one if it is older than the server's PostgreSQL interface"
)


class Peer(Protocol):
    """The client's side of a login."""

    address: str
    encrypted: bool

    def put(self, data: bytes) -> None:
        """Add bytes."""

    async def flush(self) -> None:
        """Send them."""

    async def message(self) -> Message:
        """The next message."""


@final
@frozen
class Admitted:
    """Who logged in, and to which data set."""

    caller: Caller
    dataset: str


async def log_in(server: Server, peer: Peer, parameters: Mapping[str, str]) -> Admitted:
    """Ask for a token and check it; a Failure if it is not good, which is the same for unknown accounts and wrong tokens."""
    if server.settings.is_secure and not peer.encrypted and not is_local(peer.address):
        raise Failure(NO_TLS, "this server needs TLS", "connect with sslmode=require", fatal=True)
    user = parameters.get("user", "")
    if not user or parameters.get("replication", "false").lower() not in ("false", "off", "no", "0"):
        raise Failure(PROTOCOL, "give an account and a data set", "connect with user=… and dbname=…", fatal=True)
    network = network_of(peer.address)
    attempt = f"{network}\n{user.casefold()}"
    if server.login_limit.wait(attempt) or server.address_limit.wait(network):
        raise Failure(TOO_MANY, "too many wrong passwords from here", "wait a minute", fatal=True)
    salt, known = await asyncio.to_thread(lambda: (server.tokens.salt(user), server.tokens.verifiers(user)))
    exchange: Exchange[Token] = Exchange(salt, known, new_secret(120))
    proved = await _proved(peer, exchange)
    found = None if proved is None else server.tokens.by_id(proved[0].id)
    if proved is None or found is None:
        server.login_limit.take(attempt)
        server.address_limit.take(network)
        await asyncio.to_thread(server.logins.failed, user)
        raise Failure(WRONG_PASSWORD, WRONG, WRONG_HINT, fatal=True)
    account, token = found
    peer.put(messages.authentication(12, proved[1]))
    if token.scope == "read":
        raise Failure(NOT_PERMITTED, "this token may only read", "use one with the scope ask", fatal=True)
    if account.role not in ASKING:
        raise Failure(NOT_PERMITTED, "an auditor asks no questions", "use an analyst's account", fatal=True)
    dataset, caller = parameters.get("database") or user, Caller(account, token)
    unknown = Failure(NO_DATABASE, UNKNOWN, "the database is the name of a data set", fatal=True)
    if not caller.may_use(dataset):
        raise unknown
    try:
        server.datasets.get(dataset, account)
    except Error:
        raise unknown from None
    return Admitted(caller, dataset)


async def _proved(peer: Peer, exchange: Exchange[Token]) -> tuple[Token, bytes] | None:
    """Which token the client holds, and the server's last message; None if it proved none."""
    peer.put(messages.authentication(10, MECHANISM.encode() + b"\0\0"))
    await peer.flush()
    mechanism, _, rest = (await _password(peer)).partition(b"\0")
    if mechanism != MECHANISM.encode() or len(rest) < 4 or struct.unpack("!i", rest[:4])[0] != len(rest) - 4:
        raise Failure(PROTOCOL, f"log in by {MECHANISM}", fatal=True)
    try:
        peer.put(messages.authentication(11, exchange.challenge(rest[4:])))
        await peer.flush()
        return exchange.outcome(await _password(peer))
    except Malformed as error:
        raise Failure(PROTOCOL, str(error), fatal=True) from None


async def _password(peer: Peer) -> bytes:
    message = await peer.message()
    if not isinstance(message, Password):
        raise Failure(PROTOCOL, "the login is not finished", fatal=True)
    return message.body


def is_local(address: str) -> bool:
    """Whether this is an address of the same machine."""
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return address == ""  # a socket in a folder
