"""What torch's own profiler counts, and the events below our scope `counted`: name and count, a line each."""
import collections

import torch

torch.set_num_threads(1)
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 2))
images = torch.rand(2, 3, 8, 8)
with torch.autograd.profiler.profile() as profile:
    with torch.autograd.profiler.record_function("counted"):
        for _ in range(3):
            model(images).sum().backward()
            scripted = torch.matmul(torch.ones(2, 3), torch.ones(3, 4))
events = [(event.start_us(), event.start_us() + event.duration_us(), event.name()) for event in profile.kineto_results.events()]
begin, end = next((begin, end) for begin, end, name in events if name == "counted")
# Not of profile.function_events, which leaves out an operator that calls only another overload of itself.
found = collections.Counter(name for at, until, name in events if begin <= at and until <= end)
for name, count in sorted(found.items()):
    print(count, name)
