#pragma once

#include <string>
#include <vector>

#include "core/report.hpp"

namespace hot::reports::testing {

/// Every metric there is, with value 1.5, 2.5 … and alternating origins; every other one has an
/// interval.
Metrics all_metrics();

/// An eligible linear layer of ViT-B's size.
LayerTrace layer(const std::string& name);

/// A report in which every stage ran: one layer planned on both paths, one that isn't eligible.
Report full_report();

/// A profile with every part, exact and with a plan.
Profile full_profile();

/// full_report() as it would have been had it ended after each stage, and interrupted before the
/// first.
std::vector<Report> reports_of_every_stage();

}  // namespace hot::reports::testing
