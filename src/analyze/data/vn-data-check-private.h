/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the parts of the check of samples share: the first layer behind an input, and how it is judged. */

#include "vn-data-check.h"
#include "vn-data-look.h"
#include "vn-histogram.h"
#include "vn-plan.h"

G_BEGIN_DECLS

/* What a first layer says is wrong, each with a number of its own. */
typedef enum
{
  VN_FAULT_NONE,
  VN_FAULT_RATIO,     /* deviation behind it, to that of training */
  VN_FAULT_SHIFT,     /* of the mean there, in deviations of training */
  VN_FAULT_BIAS,      /* of its biases, in deviations of what they are added to */
  VN_FAULT_CLAMP,     /* deviation of what is cut off */
  VN_FAULT_RAW,       /* deviation of what biases are added to, in these */
} VnDataFault;

/* What is collected for who looks at the samples: data-values.c. */
typedef struct _VnDataSight VnDataSight;

VnDataSight *_vn_data_sight_new         (VnDataLook         *look);
void         _vn_data_sight_free        (VnDataSight        *self);
void         _vn_data_sight_add_sample  (VnDataSight        *self,
                                         VnTensor          **tensors,
                                         const char * const *names,
                                         guint               n_inputs);
void         _vn_data_sight_add_cures   (VnDataSight        *self,
                                         const char         *code,
                                         gboolean            is_certain,
                                         GPtrArray          *cures);
GPtrArray   *_vn_data_sight_find_cures  (const VnDataSight  *self,
                                         const char         *code,
                                         const char         *input,      /* nullable */
                                         gboolean           *is_certain);
void         _vn_data_sight_set_suits   (VnDataSight        *self,
                                         const char         *input,
                                         const VnPreprocess *settings);
void         _vn_data_sight_finish      (VnDataSight        *self);
void         _vn_data_cure_free         (gpointer            cure);

/* How far the values of each sample reach: data-reach.c. */
typedef struct _VnDataReach VnDataReach;

VnDataReach *_vn_data_reach_new         (guint               n_inputs);
void         _vn_data_reach_free        (VnDataReach        *self);
void         _vn_data_reach_add         (VnDataReach        *self,
                                         guint               index,
                                         VnTensor * const   *tensors,
                                         const gboolean     *masks);
gboolean     _vn_data_reach_note        (VnDataReach        *self,
                                         VnDataset          *dataset,
                                         const char * const *names,
                                         VnNotes            *notes);

gboolean     _vn_data_check             (VnModel            *model,
                                         const VnModel      *fed,
                                         GHashTable         *shapes,     /* nullable */
                                         VnDataset          *dataset,
                                         gboolean            calibrates,
                                         VnDataSight        *sight,      /* nullable */
                                         VnNotes            *notes,
                                         GCancellable       *cancellable,
                                         GError            **error);

/* data-samples.c; @inputs: as the dataset has them */
typedef gboolean (*VnDataScan) (guint          sample,
                                VnTensor     **inputs,
                                gpointer       data,
                                GCancellable  *cancellable);

GArray      *_vn_data_spread            (VnDataset          *dataset,
                                         guint               most);
gboolean     _vn_data_each              (VnDataset          *dataset,
                                         const GArray       *samples,
                                         VnDataScan          scan,
                                         gpointer            data,
                                         GCancellable       *cancellable);

/* The first layer behind an input. */
typedef struct
{
  guint         input;
  gboolean      direct;     /* the input itself is looked at */
  VnValue      *value;      /* looked at: the output of a Conv, or what goes into a BatchNormalization */
  const VnNode *norm;       /* nullable: the BatchNormalization behind it */
  VnTensor     *bias;       /* nullable: of the Conv */
  double        clamp;      /* upper limit right behind it, or infinity */

  double       *sum, *squares;
  gsize         n_channels;
  double        n;          /* elements of a channel */
  guint         n_tensors;
} VnFirstLayer;

gboolean _vn_first_layer_find          (VnValue            *value,
                                        VnFirstLayer       *layer);
