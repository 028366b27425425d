#include "reports/csv.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace hot::reports {
namespace {

struct Row {
  std::vector<std::string> facts;  ///< the cells of kFacts
  const Metrics* metrics = nullptr;
};

const std::vector<std::string> kFacts = {"layer",     "kind",    "path",  "scheme",   "picked",
                                         "execution", "outcome", "m",     "n",        "k",
                                         "batch",     "calls",   "flops", "eligible", "reason"};

/// The columns of one metric: value, origin, and the interval where some row knows it.
struct MetricColumns {
  const MetricInfo* info;
  bool has_interval;
};

/// The shortest text that reads back as the same number; empty where there is none.
std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "";
}

const LayerPlan* planned(const Report& report, const std::string& layer) {
  return report.plan ? report.plan->find(layer) : nullptr;
}

/// "yes", "no", or nothing where there is no plan; layers that a plan leaves out stay exact.
std::string picked_text(const Report& report, const std::string& layer, Path path,
                        const Scheme& scheme) {
  if (!report.plan) return "";
  const LayerPlan* plan = planned(report, layer);
  if (plan == nullptr) return scheme.is_exact() ? "yes" : "no";
  return (path == Path::grad_input ? plan->grad_input : plan->grad_weight) == scheme ? "yes" : "no";
}

Row scheme_row(const Report& report, const LayerTrace& layer, Path path, const Scheme& scheme) {
  const PathWork& work = layer.path(path);
  const GemmShape shape = work.gemms.empty() ? GemmShape{0, 0, 0, 0} : work.gemms[0];
  return {{layer.name, to_string(layer.kind), to_string(path), to_string(scheme),
           picked_text(report, layer.name, path, scheme), "", "", std::to_string(shape.m),
           std::to_string(shape.n), std::to_string(shape.k), std::to_string(shape.batch),
           std::to_string(work.calls), std::to_string(work.flops), layer.eligible ? "yes" : "no",
           layer.reason},
          nullptr};
}

Row plan_row(const std::string& layer, const std::string& kind, const std::string& outcome,
             const std::string& reason, const Metrics& metrics) {
  Row row{std::vector<std::string>(kFacts.size()), &metrics};
  row.facts[0] = layer;
  row.facts[1] = kind;
  row.facts[2] = "backward";
  row.facts[3] = "plan";
  row.facts[6] = outcome;
  row.facts.back() = reason;
  return row;
}

void add_layer(const Report& report, const LayerTrace& layer, std::vector<Row>& rows) {
  for (const Path path : {Path::grad_input, Path::grad_weight}) {
    rows.push_back(scheme_row(report, layer, path, Scheme{}));
    if (!report.errors) continue;
    for (const ErrorRow& error : report.errors->rows) {
      if (error.path != path || error.layer != layer.name) continue;
      rows.push_back(scheme_row(report, layer, path, error.scheme));
      rows.back().facts[5] = to_string(error.execution);
      rows.back().metrics = &error.metrics;
    }
  }
  if (!report.verification) return;
  for (const LayerVerification& verified : report.verification->layers) {
    if (verified.name != layer.name) continue;
    rows.push_back(plan_row(layer.name, to_string(layer.kind), to_string(verified.outcome),
                            verified.reason, verified.metrics));
  }
}

/// What is known of the whole model: what was predicted, what was then measured, and what that
/// took.
Metrics whole_model(const Report& report) {
  Metrics all;
  const auto add = [&](const Metrics& metrics) {
    for (const Metric& m : metrics.all()) all.set(m.info->name, m.value, m.origin, m.ci95);
  };
  if (!report.plan) return all;
  add(report.plan->predicted);
  if (report.verification) add(report.verification->total);
  add(report.run);
  return all;
}

std::vector<MetricColumns> columns_of(const std::vector<Row>& rows) {
  std::vector<MetricColumns> columns;
  for (const MetricInfo& info : metric_infos()) {
    bool used = false;
    bool has_interval = false;
    for (const Row& row : rows) {
      const Metric* metric = row.metrics == nullptr ? nullptr : row.metrics->find(info.name);
      used = used || metric != nullptr;
      has_interval = has_interval || (metric != nullptr && metric->ci95);
    }
    if (used) columns.push_back({&info, has_interval});
  }
  return columns;
}

std::string head(const std::vector<MetricColumns>& columns) {
  std::vector<std::string> cells = kFacts;
  for (const MetricColumns& column : columns) {
    cells.emplace_back(column.info->name);
    if (column.has_interval) cells.push_back(fmt::format("{}_ci95", column.info->name));
    cells.push_back(fmt::format("{}_origin", column.info->name));
  }
  return csv_line(cells);
}

std::string line(const Row& row, const std::vector<MetricColumns>& columns) {
  std::vector<std::string> cells = row.facts;
  for (const MetricColumns& column : columns) {
    const Metric* metric = row.metrics == nullptr ? nullptr : row.metrics->find(column.info->name);
    cells.push_back(metric == nullptr ? "" : number_text(metric->value));
    if (column.has_interval) {
      cells.push_back(metric == nullptr || !metric->ci95 ? "" : number_text(*metric->ci95));
    }
    cells.emplace_back(metric == nullptr ? "" : to_string(metric->origin));
  }
  return csv_line(cells);
}

}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) {
    if (&cell != cells.data()) text += ',';
    if (cell.find_first_of(",\"\r\n") == std::string::npos) {
      text += cell;
      continue;
    }
    text += '"';
    for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    text += '"';
  }
  return text + '\n';
}

std::string write_csv(const Report& report) {
  if (!report.trace) throw std::logic_error("the report has no trace");
  std::vector<Row> rows;
  for (const LayerTrace& layer : report.trace->layers) add_layer(report, layer, rows);
  const Metrics whole = whole_model(report);
  if (!whole.all().empty()) {
    const bool verified = report.verification.has_value();
    rows.push_back(plan_row("", "", verified ? to_string(report.verification->outcome) : "",
                            verified ? report.verification->reason : "", whole));
  }
  const std::vector<MetricColumns> columns = columns_of(rows);
  std::string text = head(columns);
  for (const Row& row : rows) text += line(row, columns);
  return text;
}

}  // namespace hot::reports
