// How it was counted goes with the run's options, whose writer knows them.
#include "src/model/counter_rows.h"

#include "src/base/text.h"

namespace model {

base::Status write_counters(Database& database, int64_t run, const Counters& counters) {
  ASSIGN_OR_RETURN(Statement define,
                   database.prepare("INSERT INTO counter (run, counter, name, metric, unit, why) VALUES (?1,?2,?3,?4,?5,?6)"));
  int64_t number = 0;
  for (const CounterRecord& counter : counters.counters) {
    const std::string why = base::escaped(counter.why);
    RETURN_IF_ERROR(define.run(run, number++, std::string_view(counter.name), std::string_view(counter.metric),
                               std::string_view(counter.unit), std::string_view(why)));
  }
  ASSIGN_OR_RETURN(Statement insert,
                   database.prepare("INSERT INTO counter_value (run, step, part, counter, value) VALUES (?1,?2,?3,?4,?5)"));
  for (const CounterValue& value : counters.values) RETURN_IF_ERROR(insert.run(run, value.step, value.part, value.counter, value.value));
  return {};
}

}  // namespace model
