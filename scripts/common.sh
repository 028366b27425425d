# Shared by the scripts of this folder (sourced, not run): places, messages, and what the machine has.
# shellcheck shell=bash disable=SC2034

root=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
build=$root/build

say() { printf '%s\n' "$*" >&2; }

die() {
  printf '%s: %s\n' "scripts/$(basename "$0")" "$*" >&2
  exit 1
}

# The folder of a LibTorch that the user gave by CMAKE_PREFIX_PATH; nothing if there is none.
given_libtorch() {
  local prefix
  while read -r -d ';' prefix; do
    if [[ -n $prefix && ( -f $prefix/include/torch/script.h || -f $prefix/torch/include/torch/script.h ) ]]; then
      printf '%s\n' "$prefix"
      return
    fi
  done < <(tr ':' ';' <<<"${CMAKE_PREFIX_PATH:-};")
}

# The root of a CUDA toolkit: the environment's, the path's, the usual place, then the virtual environment's wheels.
cuda_root() {
  local nvcc
  for nvcc in "${CUDACXX:-}" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc \
    "$venv"/lib/python3*/site-packages/nvidia/cu13/bin/nvcc; do
    if [[ -n $nvcc && -x $nvcc ]]; then
      dirname "$(dirname "$(readlink -f "$nvcc")")"
      return
    fi
  done
}

# Parallel jobs: one a core, but no more than memory carries (a file that includes torch takes up to 2 GB).
job_count() {
  local by_memory
  by_memory=$(awk '/^MemAvailable:/ {print int($2 / 2097152)}' /proc/meminfo 2>/dev/null || echo 1)
  local cores
  cores=$(nproc)
  echo $((by_memory < 1 ? 1 : by_memory < cores ? by_memory : cores))
}

# The project's own source files with the given endings, as git knows them (also new ones that it doesn't ignore).
sources() { (cd "$root" && git ls-files -co --exclude-standard -- "$@" | sort -u); }
