# SPDX-License-Identifier: GPL-3.0-or-later
"""quantize() and QuantizationMode, as the overview of ONNX Runtime's quantization tool has them."""
from __future__ import annotations

import json
import tempfile
from enum import Enum
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ..._call import call


class QuantizationMode(Enum):
    """Which operators compute: ConvInteger and MatMulInteger, or QLinearConv and QLinearMatMul."""
    IntegerOps = 0
    QLinearOps = 1


Params = Mapping[str, Sequence[Any]]
"""{"tensor": [zero point, scale]}."""


def _plain(params: Optional[Params]) -> Dict[str, List[float]]:
    return {name: [int(zero_point), float(scale)] for name, (zero_point, scale) in (params or {}).items()}


def quantize(model: Any, per_channel: bool = False, nbits: int = 8,
             quantization_mode: QuantizationMode = QuantizationMode.IntegerOps, static: bool = False,
             asymmetric_input_types: bool = False, input_quantization_params: Optional[Params] = None,
             output_quantization_params: Optional[Params] = None, nodes_to_quantize: Optional[List[str]] = None) -> Any:
    """Quantizes a ModelProto with given zero points and scales, or with those of run time, and returns the quantized one.

    model: a ModelProto or a path.
    per_channel: weights of convolutions get a scale for each channel.
    nbits: 8.
    static: with input_quantization_params; QLinearOps take output_quantization_params, too. A tensor may be in both, with equal
        values.
    asymmetric_input_types: weights are signed, and activations unsigned; both are unsigned otherwise.

    Raises VernierError with the program's message, ValueError with other nbits.
    """
    import onnx

    if nbits != 8:
        raise ValueError(f"nbits is {nbits}: only 8 is supported")
    inputs = _plain(input_quantization_params)
    # what one node gives and the next one takes is in both
    outputs = {name: one for name, one in _plain(output_quantization_params).items() if inputs.get(name) != one}
    params = {"input_quantization_params": inputs, "output_quantization_params": outputs}
    form = "integer" if quantization_mode == QuantizationMode.IntegerOps else "qoperator"
    command = ["quantize", "--preset=dynamic", f"--format={form}", f"--dynamic={'false' if static else 'true'}",
               f"--weight={'s8' if asymmetric_input_types else 'u8'}", "--no-verify", "--skip-compare"]
    with tempfile.TemporaryDirectory(prefix="vernier-") as name:
        if any(params.values()):
            ranges = Path(name, "ranges.json")
            ranges.write_text(json.dumps(params), encoding="utf-8")
            command.append(f"--ranges={ranges}")
        output = Path(name, "model.q.onnx")
        call(command, model, output, {"per_channel": per_channel, "nodes_to_quantize": nodes_to_quantize})
        return onnx.load(str(output))
