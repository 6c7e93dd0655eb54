/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One output of an export: what was computed here, what ONNX Runtime computes, and what the float network gives there, part by
 * part. */
#pragma once

#include "vn-part-sums.h"
#include "vn-tensor.h"
#include "vn-verification.h"

G_BEGIN_DECLS

/**
 * VnVerifySums:
 * @name, @partition: of the output; borrowed
 * @has_float: the process was given the float network, too
 * @saturates: it was also asked for kernels that do not saturate
 * @between: ours against theirs; @ours, @theirs: against the float network; @exact, @exactly: the first and the last of theirs
 *   with kernels that do not saturate, if there are such files
 */
typedef struct
{
  const char        *name;
  const VnPartition *partition;
  gboolean           has_float, saturates;
  VnErrorSum         between[1 + VN_MOST_PARTS], ours[1 + VN_MOST_PARTS], theirs[1 + VN_MOST_PARTS];
  VnErrorSum         exact[1 + VN_MOST_PARTS], exactly[1 + VN_MOST_PARTS];
} VnVerifySums;

void     vn_verify_sums_init       (VnVerifySums        *self,
                                    const char          *name,
                                    VnParts             *parts,       /* nullable */
                                    gboolean             has_float,
                                    gboolean             saturates);
gboolean vn_verify_sums_add        (VnVerifySums        *self,
                                    const char          *folder,
                                    guint                sample,
                                    guint                output,
                                    VnTensor            *ours,
                                    GError             **error);
guint    vn_verify_sums_find       (const VnVerifySums  *self,
                                    guint                parts[2]);
void     vn_verify_sums_report     (const VnVerifySums  *self,
                                    guint                which,
                                    VnVerifiedOutput    *output,
                                    VnErrorPart        **part);
gboolean vn_verify_sums_report_exact (const VnVerifySums  *self,
                                      guint                which,
                                      VnVerifiedOutput    *output);

G_END_DECLS
