#include "models/inputs/expectations.hpp"

#include "models/inputs/archive_spec.hpp"
#include "models/inputs/input_patterns.hpp"
#include "models/inputs/traced_inputs.hpp"

namespace hot::models {

std::vector<Expected> expectations(const Model& model, const std::vector<Argument>& arguments) {
  const std::optional<ArchiveSpec> archive = read_archive_spec(model.path);
  std::optional<ArgumentSpecs> specs;
  if (archive) specs = place(archive->inputs, arguments);
  if (!specs) specs = read_traced_inputs(model, arguments);
  const InputPatterns graph(model);
  std::vector<Expected> all(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::vector<Pattern> patterns = graph.of(i);
    if (!patterns.empty() && patterns[0].kind == ValueSpec::Kind::tensor) {
      all[i].dtype = patterns[0].dtype;
      all[i].range = patterns[0].range;
    }
    if (specs && (*specs)[i] && (*specs)[i]->kind == ValueSpec::Kind::tensor)
      all[i].dtype = (*specs)[i]->dtype;
    if (archive) {
      all[i].mean = archive->mean;
      all[i].std = archive->std;
    }
  }
  return all;
}

}  // namespace hot::models
