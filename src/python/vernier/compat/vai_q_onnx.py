# SPDX-License-Identifier: GPL-3.0-or-later
"""vai_q_onnx: quantize_static(), quantize_dynamic(), dump_model(), and what they take."""
from __future__ import annotations

import os
from enum import Enum
from typing import Any, Dict, List, Optional, Union

from .._program import VernierError
from ._call import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, call
from .onnxruntime.quantization import quant_pre_process, quantize_dynamic, shape_inference

__all__ = ["CalibrationDataReader", "CalibrationMethod", "PowerOfTwoMethod", "QuantFormat", "QuantType", "VitisQuantFormat",
           "VitisQuantType", "dump_model", "get_library_path", "quant_pre_process", "quantize_dynamic", "quantize_static",
           "shape_inference"]

Output = Union[str, "os.PathLike[str]"]


class PowerOfTwoMethod(Enum):
    """How ranges of activations and weights are found; scales are powers of two."""
    NonOverflow = 0
    MinMSE = 1


class VitisQuantFormat(Enum):
    """Formats of AMD's own operators."""
    QDQ = 2
    FixNeuron = 3


class VitisQuantType(Enum):
    """Types beyond 8 bits."""
    QInt16 = 2
    QUInt16 = 3
    QInt32 = 4
    QUInt32 = 5
    QFloat16 = 6
    QBFloat16 = 7
    QBFP = 8


def quantize_static(model_input: Any, model_output: Output, calibration_data_reader: Any = None,
                    quant_format: Enum = QuantFormat.QDQ, calibrate_method: Enum = PowerOfTwoMethod.MinMSE,
                    input_nodes: Optional[List[str]] = None, output_nodes: Optional[List[str]] = None,
                    op_types_to_quantize: Optional[List[str]] = None,
                    random_data_reader_input_shape: Any = None, per_channel: bool = False, reduce_range: bool = False,
                    activation_type: Enum = QuantType.QInt8, weight_type: Enum = QuantType.QInt8,
                    nodes_to_quantize: Optional[List[str]] = None, nodes_to_exclude: Optional[List[str]] = None,
                    optimize_model: bool = True, use_external_data_format: bool = False, execution_providers: Any = None,
                    enable_dpu: bool = False, convert_fp16_to_fp32: bool = False, convert_nchw_to_nhwc: bool = False,
                    include_cle: bool = False, include_fast_ft: bool = False,
                    extra_options: Optional[Dict[str, Any]] = None) -> None:
    """Quantizes a model for AMD's processors, and writes it.

    model_input: a path or a ModelProto; model_output: a path.
    calibration_data_reader: gives dictionaries of input names and arrays; None for random samples, of
        random_data_reader_input_shape where the model leaves its shape open.
    execution_providers have no effect. extra_options: as that function has them; what is not known raises VernierError.

    Raises VernierError with the program's message.
    """
    call(["quantize", "--preset=vai_q_onnx.quantize_static", "--held-out=0", "--skip-compare", "--no-verify"], model_input,
         model_output, {
             "quant_format": quant_format, "calibrate_method": calibrate_method, "input_nodes": input_nodes,
             "output_nodes": output_nodes, "op_types_to_quantize": op_types_to_quantize, "per_channel": per_channel,
             "reduce_range": reduce_range, "activation_type": activation_type, "weight_type": weight_type,
             "nodes_to_quantize": nodes_to_quantize, "nodes_to_exclude": nodes_to_exclude, "optimize_model": optimize_model,
             "use_external_data_format": use_external_data_format, "enable_dpu": enable_dpu,
             "convert_fp16_to_fp32": convert_fp16_to_fp32, "convert_nchw_to_nhwc": convert_nchw_to_nhwc,
             "include_cle": include_cle, "include_fast_ft": include_fast_ft, "extra_options": extra_options},
         calibration_data_reader, random_data_reader_input_shape, needs_samples=True)


def get_library_path(device: str = "cpu") -> str:
    """Not needed: models with AMD's extended formats define their operators as ONNX functions, which ONNX Runtime inlines.

    Always raises VernierError, which says so.
    """
    raise VernierError("no custom-operator library is needed: exported models define their operators as ONNX functions. "
                       "Remove the call to register_custom_ops_library()", "unsupported")


def dump_model(model: Any, dump_data_reader: Any = None, random_data_reader_input_shape: Any = None, dump_float: bool = False,
               output_dir: Output = "./dump_results") -> None:
    """Writes weights and activations of a quantized model, for the first sample, as .bin and .txt files into output_dir.

    model: a path or a ModelProto.
    dump_data_reader: None for a random sample, of random_data_reader_input_shape where the model leaves its shape open: a shape,
        a list of them in the order of the inputs, or a dictionary of input names and shapes.
    dump_float: also writes what is float.

    Raises VernierError with the program's message.
    """
    call(["dump", "--force"], model, output_dir, {"dump_float": dump_float}, dump_data_reader, random_data_reader_input_shape,
         needs_samples=True, option="output-dir")
