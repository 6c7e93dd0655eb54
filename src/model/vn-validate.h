/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnValidateLevel:
 * @VN_VALIDATE_STRUCTURE: names, producers, uses, outputs defined, no cycle, opset imports: what everything relies on
 * @VN_VALIDATE_SIZES: and: data sizes of tensors, declared types against initializers, attribute kinds
 * @VN_VALIDATE_CONTENTS: and: NaN or infinity in weights, duplicated names, unused initializers, unsorted nodes (as notes)
 */
typedef enum
{
  VN_VALIDATE_STRUCTURE,
  VN_VALIDATE_SIZES,
  VN_VALIDATE_CONTENTS,
} VnValidateLevel;

gboolean vn_model_validate (const VnModel    *model,
                            VnValidateLevel   level,
                            VnNotes          *notes,   /* nullable: findings that are no errors */
                            GError          **error);

G_END_DECLS
