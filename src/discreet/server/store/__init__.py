"""What a server remembers besides the ledgers: accounts, tokens, logins, jobs, shared answers, and an audit log."""
