/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Why there is nothing to compare of an export in ONNX Runtime. */

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnVerifyError:
 * @VN_VERIFY_ERROR_MISSING: there is no ONNX Runtime
 * @VN_VERIFY_ERROR_REFUSED: it does not load the export, or not run it, though it does so with the float network
 */
typedef enum
{
  VN_VERIFY_ERROR_MISSING,
  VN_VERIFY_ERROR_REFUSED
} VnVerifyError;

#define VN_VERIFY_ERROR (vn_verify_error_quark ())
GQuark vn_verify_error_quark (void);

G_END_DECLS
