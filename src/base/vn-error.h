/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The error domain of the core. */

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnError:
 * @VN_ERROR_MALFORMED: a file or message breaks the rules of its format
 * @VN_ERROR_LIMIT: larger than this program allows or any machine holds
 * @VN_ERROR_UNSUPPORTED: legal, but not implemented here
 * @VN_ERROR_SHAPE: shapes or types of tensors do not fit together
 * @VN_ERROR_MISSING_DATA: samples, weights or statistics that are needed are not there
 * @VN_ERROR_NUMERIC: NaN, infinity or an empty range where a number is needed
 * @VN_ERROR_SETTING: a setting of the user that cannot be followed
 * @VN_ERROR_MEMORY: memory was refused (vn-memory.h): no fault of the file or sample at hand
 * @VN_ERROR_VERDICT: all is done, but the verdict on it is worse than was asked for
 *
 * Codes are chosen by what the user can do about them. Cancellation is
 * %G_IO_ERROR_CANCELLED; files keep their #GFileError or #GIOErrorEnum.
 */
typedef enum
{
  VN_ERROR_MALFORMED,
  VN_ERROR_LIMIT,
  VN_ERROR_UNSUPPORTED,
  VN_ERROR_SHAPE,
  VN_ERROR_MISSING_DATA,
  VN_ERROR_NUMERIC,
  VN_ERROR_SETTING,
  VN_ERROR_MEMORY,
  VN_ERROR_VERDICT,
} VnError;

#define VN_ERROR (vn_error_quark ())
GQuark vn_error_quark (void);

G_END_DECLS
