# SPDX-License-Identifier: GPL-3.0-or-later
"""A quantized model with what was measured of it."""
from __future__ import annotations

import html
import importlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from ._files import Folder, KeptPath, copy_model
from ._program import run
from ._report import Report

if TYPE_CHECKING:
    from ._model import Model
    from ._samples import Data

PathLike = Union[str, "os.PathLike[str]"]


class Page:
    """A page of HTML that a notebook shows in a frame."""

    def __init__(self, text: str, height: int) -> None:
        self.text = text
        self.height = height

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.text)}" width="100%" height="{self.height}" '
                'style="border: 1px solid #8888"></iframe>')


class Result(Report):
    """A quantized model, and its `Report`.

    path: the quantized model, until result and path are gone: `save` keeps it.
    source: the float model.
    """

    def __init__(self, said: Dict[str, Any], source: Model, path: Path, recipe: Path, project: Path, folder: Folder) -> None:
        super().__init__(said["report"])
        self.source = source
        self.path: Path = KeptPath(path)
        self.path.folder = folder
        self._recipe = recipe
        self._project = project
        self._folder = folder

    @property
    def size(self) -> int:
        """Bytes of the quantized model, with what it has in files of its own."""
        return int(self.report["sizes"]["quantized_bytes"])

    @property
    def model(self) -> Any:
        """The quantized model as an onnx.ModelProto, loaded again at each access. Raises ImportError where there is no onnx."""
        return importlib.import_module("onnx").load(str(self.path))

    @property
    def recipe(self) -> Dict[str, Any]:
        """Settings and rules that make this result, with what `auto` has found: what `Model.quantize` takes as `recipe`."""
        found: Dict[str, Any] = json.loads(self._recipe.read_text(encoding="utf-8"))
        return found

    def save(self, path: PathLike) -> Path:
        """Writes the quantized model, and beside it what it has in files of its own.

        path: a file, which is replaced where there is one, or a folder.

        Returns the path of the model. Raises OSError where that cannot be written; what stood there is left then.
        """
        return copy_model(self.path, Path(path))

    def save_report(self, path: PathLike) -> Path:
        """Writes the report: a file in the format of its name (.html, .pdf, .md, .json), or all of them to a folder.

        Raises VernierError where that cannot be written.
        """
        run(["report", str(self._project), f"--output={os.fspath(path)}"])
        return Path(path)

    def show(self, height: int = 600) -> Page:
        """The report, with the network and the error along it, as a frame of `height` pixels in a notebook."""
        page = self.save_report(self._folder.path / "run" / "report.html")
        return Page(page.read_text(encoding="utf-8"), height)

    def evaluate(self, data: Data, limit: Optional[int] = None, **settings: Any) -> List[Dict[str, Any]]:
        """The float and the quantized model side by side, in this order: see `Model.evaluate`."""
        return self.source.evaluate(self, data=data, limit=limit, **settings)

    def __repr__(self) -> str:
        return f"<vernier.Result {self.level}: {self.size} bytes, {self.sqnr_db:.1f} dB>"
