# SPDX-License-Identifier: GPL-3.0-or-later
"""A quantized model with what was measured of it."""
from __future__ import annotations

import html
import importlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Union


class Result:
    """What a quantization came to.

    report: all figures, as `vernier-cli quantize --json` prints them under "report" (vernier-report(5)).
    path: the quantized model, until the result is gone: `save` keeps it.
    """

    def __init__(self, said: Dict[str, Any], path: Path, folder: "tempfile.TemporaryDirectory[str]") -> None:
        self.report: Dict[str, Any] = said["report"]
        self.path = path
        self._folder = folder

    @property
    def verdict(self) -> str:
        """The verdict in words: "As good as the float model" ..."""
        return str(self.report["summary"]["verdict"])

    @property
    def level(self) -> str:
        """The verdict for programs: "good", "weak-spot", "care", "unusable", "refused" ... (vernier-report(5))."""
        return str(self.report["summary"]["level"])

    @property
    def good(self) -> bool:
        """Whether the quantized model is as good as the float model, as far as that was measured."""
        return self.level == "good"

    @property
    def figures(self) -> List[Dict[str, Any]]:
        """Size, error, accuracy, latency: "figure", "float", "quantized", "change" and where it is "from"."""
        return list(self.report["figures"])

    @property
    def sqnr_db(self) -> float:
        """SQNR of the worst output in dB; NaN where it was not measured."""
        found = self.report["summary"].get("sqnr_db")
        return float("nan") if found is None else float(found)

    @property
    def notes(self) -> List[Dict[str, Any]]:
        """What was noticed: "level", "code", "subject", "text"."""
        return list(self.report["notes"])

    def weak_nodes(self, n: int = 10) -> List[Dict[str, Any]]:
        """The tensors with the lowest SQNR, at most n of them, the weakest first."""
        known = [row for row in self.report["tensors"] if isinstance(row.get("sqnr_db"), (int, float))]
        return sorted(known, key=lambda row: float(row["sqnr_db"]))[:n]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each measured tensor."""
        return importlib.import_module("pandas").DataFrame(self.report["tensors"])

    def save(self, path: Union[str, "os.PathLike[str]"]) -> Path:
        """Copies the quantized model, with what it has in files of its own, and returns its path."""
        target = Path(path)
        shutil.copyfile(self.path, target)
        for beside in self.path.parent.iterdir():
            if beside != self.path:
                shutil.copyfile(beside, target.parent / beside.name)
        return target

    def __repr__(self) -> str:
        return f"<vernier.Result {self.level}: {self.report['sizes']['quantized_bytes']} bytes, {self.sqnr_db:.1f} dB>"

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, the figures, and the weakest tensors."""
        summary = self.report["summary"]
        cells = [("figure", "float", "quantized", "change", "from")]
        rows = [[one.get(name) for name in cells[0]] for one in self.figures]
        weak = [[one["node"], one["type"], f"{one['sqnr_db']:.1f} dB"] for one in self.weak_nodes(5)]
        return (f"<p><b>{html.escape(summary['verdict'])}.</b> {html.escape(summary['text'])}</p>"
                + _table(cells[0], rows) + _table(("weakest tensors", "type", "SQNR"), weak))


def _table(head: Any, rows: List[List[Any]]) -> str:
    def line(cells: Any, tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{'' if c is None else html.escape(str(c))}</{tag}>" for c in cells) + "</tr>"

    return "<table>" + line(head, "th") + "".join(line(row, "td") for row in rows) + "</table>"
