# SPDX-License-Identifier: GPL-3.0-or-later
"""Running vernier-cli: arguments in, JSON out."""
from __future__ import annotations

import importlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Dict, IO, Iterable, List, Mapping, Optional, Sequence

Progress = Callable[[float, str], None]
"""Called with the part of the work that is done, 0 to 1, and what is being done."""


class VernierError(RuntimeError):
    """What the program says was wrong.

    code: "file", "setting", "shape", "unsupported", "cancelled" ..., as `vernier-cli --json` names it.
    said: all that the program printed as JSON.
    result: (nullable) the `Result`, where the model was made all the same: codes "refused" and "verdict".
    """

    def __init__(self, message: str, code: str = "", said: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(message)
        self.code = code
        self.said: Dict[str, Any] = dict(said or {})
        self.result: Any = None


def find_program() -> str:
    """The path of vernier-cli: $VERNIER_CLI, the one in this package, or the one on the PATH.

    Raises VernierError if there is none.
    """
    named = os.environ.get("VERNIER_CLI")
    if named:
        return named
    own = Path(__file__).parent / "bin" / "vernier-cli"
    found = str(own) if own.exists() else shutil.which("vernier-cli")
    if found is None:
        raise VernierError("vernier-cli was not found: install Vernier, or set VERNIER_CLI to its path", "file")
    return found


def _bar() -> Optional[Any]:
    """A bar of tqdm, where that is installed and somebody looks."""
    if not sys.stderr.isatty():
        return None
    try:
        auto = importlib.import_module("tqdm.auto")
    except ImportError:
        return None
    return auto.tqdm(total=100, unit="%", bar_format="{desc} {bar} {percentage:3.0f} %", leave=False)


class _Listener:
    """What the program writes to standard error: progress, and the last lines of anything else."""

    def __init__(self, progress: Optional[Progress]) -> None:
        self.progress = progress
        self.bar = None if progress else _bar()
        self.lines: List[str] = []

    def listen(self, stream: IO[str]) -> None:
        for line in stream:
            if line.startswith('{"progress"'):
                self.tell(json.loads(line))
            else:
                self.lines = self.lines[-19:] + [line.rstrip("\n")]

    def tell(self, said: Mapping[str, Any]) -> None:
        if self.progress:
            self.progress(said["progress"], said["stage"])
        elif self.bar is not None:
            self.bar.set_description(said["stage"], refresh=False)
            self.bar.n = round(100 * said["progress"])
            self.bar.refresh()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def _send(process: "subprocess.Popen[bytes]", parts: Iterable[bytes]) -> None:
    """Writes to the program's standard input, until it no longer wants any: what it says tells why."""
    assert process.stdin
    try:
        with process.stdin as stdin:
            for part in parts:
                stdin.write(part)
    except BrokenPipeError:
        pass


def run(arguments: Sequence[str], progress: Optional[Progress] = None,
        standard_input: Optional[Iterable[bytes]] = None) -> Dict[str, Any]:
    """Runs a command of vernier-cli.

    arguments: the command and its options, without --json.
    progress: told how far it is; without it there is a bar where tqdm is installed and standard error is a terminal.
    standard_input: what "-" in the arguments is; made piece by piece while the program takes it.

    Returns what the command prints as JSON. Ctrl-C, and whatever standard_input raises, cancels the program, which leaves
    nothing behind.

    Raises VernierError with the program's message.
    """
    listener = _Listener(progress)
    printed: List[bytes] = []
    process = subprocess.Popen([find_program(), *arguments, "--json", "--progress"],
                               stdin=subprocess.DEVNULL if standard_input is None else subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout and process.stderr
    said, output = io.TextIOWrapper(process.stderr, encoding="utf-8", errors="replace"), process.stdout
    threads = [threading.Thread(target=listener.listen, args=(said,), daemon=True),
               threading.Thread(target=lambda: printed.append(output.read()), daemon=True)]
    for thread in threads:
        thread.start()
    try:
        if standard_input is not None:
            _send(process, standard_input)
        process.wait()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    finally:
        for thread in threads:
            thread.join()
        listener.close()
        output.close()
        said.close()
    return _understand(printed[0].decode("utf-8", "replace"), process.returncode, listener.lines)


def _understand(printed: str, status: int, lines: Sequence[str]) -> Dict[str, Any]:
    try:
        result: Dict[str, Any] = json.loads(printed)
    except ValueError:
        if status == 0:
            return {}
        raise VernierError("\n".join(lines) or f"vernier-cli ended with {status}") from None
    error = result.get("error")
    if status != 0 and error:
        raise VernierError(error["message"], error.get("code", ""), result)
    return result
