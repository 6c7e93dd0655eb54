#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""calls.py CLI SOURCE_DIR NETWORK: the calls of the reference documents, as they stand there but for the import line, on one of
NETWORKS, in an environment that was made for it and has the package installed. Each writes what the command line writes for the
same settings in its own words, byte for byte, and quantize_static() and quantize_dynamic() the scales of
onnxruntime.quantization. On the demo network also vernier.open() and its results, readers of all kinds, errors.

document of ../shared/reference                     call                                        here
onnxruntime-quantization-example                    python -m …quantization.preprocess          check_runtime
                                                    run.py: quantize_static(optimize_model)     check_runtime
onnxruntime-quantization-tool-overview              calibrate.py                                check_calibrate
                                                    quantize(): modes, parameters, options      check_modes
quark-onnx-optional-utilities                       quant_pre_process() with all keywords       check_runtime
                                                    get_library_path()                          check_library
                                                    dump_model()                                check_dump
ryzen-ai-onnx-quantization-tutorial                 quantize_static()                           check_vai
                                                    quant_pre_process(), get_library_path()     as above
                                                    dump_model()                                check_dump
xquant-model-quantization-manual                    quantize_onnx_model(), python -m xquant     check_xquant
"""
import gc
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

CLI, SOURCE = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(SOURCE / "tests" / "oracle"))
import oracle    # noqa: E402

oracle.use_oracle_python()


def use_fresh_environment():
    """Runs this script again in an environment that has the package, the program and what the tests' one has, and in no folder
    of the source."""
    if "VN_CALLS_ENVIRONMENT" in os.environ:
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        python = Path(folder, "bin", "python")
        site = Path(subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True,
                                   text=True, check=True).stdout.strip())
        shutil.copytree(SOURCE / "src" / "python" / "vernier", site / "vernier", ignore=shutil.ignore_patterns("__pycache__"))
        Path(site, "tests.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
        Path(folder, "bin", "vernier-cli").symlink_to(CLI)
        environment = dict(os.environ, VN_CALLS_ENVIRONMENT=folder, PATH=f"{folder}/bin:{os.environ['PATH']}")
        for name in ("PYTHONPATH", "VERNIER_CLI"):
            environment.pop(name, None)
        done = subprocess.run([python, "-B", os.path.abspath(__file__), CLI, str(SOURCE), *sys.argv[3:]], env=environment,
                              cwd=folder)
    sys.exit(done.returncode)


use_fresh_environment()
import numpy as np                  # noqa: E402
import onnx                         # noqa: E402
import onnxruntime                  # noqa: E402
import onnx.numpy_helper            # noqa: E402
import onnxruntime.quantization as peer                                                     # noqa: E402
import vernier                                                                              # noqa: E402
from vernier.compat import calibrate, quark_onnx, vai_q_onnx, xquant                        # noqa: E402
import vernier.compat.onnxruntime.quantization as ours                                      # noqa: E402
from vernier.compat.onnxruntime.quantization import (CalibrationDataReader, QuantType, QuantizationMode,    # noqa: E402
                                                     preprocess, quantize, quantize_dynamic, quantize_static,
                                                     shape_inference)

N = 6
n_checked = 0
faults = []


def check(good, what):
    global n_checked
    n_checked += 1
    if not good:
        faults.append(what)
        print("not ok", what, flush=True)


def command(*arguments):
    done = subprocess.run([CLI, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Reader(CalibrationDataReader):
    def __init__(self, samples):
        self.samples = iter(samples)

    def get_next(self):
        return next(self.samples, None)


def graph_of(path):
    """All of the file but what it says of the program's settings."""
    model = onnx.load(path)
    del model.metadata_props[:]
    return model.SerializeToString()


def scales_of(path):
    arrays = {i.name: onnx.numpy_helper.to_array(i) for i in onnx.load(path).graph.initializer}
    return {name: a for name, a in arrays.items() if name.endswith("_scale")}


