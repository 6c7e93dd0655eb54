/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking at one tensor of two networks: on one sample, and over all. */
#pragma once

#include "vn-jobs.h"
#include "vn-tensor-pair.h"
#include "vn-tensor-view.h"

G_BEGIN_DECLS

/**
 * VnTensorReader: the samples that tensors are looked at with, opened when first needed, and the networks as the engine takes
 * them. Any thread may have it.
 */
typedef struct _VnTensorReader VnTensorReader;

VnTensorReader *vn_tensor_reader_new           (const VnDataSpec   *data,
                                                GHashTable         *input_shapes,   /* nullable */
                                                guint               n_calibration);
VnTensorReader *vn_tensor_reader_ref           (VnTensorReader     *self);
void            vn_tensor_reader_unref         (VnTensorReader     *self);
VnDataset      *vn_tensor_reader_ref_dataset   (VnTensorReader     *self);          /* NULL: not opened yet */
guint           vn_tensor_reader_get_n_samples (VnTensorReader     *self);          /* 0: not opened yet */
guint           vn_tensor_reader_get_sample    (VnTensorReader     *self,
                                                guint               i);             /* index in the data set */

/**
 * VnTensorView: what was found. Immutable.
 * @layout: how the elements lie
 * @shape: of the tensor
 * @is_weight: it is the same for all samples
 * @sample: which one @tensors are of: number for vn_tensor_reader_get_sample()
 * @tensors: float32: of the first network and of the second, as many elements
 * @errors: over @n_samples
 * @grid: of the second network; @grid.scale 0: not by one scale
 * @sqnr: (nullable) (element-type double): signal to noise by sample, if all were run; NaN: it could not be loaded
 */
typedef struct
{
  VnTensorLayout layout;
  VnShape        shape;
  gboolean       is_weight;
  guint          sample, n_samples;
  VnTensor      *tensors[2];
  VnTensorErrors errors;
  VnValueGrid    grid;
  GArray        *sqnr;
  /*< private >*/
  gatomicrefcount ref;
} VnTensorView;

/**
 * VnTensorExtent: what a picture of a channel spans.
 * @low, @high: smallest and largest, of each network
 * @largest: difference, to either side
 */
typedef struct { double low[2], high[2], largest; } VnTensorExtent;

VnTensorView   *vn_tensor_view_ref             (VnTensorView       *self);
void            vn_tensor_view_unref           (VnTensorView       *self);
void            vn_tensor_view_get_extent      (const VnTensorView *self,
                                                gsize               channel,
                                                VnTensorExtent     *extent);

/**
 * VnTensorQuery: what is looked at.
 * @sources: where it is; networks and names are kept by the job
 * @is_weight: @sources are of weights
 * @axis: of the channels of a weight
 * @sample: number for vn_tensor_reader_get_sample()
 * @all: run all samples, too, for the errors
 */
typedef struct
{
  VnTensorSource sources[2];
  gboolean       is_weight;
  int            axis;
  guint          sample;
  gboolean       all;
} VnTensorQuery;

int             vn_tensor_query_get_axis       (const VnNode        *node);

VnJob          *vn_tensor_job_new              (VnTensorReader      *reader,
                                                const VnTensorQuery *query);
VnTensorView   *vn_tensor_job_get_view         (VnJob               *job);          /* borrowed; after success */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnTensorReader, vn_tensor_reader_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnTensorView, vn_tensor_view_unref)

G_END_DECLS
