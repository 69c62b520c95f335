"""The catalogue that tools read: statements about tables and columns, answered from what is declared."""
