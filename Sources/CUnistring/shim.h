#pragma once
// Before the library's headers, which redefine the integer types that stdlib.h spells out.
#include <stdlib.h>

#include <unicase.h>
#include <uninorm.h>
#include <unistr.h>

/// `UNINORM_NFC` is the address of an incomplete type, which Swift can't name.
static inline uninorm_t cunistring_nfc(void) { return UNINORM_NFC; }

/// `UNINORM_NFKD`, for the same reason.
static inline uninorm_t cunistring_nfkd(void) { return UNINORM_NFKD; }
