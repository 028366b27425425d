#include "cli/help.hpp"

#include <fmt/format.h>

#include <string>

namespace hot::cli {
namespace {

constexpr std::size_t kColumn = 26;  // where descriptions begin

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kColumn); }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    const bool is_command = app->get_parent() != nullptr;
    if (!is_command)
      return fmt::format("\nUsage: {0} MODEL [OPTIONS]\n       {0} COMMAND [MODEL] [OPTIONS]\n",
                         name);
    std::string form = name;
    bool has_options = false;
    for (const CLI::Option* option : app->get_options()) {
      if (option->get_positional()) form += " " + option->get_name();
      has_options = has_options || (!option->get_positional() && option->get_name() != "--help");
    }
    return fmt::format("\nUsage: {}{}\n", form, has_options ? " [OPTIONS]" : "");
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0 || option->get_positional()) return "";
    const std::string type = option->get_type_name();
    return " " + type.substr(0, type.find(':'));
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string& value = option->get_default_str();
    const std::string& text = option->get_description();
    return value.empty() ? text : fmt::format("{} (default: {})", text, value);
  }
};

}  // namespace

std::shared_ptr<CLI::Formatter> help_formatter() {
  return std::make_shared<HelpFormatter>();
}

}  // namespace hot::cli
