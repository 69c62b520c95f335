"""The same session, remotely: requests are recorded here and replayed by a server."""
