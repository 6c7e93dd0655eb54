# SPDX-License-Identifier: GPL-3.0-or-later
"""What the comparisons with onnxruntime share: finding the interpreter, networks, photographs and preprocessing."""
import glob
import os
import sys

SKIP = 77


def skip(why):
    print('skipped:', why)
    sys.exit(SKIP)


def use_oracle_python():
    """Runs the calling script again with the interpreter that has onnx and onnxruntime; skips if there is none."""
    python = os.environ.get('VN_ORACLE_PYTHON', '')
    if not python:
        skip('VN_ORACLE_PYTHON is not set')
    if os.environ.get('VN_ORACLE_RUNNING') != '1':
        os.environ['VN_ORACLE_RUNNING'] = '1'
        os.execv(python, [python] + sys.argv)


def shared_folder():
    folder = os.environ.get('VN_SHARED', '')
    if not folder or not os.path.isdir(folder):
        skip('VN_SHARED is not set')
    return folder


def photographs(folder):
    return sorted(glob.glob(os.path.join(folder, 'images', 'coco', '*.jpg')))


# file stem: channel order, mean, std
PREPROCESSING = {
    'det_ultraface_rfb320': ('rgb', [127] * 3, [128] * 3),
    'det_ultraface_rfb320_raw_bn': ('rgb', [127] * 3, [128] * 3),
    'cls_squeezenet10_fp32_from_fp16': ('bgr', [103.94, 116.78, 123.68], [1] * 3),
    'cls_squeezenet10_fp16_op7': ('bgr', [103.94, 116.78, 123.68], [1] * 3),
    'det_yolox_nano_416': ('bgr', [0] * 3, [1] * 3),
    'det_nanodet_m_320': ('bgr', [103.53, 116.28, 123.675], [57.375, 57.12, 58.395]),
    'det_picodet_xs_416_op10': ('rgb', [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]),
    'det_picodet_s_320_constnodes': ('rgb', [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]),
    'cls_mobilenetv2_035_128_flowers': ('rgb', [127.5] * 3, [127.5] * 3),
    'cls_mobilenetv2_qdq_ort_op11': ('rgb', [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]),
    'cls_shufflenet_v2_12_int8_qop': ('rgb', [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]),
    'det_openseeface_mnv3': ('rgb', [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]),
    'seg_sinet_portrait_320': ('bgr', [102.890434, 111.25247, 126.91212], [16048, 16019, 16921]),
    'det_yunet_n_dynamic': ('bgr', [0] * 3, [1] * 3),
    'style_candy_op7': ('rgb', [0] * 3, [1] * 3),
}

# Networks with open sizes: what to run them with, by file stem and position or name of the size, or input and position.
OPEN_SIZES = {
    'aud_silero_vad_v6_if': {('input', 1): 576},
    'det_yunet_n_dynamic': {2: 320, 3: 320},
    'seg_teams_bg_dynamic': {2: 144, 3: 160},
    'det_ppocr_v3_ch': {2: 320, 3: 320},
    'txt_bert_toy_op12_unsorted': {1: 8},
    'txt_tashkeel_transformer_fp32': {1: 64},
    'txt_gpt2_tiny_fp32': {'seq_len': 6, 'past_seq_len': 3, 'total_seq_len': 9},
}
# The same a second time, with other sizes; a batch is 2 then.
OTHER_SIZES = {
    'aud_silero_vad_v6_if': {('input', 1): 576},
    'det_yunet_n_dynamic': {2: 224, 3: 352},
    'seg_teams_bg_dynamic': {2: 96, 3: 208},
    'det_ppocr_v3_ch': {0: 1, 2: 96, 3: 416},
    'txt_bert_toy_op12_unsorted': {1: 11},
    'txt_tashkeel_transformer_fp32': {1: 37},
    'txt_gpt2_tiny_fp32': {'seq_len': 1, 'past_seq_len': 7, 'total_seq_len': 8},
}


