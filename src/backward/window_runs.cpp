#include "backward/window_runs.hpp"

#include <c10/util/accumulate.h>

#include <algorithm>

#include "backward/next_index.hpp"

namespace hot::backward {
namespace {

/// The first pixel, along dimension `d`, that a window at `position` reads, if it lies inside.
std::int64_t start(const Window& w, std::size_t d, std::int64_t position) {
  return position * w.stride[d] - w.padding[d];
}

/// True if every pixel along dimension `d` is read at some position.
bool covers(const Window& w, std::size_t d, std::int64_t image, std::int64_t positions) {
  std::vector<bool> read(static_cast<std::size_t>(image));
  for (std::int64_t position = 0; position < positions; ++position)
    for (std::int64_t place = 0; place < w.kernel[d]; ++place) {
      const std::int64_t at = start(w, d, position) + place * w.dilation[d];
      if (at >= 0 && at < image) read[static_cast<std::size_t>(at)] = true;
    }
  return std::all_of(read.begin(), read.end(), [](bool is_read) { return is_read; });
}

/// Index, counting pixels along the last dimension, of the row of pixels that an outer place of the
/// kernel reads; -1 in the padding.
std::int64_t row_of(const Window& w, at::IntArrayRef image,
                    const std::vector<std::int64_t>& position,
                    const std::vector<std::int64_t>& outer_place) {
  std::int64_t row = 0;
  for (std::size_t d = 0; d < outer_place.size(); ++d) {
    const std::int64_t at = start(w, d, position[d]) + outer_place[d] * w.dilation[d];
    if (at < 0 || at >= image[d]) return -1;
    row = row * image[d] + at;
  }
  return row;
}

}  // namespace

WindowRuns::WindowRuns(const Window& window, at::IntArrayRef image, at::IntArrayRef positions)
    : places_(c10::multiply_integers(window.kernel)),
      pixels_(c10::multiply_integers(image)),
      covers_(true) {
  const std::size_t dims = window.kernel.size();
  for (std::size_t d = 0; d < dims; ++d)
    covers_ = covers_ && hot::backward::covers(window, d, image[d], positions[d]);
  first_.push_back(0);
  if (c10::multiply_integers(positions) == 0) return;
  const std::vector<std::int64_t> outer(window.kernel.begin(), window.kernel.end() - 1);
  std::vector<std::int64_t> position(dims, 0);
  do {
    std::vector<std::int64_t> outer_place(outer.size(), 0);
    std::int64_t first_place = 0;
    do {
      const std::int64_t row = row_of(window, image, position, outer_place);
      if (row >= 0)
        add_row(window, start(window, dims - 1, position.back()), first_place, row * image.back(),
                image.back());
      first_place += window.kernel.back();
    } while (next_index(outer_place, outer));
    first_.push_back(runs_.size());
  } while (next_index(position, positions));
  pixels_of_.assign(static_cast<std::size_t>(places_ * this->positions()), -1);
  for (std::int64_t p = 0; p < this->positions(); ++p)
    for (const Run& run : at(p))
      for (std::int64_t i = 0; i < run.count; ++i)
        pixels_of_[static_cast<std::size_t>((run.place + i) * this->positions() + p)] =
            static_cast<std::int32_t>(run.pixel + i);
}

void WindowRuns::add_row(const Window& window, std::int64_t start, std::int64_t first_place,
                         std::int64_t first_pixel, std::int64_t width) {
  const std::int64_t step = window.dilation.back();
  for (std::int64_t place = 0; place < window.kernel.back(); ++place) {
    const std::int64_t at = start + place * step;
    if (at < 0) continue;
    if (at >= width) break;
    if (step == 1) {
      const std::int64_t count = std::min(window.kernel.back() - place, width - at);
      add({first_place + place, first_pixel + at, count});
      break;
    }
    add({first_place + place, first_pixel + at, 1});
  }
}

void WindowRuns::add(const Run& run) {
  if (runs_.size() > first_.back()) {
    Run& last = runs_.back();
    if (last.place + last.count == run.place && last.pixel + last.count == run.pixel) {
      last.count += run.count;
      return;
    }
  }
  runs_.push_back(run);
}

std::span<const WindowRuns::Run> WindowRuns::at(std::int64_t position) const {
  const auto i = static_cast<std::size_t>(position);
  return std::span(runs_).subspan(first_[i], first_[i + 1] - first_[i]);
}

at::Tensor WindowRuns::table(at::Device device) const {
  const std::scoped_lock lock(mutex_);
  if (table_.defined() && table_.device() == device) return table_;
  const at::Tensor by_place = at::tensor(pixels_of_, at::kInt).view({places_, positions()});
  table_ = at::where(by_place.lt(0), pixels_, by_place).to(at::kLong).t().contiguous().to(device);
  return table_;
}

}  // namespace hot::backward
