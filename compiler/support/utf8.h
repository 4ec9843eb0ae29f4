// SPDX-License-Identifier: Apache-2.0
// Just enough UTF-8: is this a well-formed character, and how long is it (RFC 3629, section 4).
#ifndef PKC_SUPPORT_UTF8_H
#define PKC_SUPPORT_UTF8_H

#include <stddef.h>

/// Bytes of the character at `text`, of which `left` bytes are there: 1 to 4, or 0 where it is not well
/// formed (overlong forms, surrogates and values beyond U+10FFFF included).
size_t pkc_utf8_length(const char *text, size_t left);

#endif
