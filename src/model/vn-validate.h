/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnValidateLevel:
 * @VN_VALIDATE_STRUCTURE: names, producers, uses, outputs defined, no cycle, opset imports: what everything relies on
 * @VN_VALIDATE_SIZES: and: data sizes of tensors, declared types against initializers, attribute kinds
 * @VN_VALIDATE_NAMES: and, as notes: duplicated names, unused initializers, unsorted nodes
 * @VN_VALIDATE_CONTENTS: and, as notes: NaN or infinity in weights, all of which are read: vn_model_validate_weights()
 */
typedef enum
{
  VN_VALIDATE_STRUCTURE,
  VN_VALIDATE_SIZES,
  VN_VALIDATE_NAMES,
  VN_VALIDATE_CONTENTS,
} VnValidateLevel;

gboolean vn_model_validate (const VnModel    *model,
                            VnValidateLevel   level,
                            VnNotes          *notes,   /* nullable: findings that are no errors */
                            GError          **error);

/* Called behind each constant, with the bytes that are read and those of all; FALSE: it is to end. */
typedef gboolean (*VnValidateFunc) (gpointer data,
                                    guint64  done,
                                    guint64  total);

void     vn_model_validate_weights (const VnModel  *model,
                                    VnNotes        *notes,
                                    VnValidateFunc  go_on,
                                    gpointer        data);

G_END_DECLS
