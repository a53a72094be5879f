// A program on several devices at once: what its collectives mean.
#pragma once

#include "replay/reference/groups.h"
#include "replay/reference/reference.h"

namespace replay::reference {

/// The result of the entry on each device (replica_count and num_partitions of the module, unless `devices` says otherwise), given
/// `arguments` by device and parameter. All devices go through the program together, so an exchange finds all its operands; loops and
/// branches with an exchange inside must be taken alike by all. Errors: an op that the reference lacks, devices that part ways.
base::Result<std::vector<Tensor>> run_on_devices(const ir::Module& module, Rounding rounding, const Devices& devices,
                                                 const std::vector<std::vector<Tensor>>& arguments);
/// replica_count and num_partitions of a module's header; 1 where they are not there.
Devices devices_of(const ir::Module& module);

}  // namespace replay::reference
