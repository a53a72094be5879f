// Tables of StatSummarizer: benchmark_model of TensorFlow and TensorFlow Lite, as text and as CSV.
#pragma once

#include "importers/importer.h"

namespace importers::tensorflow {

Match match_summarizer(const Input& input);
/// Operators of the table "Run Order", or, without it, of the first table that has names. Times are averages over the runs of the
/// benchmark: one pass.
base::Result<model::Imported> read_summarizer(const Input& input, const TakeModule& take);

}  // namespace importers::tensorflow
