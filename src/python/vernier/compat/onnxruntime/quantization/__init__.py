# SPDX-License-Identifier: GPL-3.0-or-later
"""onnxruntime.quantization: quantize_static(), quantize_dynamic(), and what they take."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Union

from ..._call import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, call
from . import shape_inference
from .modes import QuantizationMode, quantize
from .shape_inference import quant_pre_process

__all__ = ["CalibrationDataReader", "CalibrationMethod", "QuantFormat", "QuantType", "QuantizationMode", "quant_pre_process",
           "quantize", "quantize_dynamic", "quantize_static", "shape_inference"]

Output = Union[str, "os.PathLike[str]"]


def quantize_static(model_input: Any, model_output: Output, calibration_data_reader: Any,
                    quant_format: QuantFormat = QuantFormat.QDQ, op_types_to_quantize: Optional[List[str]] = None,
                    per_channel: bool = False, reduce_range: bool = False, activation_type: QuantType = QuantType.QInt8,
                    weight_type: QuantType = QuantType.QInt8, nodes_to_quantize: Optional[List[str]] = None,
                    nodes_to_exclude: Optional[List[str]] = None, use_external_data_format: bool = False,
                    calibrate_method: CalibrationMethod = CalibrationMethod.MinMax, calibration_providers: Any = None,
                    extra_options: Optional[Dict[str, Any]] = None, *, optimize_model: Optional[bool] = None) -> None:
    """Quantizes a model with ranges of activations that samples have, and writes it.

    model_input: a path or a ModelProto; model_output: a path.
    calibration_data_reader: gives dictionaries of input names and arrays; all of them are used to calibrate.
    calibration_providers have no effect.
    extra_options: as that function has them; what is not known raises VernierError.
    optimize_model: of old versions: fuses first; by default it does not.

    Raises VernierError with the program's message.
    """
    call(["quantize", "--preset=onnxruntime.quantize_static", "--held-out=0", "--skip-compare", "--no-verify"], model_input,
         model_output, {
             "quant_format": quant_format, "op_types_to_quantize": op_types_to_quantize, "per_channel": per_channel,
             "reduce_range": reduce_range, "activation_type": activation_type, "weight_type": weight_type,
             "nodes_to_quantize": nodes_to_quantize, "nodes_to_exclude": nodes_to_exclude,
             "use_external_data_format": use_external_data_format, "calibrate_method": calibrate_method,
             "extra_options": extra_options, "optimize_model": optimize_model}, calibration_data_reader, needs_samples=True)


def quantize_dynamic(model_input: Any, model_output: Output, op_types_to_quantize: Optional[List[str]] = None,
                     per_channel: bool = False, reduce_range: bool = False, weight_type: QuantType = QuantType.QInt8,
                     nodes_to_quantize: Optional[List[str]] = None, nodes_to_exclude: Optional[List[str]] = None,
                     use_external_data_format: bool = False, extra_options: Optional[Dict[str, Any]] = None, *,
                     optimize_model: Optional[bool] = None) -> None:
    """Quantizes weights, and activations with the ranges that they have when the model runs. Needs no samples.

    model_input: a path or a ModelProto; model_output: a path. The rest is as of quantize_static().

    Raises VernierError with the program's message.
    """
    call(["quantize", "--preset=onnxruntime.quantize_dynamic", "--no-verify"], model_input, model_output, {
        "op_types_to_quantize": op_types_to_quantize, "per_channel": per_channel, "reduce_range": reduce_range,
        "weight_type": weight_type, "nodes_to_quantize": nodes_to_quantize, "nodes_to_exclude": nodes_to_exclude,
        "use_external_data_format": use_external_data_format, "extra_options": extra_options, "optimize_model": optimize_model})
