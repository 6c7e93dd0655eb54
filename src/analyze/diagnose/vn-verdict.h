/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a run comes to: the one verdict of window, command line and reports. */

#include "vn-run-figures.h"

G_BEGIN_DECLS

/* From good to bad, then those that cannot be told, as far as ONNX Runtime does not tell. */
typedef enum
{
  VN_VERDICT_GOOD,
  VN_VERDICT_WEAK_SPOT,
  VN_VERDICT_CARE,
  VN_VERDICT_DIFFERS,          /* not unusable here, but ONNX Runtime computes something else */
  VN_VERDICT_UNUSABLE,
  VN_VERDICT_REFUSED,          /* ONNX Runtime does not load or run it */
  VN_VERDICT_SUSPICIOUS,       /* measured, but on samples that may be wrong */
  VN_VERDICT_NOT_FINITE,       /* weights or outputs are NaN or infinite */
  VN_VERDICT_NOT_MEASURED,
  VN_N_VERDICTS
} VnVerdictLevel;

/**
 * VnVerdict: what a run comes to.
 * @level, @id, @title: @id is for machines, and static; @title is translated, and says so if ONNX Runtime could not be asked
 * @text: what the level rests on, and what speaks against it, in a few translated sentences
 * @suspicions: (element-type VnNote): about the samples, to be shown before the verdict; borrowed from the notes
 * @not_finite: (element-type utf8): weights and tensors with NaN or infinite values, where they arise first
 * @worst: (nullable): vn_run_find_worst_output(); borrowed from the errors
 * @figures: of the run
 * @basis: what the level rests on
 * @is_spot: bad nodes are few of all: leaving them in float is a cure
 * @is_opposed: the export is slower in ONNX Runtime than the float network, whatever a forecast allows for, or computes something
 * else there
 */
typedef struct
{
  VnVerdictLevel    level;
  const char       *id;
  char             *title;
  char             *text;
  GPtrArray        *suspicions;
  GPtrArray        *not_finite;
  const VnErrorRow *worst;
  VnRunFigures      figures;
  VnHeadlineKind    basis;
  gboolean          is_spot;
  gboolean          is_opposed;
} VnVerdict;

VnVerdict  *vn_verdict_new          (const VnRun    *run);
void        vn_verdict_free         (VnVerdict      *self);
const char *vn_verdict_level_get_id (VnVerdictLevel  level);
gboolean    vn_verdict_level_find   (const char     *id,
                                     VnVerdictLevel *level);
const char *vn_verdict_get_title    (const char     *id);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnVerdict, vn_verdict_free)

G_END_DECLS
