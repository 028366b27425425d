#pragma once

#include <torch/script.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/data/data_set.hpp"
#include "models/inputs/signature.hpp"
#include "models/options.hpp"

namespace hot::models {

/// The arrays of data files, given to the model's arguments. Argument types that data can fill:
/// Tensor (one array), List[Tensor] (one array, a tensor a sample), Dict[str, Tensor] (the arrays
/// that no argument is named after).
class DataArguments {
 public:
  /// Reads --data and --labels, matches arrays with arguments by name or place, takes the samples
  /// needed (the first ones), and converts types as the model expects them (models/README.md).
  /// Throws ModelError, UsageError.
  DataArguments(const Model& model, const std::vector<Argument>& arguments,
                const InputOptions& options);

  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] std::int64_t batches() const { return batches_; }
  /// Specifications of one minibatch, for the arguments that have data.
  [[nodiscard]] ArgumentSpecs specs() const;
  /// Replaces in `values` what minibatch number `index` has data for.
  void put(std::int64_t index, std::vector<c10::IValue>* values) const;
  /// The labels of minibatch number `index`; undefined without.
  [[nodiscard]] at::Tensor labels(std::int64_t index) const;
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  void match(DataSet data, const std::string& key);
  void match_names(std::vector<DataTensor> named);
  void match_places(const std::vector<DataTensor>& unnamed);
  void take_samples(const InputOptions& options);
  void shuffle(std::int64_t samples, std::uint64_t seed);
  void convert(const Model& model);
  [[nodiscard]] std::size_t free_argument() const;

  std::string path_;
  std::vector<Argument> arguments_;
  std::vector<std::vector<DataTensor>>
      arrays_;  ///< per argument, none or one, or several for a dictionary
  at::Tensor labels_;
  std::int64_t batch_ = 0;
  std::int64_t batches_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace hot::models
