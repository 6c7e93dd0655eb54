# SPDX-License-Identifier: GPL-3.0-or-later
"""What was measured of a quantized model."""
from __future__ import annotations

import html
import importlib
from typing import Any, Callable, Dict, List, Sequence, Tuple

SHOWN_FIGURES: Dict[str, Tuple[str, Callable[[float], str]]] = {
    "size": ("Size", lambda value: f"{value / 1e3:,.1f} kB"),
    "worst-output": ("SQNR of the worst output", lambda value: f"{value:.1f} dB"),
    "top1": ("Top-1 accuracy", lambda value: f"{100 * value:.1f} %"),
    "same-answer": ("Top-1 agreement with the float model", lambda value: f"{100 * value:.1f} %"),
    "seconds": ("Latency, one thread", lambda value: f"{1e3 * value:.3g} ms"),
    "integer-share": ("Integer MACs", lambda value: f"{100 * value:.1f} %"),
}


class Report:
    """The error of a quantized model, tensor by tensor, and what it comes to.

    report: all of it, as `vernier-cli quantize --json` prints it under "report" (vernier-report(5)). Errors are signal to noise
        ratios (SQNR) in dB, against the float model on the same samples; sizes are in bytes, times in seconds.
    """

    def __init__(self, report: Dict[str, Any]) -> None:
        self.report = report

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
        return _to_number(self.report["summary"].get("sqnr_db"))

    @property
    def notes(self) -> List[Dict[str, Any]]:
        """What was noticed: "level" ("info", "warning", "problem"), "code", "subject", "text"."""
        return list(self.report["notes"])

    def weak_nodes(self, n: int = 10) -> List[Dict[str, Any]]:
        """The tensors with the lowest SQNR, at most n of them, the weakest first.

        Each is a row of `to_pandas`: "node", "type", "tensor", "sqnr_db", "dtype", "scale" ... A row's "node" is what
        `Model.quantize` takes as `exclude`.
        """
        known = [row for row in self.report.get("tensors", []) if isinstance(row.get("sqnr_db"), (int, float))]
        return sorted(known, key=lambda row: float(row["sqnr_db"]))[:n]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each measured tensor, the worst first; columns are those of vernier-report(5).

        Raises ImportError where there is no pandas.
        """
        return importlib.import_module("pandas").DataFrame(self.report.get("tensors", []))

    def __repr__(self) -> str:
        return f"<vernier.{type(self).__name__} {self.level}: {self.sqnr_db:.1f} dB>"

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, the figures, and the weakest tensors."""
        summary = self.report["summary"]
        shown = [[row["node"], row["type"], f"{row['sqnr_db']:.1f} dB", row.get("dtype")] for row in self.weak_nodes(5)]
        figures = [_show_figure(one) for one in self.figures]
        return (f"<p><b>{html.escape(self.verdict)}.</b> {html.escape(summary['text'])}</p>"
                + _table(("", "float", "quantized", "change", "from"), figures)
                + _table(("weakest tensors", "operator", "SQNR", "type"), shown))


def _to_number(value: Any) -> float:
    """Numbers that JSON does not have are text there."""
    return float("nan") if value is None else float(value)


def _show_figure(figure: Dict[str, Any]) -> List[Any]:
    title, show = SHOWN_FIGURES.get(figure["figure"], (figure["figure"], str))
    values = [None if figure.get(of) is None else show(_to_number(figure[of])) for of in ("float", "quantized")]
    return [title, *values, figure.get("change"), figure.get("from")]


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    def line(cells: Sequence[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{'' if c is None else html.escape(str(c))}</{tag}>" for c in cells) + "</tr>"

    return "<table>" + line(head, "th") + "".join(line(row, "td") for row in rows) + "</table>" if rows else ""
