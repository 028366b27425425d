"""Errors that end the export with one line and an exit code (the same as hot-analyze's)."""

from __future__ import annotations


class ExportError(Exception):
    """One line: what was wrong, where, what to do. `code` is the exit code."""

    code = 1


class UsageError(ExportError):
    code = 2


class ModelError(ExportError):
    code = 3


class EnvironmentFailure(ExportError):
    code = 4


def one_line(error: BaseException) -> str:
    """The telling line of an exception: the last one of a TorchScript interpreter's traceback, else
    the first one that is text and not code; its type where there is none."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [
        line
        for line in lines
        if not line.startswith(("File ", "~", "^")) and "<--- HERE" not in line
    ]
    text = (telling or lines or [type(error).__name__])[0]
    if "in the TorchScript interpreter" in str(error):
        text = lines[-1]
    return text if len(text) <= 200 else text[:197] + "..."