def same_scales(path, other):
    """Of every tensor; some have other names there, as those of folded activations and of transposed weights."""
    mine, theirs = scales_of(path), scales_of(other)
    both = mine.keys() & theirs.keys()
    rest = [sorted(float(x) for k in a.keys() - both for x in np.ravel(a[k])) for a in (mine, theirs)]
    return len(both) > 20 and len(rest[0]) == len(rest[1]) and np.allclose(*rest, rtol=2e-6, atol=0) and \
        all(mine[k].size == theirs[k].size and np.allclose(mine[k].ravel(), theirs[k].ravel(), rtol=2e-6, atol=0) for k in both)


def runs(path, sample):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feed = {i.name: sample if sample.shape[1:] == tuple(i.shape[1:]) else np.moveaxis(sample, 1, 3) for i in session.get_inputs()}
    return session.run(None, feed)[0]


def first_array(samples):
    return next(iter(samples[0].values()))


# That function fuses by default.
LIKE_VAI = ["--held-out=0", "--skip-compare", "--no-verify", "--optimize"]
MINMSE = ["--method=minmse", "--weight-method=minmse", "--power-of-two=nearest", "--narrow-range"]


def list_vai_calls(tool, wide_format, wide_type):
    """Keywords of a call, and the same in the command line's words."""
    usual = dict(quant_format=tool.QuantFormat.QDQ, calibrate_method=tool.PowerOfTwoMethod.MinMSE,
                 activation_type=tool.QuantType.QUInt8, weight_type=tool.QuantType.QInt8)
    npu = dict(usual, enable_dpu=True, extra_options={"ActivationSymmetric": True})
    wide = dict(usual, quant_format=wide_format.QDQ, activation_type=wide_type.QInt16)
    extended = ["--preset=npu-transformer", "--format=extended", *MINMSE]
    return {
        "IPU_CNN": (npu, ["--preset=npu-cnn"]),
        "IPU_Transformer": (dict(quant_format=tool.QuantFormat.QDQ, calibrate_method=tool.CalibrationMethod.MinMax,
                                 activation_type=tool.QuantType.QInt8, weight_type=tool.QuantType.QInt8),
                            ["--preset=npu-transformer"]),
        "CPU": (dict(usual, calibrate_method=tool.CalibrationMethod.MinMax),
                ["--preset=npu-transformer", "--activation=u8"]),
        "input_nodes": (dict(npu, input_nodes=[], output_nodes=[]), ["--preset=npu-cnn"]),
        "QInt16": (dict(wide, weight_type=wide_type.QInt16), [*extended, "--activation=s16", "--weight=s16"]),
        "A16W8": (wide, [*extended, "--activation=s16"]),
        "QFloat16": (dict(wide, activation_type=wide_type.QFloat16, weight_type=wide_type.QFloat16),
                     [*extended, "--activation=fp16", "--weight=fp16"]),
        "convert_fp16_to_fp32": (dict(npu, convert_fp16_to_fp32=True), ["--preset=npu-cnn"]),
        "convert_nchw_to_nhwc": (dict(npu, convert_nchw_to_nhwc=True), ["--preset=npu-cnn", "--passes=nhwc-inputs"]),
        "include_cle": (dict(npu, include_cle=True, extra_options={
            "ActivationSymmetric": True, "ReplaceClip6Relu": True, "CLESteps": 1, "CLEScaleAppendBias": True}),
            ["--preset=npu-cnn", "--equalize=amd", "--equalize-steps=1", "--clip6-to-relu"]),
    }


