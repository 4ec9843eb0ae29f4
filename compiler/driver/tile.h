// SPDX-License-Identifier: Apache-2.0
// The part of the way that goes through the tile IR.
#ifndef PKC_DRIVER_TILE_H
#define PKC_DRIVER_TILE_H

#include "driver/pipeline.h"
#include "ir/ir.h"

/// Whether the root file is tile IR in text form, by its name.
bool pkc_tile_is_input(const pkc_job *job);
/// Reports pass names that do not exist; false where there is one.
bool pkc_tile_check_names(pkc_job *job);
/// Runs the passes that the settings ask for: all of them, those up to --stop-after, or on tile IR as input
/// those of
/// --pass. Fills the dumps. False: mistakes are in the session.
bool pkc_tile_run(pkc_job *job, ir_module *module);

#endif
