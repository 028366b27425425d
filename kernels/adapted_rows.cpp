#include "kernels/adapted_rows.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/common/philox.hpp"

namespace hot::kernels {
namespace {

constexpr std::uint32_t kSignKey[] = {0x52485421U, 0x5349474eU};

std::shared_ptr<std::vector<float>> signs(std::int64_t length) {
  auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i) (*values)[static_cast<std::size_t>(i)] = rht_sign(i);
  return values;
}

RowSource with_signs(const RowSource& in, Along along) {
  const bool by_row = along == Along::rows;
  const auto sign = signs(by_row ? in.rows : in.cols);
  return {in.rows, in.cols, in.strip,
          [=](std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t count,
              float* out) {
            in.fill(begin, end, first, count, out);
            const float* s = sign->data();
            for (std::int64_t row = begin; row < end; ++row, out += count)
              for (std::int64_t c = 0; c < count; ++c) out[c] *= s[by_row ? row : first + c];
          }};
}

/// Zeros behind each sample's rows up to whole blocks.
RowSource with_padding(const RowSource& in, const Transform& transform) {
  const std::int64_t of_sample = transform.sample_rows;
  const std::int64_t padded = (of_sample + transform.order - 1) / transform.order * transform.order;
  const std::int64_t rows = in.rows / of_sample * padded + in.rows % of_sample;
  return {rows, in.cols, in.strip,
          [=](std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t count,
              float* out) {
            for (std::int64_t row = begin; row < end;) {
              const std::int64_t place = row % padded;
              const bool zeros = place >= of_sample;
              const std::int64_t some = std::min(end - row, (zeros ? padded : of_sample) - place);
              const std::int64_t from = row / padded * of_sample + place;
              if (zeros)
                std::fill_n(out, some * count, 0.0F);
              else
                in.fill(from, from + some, first, count, out);
              out += some * count;
              row += some;
            }
          }};
}

bool pads(const Transform& transform) {
  return transform.span == Span::sample && transform.sample_rows % transform.order != 0;
}

}  // namespace

float rht_sign(std::int64_t index) {
  const auto counter = static_cast<std::uint64_t>(index) / 128;
  const PhiloxWords words =
      philox4x32(static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0,
                 0, kSignKey[0], kSignKey[1]);
  const auto bit = static_cast<std::uint32_t>(index % 128);
  return (words.word[bit / 32] >> bit % 32 & 1U) == 0 ? 1.0F : -1.0F;
}

bool adapts_rows(const Transform& transform) {
  return transform.kind == Transform::Kind::rht || pads(transform);
}

RowSource adapted_rows(const RowSource& in, Along along, const Transform& transform) {
  RowSource rows = transform.kind == Transform::Kind::rht ? with_signs(in, along) : in;
  return pads(transform) ? with_padding(rows, transform) : rows;
}

RowSource rows_of_matrix(const at::Tensor& a) {
  const float* data = a.const_data_ptr<float>();
  const std::int64_t row_stride = a.stride(0);
  const std::int64_t col_stride = a.stride(1);
  return {a.size(0), a.size(1), 0,
          [=](std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t count,
              float* out) {
            for (std::int64_t row = begin; row < end; ++row, out += count) {
              const float* from = data + row * row_stride + first * col_stride;
              for (std::int64_t c = 0; c < count; ++c) out[c] = from[c * col_stride];
            }
          }};
}

}  // namespace hot::kernels