def input_shape(stem, declared, other=False, name=None):
    """The static shape for one input of a network; what is open becomes 1, or 2 for the @other sizes."""
    sizes = (OTHER_SIZES if other else OPEN_SIZES).get(stem, {})
    rest = 2 if other else 1
    return [d if isinstance(d, int) and d > 0 else sizes.get((name, i), sizes.get(d, sizes.get(i, rest)))
            for i, d in enumerate(declared)]


def image_input(stem, path, shape):
    """One photograph as the input of that shape: 1, 3 or 4 channels, NCHW or NHWC."""
    import numpy as np
    from PIL import Image

    nhwc = shape[-1] in (1, 3, 4) and shape[1] not in (1, 3, 4)
    h, w, c = (shape[1], shape[2], shape[3]) if nhwc else (shape[2], shape[3], shape[1])
    order, mean, std = PREPROCESSING.get(stem, ('rgb', [0] * 3, [255] * 3))
    picture = Image.open(path).convert('RGB').resize((w, h), Image.BILINEAR)
    if c == 1:
        x = np.asarray(picture.convert('L'), np.float32)[..., None] / np.float32(255)
    else:
        x = np.asarray(picture, np.float32)
        x = x[..., ::-1] if order == 'bgr' else x
        x = (x - np.array(mean, np.float32)) / np.array(std, np.float32)
        if c == 4:
            x = np.concatenate([x, np.zeros_like(x[..., :1])], -1)
    x = x if nhwc else x.transpose(2, 0, 1)
    return np.ascontiguousarray(np.broadcast_to(x[None], shape), dtype=np.float32)


def is_image(shape):
    return len(shape) == 4 and (shape[1] in (1, 3, 4) or shape[-1] in (1, 3, 4)) and min(shape[2], shape[1] * shape[2]) > 8


# Inputs that are neither pictures nor sound: their range, by the start of the file stem.
RANGES = {'kws_micro': (0, 26), 'qdq_mobilenet_edgetpu': (-45, 51)}

# Whole numbers: one more than the largest, by file stem and input.
WHOLE = {('graph_tfbert_qa_3836nodes', 'input_ids'): 20, ('graph_tfbert_qa_3836nodes', 'attention_mask'): 2,
         ('graph_tfbert_qa_3836nodes', 'token_type_ids'): 2,
         ('txt_bert_toy_op12_unsorted', 'input_ids'): 90, ('txt_bert_toy_op12_unsorted', 'input_mask'): 2,
         ('txt_bert_toy_op12_unsorted', 'token_type_ids'): 2,
         ('txt_gpt2_tiny_fp32', 'input_ids'): 1000, ('txt_gpt2_tiny_fp32', 'position_ids'): 512,
         ('txt_gpt2_tiny_fp32', 'attention_mask'): 2,
         ('txt_magika_v3_3', 'bytes'): 257, ('txt_tashkeel_transformer_fp32', 'char_inputs'): 30}


# ... or always the same.
FIXED = {('aud_silero_vad_v6_if', 'sr'): 16000}


def whole_input(stem, name, seed, shape, dtype, other=False):
    """Random ids, masks and the like; a length is all there is."""
    import numpy as np

    if name.endswith('lengths'):
        return np.full(shape, (OTHER_SIZES if other else OPEN_SIZES)[stem][1], dtype)
    if (stem, name) in FIXED:
        return np.full(shape, FIXED[stem, name], dtype)
    return np.random.default_rng(seed).integers(0, WHOLE[stem, name], shape).astype(dtype)


def signal_input(stem, seed, shape, dtype):
    """A sum of sines with some noise, for sound and other inputs that are no pictures."""
    import numpy as np

    rng = np.random.default_rng(seed)
    n = int(np.prod(shape))
    t = np.arange(n)
    x = sum(a * np.sin(t * f) for a, f in zip((0.4, 0.2, 0.1), rng.uniform(0.01, 0.5, 3))) + rng.normal(0, 0.02, n)
    low, high = next((r for start, r in RANGES.items() if stem.startswith(start)), (-1, 1))
    return (low + (x + 1) / 2 * (high - low)).reshape(shape).astype(dtype)
