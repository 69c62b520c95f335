"""What is asked: relations, statistics, questions; read from SQL or built in Python."""
