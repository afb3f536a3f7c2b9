"""Chrome traces of a network like ResNet-18, as PyTorch's profiler would write them: 70 executed layers of 30 shapes, with
kernels that run after their layers. All are simulated, and named so."""
import json
import random

PROCESS, THREAD = 100, 101


def network(batch):
    """(type, sizes of input and weight), in order of execution."""
    layers = []

    def conv(size, pixels, filters, kernel, stride):
        layers.append(("aten::conv2d", [[batch, size, pixels, pixels], [filters, size, kernel, kernel], []]))
        return pixels // stride

    def norm(size, pixels):
        layers.append(("aten::batch_norm", [[batch, size, pixels, pixels], [size]]))

    def relu(size, pixels):
        layers.append(("aten::relu_", [[batch, size, pixels, pixels]]))

    pixels = conv(3, 224, 64, 7, 2)
    norm(64, pixels)
    relu(64, pixels)
    layers.append(("aten::max_pool2d", [[batch, 64, pixels, pixels], [], []]))
    pixels //= 2
    size = 64
    for filters, first_stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for block in range(2):
            stride = first_stride if block == 0 else 1
            into = pixels
            pixels = conv(size, into, filters, 3, stride)
            norm(filters, pixels)
            relu(filters, pixels)
            conv(filters, pixels, filters, 3, 1)
            norm(filters, pixels)
            if stride == 2:
                conv(size, into, filters, 1, 2)
                norm(filters, pixels)
            layers.append(("aten::add_", [[batch, filters, pixels, pixels], [batch, filters, pixels, pixels]]))
            relu(filters, pixels)
            size = filters
    layers.append(("aten::adaptive_avg_pool2d", [[batch, size, pixels, pixels], []]))
    layers.append(("aten::flatten", [[batch, size, 1, 1]]))
    layers.append(("aten::t", [[1000, size]]))
    layers.append(("aten::addmm", [[1000], [batch, size], [size, 1000]]))
    return layers


class Trace:
    """Events in the order in which they are added; times are ns."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.events = [{"ph": "M", "name": "process_name", "pid": PROCESS, "tid": 0, "args": {"name": "python"}}]
        self.now = 1_000_000
        self.device_now = 0
        self.correlation = 0

    def span(self, begin, end, name, category, thread=THREAD, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": PROCESS, "tid": thread, "ts": begin, "dur": end - begin, "args": args})

    def launch(self, begin, kernel):
        """A call, and its kernel on the device, some time later."""
        self.correlation += 1
        self.span(begin, begin + 700, "cudaLaunchKernel", "cuda_runtime", correlation=self.correlation)
        start = max(self.device_now, begin + 5000)
        self.device_now = start + self.chance.randrange(2_000, 90_000)
        self.events.append({"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": start, "dur": self.device_now - start,
                            "args": {"device": 0, "stream": 7, "correlation": self.correlation}})

    def layer(self, kind, sizes, has_kernels=True):
        begin = self.now
        at = begin + 400
        if has_kernels and kind == "aten::conv2d":
            nested = at
            at += 300
            for kernel in ("im2col", "gemm"):
                self.launch(at, kernel)
                at += 900
            self.span(nested, at, "aten::convolution", "cpu_op")
        elif has_kernels and kind not in ("aten::t", "aten::flatten"):
            self.launch(at, kind.split("::")[-1] + "_kernel")
            at += 900
        self.now = at + self.chance.randrange(500, 50_000)
        self.span(begin, self.now, kind, "cpu_op", **{"Input Dims": sizes})
        self.now += self.chance.randrange(0, 300)

    def call(self, name, layers, has_kernels=True):
        """A call of a model."""
        begin = self.now
        self.now += 500
        for kind, sizes in layers:
            self.layer(kind, sizes, has_kernels)
        self.span(begin, self.now, name, "user_annotation")
        self.now += 10_000

    def write(self, file, shuffled=True):
        """Times are decimal microseconds, which a double does not have exactly."""
        events = list(self.events)
        if shuffled:
            self.chance.shuffle(events)
        rows = []
        for event in events:
            row = json.dumps({key: value for key, value in event.items() if key not in ("ts", "dur")})
            for key in ("ts", "dur"):
                if key in event:
                    row = f'{row[:-1]}, "{key}": {event[key] // 1000}.{event[key] % 1000:03}}}'
            rows.append(row)
        head = json.dumps({"schemaVersion": 1, "simulated": True, "deviceProperties": [{"id": 0, "name": "Simulated GPU"}]})
        file.write_text(head[:-1] + ', "traceEvents": [\n' + ",\n".join(rows) + "\n]}")
        return file


def inference(batches=(1, 8), passes=5, seed=1):
    """A model for each batch size. One pass more of each has another layer at its end."""
    made = Trace(seed)
    for batch in batches:
        name = f"resnet18 [batch={batch}]"
        for _ in range(passes):
            made.call(name, network(batch))
        made.call(name, network(batch) + [("aten::softmax", [[batch, 1000]])])
    return made
