/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Copying attributes, for the files of this layer. */

#include "vn-model.h"

G_BEGIN_DECLS

VnAttr *_vn_attr_copy_plain (const VnAttr *self);

G_END_DECLS
