# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scripts on ONNX Runtime's kernels share: real and made networks, exports of them, and the graph that ONNX Runtime
makes of one."""
import atexit
import collections
import functools
import json
import math
import os
import shutil
import subprocess
import tempfile
import time

import oracle

oracle.use_oracle_python()
import onnx    # noqa: E402
import onnxruntime    # noqa: E402
import time_networks    # noqa: E402

SHARED = os.environ.get('VN_SHARED', '')
# Small ones first.
NETWORKS = ['kws_micro_fp32', 'mnist_rten_op18', 'mnist_burn', 'mnist_cntk_op8', 'cls_cifar10_winml_cnn', 'sr_espcn_bsd300_rgb',
            'aud_yamnet256_st',
            'det_yunet_n_dynamic', 'cls_mobilenetv2_035_128_flowers', 'det_ultraface_rfb320', 'cls_ppocr_v2_angle',
            'vit_cct2_32_op20',
            'det_openseeface_mnv3', 'seg_sinet_portrait_320', 'seg_teams_bg_dynamic', 'aud_basic_pitch_nmp',
            'cls_squeezenet10_fp32_from_fp16',
            'det_nanodet_m_320', 'det_picodet_xs_416_op10', 'det_yolox_nano_416', 'det_picodet_s_320_constnodes',
            'det_ultraface_rfb320_raw_bn']
# Times are measured of these, too: with recurrent layers, transformers, large pictures.
MORE = ['aud_dtln_1_lstm', 'aud_gtcrn_stream_gru', 'sr_espcn_x3_op10', 'txt_bert_toy_op12_unsorted',
        'txt_tashkeel_transformer_fp32', 'det_ppocr_v3_ch',
        'det_plate_yolov5face_320', 'seg_deeplab_dm05_513_op8', 'enh_tbefn_lowlight_180x320']
LEAST_RUNS, MOST_RUNS, SECONDS = 8, 100, 0.15    # of measuring a file
MADE = 'made_'    # in front of a name of time_networks.py
SHAPES = {'det_yunet_n_dynamic': ['--shape', 'input=1x3x320x320'], 'seg_teams_bg_dynamic': ['--shape', 'bgrm=1x4x160x160'],
          'det_ppocr_v3_ch': ['--shape', 'x=1x3x320x320'],
          'txt_bert_toy_op12_unsorted': [w for i in ('input_ids', 'token_type_ids', 'input_mask')
                                         for w in ('--shape', i + '=1x64')],
          'txt_tashkeel_transformer_fp32': ['--shape', 'char_inputs=1x64', '--shape', 'input_lengths=1']}
LENGTHS = {'input_lengths': 64}    # inputs by which a network leaves off
PRODUCTS = ('Conv', 'ConvTranspose', 'Gemm', 'MatMul')


@functools.lru_cache(maxsize=1)
def made_folder():
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, True)
    return folder


def model_path(name):
    """Of a network of ../shared, or of one that is made for it now."""
    if not name.startswith(MADE):
        return os.path.join(SHARED, 'models', name + '.onnx')
    path = os.path.join(made_folder(), name + '.onnx')
    if not os.path.exists(path):
        time_networks.build(name.removeprefix(MADE), path)
    return path


def list_timed():
    """Names of all networks that times are measured of."""
    return NETWORKS + MORE + [MADE + name for name in time_networks.NETWORKS]


def list_weight_variants(path):
    """The same of products with small weights."""
    types = {n.op_type for n in onnx.load(path, load_external_data=False).graph.node}
    if not types & {'MatMul', 'Gemm'}:
        return {}
    nbits = ['--format', 'matmulnbits', '--block-size', '32', '--weight', 'uint8', '--accuracy-level']
    return {'w4': ['--preset', 'w4'], 'w8': ['--preset', 'w8'], 'nbits4': ['--preset', 'w4-matmul'],
            'nbits4-float': ['--preset', 'w4-matmul', '--accuracy-level', '0'], 'nbits8': [*nbits, '4'],
            'nbits8-float': [*nbits, '0']}


def list_variants(path):
    """Label -> options of `quantize`."""
    types = {n.op_type for n in onnx.load(path, load_external_data=False).graph.node}
    place = [word for t in PRODUCTS if t in types for word in ('--op-types', t, '--float-output-types', t)]
    variants = {'plain': ['--per-channel'], 'a16': ['--preset', 'a16w8'], 'qoperator': ['--preset', 'qlinear'],
                'signed': ['--preset', 'cpu-s8']}
    if place:
        variants['placed'] = ['--per-channel', *place]
        variants['channels'] = ['--per-channel', *place, '--activation-channels', 'depthwise']
        variants['islands'] = ['--per-channel', *place[0:2]]    # most pairs stay
    if types & {'MatMul', 'Gemm', 'LSTM', 'GRU'}:
        variants['dynamic'] = ['--preset', 'dynamic']
    return variants


def export(cli, name, options, out, data='random'):
    """None, or what went wrong."""
    run = subprocess.run([cli, 'quantize', model_path(name), '-o', out, '--skip-compare', '--no-verify', '--data', data, '-n',
                          '2', '--threads', '1',
                          *SHAPES.get(name, []), *options], capture_output=True, text=True)
    return None if run.returncode == 0 else (run.stderr.strip().splitlines() or ['?'])[-1]


def export_all(cli, name, folder, labels=None, variants=list_variants):
    """Label -> path of a network and its exports, all or some; those that are there already are taken."""
    files = {'float': model_path(name)}
    for label, options in variants(files['float']).items():
        path = os.path.join(folder, f'{name}.{label}.onnx')
        if (labels is None or label in labels) and (os.path.exists(path) or export(cli, name, options, path) is None):
            files[label] = path
    return files


def open_session(path, optimized=None, profile=None):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    # values by chance fade away in deep networks, others do not
    options.add_session_config_entry('session.set_denormal_as_zero', '1')
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    if optimized:
        options.optimized_model_filepath = optimized
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = profile
    return onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])


def optimize(path, folder):
    out = os.path.join(folder, 'optimized.onnx')
    open_session(path, out)
    return onnx.load(out)


def get_kernel(node):
    return node.op_type if node.domain in ('', 'ai.onnx') else f'{node.domain}.{node.op_type}'


def make_feeds(session, name):
    import numpy
    rng = numpy.random.default_rng(1)
    shapes = {w.split('=')[0]: [int(d) for d in w.split('=')[1].split('x')] for w in SHAPES.get(name, []) if '=' in w}
    feeds = {}
    for i in session.get_inputs():
        shape = shapes.get(i.name, [d if isinstance(d, int) and d > 0 else 1 for d in i.shape])
        dtype = {'tensor(float)': 'f4', 'tensor(int64)': 'i8', 'tensor(int32)': 'i4', 'tensor(float16)': 'f2',
                 'tensor(uint8)': 'u1',
                 'tensor(bool)': '?'}[i.type]
        feeds[i.name] = numpy.full(shape, LENGTHS[i.name], dtype) if i.name in LENGTHS else rng.random(shape).astype(dtype)
    return feeds


def profile(path, name, folder):
    """For each node that ONNX Runtime runs: (kernel, profiled arguments, shortest microseconds); and initializers by name."""
    optimized = os.path.join(folder, 'optimized.onnx')
    named = os.path.join(folder, 'named.onnx')
    model = onnx.load(path)
    for i, node in enumerate(model.graph.node):
        node.name = f'n{i}'    # the profile knows nodes by name only, and some have none
    onnx.save(model, named)
    session = open_session(named, optimized, os.path.join(folder, 'profile'))
    feeds = make_feeds(session, name)
    began = time.perf_counter()
    for i in range(MOST_RUNS):
        session.run(None, feeds)
        if i >= LEAST_RUNS and time.perf_counter() - began > SECONDS:
            break
    trace = session.end_profiling()
    with open(trace, encoding='utf-8') as file:
        events = json.load(file)
    os.unlink(trace)
    graph = onnx.load(optimized).graph
    nodes = {n.name: n for n in graph.node}
    times = collections.defaultdict(list)
    args = {}
    for e in events:
        if e.get('cat') == 'Node' and e['name'].endswith('_kernel_time'):
            times[e['name'][:-12]].append(e['dur'])
            args[e['name'][:-12]] = e['args']
    constants = {t.name: t for t in graph.initializer}
    return [(nodes[n], args[n], min(times[n])) for n in times if n in nodes], constants
