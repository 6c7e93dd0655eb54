# SPDX-License-Identifier: GPL-3.0-or-later
"""The functions of other quantizers under their own names: change the import line, and the script runs.

    from onnxruntime.quantization import quantize_static      from vernier.compat.onnxruntime.quantization import quantize_static
    import vai_q_onnx                                         from vernier.compat import vai_q_onnx
    import xquant                                             from vernier.compat import xquant
"""
