# SPDX-License-Identifier: GPL-3.0-or-later
"""What the comparisons with onnxruntime share: finding the interpreter, sessions whose sums are right on any processor, networks,
photographs and preprocessing."""
import functools
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
        os.environ.update(VN_ORACLE_RUNNING='1', OPENBLAS_NUM_THREADS='1')
        os.execv(python, [python] + sys.argv)
    use_one_thread()


def use_one_thread():
    """Sessions of onnxruntime, its calibrators' too, get one thread unless they ask for more: others wait for work in a loop,
    which costs as much as the work."""
    import onnxruntime
    original = onnxruntime.InferenceSession.__init__

    def begin(self, path_or_bytes, sess_options=None, *args, **named):
        options = sess_options or onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.intra_op_num_threads or 1
        original(self, path_or_bytes, options, *args, **named)

    onnxruntime.InferenceSession.__init__ = begin


# ---- sessions ----

# Products of onnxruntime by operator: the place of an input of the left operand's type (None: uint8), and of each right operand
# with its
# zero point.
PRODUCTS = {'MatMulInteger': (0, [(1, 3)]), 'ConvInteger': (0, [(1, 3)]), 'QLinearMatMul': (2, [(3, 5)]),
            'QLinearConv': (2, [(3, 5)]),
            'QGemm': (2, [(3, 5)]), 'MatMulIntegerToFloat': (0, [(1, 5)]), 'DynamicQuantizeMatMul': (None, [(1, 3)]),
            'QAttention': (0, [(1, 7)]), 'DynamicQuantizeLSTM': (None, [(1, 9), (2, 11)])}
# What becomes such a product by optimizing, where both operands come from DequantizeLinear; left ones of type int8 are made uint8
# then.
PAIRED = ('Conv', 'MatMul', 'Gemm')


@functools.lru_cache(maxsize=None)
def saturates():
    """Whether onnxruntime's kernels for uint8 × int8 give wrong sums here: x86 without VNNI adds two products up in 16 bits."""
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper
    given = [helper.make_tensor_value_info('a', TensorProto.UINT8, [1, 64]),
             helper.make_tensor_value_info('b', TensorProto.INT8, [64, 1])]
    graph = helper.make_graph([helper.make_node('MatMulInteger', ['a', 'b'], ['y'])], 'sum', given,
                              [helper.make_tensor_value_info('y', TensorProto.INT32, [1, 1])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=['CPUExecutionProvider'])
    found, = session.run(None, {'a': np.full((1, 64), 255, np.uint8), 'b': np.full((64, 1), 127, np.int8)})
    if found.item() != 255 * 127 * 64:
        print('the kernels of onnxruntime saturate on this processor: right operands of type int8 are given to it as uint8')
    return found.item() != 255 * 127 * 64


def open_session(model, options=None):
    """A session for a file, or for a network or its bytes, on the processor. Where kernels saturate it gets another form of the
    same network, whose right operands are uint8 and 128 larger, as their zero points are: what it must compute is the same.
    (The option session.x64quantprecision does that for constants, too, but in onnxruntime 1.32 networks with signed activations,
    or zero points that weights share, do not load with it.)"""
    import onnxruntime
    if not isinstance(model, (str, bytes)):
        model = model.SerializeToString()
    if saturates():
        model = with_unsigned_operands(model)
    return onnxruntime.InferenceSession(model, options, providers=['CPUExecutionProvider'])


def with_unsigned_operands(model):
    """A file or the bytes of a network: with all products as uint8 × uint8, if it has others; otherwise as it was given."""
    import onnx
    found = onnx.load_from_string(model) if isinstance(model, bytes) else onnx.load(model, load_external_data=False)
    if not any(node.op_type in (*PRODUCTS, 'DequantizeLinear') for graph in list_graphs(found.graph) for node in graph.node):
        return model
    if not isinstance(model, bytes):
        found = onnx.load(model)
    try:
        inferred = onnx.shape_inference.infer_shapes(found)
    except Exception:    # operators and types that inference does not know
        inferred = found
    types = {}
    for graph in list_graphs(inferred.graph):
        types.update({v.name: v.type.tensor_type.elem_type for v in [*graph.value_info, *graph.input, *graph.output]})
        types.update({i.name: i.data_type for i in graph.initializer})
    changed = sum(turn_operands(graph, types, '_turned%d' % k) for k, graph in enumerate(list_graphs(found.graph)))
    return found.SerializeToString() if changed else model


def list_graphs(graph):
    """A graph, and all inside its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g] if attribute.HasField('g') else attribute.graphs:
                yield from list_graphs(inner)


def find_operands(graph, types):
    """Right operands of products of uint8 × int8: (node, place of the operand, place of its zero point)."""
    from onnx import TensorProto

    def has(node, places, kind):
        return kind in [types.get(name) for k, name in enumerate(node.input) if name and k in places]

    makers = {node.output[0]: node for node in graph.node if node.op_type == 'DequantizeLinear'}
    found = {}
    for node in graph.node:
        left, operands = PRODUCTS.get(node.op_type, (None, []))
        if operands and (left is None or has(node, [left], TensorProto.UINT8)):
            found.update({(id(node), k): (node, k, zero) for k, zero in operands if has(node, [k, zero], TensorProto.INT8)})
        pair = [makers.get(name) for name in node.input[:2]] if node.op_type in PAIRED else []
        if len(pair) == 2 and all(pair) and has(pair[1], [0, 2], TensorProto.INT8):
            found[pair[1].output[0]] = (pair[1], 0, 2)
    return list(found.values())


def turn_operands(graph, types, ending):
    """Gives products of uint8 × int8 in a graph operands of uint8; returns how many. They are computed where they are no
    constants.
    @ending: of new names, of no other graph."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
    held, turned, computed = {i.name: i for i in graph.initializer}, set(), {}

    def turn(node, place):
        """The name of the same numbers, 128 larger."""
        name = node.input[place]
        new = (name or node.output[0] + '_zero') + ending
        if new in turned:
            return new
        turned.add(new)
        if not name:
            graph.initializer.append(numpy_helper.from_array(np.uint8(128), new))
        elif name in held:
            graph.initializer.append(numpy_helper.from_array((numpy_helper.to_array(held[name]).astype(np.int16)
                                                              + 128).astype(np.uint8), new))
        else:
            graph.initializer.append(numpy_helper.from_array(np.int32(128), new + '_by'))
            computed.setdefault(node.output[0], []).extend([
                helper.make_node('Cast', [name], [new + '_wide'], to=TensorProto.INT32),
                helper.make_node('Add', [new + '_wide', new + '_by'], [new + '_sum']),
                helper.make_node('Cast', [new + '_sum'], [new], to=TensorProto.UINT8)])
        return new

    operands = find_operands(graph, types)
    for node, place, zero in operands:
        node.input.extend([''] * (zero + 1 - len(node.input)))
        for k in (place, zero):
            node.input[k] = turn(node, k)
    if operands:
        nodes = [n for node in graph.node for n in [*computed.get(node.output[0], []),
                                                    type(node).FromString(node.SerializeToString())]]
        del graph.node[:]
        graph.node.extend(nodes)
    return len(operands)


# ---- data ----

QUICK_BYTES = 600000    # of a network that takes part in what every change is tried with


def choose_networks(paths):
    """The small ones of real networks; all where --all is among the arguments."""
    if '--all' in sys.argv:
        return paths
    return [path for path in paths if os.path.getsize(path) <= QUICK_BYTES]


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
