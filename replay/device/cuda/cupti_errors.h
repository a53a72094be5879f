// What CUPTI's errors mean to whom they meet.
#pragma once

#include <string>
#include <string_view>

namespace replay::cuda {

/// cuptiGetResultString.
using CuptiText = int (*)(int code, const char** text);

/// "cuptiSubscribe: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35): what to do".
std::string cupti_error(std::string_view symbol, int code, CuptiText text);
/// What an error means and what mends it; "": its name says all.
std::string_view cupti_remedy(int code);

}  // namespace replay::cuda
