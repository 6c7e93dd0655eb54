# SPDX-License-Identifier: GPL-3.0-or-later
"""onnxruntime.quantization.shape_inference: quant_pre_process()."""
from __future__ import annotations

import os
from typing import Any, Optional, Union

from ..._call import call


def quant_pre_process(input_model: Any = None, output_model_path: Union[str, "os.PathLike[str]"] = "",
                      skip_optimization: bool = False, skip_onnx_shape: bool = False, skip_symbolic_shape: bool = False,
                      auto_merge: bool = False, int_max: int = 2**31 - 1, guess_output_rank: bool = False, verbose: int = 0,
                      save_as_external_data: bool = False, all_tensors_to_one_file: bool = False,
                      external_data_location: Optional[str] = None, external_data_size_threshold: int = 1024, *,
                      input_model_path: Any = None) -> None:
    """Prepares a float model: folds and fuses what can be, and writes the shapes of all tensors into it.

    input_model: a path or a ModelProto; input_model_path is what older versions call it.
    external_data_location, all_tensors_to_one_file, external_data_size_threshold (bytes): count with save_as_external_data only.

    Raises VernierError with the program's message, and TypeError without a model or a path for the result.
    """
    model = input_model if input_model is not None else input_model_path
    if model is None or not output_model_path:
        raise TypeError("quant_pre_process() takes a model and the path of the result")
    keywords = {"skip_optimization": skip_optimization, "skip_onnx_shape": skip_onnx_shape,
                "skip_symbolic_shape": skip_symbolic_shape, "auto_merge": auto_merge, "int_max": int_max,
                "guess_output_rank": guess_output_rank, "verbose": verbose}
    if save_as_external_data:
        keywords.update(save_as_external_data=True, all_tensors_to_one_file=all_tensors_to_one_file,
                        external_data_size_threshold=external_data_size_threshold)
        if external_data_location not in (None, "", "./"):
            keywords["external_data_location"] = external_data_location  # type: ignore[assignment]
    call(["prepare"], model, output_model_path, keywords)
