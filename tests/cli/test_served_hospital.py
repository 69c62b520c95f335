"""`discreet serve --demo`: the made-up hospital, an owner and two analysts."""

from __future__ import annotations

from pathlib import Path

from discreet.cli.served_hospital import add_analysts, write_hospital
from discreet.server.server import Server
from discreet.server.settings import Settings


def test_the_hospital_is_served_to_two_analysts(tmp_path: Path) -> None:
    policy = write_hospital(tmp_path)
    server = Server(Settings({"hospital": policy}, str(tmp_path / "server.db")))
    said: list[str] = []
    try:
        assert server.owner_link() is not None
        add_analysts(server, said.append)
        assert [line.split()[0] for line in said] == ["ann", "bob"]
        data = next(iter(server.datasets))
        ann = server.accounts.get("ann")
        assert ann is not None
        assert data.admits(ann)
        assert data.session(ann).sql("SELECT COUNT(*) AS n FROM visits").release(epsilon=0.1).rows[0]["n"] > 900_000
        add_analysts(server, said.append)  # started again: the same people, new links
        assert len(said) == 4
    finally:
        server.datasets.close()
        server.database.close()
