"""What is declared: tables, columns, who is protected, which groups are public."""
