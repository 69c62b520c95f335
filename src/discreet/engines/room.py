"""Room on the disk, looked at before anything is paid."""

from __future__ import annotations

import os
import shutil

LEAST = 2**24  # bytes: below this an ordinary answer may not be written down, and nothing could be moved to the disk


def no_room(folder: str) -> str | None:
    """Why nothing can be written into a folder, or None; how much a question will need is not known without rows."""
    if not os.access(folder, os.W_OK):
        return f"{folder} is gone or may not be written to: make it writable, or set TMPDIR to another folder and connect again"
    if shutil.disk_usage(folder).free < LEAST:
        return f"the disk of {folder} is full: make room there, or set TMPDIR to another folder and connect again"
    return None
