// SPDX-License-Identifier: Apache-2.0
#include "sim/mem/pages.h"

#include <sys/mman.h>

void *pksim_pages(size_t size)
{
    void *pages =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

void pksim_pages_free(void *pages, size_t size)
{
    if (pages)
        munmap(pages, size);
}
