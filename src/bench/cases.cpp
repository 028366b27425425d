#include "bench/cases.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string_view>
#include <utility>

#include "bench/kernel_passes.hpp"
#include "bench/layer_backward.hpp"
#include "bench/layer_parts.hpp"
#include "bench/stopwatch.hpp"

namespace hot::bench {
namespace {

nlohmann::json run_layer(const LayerShape& shape, std::int64_t batch, const Protocol& protocol) {
  const auto layer = make_layer(shape, batch);
  auto contenders = layer_backward(layer);
  for (const auto& preset : kPresets) contenders.push_back(layer_parts(layer, preset));
  const auto rounds = contest(contenders, protocol);

  nlohmann::json result = {{"model", shape.model},
                           {"layer", shape.layer},
                           {"batch", batch},
                           {"kind", shape.convolution() ? "conv" : "linear"},
                           {"kernel", shape.kernel},
                           {"rows", gemm_rows(shape, batch)},
                           {"out", shape.out},
                           {"in", shape.in * shape.kernel * shape.kernel},
                           {"gemm", gemm_text(shape, batch)}};
  for (const auto& [name, seconds] : rounds) {
    const auto parts = name.find(" parts");
    const auto colon = name.find(':');
    if (parts == std::string::npos) {
      result["seconds"][name] = seconds;
    } else if (colon != std::string::npos) {
      result["parts"][name.substr(0, parts)][name.substr(colon + 1)] = seconds;
    }
  }
  return result;
}

/// All passes over one matrix, each with a copy of as many bytes of its own.
nlohmann::json run_kernels(std::int64_t rows, std::int64_t cols, const Protocol& protocol) {
  std::vector<Contender> contenders;
  const auto add = [&](const std::string& name, std::function<void()> work) {
    contenders.push_back({name, [work = std::move(work)] { return Times{seconds_of(work), {}}; }});
  };
  const auto passes = kernel_passes(rows, cols);
  for (const auto& pass : passes) {
    add(pass.name, pass.run);
    add("copy:" + pass.name, plain_copy(pass.bytes).run);
  }
  const auto rounds = contest(contenders, protocol);

  nlohmann::json result = {{"rows", rows}, {"cols", cols}, {"passes", nlohmann::json::array()}};
  for (const auto& pass : passes)
    result["passes"].push_back({{"name", pass.name},
                                {"bytes", pass.bytes},
                                {"seconds", rounds.at(pass.name)},
                                {"copy_seconds", rounds.at("copy:" + pass.name)}});
  return result;
}

bool quick(const LayerShape& shape) {
  const std::string_view model = shape.model;
  return model == "vit_b_16" || model == "resnet50";
}

}  // namespace

std::vector<Case> cases(const Options& options) {
  std::vector<Case> all;
  for (const std::int64_t batch : options.batches) {
    for (const std::int64_t cols : {3072, 768}) {
      const std::int64_t rows = 197 * batch;
      if (options.quick && cols != 3072) continue;
      all.push_back({fmt::format("kernels/{}x{}", rows, cols),
                     [=] { return run_kernels(rows, cols, options.protocol); }});
    }
  }
  for (const std::int64_t batch : options.batches)
    for (const auto& shape : layer_shapes())
      if (!options.quick || quick(shape))
        all.push_back({"layers/" + case_name(shape, batch),
                       [=] { return run_layer(shape, batch, options.protocol); }});
  const std::regex filter(options.filter);
  std::erase_if(all, [&](const Case& c) { return !std::regex_search(c.name, filter); });
  return all;
}

}  // namespace hot::bench
