#pragma once

/// Marks the arithmetic that host and device share: written once, compiled for both by nvcc, plain
/// C++ elsewhere.
#ifdef __CUDACC__
#define HOT_HOST_DEVICE __host__ __device__
#else
#define HOT_HOST_DEVICE
#endif
