"""stub"""

from attrs import frozen


@frozen
class CatalogueStatement:
    sql: str
    parameters: int
