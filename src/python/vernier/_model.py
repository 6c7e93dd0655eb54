# SPDX-License-Identifier: GPL-3.0-or-later
"""A model, and what can be done with it."""
from __future__ import annotations

import builtins
import json
import os
import tempfile
from enum import Enum
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from ._files import Folder, ModelLike, write_model
from ._program import Progress, VernierError, run
from ._report import Report
from ._result import PathLike, Result
from ._samples import Data, list_paths, pack_samples

__all__ = ["Model", "ModelLike", "list_inputs", "open", "options", "word", "write_model"]


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


def list_inputs(path: str) -> Dict[str, str]:
    """Names and types of the inputs of a model that samples fill, in its order: {"image": "float32[1,3,224,224]"}."""
    return {one["name"]: one["type"] for one in run(["inspect", path])["inputs"]}


def run_on(arguments: Sequence[str], data: Optional[Data], path: str, limit: Optional[int] = None,
           progress: Optional[Progress] = None) -> Dict[str, Any]:
    """Runs a command with samples, which it gets on its standard input where they are no path.

    data: (nullable) see `vernier.Data`.
    path: of the model whose inputs they fill.
    limit: (nullable) how many are taken of an iterable, at most.
    """
    if data is None:
        return run(arguments, progress)
    if isinstance(data, (str, os.PathLike)):
        return run([*arguments, f"--data={os.fspath(data)}"], progress)
    paths = list_paths(data)
    if paths:
        with tempfile.TemporaryDirectory(prefix="vernier-") as folder:
            Path(folder, "list.txt").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
            return run([*arguments, f"--data={folder}/list.txt"], progress)
    if not isinstance(data, Iterable) and not hasattr(data, "get_next") and not hasattr(data, "__getitem__"):
        raise TypeError(f"data is a path, an array or samples one after the other, not {type(data).__name__}")
    return run([*arguments, "--data=-"], progress, pack_samples(data, list_inputs(path), limit))


