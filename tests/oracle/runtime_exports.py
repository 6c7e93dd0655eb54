# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scripts on ONNX Runtime's kernels share: real networks, exports of them, and the graph that ONNX Runtime makes of one."""
import collections
import json
import math
import os
import subprocess

import oracle

oracle.use_oracle_python()
import onnx    # noqa: E402
import onnxruntime    # noqa: E402

SHARED = os.environ.get('VN_SHARED', '')
# Small ones first.
NETWORKS = ['kws_micro_fp32', 'mnist_rten_op18', 'mnist_burn', 'mnist_cntk_op8', 'cls_cifar10_winml_cnn', 'sr_espcn_bsd300_rgb', 'aud_yamnet256_st',
            'det_yunet_n_dynamic', 'cls_mobilenetv2_035_128_flowers', 'det_ultraface_rfb320', 'cls_ppocr_v2_angle', 'vit_cct2_32_op20',
            'det_openseeface_mnv3', 'seg_sinet_portrait_320', 'seg_teams_bg_dynamic', 'aud_basic_pitch_nmp', 'cls_squeezenet10_fp32_from_fp16',
            'det_nanodet_m_320', 'det_picodet_xs_416_op10', 'det_yolox_nano_416', 'det_picodet_s_320_constnodes', 'det_ultraface_rfb320_raw_bn']
SHAPES = {'det_yunet_n_dynamic': ['--shape', 'input=1x3x320x320'], 'seg_teams_bg_dynamic': ['--shape', 'bgrm=1x4x160x160']}
PRODUCTS = ('Conv', 'ConvTranspose', 'Gemm', 'MatMul')


def model_path(name):
    return os.path.join(SHARED, 'models', name + '.onnx')


def list_variants(path):
    """Label -> options of `quantize`."""
    types = {n.op_type for n in onnx.load(path, load_external_data=False).graph.node}
    place = [word for t in PRODUCTS if t in types for word in ('--op-types', t, '--float-output-types', t)]
    variants = {'plain': ['--per-channel'], 'a16': ['--preset', 'a16w8'], 'qoperator': ['--preset', 'qlinear'], 'signed': ['--preset', 'cpu-s8']}
    if place:
        variants['placed'] = ['--per-channel', *place]
        variants['channels'] = ['--per-channel', *place, '--activation-channels', 'depthwise']
    return variants


def export(cli, name, options, out, data='random'):
    """None, or what went wrong."""
    run = subprocess.run([cli, 'quantize', model_path(name), '-o', out, '--skip-compare', '--data', data, '-n', '2', '--threads', '1',
                          *SHAPES.get(name, []), *options], capture_output=True, text=True)
    return None if run.returncode == 0 else (run.stderr.strip().splitlines() or ['?'])[-1]


def open_session(path, optimized=None, profile=None):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
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
        dtype = {'tensor(float)': 'f4', 'tensor(int64)': 'i8', 'tensor(int32)': 'i4', 'tensor(float16)': 'f2', 'tensor(uint8)': 'u1',
                 'tensor(bool)': '?'}[i.type]
        feeds[i.name] = rng.random(shape).astype(dtype)
    return feeds


def profile(path, name, folder, runs=20):
    """For each node that ONNX Runtime runs: (kernel, profiled arguments, shortest microseconds); and small constants by name."""
    optimized = os.path.join(folder, 'optimized.onnx')
    named = os.path.join(folder, 'named.onnx')
    model = onnx.load(path)
    for i, node in enumerate(model.graph.node):
        node.name = f'n{i}'    # the profile knows nodes by name only, and some have none
    onnx.save(model, named)
    session = open_session(named, optimized, os.path.join(folder, 'profile'))
    feeds = make_feeds(session, name)
    for _ in range(runs):
        session.run(None, feeds)
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
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer if math.prod(t.dims) <= 8}
    return [(nodes[n], args[n], min(times[n])) for n in times if n in nodes], constants
