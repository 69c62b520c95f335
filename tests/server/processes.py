"""A server in a process of its own, as `discreet serve` starts it."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


class Process:
    """`discreet serve …`; what it writes goes to two files."""

    def __init__(self, folder: Path, *words: object, **environment: str) -> None:
        self.port, self.folder = free_port(), folder
        self.out, self.err = folder / "out.txt", folder / "err.txt"
        command = [sys.executable, "-m", "discreet", "serve", *map(str, words), "--port", str(self.port)]
        with self.out.open("a") as out, self.err.open("a") as err:
            self.process = subprocess.Popen(command, stdout=out, stderr=err, env=os.environ | environment | {"COLUMNS": "200"})

    def wait_until_it_answers(self, seconds: float = 60) -> None:
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            assert self.process.poll() is None, self.err.read_text()
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("it does not listen")

    def stop(self, how: int = signal.SIGTERM, seconds: float = 60) -> int:
        """Tell it to stop; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(seconds)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def is_closed(connection: socket.socket, seconds: float) -> bool:
    """Whether the other side closes within so many seconds."""
    end = time.monotonic() + seconds
    while select.select([connection], [], [], max(0.0, end - time.monotonic()))[0]:
        try:
            if connection.recv(65536) == b"":
                return True
        except OSError:
            return True
    return False
