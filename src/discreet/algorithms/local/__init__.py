"""The local model: each person randomises before anything is collected."""
