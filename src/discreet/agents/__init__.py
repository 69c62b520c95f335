"""AI agents ask through the Model Context Protocol: an account of their own, small limits, and data that is marked as data."""
