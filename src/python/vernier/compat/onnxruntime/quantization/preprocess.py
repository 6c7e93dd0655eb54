# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m vernier.compat.onnxruntime.quantization.preprocess --input MODEL --output MODEL, as the one of onnxruntime."""
from __future__ import annotations

import argparse
from typing import List, Optional

from .shape_inference import quant_pre_process


def _to_bool(text: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0"):
        raise argparse.ArgumentTypeError(f"{text!r} is not true or false")
    return text.lower() in ("true", "1")


def main(arguments: Optional[List[str]] = None) -> None:
    """Reads the options, and prepares the model."""
    parser = argparse.ArgumentParser(description="Prepares a float model for quantization.")
    parser.add_argument("--input", required=True, metavar="MODEL")
    parser.add_argument("--output", required=True, metavar="MODEL")
    for name in ("skip_optimization", "skip_onnx_shape", "skip_symbolic_shape", "auto_merge", "guess_output_rank",
                 "save_as_external_data", "all_tensors_to_one_file"):
        parser.add_argument("--" + name, type=_to_bool, default=False, metavar="true|false")
    parser.add_argument("--int_max", type=int, default=2**31 - 1, metavar="N")
    parser.add_argument("--verbose", type=int, default=0, metavar="N")
    parser.add_argument("--external_data_location", metavar="FILE")
    parser.add_argument("--external_data_size_threshold", type=int, default=1024, metavar="BYTES")
    given = vars(parser.parse_args(arguments))
    quant_pre_process(given.pop("input"), given.pop("output"), **given)


if __name__ == "__main__":
    main()
