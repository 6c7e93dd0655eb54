/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of the tensor's pane share: its structure. */

#include "vn-channels-chart.h"
#include "vn-compare-tensor.h"
#include "vn-tensor-picture.h"
#include "vn-beside-chart.h"

#include "vn-tensor-job.h"

G_BEGIN_DECLS

typedef enum { VN_FIGURE_SQNR, VN_FIGURE_RATIO, VN_FIGURE_COSINE, VN_FIGURE_LARGEST, VN_FIGURE_CLIPPED, VN_FIGURE_SCALE,
               VN_N_FIGURES } VnFigure;

/* @low and @high may be %NULL until the template is there. */
typedef struct
{
  GtkLabel        *title, *note, *low, *high;
  VnTensorPicture *picture;
} VnComparePicture;

struct _VnCompareTensor
{
  AdwBin           parent_instance;

  VnDocument      *document;
  VnComparedModel *models[2];       /* nullable */
  char            *titles[2];
  VnTensorReader  *reader;          /* nullable: made when first needed */
  guint            node;            /* of the float network, or VN_MATCH_NONE */
  char            *alone;           /* nullable: why there is no tensor */
  guint            sample;          /* number for the reader */
  gsize            channel;
  gboolean         busy;            /* setting widgets */

  GCancellable    *cancellable;     /* nullable: of what is being read */
  guint            all_timeout;
  VnTensorView    *view, *all;      /* nullable: of one sample; with the errors of all */

  GtkLabel        *name, *shape, *status, *channel_count, *figures_title, *cause, *worst_title, *figures[VN_N_FIGURES],
  *photo_label, *values_note;
  GtkWidget       *roles, *channel_box, *photo_box, *strip, *worst, *fixes, *rebuild;
  GtkToggleButton *activation, *weight;
  GtkSpinner      *spinner;
  GtkSpinButton   *channel_spin;
  GtkButton       *more_photos;
  GtkStack        *stack;
  AdwStatusPage   *empty;
  VnComparePicture pictures[3];     /* first, second, difference */
  VnBesideChart   *values;
  VnChannelsChart *channels;
  guint            first_photo;
};

/* compare-tensor-show.c */
void _vn_compare_tensor_show_head     (VnCompareTensor *self);
void _vn_compare_tensor_show_view     (VnCompareTensor *self);
void _vn_compare_tensor_show_channel  (VnCompareTensor *self);
void _vn_compare_tensor_show_hover    (VnCompareTensor *self,
                                       VnTensorPicture *picture);
void _vn_compare_tensor_show_figures  (VnCompareTensor *self);

/* compare-tensor-strip.c: emits “sample-chosen” */
void _vn_compare_tensor_show_strip    (VnCompareTensor *self);
void _vn_compare_tensor_show_worst    (VnCompareTensor *self);
void _vn_compare_tensor_show_fixes    (VnCompareTensor *self);

G_END_DECLS
