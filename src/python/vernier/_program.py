# SPDX-License-Identifier: GPL-3.0-or-later
"""Running vernier-cli: arguments in, JSON out."""
from __future__ import annotations

import functools
import importlib
import importlib.util
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
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
    """The path of vernier-cli: $VERNIER_CLI, the one that was installed with this package, or the one on the PATH.

    Raises VernierError if there is none.
    """
    named = os.environ.get("VERNIER_CLI")
    if named:
        return named
    # lib/pythonX.Y/site-packages is beside bin; “pip install --target” puts bin into the folder of packages.
    packages = Path(__file__).resolve().parents[1]
    near = [folder / "bin" / "vernier-cli" for folder in (packages / "vernier", packages, (packages / "../../..").resolve())]
    own = next((path for path in near if path.is_file()), None)
    found = str(own) if own else shutil.which("vernier-cli")
    if found is None:
        raise VernierError("vernier-cli was not found: install Vernier, or set VERNIER_CLI to its path", "file")
    return found


BAR_AFTER = 0.5
"""Seconds that work may take without a bar."""


def _make_bar() -> Optional[Any]:
    """A bar of tqdm, where that is installed and somebody looks: in a terminal, or in a notebook that has widgets."""
    in_notebook = "ipykernel" in sys.modules and importlib.util.find_spec("ipywidgets") is not None
    if not sys.stderr.isatty() and not in_notebook:
        return None
    try:
        auto = importlib.import_module("tqdm.auto")
    except ImportError:
        return None
    return auto.tqdm(total=100, unit="%", bar_format="{desc} {bar} {percentage:3.0f} %", leave=False)


class _Listener:
    """What the program writes to standard error: progress, and the last lines of anything else.

    fault: (nullable) what the callback has raised.
    """

    def __init__(self, progress: Optional[Progress]) -> None:
        self.progress = progress
        self.lines: List[str] = []
        self.fault: Optional[BaseException] = None
        self._bar: Optional[Any] = None
        self._began = time.monotonic()
        self._waits = progress is None

    def listen(self, stream: IO[str], cancel: Callable[[], None]) -> None:
        for line in stream:
            if not line.startswith('{"progress"'):
                self.lines = self.lines[-19:] + [line.rstrip("\n")]
            elif self.fault is None:
                try:
                    self.tell(json.loads(line))
                except BaseException as error:
                    self.fault = error
                    cancel()

    def tell(self, said: Mapping[str, Any]) -> None:
        if self.progress:
            self.progress(said["progress"], said["stage"])
            return
        if self._waits and time.monotonic() - self._began >= BAR_AFTER:
            self._waits = False
            self._bar = _make_bar()
        if self._bar is not None:
            self._bar.set_description(said["stage"], refresh=False)
            self._bar.n = round(100 * said["progress"])
            self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _environment() -> Dict[str, str]:
    """That the program runs in: it asks the ONNX Runtime of this Python, if that has one and no other is named."""
    environment = dict(os.environ)
    if sys.executable and importlib.util.find_spec("onnxruntime") is not None:
        environment.setdefault("VN_PYTHON", sys.executable)
    return environment


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
    progress: told how far it is; without it there is a bar where tqdm is installed, in a terminal or a notebook with widgets.
    standard_input: what "-" in the arguments is; made piece by piece while the program takes it.

    Returns what the command prints as JSON. Ctrl-C, and whatever progress or standard_input raises, cancels the program, which
    leaves nothing behind.

    Raises VernierError with the program's message.
    """
    listener = _Listener(progress)
    printed: List[bytes] = []
    process = subprocess.Popen([find_program(), *arguments, "--json", "--progress"],
                               stdin=subprocess.DEVNULL if standard_input is None else subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment())
    assert process.stdout and process.stderr
    said, output = io.TextIOWrapper(process.stderr, encoding="utf-8", errors="replace"), process.stdout
    cancel = functools.partial(process.send_signal, signal.SIGINT)
    threads = [threading.Thread(target=listener.listen, args=(said, cancel), daemon=True),
               threading.Thread(target=lambda: printed.append(output.read()), daemon=True)]
    for thread in threads:
        thread.start()
    try:
        if standard_input is not None:
            _send(process, standard_input)
        process.wait()
    except BaseException:
        cancel()
        process.wait()
        raise
    finally:
        for thread in threads:
            thread.join()
        listener.close()
        output.close()
        said.close()
    if listener.fault is not None:
        raise listener.fault
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