def list_vai_options(tool, wide_format, wide_type):
    """The values that the tutorial lists for keywords, beyond those in its calls."""
    cpu = dict(quant_format=tool.QuantFormat.QDQ, activation_type=tool.QuantType.QUInt8, weight_type=tool.QuantType.QInt8)
    npu = dict(quant_format=tool.QuantFormat.QDQ, calibrate_method=tool.PowerOfTwoMethod.NonOverflow, enable_dpu=True,
               activation_type=tool.QuantType.QUInt8, weight_type=tool.QuantType.QInt8,
               extra_options={"ActivationSymmetric": True})
    wide = dict(quant_format=wide_format.QDQ, calibrate_method=tool.PowerOfTwoMethod.MinMSE)
    float_scales = ["--preset=npu-transformer", "--activation=u8"]
    extended = ["--preset=npu-transformer", "--format=extended", *MINMSE]
    found = {
        "NonOverflow": (npu, ["--preset=npu-cnn", "--method=nonoverflow", "--weight-method=nonoverflow"]),
        "Entropy": (dict(cpu, calibrate_method=tool.CalibrationMethod.Entropy), [*float_scales, "--method=entropy"]),
        "Percentile": (dict(cpu, calibrate_method=tool.CalibrationMethod.Percentile), [*float_scales, "--method=percentile"]),
        "QOperator": (dict(cpu, quant_format=tool.QuantFormat.QOperator, calibrate_method=tool.CalibrationMethod.MinMax),
                      [*float_scales, "--format=qoperator"]),
        "FixNeuron": (dict(quant_format=wide_format.FixNeuron),
                      ["--preset=npu-transformer", "--format=fixneuron", "--activation=s8", *MINMSE]),
    }
    for name, short in (("QUInt16", "u16"), ("QInt32", "s32"), ("QUInt32", "u32"), ("QBFloat16", "bf16")):
        kind = wide_type[name]
        found[name] = (dict(wide, activation_type=kind, weight_type=kind),
                       [*extended, f"--activation={short}", f"--weight={short}"])
    return found


def check_vai(model, samples, folder):
    """The tutorial of AMD's quantizer, and its successor's names."""
    for name, (keywords, words) in list_vai_calls(vai_q_onnx, vai_q_onnx.VitisQuantFormat, vai_q_onnx.VitisQuantType).items():
        vai_q_onnx.quantize_static(model, "there.onnx", Reader(samples), **keywords)
        command("quantize", model, "-o", "here.onnx", "--data", folder, *LIKE_VAI, *words)
        check(graph_of("there.onnx") == graph_of("here.onnx"), f"vai_q_onnx {name}")
        onnx.checker.check_model("there.onnx")
        check(np.isfinite(runs("there.onnx", first_array(samples))).all(), f"vai_q_onnx {name} runs")
        if name == "IPU_CNN":
            quark_onnx.quantize_static(model, "quark.onnx", Reader(samples), **keywords)
            check(graph_of("quark.onnx") == graph_of("here.onnx"), "quark_onnx")
    vai_q_onnx.quantize_static(model, "there.onnx", None, quant_format=vai_q_onnx.QuantFormat.QDQ,
                               calibrate_method=vai_q_onnx.PowerOfTwoMethod.MinMSE, enable_dpu=True,
                               extra_options={"ActivationSymmetric": True},
                               random_data_reader_input_shape=list(first_array(samples).shape))
    name, array = next(iter(samples[0].items()))
    command("quantize", model, "-o", "here.onnx", "--data=random", *LIKE_VAI, "--preset=npu-cnn", "--activation=s8",
            f"--shape={name}={'x'.join(map(str, array.shape))}")
    check(graph_of("there.onnx") == graph_of("here.onnx"), "vai_q_onnx random samples")


def check_vai_options(model, samples, folder):
    options = list_vai_options(vai_q_onnx, vai_q_onnx.VitisQuantFormat, vai_q_onnx.VitisQuantType)
    for name, (keywords, words) in options.items():
        vai_q_onnx.quantize_static(model, "there.onnx", Reader(samples), **keywords)
        command("quantize", model, "-o", "here.onnx", "--data", folder, *LIKE_VAI, *words)
        check(graph_of("there.onnx") == graph_of("here.onnx"), f"vai_q_onnx {name}")
        check(np.isfinite(runs("there.onnx", first_array(samples))).all(), f"vai_q_onnx {name} runs without a library")


