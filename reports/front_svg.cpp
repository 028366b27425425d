#include "reports/front_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/html_text.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr double kWidth = 460;
constexpr double kHeight = 280;
constexpr double kLeft = 56;
constexpr double kBottom = 40;
constexpr double kTop = 16;
constexpr double kRight = 84;

/// One chart: error to the right, what it buys upwards, both from 0.
class Chart {
 public:
  Chart(const Plan& plan, const char* kind, double FrontPoint::*value, const char* unit)
      : plan_(plan), kind_(kind), value_(value), unit_(unit) {
    for (const FrontPoint& p : plan.front) {
      if (p.kind != kind_ && p.kind != "mark") continue;
      error_ = std::max(error_, p.error);
      most_ = std::max(most_, p.*value);
    }
  }

  [[nodiscard]] std::string text() const {
    std::string curve;
    std::string dots;
    std::vector<double> taken;
    for (const FrontPoint& p : plan_.front) {
      if (p.kind == kind_) curve += fmt::format("{:.1f},{:.1f} ", x(p), y(p));
      if (p.kind != "mark") continue;
      double label = y(p) + 4;
      while (std::any_of(taken.begin(), taken.end(),
                         [&](double t) { return t > label - 13 && t < label + 13; })) {
        label -= 13;
      }
      taken.push_back(label);
      dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"currentColor\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\" fill=\"currentColor\">{}</text>\n",
          x(p), y(p), x(p) + 8, label, html_text(p.name));
    }
    return fmt::format(
        "<svg role=\"img\" aria-label=\"error against {0}\" viewBox=\"0 0 {1} {2}\" "
        "width=\"{1}\" height=\"{2}\" style=\"max-width:100%\">\n"
        "<path d=\"M{3},{4} V{5} H{6}\" fill=\"none\" stroke=\"currentColor\" "
        "stroke-opacity=\"0.4\"/>\n"
        "<polyline points=\"{7}\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.5\" "
        "stroke-opacity=\"0.7\"/>\n{8}"
        "<text x=\"4\" y=\"12\" font-size=\"12\" fill=\"currentColor\">{0}: {9}</text>\n"
        "<text x=\"{6}\" y=\"{10}\" font-size=\"12\" text-anchor=\"end\" "
        "fill=\"currentColor\">error of the whole gradient: {11}</text>\n</svg>\n",
        kind_, kWidth, kHeight, kLeft, kTop, kHeight - kBottom, kWidth - kRight, curve, dots,
        value_text(most_, unit_), kHeight - 12, value_text(error_, ""));
  }

 private:
  [[nodiscard]] double x(const FrontPoint& p) const {
    return kLeft + (error_ > 0 ? p.error / error_ : 0) * (kWidth - kRight - kLeft);
  }
  [[nodiscard]] double y(const FrontPoint& p) const {
    const double share = most_ > 0 ? p.*value_ / most_ : 0;
    return kHeight - kBottom - share * (kHeight - kBottom - kTop - 8);
  }

  const Plan& plan_;
  std::string kind_;
  double FrontPoint::*value_;
  std::string unit_;
  double error_ = 0;
  double most_ = 0;
};

}  // namespace

std::string front_svg(const Plan& plan) {
  if (plan.front.empty()) return "";
  return fmt::format(
      "<section id=\"front\"><h2>The best plans there are</h2>\n"
      "<p>Least backward time and least memory at each error of the whole gradient, predicted from "
      "measured errors and times (<span class=\"origin modelled\">modelled</span>); axes start at "
      "0 and end at the largest value, which is written.</p>\n<div class=\"scroll\">{}{}</div>"
      "</section>\n",
      Chart(plan, "time", &FrontPoint::ms, "ms").text(),
      Chart(plan, "memory", &FrontPoint::saved_bytes, "bytes").text());
}

}  // namespace hot::reports
