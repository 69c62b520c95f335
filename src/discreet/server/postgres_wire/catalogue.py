"""stub"""

from __future__ import annotations
from typing import Any
from discreet.server.postgres_wire.catalogue_rewrite import CatalogueStatement


class Catalogue:
    def read(self, text: str) -> CatalogueStatement | None:
        return None

    async def describe(self, *a: Any) -> Any: ...
    async def run(self, *a: Any) -> Any: ...


class Catalogues:
    def __init__(self, server: Any) -> None: ...
    def of(self, *a: Any) -> Catalogue:
        return Catalogue()

    async def close(self) -> None: ...
