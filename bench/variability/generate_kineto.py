#!/usr/bin/env python3
"""Makes a trace as PyTorch's profiler would, simulated, the same for the same numbers: generate_kineto.py FILE.json LAUNCHES

A launch is five events: an operator, a call, a kernel, and both ends of a flow."""
import random
import sys

EVENT = ('{"ph":"X","cat":"cpu_op","name":"aten::op_%d","pid":4711,"tid":4711,"ts":%.3f,"dur":9.250,"args":{"External id":%d,"Ev Idx":%d}},\n'
         '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4711,"tid":4711,"ts":%.3f,"dur":3.500,"args":{"External id":%d,"cbid":211,"correlation":%d}},\n'
         '{"ph":"s","id":%d,"pid":4711,"tid":4711,"ts":%.3f,"cat":"ac2g","name":"ac2g"},\n'
         '{"ph":"X","cat":"kernel","name":"void kernel_%d<float, 128>(float*, int)","pid":0,"tid":7,"ts":%.3f,"dur":%.3f,"args":{"External id":%d,"queued":0,'
         '"device":0,"context":1,"stream":7,"correlation":%d,"registers per thread":32,"shared memory":0,"blocks per SM":4.2,"warps per SM":16.8,'
         '"grid":[464,1,1],"block":[128,1,1],"est. achieved occupancy %%":26}},\n'
         '{"ph":"f","id":%d,"pid":0,"tid":7,"ts":%.3f,"cat":"ac2g","name":"ac2g","bp":"e"},\n')


def main():
    draw = random.Random(1)
    with open(sys.argv[1], "w", encoding="utf-8") as to:
        to.write('{"schemaVersion":1,"simulated":true,"baseTimeNanoseconds":1700000000000000000,"deviceProperties":[{"id":0,"name":"Simulated GPU"}],"traceEvents":[\n')
        for at in range(int(sys.argv[2])):
            begin, name, correlation = 10.0 * at, draw.randrange(24), at + 1
            start = begin + 12.125
            to.write(EVENT % (name, begin, at, at, begin + 1, at, correlation, correlation, begin + 1, name, start, 8 * draw.lognormvariate(0, 0.1), at,
                              correlation, correlation, start))
        to.write('{"ph":"M","name":"process_name","pid":4711,"tid":0,"args":{"name":"python"}}]}\n')


main()
