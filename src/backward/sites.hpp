#pragma once

#include <ATen/core/ivalue.h>

#include <map>
#include <string>
#include <vector>

#include "backward/gemm_ops.hpp"
#include "backward/layer_book.hpp"
#include "backward/recorder.hpp"

namespace hot::backward {

/// Turns the arguments of a product into a Call of a Site: finds the layer, its operands and what
/// stands in the way of approximating it. The one place that knows how layers are told apart.
class Sites {
 public:
  explicit Sites(const models::Model& model) : model_(model), book_(model) {}

  /// `outermost` is the operation that the product runs for (itself, or a composite).
  [[nodiscard]] Call call(const GemmOp& op, const GemmOp& outermost,
                          c10::ArrayRef<const c10::IValue> arguments);
  [[nodiscard]] const std::vector<Site>& all() const { return sites_; }
  [[nodiscard]] const LayerBook& book() const { return book_; }

 private:
  std::size_t find_or_add(const GemmOp& op, const GemmOp& outermost,
                          c10::ArrayRef<const c10::IValue> arguments, int parameter,
                          const Window& window);
  std::string unique_name(const std::string& wanted);

  const models::Model& model_;
  LayerBook book_;
  std::vector<Site> sites_;
  std::map<std::string, std::size_t> by_key_;
  std::map<std::string, int> names_;
};

}  // namespace hot::backward
