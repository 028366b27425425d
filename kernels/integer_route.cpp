#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>

#include "core/errors.hpp"
#include "kernels/backward.hpp"
#include "kernels/integer_gemm.hpp"

namespace hot::kernels {
namespace {

constexpr int kLargest = 127;
constexpr std::int64_t kRows = 256, kTerms = 1024, kCols = 256;
constexpr int kRepeats = 3;

/// Levels that saturate 16-bit intermediates if the library has any: whole rows of +127 and −127,
/// then mixed ones.
at::Tensor extreme_levels(std::int64_t rows, std::int64_t cols) {
  at::Tensor levels = at::empty({rows, cols}, at::kChar);
  std::int8_t* out = levels.mutable_data_ptr<std::int8_t>();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) {
      const std::int64_t mixed = (r * 37 + c * 101 + (r * c) % 53) % 255 - kLargest;
      const std::int64_t sign = r % 4 == 0 || (r % 4 == 2 && c % 2 == 0) ? 1 : -1;
      *out++ = static_cast<std::int8_t>(r % 4 == 3 ? mixed : sign * kLargest);
    }
  return levels;
}

/// Runs on one thread while alive: a probe must not wait for a thread that other programs hold up.
class OneThread {
 public:
  OneThread() { at::set_num_threads(1); }
  ~OneThread() { at::set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = at::get_num_threads();
};

/// Processor time of this thread, in seconds; unlike the wall clock it stands still while another
/// program runs.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class Product>
double seconds(const Product& product) {
  const double start = thread_seconds();
  (void)product();
  return thread_seconds() - start;
}

/// Whether a route is right.
bool gives(IntegerRoute route, const at::Tensor& a, const at::Tensor& b) {
  try {
    return at::equal(integer_gemm_by(route, a, b, kLargest),
                     integer_gemm_by(IntegerRoute::float32, a, b, kLargest));
  } catch (const c10::Error&) {
    return false;
  }
}

/// What this CPU offers for products of bytes, for the report.
std::string byte_products() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512vnni") != 0 || __builtin_cpu_supports("avxvnni") != 0)
    return "this CPU has VNNI";
  return "this CPU has no VNNI";
#else
  return "VNNI is unknown on this CPU";
#endif
}

}  // namespace

RouteChoice probe_integer_routes() {
  const OneThread one_thread;
  const at::Tensor a = extreme_levels(kRows, kTerms);
  const at::Tensor b = extreme_levels(kCols, kTerms).t();
  if (!gives(IntegerRoute::int_mm, a, b))
    return {IntegerRoute::float32,
            "float32 GEMM over integers, exact: _int_mm gives wrong integers on this CPU"};
  const bool brgemm = brgemm_serves() && gives(IntegerRoute::brgemm, a, b);
  const Packed packed = brgemm ? pack(b) : Packed{};
  double int_mm = 1e300;
  double tiles = 1e300;
  double float32 = 1e300;
  for (int i = 0; i < kRepeats; ++i) {
    const auto by = [&](IntegerRoute route) {
      return seconds([&] { return integer_gemm_by(route, a, b, kLargest); });
    };
    int_mm = std::min(int_mm, by(IntegerRoute::int_mm));
    float32 = std::min(float32, by(IntegerRoute::float32));
    // Operands are quantized into packed bytes: packing is no part of the product.
    if (brgemm) tiles = std::min(tiles, seconds([&] { return packed_integer_product(a, packed); }));
  }
  if (tiles < float32)
    return {
        IntegerRoute::brgemm,
        fmt::format("oneDNN's brgemm kernels (int8 to int32), exact: this CPU has AMX, measured "
                    "{:.1f}x as fast as float32 and {:.1f}x as fast as _int_mm on a small "
                    "product",
                    float32 / tiles, int_mm / tiles)};
  if (int_mm > float32)
    return {IntegerRoute::float32, fmt::format("float32 GEMM over integers, exact: {}, _int_mm "
                                               "measured {:.0f}x slower on a small product",
                                               byte_products(), int_mm / float32)};
  return {IntegerRoute::int_mm, fmt::format("_int_mm (int8 to int32), exact: {}, measured {:.1f}x "
                                            "faster than float32 on a small product",
                                            byte_products(), float32 / int_mm)};
}

RouteChoice choose_integer_route(std::string_view forced) {
  if (forced.empty()) return probe_integer_routes();
  if (forced == "brgemm") {
    if (!brgemm_serves())
      throw UsageError("HOT_INT_GEMM=brgemm: this CPU has no AMX for it; set int_mm or float32");
    return {IntegerRoute::brgemm,
            "oneDNN's brgemm kernels (int8 to int32), forced by HOT_INT_GEMM"};
  }
  if (forced == "int_mm")
    return {IntegerRoute::int_mm, "_int_mm (int8 to int32), forced by HOT_INT_GEMM"};
  if (forced == "float32")
    return {IntegerRoute::float32, "float32 GEMM over integers, exact, forced by HOT_INT_GEMM"};
  throw UsageError(
      fmt::format("HOT_INT_GEMM={}: no such integer GEMM; set brgemm, int_mm or float32", forced));
}

const RouteChoice& integer_route() {
  static const RouteChoice choice = [] {
    const at::AutoDispatchBelowAutograd no_autograd;
    const char* forced = std::getenv("HOT_INT_GEMM");
    return choose_integer_route(forced == nullptr ? "" : forced);
  }();
  return choice;
}

std::string integer_gemm_route() {
  return integer_route().reason;
}

}  // namespace hot::kernels
