# SPDX-License-Identifier: GPL-3.0-or-later
"""quark.onnx: the functions that it shares with vai_q_onnx, with the names that it has for their formats and types."""
from __future__ import annotations

from enum import Enum

from .vai_q_onnx import (CalibrationDataReader, CalibrationMethod, PowerOfTwoMethod, QuantFormat, QuantType, dump_model,
                         quant_pre_process, quantize_dynamic, quantize_static, shape_inference)

__all__ = ["CalibrationDataReader", "CalibrationMethod", "ExtendedQuantFormat", "ExtendedQuantType", "PowerOfTwoMethod",
           "QuantFormat", "QuantType", "dump_model", "quant_pre_process", "quantize_dynamic", "quantize_static",
           "shape_inference"]


class ExtendedQuantFormat(Enum):
    """Formats of AMD's own operators."""
    QDQ = 2
    FixNeuron = 3


class ExtendedQuantType(Enum):
    """Types beyond 8 bits."""
    QInt16 = 2
    QUInt16 = 3
    QInt32 = 4
    QUInt32 = 5
    QFloat16 = 6
    QBFloat16 = 7
    QBFP = 8