void     _vn_first_layer_free          (gpointer            layer);
void     _vn_first_layer_add           (VnFirstLayer       *layer,
                                        const VnTensor     *tensor);
double   _vn_first_layer_get_bias      (const VnFirstLayer *layer);
double   _vn_first_layer_get_divergence (const VnFirstLayer *layer,
                                         double             *means);
double   _vn_first_layer_get_mean      (const VnFirstLayer *layer);
double   _vn_first_layer_get_distance  (const VnFirstLayer *layer);
VnDataFault _vn_first_layer_find_fault (const VnFirstLayer *layer);
double   _vn_first_layer_get_fault     (const VnFirstLayer *layer,
                                        VnDataFault         fault);
gboolean _vn_first_layer_judge_by_norm (const VnFirstLayer *layer,
                                        const char         *input,
                                        const char         *remedy,     /* nullable */
                                        VnNotes            *notes);
gboolean _vn_first_layer_judge_by_bias (const VnFirstLayer *layer,
                                        const char         *input,
                                        const char         *remedy,     /* nullable */
                                        VnNotes            *notes);
gboolean _vn_first_layer_judge_colors  (const VnFirstLayer *layer,
                                        const VnFirstLayer *swapped,
                                        const char         *input,
                                        VnNotes            *notes);
double   _vn_data_median               (GArray             *values);

/* Several first layers at once, and what runs up to them. */
typedef struct
{
  VnModel    *model;
  GHashTable *shapes;       /* nullable */
  VnDataset  *dataset;
  guint       n_inputs;
  GPtrArray  *layers;       /* of VnFirstLayer: seen in the samples as they are */
  VnRunner   *runner;       /* nullable: there is nothing to run */
  VnDataSight *sight;       /* nullable: nobody looks */
} VnFirstLayers;

GPtrArray *_vn_first_layers_copy (const GPtrArray     *layers);
void       _vn_first_layers_run  (const VnFirstLayers *self,
                                  GPtrArray           *layers,
                                  VnTensor           **tensors,
                                  GCancellable        *cancellable);

/* data-remedy.c */
char      *_vn_data_find_preset  (const VnFirstLayers *self,
                                  guint                layer,
                                  const char          *name,
                                  GCancellable        *cancellable);
void       _vn_data_find_scales  (const VnFirstLayers *self,
                                  guint                layer,
                                  const char          *name,
                                  GCancellable        *cancellable);
gboolean   _vn_data_is_preset_repeated (const VnPreprocessPreset *presets,
                                        guint                     index);
void       _vn_data_offer_presets (const VnFirstLayers *self,
                                   guint                input,
                                   const char          *name,
                                   const GPtrArray     *presets);

gboolean   _vn_data_metadata_judge (const VnFirstLayers *self,
                                    guint                layer,
                                    const char          *name,
                                    VnNotes             *notes);
gboolean   _vn_data_is_best_scale  (const VnFirstLayers *self,
                                    guint                layer,
                                    const char          *name,
                                    GCancellable        *cancellable);

/* data-deep.c */
gboolean   _vn_data_deep_judge   (const VnFirstLayers *self,
                                  guint                input,
                                  const char          *name,
                                  VnNotes             *notes,
                                  GCancellable        *cancellable);

/* data-cut.c */
gboolean   _vn_data_cut_judge    (const VnFirstLayers *self,
                                  guint                input,
                                  const VnValue       *value,
                                  VnNotes             *notes,
                                  GCancellable        *cancellable);

/* data-picture.c */
gboolean   _vn_data_picture_is_plain (const VnTensor   *tensor,
                                      gboolean          packed);
gboolean   _vn_data_picture_is_noise (const VnTensor   *tensor,
                                      gboolean          packed);

/* data-scale.c */
gboolean   _vn_data_scale_judge  (const VnFirstLayers *self,
                                  guint                layer,
                                  const char          *input,
                                  double               low,
                                  double               high,
                                  VnNotes             *notes,
                                  GCancellable        *cancellable);

G_END_DECLS