class Model:
    """A model of ONNX that is to be quantized. It is read anew at each call; its file is never changed.

    path: of its file, which is a temporary one for a ModelProto.
    """

    def __init__(self, model: ModelLike) -> None:
        self._folder: Optional[Folder] = None
        if isinstance(model, (str, os.PathLike)):
            self.path = os.fspath(model)
        else:
            self._folder = Folder()
            self.path = write_model(model, self._folder.path)

    def __repr__(self) -> str:
        return f"vernier.open({self.path!r})"

    def inspect(self) -> Dict[str, Any]:
        """What `vernier-cli inspect` tells: nodes, operators, inputs and outputs with types and shapes, constants.

        Raises VernierError.
        """
        return run(["inspect", self.path])

    @property
    def inputs(self) -> Dict[str, str]:
        """Names and types of the inputs that samples fill, in the order of the model: {"image": "float32[1,3,224,224]"}."""
        return list_inputs(self.path)

    def quantize(self, preset: Optional[str] = None, data: Optional[Data] = None, auto: bool = False,
                 progress: Optional[Progress] = None, limit: Optional[int] = None,
                 recipe: Union[PathLike, Dict[str, Any], None] = None, arguments: Iterable[str] = (), **settings: Any) -> Result:
        """Quantizes the model and measures what that does to its outputs.

        preset: see `vernier-cli list presets` and `list targets`; without it "cpu".
        data: samples, see `vernier.Data`; "random" to try. Weight-only and dynamic presets need none.
        auto: tries what lowers the error, and keeps what helps; `time=60` seconds by default.
        progress: called with the part that is done, 0 to 1, and the stage. What it raises cancels.
        limit: how many samples are taken of an iterable, at most.
        recipe: settings and rules: a file, or what `Result.recipe` has.
        arguments: options of `vernier-cli quantize` as they stand there.
        settings: the same by name: per_channel=True, method="percentile", exclude=["/head/*", "type:Softmax"],
            rule=[{"nodes": "/stem/Conv", "activation": "u16"}], fail_unless="good".

        Returns the quantized model, which is in a temporary folder until it is saved; nothing else is written.

        Raises VernierError with the program's message. Where the model was made, but ONNX Runtime refuses it or its verdict is
        worse than `fail_unless`, the error has the `result`. TypeError where data are not samples.
        """
        folder = Folder()
        kept = folder.path / "run"
        kept.mkdir()
        output = folder.path / (Path(self.path).stem + ".q.onnx")
        given = {"preset": preset, "recipe": _write_recipe(recipe, kept), "save_recipe": kept / "recipe.json",
                 "save_project": kept / "run.vernier", **settings}
        call = ["quantize", self.path, f"--output={output}", *options(given), *arguments, *(["--auto"] if auto else [])]

        def make_result(said: Dict[str, Any]) -> Result:
            return Result(said, self, output, Path(given["save_recipe"]), Path(given["save_project"]), folder)

        try:
            return make_result(run_on(call, data, self.path, limit, progress))
        except VernierError as error:
            if "report" in error.said:
                error.result = make_result(error.said)
            raise

    def compare(self, quantized: ModelLike, data: Data, limit: Optional[int] = None, progress: Optional[Progress] = None,
                **settings: Any) -> Report:
        """Measures the error of a quantized model, of any quantizer, against this one.

        quantized: a path, a ModelProto, a `Model` or a `Result`.
        data, limit, progress: as of `quantize`.
        settings: options of `vernier-cli compare`: preprocess="imagenet", samples=32.

        Raises VernierError.
        """
        folder = Folder()
        call = ["compare", self.path, write_model(quantized, folder.path), *options(settings)]
        return Report(run_on(call, data, self.path, limit, progress)["report"])

    def evaluate(self, *others: ModelLike, data: Data, limit: Optional[int] = None, progress: Optional[Progress] = None,
                 **settings: Any) -> List[Dict[str, Any]]:
        """Runs this model and others on the same samples: hits, what is kept of this one's answers, your own metric.

        others: paths, ModelProtos, `Model`s or `Result`s.
        data: samples; in folders with the names of their classes, or with `labels="labels.txt"`, hits are counted.
        settings: options of `vernier-cli evaluate`: preprocess="imagenet", metric="metrics.py:measure".

        Returns for each model, this one first, what vernier-cli-evaluate(1) tells: "bytes", "samples", "top1" (0 to 1) ...

        Raises VernierError.
        """
        folders = [Folder() for _ in others]
        paths = [write_model(other, folder.path) for other, folder in zip(others, folders)]
        call = ["evaluate", self.path, *paths, *options(settings)]
        rows: List[Dict[str, Any]] = run_on(call, data, self.path, limit, progress)["models"]
        return rows

    def dump(self, output_dir: PathLike, data: Optional[Data] = None, **settings: Any) -> Path:
        """Writes every tensor of a quantized model for the first sample, as .bin and .txt files into a folder.

        settings: options of `vernier-cli dump`: float=True writes what is float, too.

        Returns the folder. Raises VernierError, also where it is not empty.
        """
        run_on(["dump", self.path, f"--output-dir={os.fspath(output_dir)}", *options(settings)], data, self.path, 1)
        return Path(output_dir)


def _write_recipe(recipe: Union[PathLike, Dict[str, Any], None], folder: Path) -> Optional[str]:
    if not isinstance(recipe, dict):
        return None if recipe is None else os.fspath(recipe)
    path = folder / "given.json"
    path.write_text(json.dumps(recipe), encoding="utf-8")
    return str(path)


def open(model: ModelLike) -> Model:
    """Opens a model: a path, or a ModelProto. Nothing is read yet.

    Raises OSError where there is no such file, and TypeError where it is neither.
    """
    if isinstance(model, (str, os.PathLike)):
        builtins.open(model, "rb").close()
    return Model(model)
