# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m vernier.compat.calibrate --model_path MODEL --dataset_path PATH, as calibrate.py of ONNX Runtime's tool."""
from __future__ import annotations

import argparse
from typing import List, Optional

from .._program import run


def main(arguments: Optional[List[str]] = None) -> None:
    """Reads the options, and writes a model of QLinearConv and QLinearMatMul with the average ranges of the samples.

    Raises VernierError with the program's message.
    """
    parser = argparse.ArgumentParser(description="Quantizes a model with the average ranges that samples have.")
    parser.add_argument("--model_path", required=True, metavar="MODEL")
    parser.add_argument("--dataset_path", required=True, metavar="PATH", help="a folder of pictures or tensors")
    parser.add_argument("--output_model_path", default="calibrated_quantized_model.onnx", metavar="MODEL")
    parser.add_argument("--calib_mode", default="naive", choices=["naive"])
    parser.add_argument("--data_preprocess", metavar="NAME",
                        help="preprocess_method1, preprocess_method2, or what “vernier-cli quantize --preprocess” takes")
    given = parser.parse_args(arguments)
    preprocess = [] if given.data_preprocess is None else [f"--preprocess={given.data_preprocess}"]
    run(["quantize", given.model_path, f"--output={given.output_model_path}", f"--data={given.dataset_path}", *preprocess,
         "--preset=onnxruntime.quantize_static", "--format=qoperator", "--method=average", "--activation=u8", "--weight=u8",
         "--op_types_to_quantize=Conv", "--op_types_to_quantize=MatMul", "--held-out=0", "--skip-compare", "--no-verify"])


if __name__ == "__main__":
    main()
