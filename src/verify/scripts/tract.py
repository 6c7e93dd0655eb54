# SPDX-License-Identifier: GPL-3.0-or-later
"""tract, on the processor."""

TYPES = {'float32': 'f32', 'float16': 'f16', 'float64': 'f64', 'int8': 'i8', 'int16': 'i16', 'int32': 'i32', 'int64': 'i64',
         'uint8': 'u8', 'uint16': 'u16', 'uint32': 'u32', 'uint64': 'u64', 'bool': 'bool'}


class Network:
    def __init__(self, runnable, inputs):
        self.runnable, self.inputs = runnable, inputs
        self.outputs = list(range(runnable.output_count()))    # it names them as nodes
        self.feeds = None

    def fit(self, feeds):
        return [feeds[name] for name in self.inputs]

    def run(self, feeds):
        self.feeds = feeds
        return [value.to_numpy() for value in self.runnable.run(feeds)]


class Runtime:
    def __init__(self, job, folder, shapes):
        import tract

        self.tract, self.job, self.shapes = tract, job, shapes
        self.version = tract.version()

    def open(self, path, is_float):
        model = self.tract.onnx().load(path)
        inputs = [model.input_name(i) for i in range(model.input_count())]
        feeds = read_feeds(self.job, 0)    # noqa: F821
        for i, name in enumerate(inputs):
            sizes = ','.join(str(n) for n in feeds[name].shape)
            model.set_input_fact(i, ','.join(filter(None, (sizes, TYPES[str(feeds[name].dtype)]))))
        return Network(model.into_model().into_runnable(), inputs)

    def facts(self, network):
        return json.loads(network.runnable.profile_json(network.feeds))    # noqa: F821
