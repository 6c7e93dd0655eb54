/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What comparing two networks keeps, for its stages. */
#pragma once

#include "compare-pairs.h"
#include "vn-part-sums.h"

G_BEGIN_DECLS

/* How often a body was run. */
typedef struct
{
  guint64 n_float, n_quant, n_both, n_compared;
} VnBodyRuns;

/* The first of the pairs of a body stands for it. */
typedef struct
{
  guint    body;     /* G_MAXUINT: of the main graph */
  gboolean is_first;
} VnPairPlace;

typedef struct
{
  ComparePairs             pairs;
  VnPlan                  *float_plan, *quant_plan;
  gboolean                *wanted;         /* by pair: whether both runs compute it */
  const VnPartition      **partitions;     /* by pair: (nullable) */
  guint                   *places;         /* by pair: the first of its sums; behind them that of the quantizations alone */
  VnPairPlace             *inside;         /* by pair */
  guint                    n_nodes;        /* of the main graph of the float network */
  guint                    n_sums;         /* of a sample; behind them in memory are VnBodyRuns of each body */
  GCancellable            *cancellable;
  VnDataset               *dataset;
  const VnCompareOptions  *options;
  VnErrorSum             **per_sample;     /* n_all of them, those of folds last; NULL: sample left out */
  guint                    n_before, n_all;   /* samples of parts that were compared before this one; of all parts */
  const VnProgress        *progress;
  VnNotes                 *notes;
  GError                  *none;           /* nullable: why no sample could be read */
} VnComparing;

static inline gsize
vn_comparing_get_size (const VnComparing *self)
{
  return self->n_sums * sizeof (VnErrorSum) + self->pairs.bodies->len * sizeof (VnBodyRuns);
}

static inline VnBodyRuns *
vn_comparing_get_runs (const VnComparing *self,
                       const VnErrorSum  *sums)
{
  return (VnBodyRuns *) (gpointer) (sums + self->n_sums);
}

VnErrorTable *vn_comparing_make_table (VnComparing  *self,
                                       GError      **error);

G_END_DECLS
