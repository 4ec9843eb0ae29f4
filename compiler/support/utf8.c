// SPDX-License-Identifier: Apache-2.0
#include "support/utf8.h"

// The lead bytes with the range of the second byte; the rest are 80..BF (RFC 3629, section 4).
static const struct lead {
    unsigned char first, last, len, low, high;
} leads[] = {
    {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf}, {0xe1, 0xec, 3, 0x80, 0xbf},
    {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf}, {0xf0, 0xf0, 4, 0x90, 0xbf},
    {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
};

static size_t sequence_length(const unsigned char *s, size_t left, const struct lead *lead)
{
    if (left < lead->len || s[1] < lead->low || s[1] > lead->high)
        return 0;
    for (size_t i = 2; i < lead->len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return lead->len;
}

size_t pkc_utf8_length(const char *text, size_t left)
{
    const unsigned char *s = (const unsigned char *)text;
    if (left == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++)
        if (s[0] >= leads[i].first && s[0] <= leads[i].last)
            return sequence_length(s, left, &leads[i]);
    return 0;
}
