/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error domain of the core. */
#include "vn-error.h"

G_DEFINE_QUARK (vn-error-quark, vn_error)
