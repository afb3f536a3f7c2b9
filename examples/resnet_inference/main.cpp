// A residual network (ResNet-18) with random weights looks at batches of random images: what takes its time, on which
// level? docs/torch.md
//
//   adaptyst run -- resnet_inference
//   adaptyst levels --with torch --stack -- resnet_inference --batches 1,2,4,8,16
//
// The program marks its own work, an `inference` for each batch size, and the model, as a scope of torch's; layers are
// torch's operators, which the adapter of torch reports.
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/utils.h>

#include <adaptyst/metric.hpp>
#include <adaptyst/payload.hpp>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace nn = torch::nn;

nn::Conv2d make_convolution(std::int64_t from, std::int64_t to, std::int64_t kernel, std::int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false));
}

// Two convolutions of 3x3, around which the input goes as it is, or, where its shape changes, through one of 1x1.
struct block : nn::Module {
  block(std::int64_t from, std::int64_t to, std::int64_t stride)
      : first(register_module("first", make_convolution(from, to, 3, stride))),
        first_norm(register_module("first_norm", nn::BatchNorm2d(to))),
        second(register_module("second", make_convolution(to, to, 3, 1))),
        second_norm(register_module("second_norm", nn::BatchNorm2d(to))) {
    if (from == to && stride == 1) return;
    shortcut = register_module("shortcut", make_convolution(from, to, 1, stride));
    shortcut_norm = register_module("shortcut_norm", nn::BatchNorm2d(to));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    torch::Tensor made = first_norm(first(input)).relu_();
    made = second_norm(second(made));
    made.add_(shortcut.is_empty() ? input : shortcut_norm(shortcut(input)));
    return made.relu_();
  }

  nn::Conv2d first;
  nn::BatchNorm2d first_norm;
  nn::Conv2d second;
  nn::BatchNorm2d second_norm;
  nn::Conv2d shortcut{nullptr};
  nn::BatchNorm2d shortcut_norm{nullptr};
};

struct resnet18 : nn::Module {
  resnet18() {
    std::int64_t from = 64;
    for (const std::int64_t to : {64, 128, 256, 512}) {
      for (int at = 0; at != 2; ++at) {
        const std::int64_t stride = at == 0 && to != 64 ? 2 : 1;
        blocks.push_back(
            register_module("block" + std::to_string(blocks.size()), std::make_shared<block>(from, to, stride)));
        from = to;
      }
    }
  }

  torch::Tensor forward(const torch::Tensor& images) {
    RECORD_USER_SCOPE("resnet18");
    torch::Tensor made = torch::max_pool2d(norm(stem(images)).relu_(), 3, 2, 1);
    for (const std::shared_ptr<block>& block : blocks) made = block->forward(made);
    return classes(torch::flatten(torch::adaptive_avg_pool2d(made, {1, 1}), 1));
  }

  nn::Conv2d stem{register_module("stem", make_convolution(3, 64, 7, 2))};
  nn::BatchNorm2d norm{register_module("norm", nn::BatchNorm2d(64))};
  std::vector<std::shared_ptr<block>> blocks;
  nn::Linear classes{register_module("classes", nn::Linear(512, 1000))};
};

struct inference {
  std::int64_t images;
  const char* batch;
};

struct settings {
  std::vector<std::string> batches = {"1", "2", "4", "8", "16"};
  int repeat = 5;
  std::int64_t pixels = 64;
  int threads = 1;
};

int usage() {
  std::fputs(
      "usage: resnet_inference [--batches 1,2,4,8,16] [--repeat 5] [--pixels 64] [--threads 1]\n"
      "Infers --repeat batches of each size, of images of --pixels x --pixels, and writes a checksum.\n",
      stderr);
  return 2;
}

bool read(int count, char** words, settings& to) {
  for (int at = 1; at < count; at += 2) {
    const std::string option = words[at];
    if (at + 1 == count) return false;
    const char* const value = words[at + 1];
    if (option == "--repeat") to.repeat = std::atoi(value);
    else if (option == "--pixels") to.pixels = std::atoi(value);
    else if (option == "--threads") to.threads = std::atoi(value);
    else if (option == "--batches") {
      to.batches.clear();
      std::istringstream list(value);
      for (std::string batch; std::getline(list, batch, ',');) to.batches.push_back(batch);
    } else {
      return false;
    }
  }
  for (const std::string& batch : to.batches)
    if (std::atoi(batch.c_str()) < 1) return false;
  return to.repeat > 0 && to.pixels >= 32 && to.threads > 0 && !to.batches.empty();
}

ADAPTYST_FIELDS(inference, images, batch);

}  // namespace

int main(int count, char** words) {
  settings options;
  if (!read(count, words, options)) return usage();
  torch::set_num_threads(options.threads);
  torch::manual_seed(1);
  const torch::InferenceMode no_gradients;
  resnet18 model;
  model.eval();
  adaptyst::metadata("model", "resnet18");
  adaptyst::metadata("pixels", std::to_string(options.pixels));
  double sum = 0;
  for (const std::string& batch : options.batches) {
    const std::int64_t images = std::atoi(batch.c_str());
    for (int at = 0; at != options.repeat; ++at) {
      const torch::Tensor input = torch::rand({images, 3, options.pixels, options.pixels});
      ADAPTYST_REGION("inference", inference{images, batch.c_str()});
      sum += model.forward(input).sum().item<double>();
    }
  }
  std::printf("%.6f\n", sum);
  return 0;
}
