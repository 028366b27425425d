#include "backward/observe.hpp"

#include "backward/recorder.hpp"

namespace hot::backward {

struct Observation::State : Listener {
  State(const models::Model& model, std::function<void(const Operands&)> c)
      : callback(std::move(c)), recorder(model, *this) {}

  void on_backward(const Call& call) override {
    if (recorder.sites()[call.site].obstacle.empty()) callback(call.operands);
  }

  std::function<void(const Operands&)> callback;
  Recorder recorder;
};

Observation::Observation(const models::Model& model, std::function<void(const Operands&)> callback)
    : state_(std::make_unique<State>(model, std::move(callback))) {}

Observation::~Observation() = default;

void Observation::rethrow() const {
  state_->recorder.rethrow();
}

}  // namespace hot::backward
