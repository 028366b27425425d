#pragma once

#include "analyzers/train/session.hpp"

namespace hot::train {

/// Sets the curve's held-out loss and accuracy from `copy` in evaluation mode, in which it is left;
/// nothing where no minibatch is held out, no accuracy where labels are no classes.
void evaluate(const Setting& setting, torch::jit::Module& copy, TrainingCurve& curve);

}  // namespace hot::train