def check_dump(model, samples, folder):
    vai_q_onnx.quantize_static(model, "fix.onnx", Reader(samples), quant_format=vai_q_onnx.VitisQuantFormat.FixNeuron)
    for tool in (vai_q_onnx, quark_onnx):
        tool.dump_model("fix.onnx", dump_data_reader=Reader(samples), dump_float=True, output_dir=f"dump_{tool.__name__}")
        command("dump", "fix.onnx", "--data", folder, "--float", "-o", f"here_{tool.__name__}")
        ours = {p.name: p.read_bytes() for p in Path(f"here_{tool.__name__}").iterdir()}
        theirs = {p.name: p.read_bytes() for p in Path(f"dump_{tool.__name__}").iterdir()}
        check(len(ours) > 50 and ours == theirs, f"{tool.__name__}.dump_model")
        tool.dump_model("fix.onnx", dump_data_reader=None, random_data_reader_input_shape={}, dump_float=False,
                        output_dir="one_there")
        command("dump", "fix.onnx", "--data=random", "-o", "one_here", "--force")
        ours, theirs = ({p.name: p.read_bytes() for p in Path(name).iterdir()} for name in ("one_here", "one_there"))
        check(len(ours) > 50 and ours == theirs, f"{tool.__name__}.dump_model: random sample")


def check_runtime(model, samples, folder):
    """What onnxruntime.quantization does with the same samples."""
    path = "prepared.onnx"
    preprocess.main(["--input", model, "--output", path, "--skip_symbolic_shape", "True"])
    command("prepare", model, "-o", "here.onnx", "--skip-symbolic-shape")
    check(Path(path).read_bytes() == Path("here.onnx").read_bytes(), "python -m preprocess")
    shape_inference.quant_pre_process(model, "there.onnx", skip_optimization=True, auto_merge=True, int_max=2**31 - 1)
    command("prepare", model, "-o", "here.onnx", "--skip-optimization", "--auto-merge")
    check(Path("there.onnx").read_bytes() == Path("here.onnx").read_bytes(), "quant_pre_process")
    shape_inference.quant_pre_process(input_model_path=model, output_model_path="there.onnx", skip_optimization=False,
                                      skip_onnx_shape=False, skip_symbolic_shape=False, auto_merge=False, int_max=2**31 - 1,
                                      guess_output_rank=False, verbose=0, save_as_external_data=False,
                                      all_tensors_to_one_file=False, external_data_location="./",
                                      external_data_size_threshold=1024)
    command("prepare", model, "-o", "here.onnx")
    check(Path("there.onnx").read_bytes() == Path("here.onnx").read_bytes(), "quant_pre_process: all keywords")
    for optimizes, words in ((False, []), (True, ["--optimize"])):
        ours.quantize_static(model, "there.onnx", Reader(samples), optimize_model=optimizes)
        command("quantize", model, "-o", "here.onnx", "--data", folder, "--held-out=0", "--skip-compare", "--no-verify",
                "--preset=onnxruntime.quantize_static", *words)
        check(graph_of("there.onnx") == graph_of("here.onnx"), f"quantize_static, optimize_model {optimizes}")
    for name, keywords in {
            "defaults": {}, "QOperator": dict(quant_format="QOperator", activation_type="QUInt8"),
            "per channel": dict(per_channel=True, activation_type="QUInt8", extra_options={"ActivationSymmetric": True}),
            "some nodes": dict(op_types_to_quantize=["Conv"], nodes_to_exclude=["/classifier/Gemm"], reduce_range=True)}.items():
        def as_in(module, keywords=keywords):
            kinds = {"quant_format": module.QuantFormat, "activation_type": module.QuantType}
            return {k: kinds[k][v] if k in kinds else v for k, v in keywords.items()}

        ours.quantize_static(path, "there.onnx", Reader(samples), **as_in(ours))
        peer.quantize_static(path, "peer.onnx", Reader(samples), **as_in(peer))
        check(same_scales("there.onnx", "peer.onnx"), f"quantize_static {name}: scales of onnxruntime")
    quantize_dynamic(onnx.load(path), "there.onnx", weight_type=QuantType.QInt8)
    peer.quantize_dynamic(path, "peer.onnx", weight_type=peer.QuantType.QInt8)
    check(same_scales("there.onnx", "peer.onnx"), "quantize_dynamic")


