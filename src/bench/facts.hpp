#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace hot::bench {

/// What the CPU offers for BF16 products, from a text in the format of /proc/cpuinfo.
[[nodiscard]] std::string bf16_support(std::string_view cpuinfo);

/// What the numbers were measured with: CPU, threads, torch, kernels, integer and BF16 products.
[[nodiscard]] nlohmann::json facts();

/// Watches how much processor time other programs take while it lives.
class OtherLoad {
 public:
  OtherLoad();
  /// Share of the machine's processor time that others used since then, 0 to 1; 0 where the
  /// system doesn't tell.
  [[nodiscard]] double share() const;

 private:
  double others_ = 0;
  double total_ = 0;
};

}  // namespace hot::bench
