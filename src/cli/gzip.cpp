#include "cli/gzip.hpp"

#include <zlib.h>

#include "core/errors.hpp"

namespace hot::cli {

std::string gzip(const std::string& text) {
  constexpr int kGzipHeader = 16;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipHeader,
                   MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
    throw EnvironmentError("zlib can't compress: not enough memory");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw EnvironmentError("zlib can't compress a text of this size");
  return packed;
}

}  // namespace hot::cli