def check_modules(model, samples, folder):
    """What is started from a shell explains itself, and writes nothing."""
    for name in ("onnxruntime.quantization.preprocess", "calibrate", "xquant"):
        done = subprocess.run([sys.executable, "-m", f"vernier.compat.{name}", "--help"], capture_output=True, text=True)
        check(done.returncode == 0 and "usage:" in done.stdout and not done.stderr, f"python -m {name}: {done.stderr}")


def check_library(model, samples, folder):
    """There is none, as none is needed, and that is said."""
    for tool in (vai_q_onnx, quark_onnx):
        try:
            tool.get_library_path()
            check(False, f"{tool.__name__}.get_library_path()")
        except vernier.VernierError as error:
            check(error.code == "unsupported", f"{tool.__name__}.get_library_path(): {error}")


def check_modes(model, samples, folder):
    """quantize() of the overview, with given zero points and scales: they are in the result."""
    float_model = onnx.load(model)
    weighted = [n for n in float_model.graph.node if n.op_type in ("Conv", "Gemm", "MatMul")]
    given = {n.input[0]: [np.uint8(113), np.float32(0.05 + i / 100)] for i, n in enumerate(weighted)}
    outputs = {n.output[0]: [np.uint8(7), np.float32(0.25 + i / 100)] for i, n in enumerate(float_model.graph.node)}
    outputs.update({name: one for name, one in given.items() if name in outputs})
    integer, qlinear = QuantizationMode.IntegerOps, QuantizationMode.QLinearOps
    for mode, keywords, operator in (
            (integer, dict(static=False), "ConvInteger"),
            (integer, dict(static=False, per_channel=True, nbits=8, asymmetric_input_types=True), "ConvInteger"),
            (integer, dict(static=True, input_quantization_params=given), "ConvInteger"),
            (qlinear, dict(static=True, input_quantization_params=given, output_quantization_params=outputs), "QLinearConv"),
            (qlinear, dict(static=False, output_quantization_params=outputs), "QLinearConv")):
        what = f"quantize {mode.name} {sorted(keywords)}"
        result = quantize(float_model, quantization_mode=mode, **keywords)
        types = [node.op_type for node in result.graph.node]
        constants = [onnx.numpy_helper.to_array(i) for i in result.graph.initializer]
        check(operator in types, f"{what}: {operator}")
        params = {name: p for name, p in keywords.items() if name.endswith("params")}
        found = {float(c.item()) for c in constants if c.size == 1}
        n_found = sum(float(scale) in found for one in params.values() for _, scale in one.values())
        check(n_found >= 10 * len(params), f"{what}: {n_found} of the given scales are in the result")
        merged = {value: [int(z), float(s)] for one in params.values() for value, (z, s) in one.items()}
        ranges = {"input_quantization_params": merged}
        Path("ranges.json").write_text(json.dumps(ranges), encoding="utf-8")
        command("quantize", model, "-o", "here.onnx", "--preset=dynamic", "--no-verify", "--skip-compare",
                f"--format={'integer' if mode is integer else 'qoperator'}", f"--dynamic={not keywords['static']}".lower(),
                f"--weight={'s8' if 'asymmetric_input_types' in keywords else 'u8'}",
                f"--per-channel={keywords.get('per_channel', False)}".lower(), *(["--ranges=ranges.json"] if params else []))
        del result.metadata_props[:]
        check(result.SerializeToString() == graph_of("here.onnx"), what)


