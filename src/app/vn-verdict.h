/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How good a quantized model is, in one of four levels, with the reason. */

#include "vn-result.h"

G_BEGIN_DECLS

typedef enum { VN_VERDICT_GOOD, VN_VERDICT_WEAK_SPOT, VN_VERDICT_CARE, VN_VERDICT_UNUSABLE } VnVerdictLevel;

/**
 * VnVerdict: what a run comes to.
 * @title, @text: translated; @title is static
 * @worst_output_db: signal to noise ratio of the worst output; infinity if none was measured
 * @n_bad: nodes below 10 dB
 * @incomplete: some nodes cannot be run; the last tensors before them counted as outputs
 */
typedef struct
{
  VnVerdictLevel  level;
  const char     *title;
  char           *text;
  double          worst_output_db;
  guint           n_bad;
  gboolean        incomplete;
} VnVerdict;

VnVerdict *vn_verdict_new  (VnResult  *result);
void       vn_verdict_free (VnVerdict *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnVerdict, vn_verdict_free)

G_END_DECLS
