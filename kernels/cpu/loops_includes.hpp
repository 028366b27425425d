#pragma once

// Everything that cpu/loops.hpp uses, to be included before an instruction set is switched on.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/common/basis.hpp"
#include "kernels/common/formats.hpp"
#include "kernels/common/hadamard.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/quantize.hpp"
#include "kernels/levels.hpp"
#include "kernels/ops.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
