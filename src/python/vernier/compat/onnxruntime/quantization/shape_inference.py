# SPDX-License-Identifier: GPL-3.0-or-later
"""onnxruntime.quantization.shape_inference: quant_pre_process()."""
from __future__ import annotations

import os
from typing import Any, Optional, Union

from ..._call import call


def quant_pre_process(input_model_path: Any, output_model_path: Union[str, "os.PathLike[str]"], skip_optimization: bool = False,
                      skip_onnx_shape: bool = False, skip_symbolic_shape: bool = False, auto_merge: bool = False,
                      int_max: int = 2**31 - 1, guess_output_rank: bool = False, verbose: int = 0,
                      save_as_external_data: bool = False, all_tensors_to_one_file: bool = False,
                      external_data_location: Optional[str] = None, external_data_size_threshold: int = 1024) -> None:
    """Prepares a float model: folds and fuses what can be, and writes the shapes of all tensors into it.

    input_model_path: a path or a ModelProto. Where weights go counts with save_as_external_data only.
    """
    keywords = {"skip_optimization": skip_optimization, "skip_onnx_shape": skip_onnx_shape,
                "skip_symbolic_shape": skip_symbolic_shape, "auto_merge": auto_merge, "int_max": int_max,
                "guess_output_rank": guess_output_rank, "verbose": verbose}
    if save_as_external_data:
        keywords.update(save_as_external_data=True, all_tensors_to_one_file=all_tensors_to_one_file,
                        external_data_size_threshold=external_data_size_threshold)
        if external_data_location not in (None, "", "./"):
            keywords["external_data_location"] = external_data_location  # type: ignore[assignment]
    call(["prepare"], input_model_path, output_model_path, keywords)
