#pragma once

#include <cstdint>
#include <functional>

namespace hot::measure {

/// Runs task(0) … task(count-1), each once, on all threads; whoever is free takes the next. Inside
/// a task everything is serial, so that many small operations don't wait for each other. Gradients
/// aren't recorded and no observer of operations is called. Rethrows the first exception.
void run_tasks(std::int64_t count, const std::function<void(std::int64_t)>& task);

}  // namespace hot::measure
