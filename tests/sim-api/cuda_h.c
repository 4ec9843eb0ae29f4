// SPDX-License-Identifier: Apache-2.0
// The simulated driver's declarations against the toolkit's header: values, layouts, and the signature of
// every call. It compiles or it does not.
#define __CUDA_API_VERSION_INTERNAL // old forms, which some programs still ask for
#include <cuda.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define RESULT(name, value, words) static_assert((int)name == (value), #name);
#include "sim/driver/result.def"

#define ATTRIBUTE(name, number, value) static_assert((int)CU_DEVICE_ATTRIBUTE_##name == (number), #name);
#include "sim/driver/attribute.def"

#define SIZE(type, bytes)           static_assert(sizeof(type) == (bytes), #type);
#define OFFSET(type, member, bytes) static_assert(offsetof(type, member) == (bytes), #type "." #member);
#include "sim/driver/layout.def"

// One pointer for each call, of the type that api.def says, from the header's declaration.
#define CALL(name, since, kind, streams, par, arg) CUresult(*const check_##name) par = name;
#define CALL_VOID(name, since, kind)               CUresult (*const check_##name)(void) = name;
#include "sim/driver/api.def"

#define SAME(name, value) static_assert((int)(name) == (value), #name);
#include "values.def"