def check_calibrate(model, samples, folder):
    """calibrate.py of the overview: convolutions with the average of the least and of the largest values."""
    calibrate.main([f"--model_path={model}", f"--dataset_path={folder}", "--calib_mode=naive", "--data_preprocess=none"])
    path = "calibrated_quantized_model.onnx"
    command("quantize", model, "-o", "here.onnx", "--data", folder, "--preset=onnxruntime.quantize_static", "--format=qoperator",
            "--method=average", "--activation=u8", "--weight=u8", "--op-types=Conv", "--op-types=MatMul", "--held-out=0",
            "--skip-compare", "--no-verify")
    check(graph_of(path) == graph_of("here.onnx"), "calibrate.py")
    graph = onnx.load(path).graph
    name, = samples[0]
    constants = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
    scale, = [constants[node.input[1]] for node in graph.node if node.op_type == "QuantizeLinear" and node.input[0] == name]
    least, largest = (np.mean([float(end(sample[name])) for sample in samples]) for end in (np.min, np.max))
    check(np.isclose(scale, (largest - least) / 255, rtol=1e-5), f"calibrate.py: scale {scale} of {least} to {largest}")
    check({node.op_type for node in graph.node if node.op_type.startswith("QL")} == {"QLinearConv"}, "calibrate.py: QLinearConv")


def check_xquant(model, samples, folder):
    Path("list.txt").write_text("".join(f"{p}\n" for p in sorted(Path("npy").iterdir())), encoding="utf-8")
    config = {"model_parameters": {"onnx_model": model, "output_prefix": "named", "working_dir": os.getcwd()},
              "calibration_parameters": {"calibration_step": N, "calibration_device": "cpu", "calibration_type": "default",
                                         "input_parametres": [{"input_name": next(iter(samples[0])),
                                                               "input_shape": list(first_array(samples).shape),
                                                               "file_type": "npy", "data_list_path": "list.txt"}]},
              "quantization_parameters": {"precision_level": 0, "finetune_level": 0, "analysis_enable": False}}
    Path("config.json").write_text(json.dumps(config), encoding="utf-8")
    command("xquant", "-c", "config.json", "-o", "here.onnx")
    here = graph_of("here.onnx")
    check(xquant.quantize_onnx_model(config) is None and graph_of("named.onnx") == here, "xquant: dictionary")
    xquant.quantize_onnx_model("config.json", model, "there.onnx")
    check(graph_of("there.onnx") == here, "xquant: paths")
    proto = xquant.quantize_onnx_model("config.json", onnx.load(model))
    del proto.metadata_props[:]
    check(proto.SerializeToString() == here, "xquant: ModelProto")
    xquant.main(["-c./config.json", "-i", model, "-o", "shell.onnx"])
    check(graph_of("shell.onnx") == here, "xquant: shell")
    os.unlink("named.onnx")
    xquant.main(["--config./config.json"])
    check(graph_of("named.onnx") == here, "xquant: shell, as the manual has it")
    check(not [p for p in Path().glob("tmp*.json")], "xquant: nothing is left")


class Torch:
    """What a tensor of PyTorch has."""

    def __init__(self, array):
        self.array = array

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return self.array


def check_native(model, samples, folder):
    arrays = [s["image"] for s in samples]
    command("quantize", model, "-o", "here.onnx", "--data", folder, "--per-channel", "--method=percentile", "--no-verify")
    kinds = {"path": folder, "dictionaries": samples, "arrays": arrays, "stack": np.stack(arrays),
             "batches": [np.concatenate(arrays[:4]), np.concatenate(arrays[4:])],
             "loader with labels": [(Torch(a), Torch(np.array([0]))) for a in arrays], "reader": Reader(samples)}
    told = []
    for name, data in kinds.items():
        result = vernier.open(model).quantize(data=data, per_channel=True, method="percentile", arguments=["--no-verify"],
                                              progress=lambda part, stage: told.append(part))
        check(result.save("there.onnx").read_bytes() == Path("here.onnx").read_bytes(), f"vernier.open().quantize: {name}")
    check(all(0 <= part <= 1 for part in told), "progress")
    weak = result.weak_nodes(5)
    check([w["sqnr_db"] for w in weak] == sorted(w["sqnr_db"] for w in weak) and len(weak) == 5, "weak nodes")
    check(result.report["summary"]["level"] == result.level and weak[0]["node"] in result._repr_html_(), "report")
    check(vernier.open(onnx.load(model)).inputs == {"image": "float32[1,3,64,64]"}, "ModelProto")


