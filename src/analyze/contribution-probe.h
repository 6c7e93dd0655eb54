/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The network that contributions are measured in, and what is changed in it. */
#pragma once

#include "vn-parts.h"
#include "vn-quant-plan.h"

G_BEGIN_DECLS

/**
 * VnSuspect: one change.
 * @row: of the tensor that is quantized
 * @value: of the probe's network: what changes
 * @tap: of @value
 * @twin_tap: weight: of what the layer computes with the quantized weight; else -1
 * @shift: (nullable): bias: what is added to each channel
 * @axis: of these channels
 * @speaker: name of the value whose row of errors speaks for it
 */
typedef struct
{
  const VnQuantRow *row;
  const VnNode     *node;
  VnValue          *value;
  guint             tap;
  int               twin_tap;
  VnTensor         *shift;
  int               axis;
  const char      *speaker;
} VnSuspect;

/**
 * VnProbeEnd: what noise is measured at: an output, or one of its parts.
 * @output: its number
 * @tap: of the output
 * @partition: (nullable): how it is divided; borrowed
 * @part: of @partition; not used without
 * @logits: it is measured in the numbers of vn-logit-space.c
 */
typedef struct
{
  guint              output, tap;
  const VnPartition *partition;
  guint              part;
  gboolean           logits;
} VnProbeEnd;

/**
 * VnProbe: the float network with layers beside it that have quantized weights.
 */
typedef struct
{
  VnModel   *model;
  GPtrArray *taps;       /* of VnValue */
  GArray    *floats;     /* of guint: taps that are no twins */
  GArray    *outputs;    /* of guint: tap of each output */
  GArray    *suspects;   /* of VnSuspect */
  GArray    *ends;       /* of VnProbeEnd: of the outputs, in their order */
  VnParts   *parts;      /* nullable: which @ends point into */
} VnProbe;

VnProbe  *vn_probe_new   (const VnModel   *prepared,
                          const VnModel   *written,
                          VnQuantPlan     *plan,
                          VnParts         *parts,    /* nullable */
                          GError         **error);
void      vn_probe_free  (VnProbe         *self);
VnTensor *vn_probe_round (const VnQuantRow *row,
                          const VnTensor   *tensor,
                          GError          **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnProbe, vn_probe_free)

G_END_DECLS
