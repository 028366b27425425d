#include "models/file/fingerprint.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <fstream>
#include <memory>
#include <vector>

#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace hot::models {

std::string sha256_of_file(const std::string& path) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) {
    throw EnvironmentError("libcrypto offers no SHA-256");
  }
  std::ifstream file(path, std::ios::binary);
  std::vector<char> chunk(1 << 20);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
    EVP_DigestUpdate(context.get(), chunk.data(), static_cast<std::size_t>(file.gcount()));
    throw_if_interrupted();
  }
  if (!file.eof()) throw ModelError(fmt::format("{}: reading failed; check the disk", path));
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_DigestFinal_ex(context.get(), digest, &length);
  std::string text;
  for (unsigned int i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace hot::models
