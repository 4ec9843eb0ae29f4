// SPDX-License-Identifier: Apache-2.0
// Memory that comes into being, page by page and as zeros, when it is touched. A grid of a thousand CTAs has
// room for gigabytes of registers and shared memory and uses some; calloc would write them all once it gets
// used memory back.
#ifndef PKSIM_MEM_PAGES_H
#define PKSIM_MEM_PAGES_H

#include <stddef.h>

// Aligned to the page. NULL: out of memory.
void *pksim_pages(size_t size);
// NULL is allowed. size is that of the allocation.
void pksim_pages_free(void *pages, size_t size);

#endif
