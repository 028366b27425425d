#include "models/warnings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/file/printable.hpp"

namespace hot::models {

void KeptWarnings::Handler::process(const c10::Warning& warning) {
  const std::string& text = warning.msg();
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

std::vector<std::string> KeptWarnings::notes() const {
  std::vector<std::string> notes;
  for (const std::string& text : handler_.texts)
    notes.push_back(fmt::format("Torch warns: {}", printable(text.substr(0, text.find('\n')))));
  return notes;
}

void KeptWarnings::pass_on() const {
  for (const std::string& text : handler_.texts)
    outer_->process({c10::UserWarning(), {__func__, __FILE__, __LINE__}, text, /*verbatim=*/true});
}

}  // namespace hot::models
