# SPDX-License-Identifier: GPL-3.0-or-later
"""Vernier: post-training quantization of ONNX models.

    import vernier

    result = vernier.open("model.onnx").quantize(preset="cpu", data=samples)
    print(result.verdict)
    result.save("model.q.onnx")

`vernier.compat` has the functions of other quantizers under their own names, so that a script runs with one changed import line.
All of it is done by the program vernier-cli; its manual is `man vernier-python`.
"""
from ._model import Model, open
from ._program import VernierError, find_program, run
from ._report import Report
from ._result import Result
from ._samples import Data

__all__ = ["Data", "Model", "Report", "Result", "VernierError", "find_program", "open", "run"]
