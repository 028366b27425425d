#pragma once

#include "analyzers/train/options.hpp"
#include "core/plan.hpp"
#include "core/progress.hpp"
#include "core/training.hpp"
#include "models/inputs.hpp"
#include "models/model.hpp"
#include "models/step.hpp"

namespace hot::train {

/// Trains the model exactly and by the plan, options.seeds times each, from its own weights on the
/// same minibatches; the first (1 − hold_out) of `inputs` are trained on, in random order, the rest
/// are held out. Fills `training` pair by pair, so that it holds what was found if an interrupt
/// ends it. The model's weights are as before afterwards. Throws UsageError where too few
/// minibatches are left, or the plan changes nothing; ModelError where a loss isn't finite from the
/// start.
void train(const models::Model& model, const models::Inputs& inputs, const models::Loss& loss,
           const Plan& plan, const Options& options, const Progress& progress, Training& training);

}  // namespace hot::train
