// SPDX-License-Identifier: Apache-2.0
// The same values and layouts in the simulated driver's own header, where there is no toolkit too.
#include "sim/driver/cuda.h"

#include <assert.h>

#define SIZE(type, bytes)           static_assert(sizeof(type) == (bytes), #type);
#define OFFSET(type, member, bytes) static_assert(offsetof(type, member) == (bytes), #type "." #member);
#include "sim/driver/layout.def"

#define SAME(name, value) static_assert((int)(name) == (value), #name);
#include "values.def"
