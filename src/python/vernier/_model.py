# SPDX-License-Identifier: GPL-3.0-or-later
"""A model, and what can be done with it."""
from __future__ import annotations

import builtins
import json
import os
import tempfile
from enum import Enum
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional, Union

from ._program import Progress, run
from ._result import Result
from ._samples import Data, write_samples

ModelLike = Union[str, "os.PathLike[str]", Any]
"""The path of a model, or a ModelProto of onnx."""


def word(value: Any) -> str:
    """A value as the command line takes it: enumerations by their names, lists and dictionaries as JSON."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, (dict, list, tuple)):
        return json.dumps(value, default=word)
    return str(value)


def options(settings: Dict[str, Any]) -> List[str]:
    """Keywords as options; what is None is left out, True and False are values."""
    found = []
    for name, value in settings.items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, (list, tuple)):
            found += [f"{option}={word(one)}" for one in value]
        elif value is not None:
            found.append(f"{option}={word(value)}")
    return found


def write_model(model: ModelLike, folder: Path) -> str:
    """The path of a model; a ModelProto is written to `folder`."""
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    path = folder / "model.onnx"
    if model.ByteSize() < 1 << 31:
        path.write_bytes(model.SerializeToString())
    else:
        import onnx

        onnx.save_model(model, str(path), save_as_external_data=True)
    return str(path)


def list_inputs(path: str) -> Dict[str, str]:
    """Names and types of the inputs of a model that samples fill, in its order."""
    return {one["name"]: one["type"] for one in run(["inspect", path])["inputs"]}


class Model:
    """A model of ONNX that is to be quantized. It is read anew at each call; its file is never changed."""

    def __init__(self, model: ModelLike) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="vernier-")
        self.path = write_model(model, Path(self._folder.name))

    def __repr__(self) -> str:
        return f"vernier.open({self.path!r})"

    def inspect(self) -> Dict[str, Any]:
        """What `vernier-cli inspect` tells: nodes, operators, inputs and outputs with types and shapes, constants."""
        return run(["inspect", self.path])

    @property
    def inputs(self) -> List[str]:
        """Names of the inputs that samples fill, in the order of the model."""
        return list(list_inputs(self.path))

    def quantize(self, preset: Optional[str] = None, data: Optional[Data] = None, auto: bool = False,
                 progress: Optional[Progress] = None, limit: Optional[int] = None, arguments: Iterable[str] = (),
                 **settings: Any) -> Result:
        """Quantizes the model and measures what that does to its outputs.

        preset: see `vernier-cli list presets`; without it "cpu".
        data: samples, see `vernier._samples.Data`; "random" to try. Weight-only and dynamic presets need none.
        auto: tries what lowers the error, and keeps what helps; `time=60` seconds by default.
        progress: called with the part that is done, 0 to 1, and the stage.
        limit: how many samples are taken of an iterable, at most.
        arguments: options of `vernier-cli quantize` as they stand there.
        settings: the same by name: per_channel=True, method="percentile", exclude=["type:Softmax"].

        Raises VernierError with the program's message. Nothing is written beside the result, which holds the quantized model
        until it is saved.
        """
        folder = tempfile.TemporaryDirectory(prefix="vernier-")
        output = Path(folder.name, Path(self.path).stem + ".q.onnx")
        call = ["quantize", self.path, f"--output={output}", *options({"preset": preset, **settings}), *arguments]
        if auto:
            call.append("--auto")
        with tempfile.TemporaryDirectory(prefix="vernier-") as samples:
            if data is not None:
                inputs = {} if isinstance(data, (str, os.PathLike)) else list_inputs(self.path)
                call.append("--data=" + write_samples(data, inputs, Path(samples), limit))
            said = run(call, progress)
        return Result(said, output, folder)


def open(model: ModelLike) -> Model:
    """Opens a model: a path, or a ModelProto. Nothing is read yet."""
    if isinstance(model, (str, os.PathLike)):
        builtins.open(model, "rb").close()
    return Model(model)
