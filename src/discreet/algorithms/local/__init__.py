"""The local model: each person randomises their own value before it is collected."""
