// A program of oneTBB: a flow graph, a parallel_for and a task_group, on as many threads as the argument says.
#include <tbb/flow_graph.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
  const std::size_t threads = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 1;
  const tbb::global_control limited(tbb::global_control::max_allowed_parallelism, threads);
  constexpr int messages = 500;
  std::atomic<long> sum{0};
  {
    tbb::flow::graph graph;
    tbb::flow::function_node<int, int> twice(graph, tbb::flow::unlimited, [](int value) { return 2 * value; });
    tbb::flow::function_node<int> add(graph, tbb::flow::serial, [&](int value) { sum += value; });
    tbb::flow::make_edge(twice, add);
    graph.reserve_wait();
    for (int at = 0; at != messages; ++at) twice.try_put(at);
    graph.release_wait();
    graph.wait_for_all();
  }
  tbb::parallel_for(0, messages, [&](int at) { sum += at; });
  tbb::task_group group;
  for (int at = 0; at != 10; ++at) group.run([&] { sum += 1; });
  group.wait();
  std::printf("%ld\n", sum.load());
}
