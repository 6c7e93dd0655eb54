/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The judge, for the files that it is made of. */
#pragma once

#include "vn-judge.h"

#include "vn-kept-meter.h"

G_BEGIN_DECLS

struct _VnJudge
{
  VnRepairSamples samples;
  guint           n_outputs, n_inputs;
  guint           n_copies;   /* how often each sample is run, moved a little */
  guint           n_runs;
  VnTensor     *(*make_copy) (const VnTensor *tensor, guint copy, GError **error);
  VnTensor     ***inputs;     /* by sample; NULL: not read */
  VnTensor      **copies;     /* by run (nullable): what copies of samples read, as far as there is room for them */
  VnTensor     ***outputs;    /* by run, of the float network */
  const VnPartition **partitions;   /* by output: (nullable) */
  gboolean       *logits;     /* by output: it is weighed by vn-logit-space.c */
  guint          *places;     /* by output: the first of its sums; behind them how many there are of a run */
  VnModel        *model;      /* the float network, which the names are of */
  const char    **input_names, **output_names;
};

/**
 * VnJudgeRival: what a network must reach.
 * @best: by the same judge, not hopeless
 * @least_gain: in dB
 */
typedef struct
{
  const VnJudgement *best;
  double             least_gain;
} VnJudgeRival;

void          _vn_judge_free_tensors    (VnTensor          **tensors,
                                         guint               n);
VnTaskOutputs _vn_judge_describe_outputs (const VnJudge      *self,
                                         guint               sample,
                                         VnTensor * const   *outputs);
double        _vn_judge_find_mean       (const VnJudge      *self,
                                         const VnErrorSum   *sums,
                                         const guint        *runs,
                                         guint               n_runs);
gboolean      _vn_judge_run             (VnJudge            *self,
                                         VnPlan             *plan,
                                         VnErrorSum         *sums,     /* nullable: the float network runs */
                                         VnKeptMeter        *meter,    /* nullable */
                                         const VnJudgeRival *rival,    /* nullable */
                                         double             *lag,
                                         GCancellable       *cancellable,
                                         GError            **error);

G_END_DECLS
