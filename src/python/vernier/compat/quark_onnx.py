# SPDX-License-Identifier: GPL-3.0-or-later
"""quark.onnx: the functions that it shares with vai_q_onnx, with the names that it has for their formats and types."""
from __future__ import annotations

from .vai_q_onnx import CalibrationDataReader, CalibrationMethod, PowerOfTwoMethod, QuantFormat, QuantType
from .vai_q_onnx import VitisQuantFormat as ExtendedQuantFormat
from .vai_q_onnx import VitisQuantType as ExtendedQuantType
from .vai_q_onnx import dump_model, get_library_path, quant_pre_process, quantize_dynamic, quantize_static, shape_inference

__all__ = ["CalibrationDataReader", "CalibrationMethod", "ExtendedQuantFormat", "ExtendedQuantType", "PowerOfTwoMethod",
           "QuantFormat", "QuantType", "dump_model", "get_library_path", "quant_pre_process", "quantize_dynamic",
           "quantize_static", "shape_inference"]
