#include "kernels/check/golden_file.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"

namespace hot::kernels {
namespace {

using Json = nlohmann::json;

/// A value of the file and the path to it, for messages.
struct Place {
  const Json& json;
  std::string where;

  [[nodiscard]] Place at(const std::string& key) const {
    if (!json.is_object()) throw ModelError(fmt::format("{}: an object was expected", where));
    const auto found = json.find(key);
    if (found == json.end()) throw ModelError(fmt::format("{}: '{}' is missing", where, key));
    return {*found, fmt::format("{}.{}", where, key)};
  }
  [[nodiscard]] Place at(std::size_t index) const {
    return {json.at(index), fmt::format("{}[{}]", where, index)};
  }
  template <class T>
  [[nodiscard]] T as(const char* expected) const {
    try {
      return json.get<T>();
    } catch (const Json::exception&) {
      throw ModelError(fmt::format("{}: {} was expected", where, expected));
    }
  }
  [[nodiscard]] double number() const { return as<double>("a number"); }
  [[nodiscard]] std::string text() const { return as<std::string>("a string"); }
  [[nodiscard]] int integer() const {
    if (!json.is_number_integer()) throw ModelError(where + ": an integer was expected");
    return as<int>("an integer");
  }
};

at::Tensor read_matrix(const Place& place) {
  const auto shape = place.at("shape").as<std::vector<std::int64_t>>("[rows, columns]");
  const auto data = place.at("data").as<std::vector<double>>("a list of numbers");
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 ||
      shape[0] * shape[1] != static_cast<std::int64_t>(data.size()))
    throw ModelError(fmt::format("{}: {} numbers don't fill the shape [{}]", place.where,
                                 data.size(), fmt::join(shape, ", ")));
  return at::tensor(data, at::kDouble).reshape(shape);
}

at::Tensor read_matrix(const Place& place, std::int64_t rows, std::int64_t cols) {
  at::Tensor matrix = read_matrix(place);
  if (matrix.size(0) != rows || matrix.size(1) != cols)
    throw ModelError(fmt::format("{}: {}x{} does not fit the other matrices; {}x{} was expected",
                                 place.where, matrix.size(0), matrix.size(1), rows, cols));
  return matrix;
}

/// The value that `names` pairs with the place's text.
template <class Value>
Value one_of(const Place& place, const std::vector<std::pair<std::string, Value>>& names) {
  const std::string text = place.text();
  std::string known;
  for (const auto& [name, value] : names) {
    if (name == text) return value;
    known += (known.empty() ? "" : ", ") + name;
  }
  throw ModelError(fmt::format("{}: '{}' is not one of {}", place.where, text, known));
}

Transform read_transform(const Place& place) {
  using Kind = Transform::Kind;
  Transform transform;
  transform.kind = one_of<Kind>(
      place.at("kind"),
      {{"none", Kind::none}, {"hadamard", Kind::hadamard}, {"lowrank", Kind::lowrank}});
  if (transform.kind == Kind::none) return transform;
  transform.order = transform.rank = place.at("order").integer();
  if (transform.kind == Kind::lowrank) {
    transform.rank = place.at("rank").integer();
    transform.basis =
        one_of<Basis>(place.at("basis"), {{"sequency", Basis::sequency}, {"lp_l1", Basis::lp_l1}});
  }
  try {
    (void)parse_scheme(to_string(Scheme{.transform = transform}));
  } catch (const UsageError& error) {
    throw ModelError(fmt::format("{}: {}", place.where, error.what()));
  }
  return transform;
}

Scheme read_scheme(const Place& place, Path path) {
  Scheme scheme;
  scheme.transform = read_transform(place.at("transform"));
  const Place bits_place = place.at("bits");
  switch (bits_place.integer()) {
    case 0:
      return scheme;
    case 4:
      scheme.format = Format::int4;
      break;
    case 8:
      scheme.format = Format::int8;
      break;
    default:
      throw ModelError(bits_place.where + ": 0, 4 or 8 bits were expected");
  }
  scheme.granularity =
      one_of<Granularity>(place.at("granularity"), {{"tensor", Granularity::tensor},
                                                    {"row", Granularity::row},
                                                    {"column", Granularity::column}});
  if (const auto reason = why_illegal(scheme, path))
    throw ModelError(fmt::format("{}: {}", place.where, *reason));
  return scheme;
}

GoldenMetrics read_metrics(const Place& place) {
  GoldenMetrics metrics{place.at("relative_error").number(), place.at("cosine").number(),
                        std::nullopt, place.at("max_abs_error").number()};
  const Place sqnr = place.at("sqnr_db");
  if (!sqnr.json.is_null()) metrics.sqnr_db = sqnr.number();
  return metrics;
}

void read_cases(const Place& list, Path path, const at::Tensor& exact,
                std::vector<GoldenCase>& cases) {
  if (!list.json.is_array()) throw ModelError(list.where + ": a list of cases was expected");
  for (std::size_t i = 0; i < list.json.size(); ++i) {
    const Place place = list.at(i);
    cases.push_back({path, read_scheme(place, path),
                     read_matrix(place.at("result"), exact.size(0), exact.size(1)),
                     read_metrics(place.at("metrics"))});
  }
}

GoldenLqs read_lqs(const Place& place) {
  // "token" is the row of gy that belongs to one token.
  return {place.at("error_tensor").number(), place.at("error_token").number(),
          one_of<Granularity>(place.at("choice"), {{"tensor", Granularity::tensor},
                                                   {"token", Granularity::row},
                                                   {"row", Granularity::row}})};
}

GoldenBackward read_backward(const Place& file) {
  GoldenBackward golden;
  const at::Tensor gy = read_matrix(file.at("gy"));
  const at::Tensor w = read_matrix(file.at("w"));
  const std::int64_t rows = gy.size(0);
  const std::int64_t inputs = w.size(1);
  golden.gy = gy.to(at::kFloat);
  golden.w = read_matrix(file.at("w"), gy.size(1), inputs).to(at::kFloat);
  golden.x = read_matrix(file.at("x"), rows, inputs).to(at::kFloat);
  golden.gx = read_matrix(file.at("gx"), rows, inputs);
  golden.gw = read_matrix(file.at("gw"), gy.size(1), inputs);
  if (file.json.contains("lqs")) golden.lqs = read_lqs(file.at("lqs"));
  read_cases(file.at("grad_input"), Path::grad_input, golden.gx, golden.cases);
  read_cases(file.at("grad_weight"), Path::grad_weight, golden.gw, golden.cases);
  return golden;
}

std::vector<GoldenBasis> read_basis(const Place& file) {
  std::vector<GoldenBasis> all;
  for (const auto& [key, value] : file.json.items()) {
    const Place place{value, fmt::format("{}.{}", file.where, key)};
    const auto list = [&](const char* name) {
      return place.at(name).as<std::vector<int>>("a list of integers");
    };
    GoldenBasis basis;
    basis.sequency_of_row = list("sequency_of_row");
    basis.order = static_cast<int>(basis.sequency_of_row.size());
    if (key != std::to_string(basis.order) || (basis.order & (basis.order - 1)) != 0)
      throw ModelError(place.where + ": the key is a block order, a power of two");
    basis.rows_by_sequency = list("rows_by_sequency");
    if (value.contains("rows_by_lp_l1")) {
      basis.rows_by_lp_l1 = list("rows_by_lp_l1");
      basis.sequencies_by_lp_l1 = list("sequencies_by_lp_l1");
    }
    all.push_back(std::move(basis));
  }
  return all;
}

Json parse_file(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw ModelError(path + ": is a directory, not a file");
  std::ifstream in(path);
  if (!in)
    throw ModelError(path +
                     ": can't be opened; give a golden file (backward_*.json or basis.json)");
  try {
    return Json::parse(in);
  } catch (const Json::parse_error& error) {
    throw ModelError(fmt::format("{}: not JSON, byte {}", path, error.byte));
  }
}

}  // namespace

GoldenFile read_golden(const std::string& path) {
  const Json json = parse_file(path);
  const Place file{json, path};
  if (json.is_object() && json.contains("gy")) return read_backward(file);
  if (json.is_object() && !json.empty() && json.begin()->is_object() &&
      json.begin()->contains("sequency_of_row"))
    return read_basis(file);
  throw ModelError(
      path + ": neither a backward file (with 'gy') nor a basis file (with 'sequency_of_row')");
}

}  // namespace hot::kernels
