# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of models, and folders that go with what they are for."""
from __future__ import annotations

import importlib
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Optional, Union

from ._program import VernierError

ModelLike = Union[str, "os.PathLike[str]", Any]
"""The path of a model, a ModelProto of onnx, or what has a `path`: a `Model`, a `Result`."""


class Folder:
    """A temporary folder, which is removed when nothing refers to it, or the interpreter ends.

    path: where it is.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="vernier-"))
        self._remover = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class KeptPath(type(Path())):  # type: ignore[misc]
    """A path in a folder that is there as long as the path is: `quantize(...).path.read_bytes()` finds it.

    folder: that one.
    """
    folder: Optional[Folder] = None


def write_model(model: ModelLike, folder: Path) -> str:
    """The path of a model; a ModelProto is written to `folder`.

    Raises TypeError where it is neither.
    """
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    own = getattr(model, "path", None)
    if isinstance(own, (str, os.PathLike)):
        return os.fspath(own)
    if not hasattr(model, "SerializeToString"):
        raise TypeError(f"a model is a path or a ModelProto of onnx, not {type(model).__name__}")
    path = folder / "model.onnx"
    try:
        path.write_bytes(model.SerializeToString())
    except Exception as error:    # protobuf ends at 2 GB, in each version with another exception
        if type(error).__name__ not in ("EncodeError", "ValueError"):
            raise
        _write_large_model(model, path)
    return str(path)


def _write_large_model(model: Any, path: Path) -> None:
    """With its weights beside it; onnx takes them out of the given model for that, so that they are put back."""
    onnx = importlib.import_module("onnx")
    try:
        onnx.save_model(model, str(path), save_as_external_data=True, location="model.onnx.data")
    finally:
        onnx.external_data_helper.load_external_data_for_model(model, str(path.parent))


def _rename_weights(model: Path, names: "dict[str, str]", target: Path) -> None:
    """Writes a model whose weights lie in files with other names."""
    onnx = importlib.import_module("onnx")
    proto = onnx.load(str(model), load_external_data=False)
    for tensor in onnx.external_data_helper._get_all_tensors(proto):
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = names[entry.value]
    target.write_bytes(proto.SerializeToString())


def copy_model(model: Path, target: Path) -> Path:
    """Copies a model, with the files beside it, which get the copy's name: two models in a folder do not share weights.

    model: alone in its folder with its files.
    target: a file, or a folder.

    Returns the path of the copy, which replaces what stood there when it is complete. Raises OSError, and VernierError where
    weights have files of their own and onnx, which renames them, is not installed.
    """
    if target.is_dir():
        target = target / model.name
    beside = [path for path in model.parent.iterdir() if path.is_file() and path != model]
    names = {path.name: target.name + path.name[len(model.name):] if path.name.startswith(model.name)
             else f"{target.name}.{path.name}" for path in beside}
    try:
        beside_target = tempfile.TemporaryDirectory(prefix=".vernier-", dir=target.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target)) from None
    with beside_target as kept:
        ready = Path(kept, target.name)
        if target.name == model.name or not beside:
            names = {path.name: path.name for path in beside}
            shutil.copyfile(model, ready)
        else:
            try:
                _rename_weights(model, names, ready)
            except ImportError:
                raise VernierError(f"the weights have files of their own: save it as {model.name}, or install onnx") from None
        for path in beside:
            shutil.copyfile(path, Path(kept, names[path.name]))
        for name in [*names.values(), target.name]:
            os.replace(Path(kept, name), target.parent / name)
    return target