def fail_after(samples):
    yield from samples
    raise LookupError("the disk is gone")


def check_errors(model, samples, folder):
    def refused(what, code, function, *arguments, **keywords):
        try:
            function(*arguments, **keywords)
        except vernier.VernierError as error:
            check(code in (error.code, None) and what in str(error), f"error {what}: {error.code} {error}")
        else:
            check(False, f"no error: {what}")

    refused("“x.onnx”", "file", quantize_static, "x.onnx", "y.onnx", Reader(samples))
    refused("Frob", "usage", quantize_static, model, "y.onnx", Reader(samples), extra_options={"Frob": 1})
    refused("no samples", None, quantize_static, model, "y.onnx", Reader([]))
    refused("inputs: image", None, vernier.open(model).quantize, data=[()])
    refused("sample 1", None, vernier.open(model).quantize, data=[samples[0], {"other": samples[1]["image"]}])
    refused("complex64", None, vernier.open(model).quantize, data=[samples[0]["image"].astype(np.complex64)])
    refused("percentile", "usage", vernier.open(model).quantize, data=(s for _ in range(10000) for s in samples), percentile=7)
    refused("percentile", None, vernier.open(model).quantize, data="random", percentile=7)
    os.mkdir("empty")
    os.environ["TMPDIR"] = tempfile.tempdir = os.path.abspath("empty")
    try:
        vernier.open(model).quantize(data=fail_after(samples))
    except LookupError as error:
        check(str(error) == "the disk is gone", "an error of the samples is handed on")
    gc.collect()
    check(os.listdir("empty") == [], "nothing is left")
    del os.environ["TMPDIR"]
    tempfile.tempdir = None
    check(not os.path.exists("y.onnx"), "nothing is written")


def make_random_samples(model):
    random = np.random.default_rng(1)
    return [{"image": random.uniform(-1, 1, (1, 3, 64, 64)).astype(np.float32)} for _ in range(N)]


def make_pictures(model):
    """Photographs, as the network takes them."""
    (name, kind), = vernier.open(model).inputs.items()
    stem = Path(model).stem
    shape = oracle.input_shape(stem, [int(d) if d.isdigit() else d for d in kind[kind.find("[") + 1:-1].split(",")])
    return [{name: oracle.image_input(stem, path, shape)} for path in oracle.photographs(oracle.shared_folder())[:N]]


# name: how its samples are made, what is called, how many checks there are at least
NETWORKS = {
    "demo": (make_random_samples, (check_vai, check_vai_options, check_dump, check_runtime, check_modes, check_calibrate,
                                   check_xquant, check_modules, check_library, check_native, check_errors), 80),
    "cls_mobilenetv2_035_128_flowers": (make_pictures, (check_vai, check_dump, check_runtime, check_modes, check_xquant), 30),
    "det_ultraface_rfb320": (make_pictures, (check_vai, check_runtime, check_xquant), 25),
}


def main():
    name = sys.argv[3]
    make, checks, least = NETWORKS[name]
    place = SOURCE / "data" / "demo" if name == "demo" else Path(oracle.shared_folder(), "models")
    model = str(place / f"{name}.onnx")
    check(Path(vernier.__file__).is_relative_to(os.environ["VN_CALLS_ENVIRONMENT"]), f"the installed package: {vernier.__file__}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        samples = make(model)
        os.mkdir("npy")
        for i, sample in enumerate(samples):
            np.save(f"npy/{i}.npy", first_array([sample]))
        folder = os.path.abspath("npy")
        for one in checks:
            one(model, samples, folder)
        os.chdir("/")
    print(f"{name}: {n_checked} checks, {len(faults)} failed")
    sys.exit(bool(faults) or n_checked < least)


main()
