#include "core/verification.hpp"

namespace hot {

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::incorrect:
      return "incorrect";
    case Outcome::slower:
      return "slower";
    case Outcome::unsupported:
      return "unsupported";
    case Outcome::over_limit:
      return "over-limit";
    case Outcome::simulated:
      return "simulated";
    case Outcome::not_run:
      return "not-run";
  }
  return "?";
}

}  // namespace hot
