#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes data/demo: trains a small network on pictures from draw.py and writes demo.onnx and samples/<class>/*.png.

Needs numpy, Pillow, onnx and a CPU PyTorch; takes a few minutes. Not needed to build or use Vernier.
Usage: make_demo.py [FOLDER]
"""
import multiprocessing
import os
import sys

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from draw import CLASSES, SIZE, picture

TRAIN, TEST, SAMPLES = 900, 60, 8   # pictures a class
EPOCHS = 14
# (output channels, stride, expansion) of each block
BLOCKS = [(16, 1, 1), (24, 2, 3), (24, 1, 3), (40, 2, 4), (40, 1, 4), (64, 2, 4), (64, 1, 4)]


class Block(nn.Module):
    """Expand 1x1, depthwise 3x3, project 1x1; a residual where shapes allow."""

    def __init__(self, cin, cout, stride, expand):
        super().__init__()
        mid = cin * expand
        self.residual = stride == 1 and cin == cout
        self.expand = nn.Conv2d(cin, mid, 1, bias=False) if expand > 1 else None
        self.expand_bn = nn.BatchNorm2d(mid) if expand > 1 else None
        self.depthwise = nn.Conv2d(mid, mid, 3, stride, 1, groups=mid, bias=False)
        self.depthwise_bn = nn.BatchNorm2d(mid)
        self.project = nn.Conv2d(mid, cout, 1, bias=False)
        self.project_bn = nn.BatchNorm2d(cout)

    def forward(self, x):
        y = x
        if self.expand is not None:
            y = nn.functional.relu6(self.expand_bn(self.expand(y)))
        y = nn.functional.relu6(self.depthwise_bn(self.depthwise(y)))
        y = self.project_bn(self.project(y))
        return x + y if self.residual else y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 2, 1, bias=False)
        self.stem_bn = nn.BatchNorm2d(16)
        blocks, cin = [], 16
        for cout, stride, expand in BLOCKS:
            blocks.append(Block(cin, cout, stride, expand))
            cin = cout
        self.blocks = nn.ModuleList(blocks)
        self.head = nn.Conv2d(cin, 128, 1, bias=False)
        self.head_bn = nn.BatchNorm2d(128)
        self.classifier = nn.Linear(128, len(CLASSES))

    def forward(self, x):
        x = nn.functional.relu6(self.stem_bn(self.stem(x)))
        for block in self.blocks:
            x = block(x)
        x = nn.functional.relu6(self.head_bn(self.head(x)))
        return self.classifier(x.mean((2, 3)))


def pixels(job):
    kind, seed = job
    return np.asarray(picture(kind, seed), np.uint8)


def load(first, count):
    jobs = [(kind, first + i) for i in range(count) for kind in CLASSES]
    with multiprocessing.Pool() as pool:
        data = np.stack(pool.map(pixels, jobs, 64))
    labels = np.array([CLASSES.index(kind) for kind, _ in jobs])
    return torch.from_numpy(data).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(labels)


def normal(x):
    return (x.float() - 127.5) / 127.5


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return float(sum((net(normal(x[i:i + 256])).argmax(1) == y[i:i + 256]).sum() for i in range(0, len(x), 256))) / len(x)


def train(net, x, y):
    optimizer = torch.optim.AdamW(net.parameters(), 3e-3, weight_decay=1e-3)
    steps = EPOCHS * (len(x) // 64)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, steps)
    for epoch in range(EPOCHS):
        net.train()
        for part in torch.randperm(len(x))[:len(x) // 64 * 64].split(64):
            batch = normal(x[part])
            if torch.rand(1) < 0.5:
                batch = batch + 0.05 * torch.randn_like(batch)
            loss = nn.functional.cross_entropy(net(batch), y[part], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1}: loss {float(loss.detach()):.3f}", flush=True)


class Writer:
    """Writes the network as an exporter would: convolutions, batch normalizations and clips as nodes of their own."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def weight(self, name, tensor):
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(tensor.detach().numpy().astype(np.float32)), name))
        return name

    def node(self, op, name, inputs, **attrs):
        out = f"{name}/{op}_output_0"
        self.nodes.append(helper.make_node(op, inputs, [out], name=f"{name}/{op}", **attrs))
        return out

    def conv(self, name, x, conv, bn):
        k, p = list(conv.kernel_size), list(conv.padding)
        x = self.node("Conv", name, [x, self.weight(name[1:].replace("/", ".") + ".weight", conv.weight)], kernel_shape=k,
                      strides=list(conv.stride), pads=p + p, group=conv.groups)
        prefix = name[1:].replace("/", ".") + ".bn"
        return self.node("BatchNormalization", name + "/bn", [
            x, self.weight(prefix + ".scale", bn.weight), self.weight(prefix + ".bias", bn.bias),
            self.weight(prefix + ".mean", bn.running_mean), self.weight(prefix + ".var", bn.running_var)], epsilon=bn.eps)

    def clip(self, name, x):
        return self.node("Clip", name + "/act", [x, "relu6.min", "relu6.max"])


def write(net, path):
    w = Writer()
    w.weights += [numpy_helper.from_array(np.float32(0), "relu6.min"), numpy_helper.from_array(np.float32(6), "relu6.max")]
    x = w.clip("/stem", w.conv("/stem", "image", net.stem, net.stem_bn))
    for i, block in enumerate(net.blocks):
        name, y = f"/blocks/{i}", x
        if block.expand is not None:
            y = w.clip(name + "/expand", w.conv(name + "/expand", y, block.expand, block.expand_bn))
        y = w.clip(name + "/depthwise", w.conv(name + "/depthwise", y, block.depthwise, block.depthwise_bn))
        y = w.conv(name + "/project", y, block.project, block.project_bn)
        x = w.node("Add", name, [x, y]) if block.residual else y
    x = w.clip("/head", w.conv("/head", x, net.head, net.head_bn))
    x = w.node("Flatten", "/pool", [w.node("GlobalAveragePool", "/pool", [x])], axis=1)
    w.nodes.append(helper.make_node("Gemm", [x, w.weight("classifier.weight", net.classifier.weight),
                                             w.weight("classifier.bias", net.classifier.bias)], ["scores"],
                                    name="/classifier/Gemm", transB=1))
    graph = helper.make_graph(w.nodes, "signs", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, len(CLASSES)])], w.weights)
    model = helper.make_model(graph, producer_name="vernier-demo", ir_version=8, opset_imports=[helper.make_opsetid("", 13)])
    entry = model.metadata_props.add()
    entry.key, entry.value = "classes", ",".join(CLASSES)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def check(net, path, x):
    import onnxruntime
    session = onnxruntime.InferenceSession(path)
    net.eval()
    for i in range(4):
        ours = session.run(None, {"image": normal(x[i:i + 1]).numpy()})[0]
        with torch.no_grad():
            assert np.allclose(ours, net(normal(x[i:i + 1])).numpy(), atol=1e-3)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    torch.manual_seed(1)
    x, y = load(0, TRAIN)
    tx, ty = load(100000, TEST)
    net = Net()
    train(net, x, y)
    print(f"float accuracy on {len(tx)} pictures: {accuracy(net, tx, ty):.3f}")
    path = os.path.join(folder, "demo.onnx")
    write(net, path)
    check(net, path, tx)
    for kind in CLASSES:
        os.makedirs(os.path.join(folder, "samples", kind), exist_ok=True)
        for i in range(SAMPLES):
            picture(kind, 200000 + i).save(os.path.join(folder, "samples", kind, f"{kind}-{i}.png"), optimize=True)


if __name__ == "__main__":
    main()
