"""Free disk space, checked before anything is paid."""

from __future__ import annotations

import os
import shutil

MINIMUM_FREE = 2**24  # bytes: with less, even an ordinary answer may fail to be written


def disk_problem(folder: str) -> str | None:
    """Why nothing can be written to a folder; None if nothing is known. How much a question needs is not known without reading rows."""
    if not os.access(folder, os.W_OK):
        return f"{folder} does not exist or is not writable: make it writable, or set TMPDIR to another folder and connect again"
    if shutil.disk_usage(folder).free < MINIMUM_FREE:
        return f"the disk of {folder} is full: free some space, or set TMPDIR to another folder and connect again"
    return None
