/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

typedef enum
{
#define VN_FORMAT(SYMBOL, ...) VN_FORMAT_##SYMBOL,
#include "vn-formats.def"
#undef VN_FORMAT
  VN_N_FORMATS
} VnFormat;

/* Scales of powers of two: as AMD rounds them, or as PPQ does. */
typedef enum { VN_POWER_OF_TWO_OFF, VN_POWER_OF_TWO_NEAREST, VN_POWER_OF_TWO_PPQ } VnPowerOfTwo;
/* Types of biases; VN_BIAS_AUTO: 32 bit with the scale input times weight where both are integers of up to 16 bit,
 * otherwise what goes with the weights. */
typedef enum
{
  VN_BIAS_AUTO, VN_BIAS_S32, VN_BIAS_S16, VN_BIAS_S8, VN_BIAS_F16, VN_BIAS_BF16, VN_BIAS_F32,
  VN_N_BIASES
} VnBiasType;

/* Whose operators are written without their meaning, for their own tools. */
typedef enum { VN_VENDOR_NONE, VN_VENDOR_AMD, VN_VENDOR_VITIS, VN_N_VENDORS } VnVendorDomain;

/**
 * VnOverride: a rule for some nodes. Rules are applied in order, the last that matches wins. Fields: vn-settings.def.
 * @pattern: node name, glob over node names, or "type:OP"; NULL when boundaries are given
 * @exclude: leave these nodes in float
 */
typedef struct
{
  char      *pattern;
  char     **in_edges, **out_edges;   /* NULL-terminated value names, or NULL */
  gboolean   enabled;
  gboolean   exclude;
  VnDType    activation;              /* VN_DTYPE_UNDEFINED: as the recipe */
  VnDType    weight;
  char      *method;                  /* NULL: as the recipe */
  double     percentile;              /* 0: as the recipe */
} VnOverride;

/**
 * VnRecipe: everything that decides how a model is quantized. Plain data; copy before changing one that is shared.
 * All fields but preset and overrides are described by vn-settings.def.
 */
typedef struct
{
  const char *preset;         /* id in vn-presets.def, static */
  VnFormat    format;
  gboolean    dynamic;        /* INTEGER: ranges of activations are found while the network runs */
  VnDType     activation;
  VnDType     weight;
  VnBiasType  bias;
  VnVendorDomain vendor_domain;
  gboolean    per_channel;
  gboolean    symmetric_activations;
  gboolean    symmetric_weights;
  gboolean    reduce_range;
  char       *method;         /* id of a range method */
  double      percentile;
  gboolean    two_sided;      /* percentile */
  char       *weight_method;  /* id of a range method; NULL: minmax */
  double      minimum_real_range;
  VnPowerOfTwo power_of_two;
  gboolean    optimize;
  char      **truncate;       /* names of values, NULL-terminated, or NULL */
  char       *ranges;         /* file with given ranges (vn-given.h), or NULL */
  gint64      opset;          /* 0: lowest that works, never below the model's */
  GPtrArray  *overrides;      /* of VnOverride, in order */
} VnRecipe;

typedef struct
{
  const char *id;             /* "cpu" */
  const char *title;          /* N_() */
  const char *summary;        /* N_() */
  const char *settings;       /* "activation=u16 weight=s8": what differs from the defaults of vn-settings.def */
} VnPreset;

const VnPreset * const *vn_preset_list     (guint            *n);
const VnPreset         *vn_preset_find     (const char       *id,
                                            GError          **error);

VnRecipe   *vn_recipe_new          (const char       *preset);    /* NULL: "cpu"; must exist */
VnRecipe   *vn_recipe_copy         (const VnRecipe   *self);
void        vn_recipe_free         (VnRecipe         *self);
gboolean    vn_recipe_equal        (const VnRecipe   *a,
                                    const VnRecipe   *b);
gboolean    vn_recipe_set          (VnRecipe         *self,
                                    const char       *id,
                                    const char       *text,
                                    GError          **error);     /* a setting of vn-settings.def by its id */
VnOverride *vn_override_new        (void);                        /* enabled, says nothing yet */
VnOverride *vn_recipe_add_exclude  (VnRecipe         *self,
                                    const char       *pattern);   /* returned rule is owned by the recipe */
gboolean    vn_recipe_remove_exclude (VnRecipe       *self,
                                      const char     *pattern);
gboolean    vn_recipe_needs_samples (const VnRecipe  *self);       /* ranges of activations are stored in the result */
gboolean    vn_recipe_validate     (const VnRecipe   *self,
                                    GError          **error);     /* field, value, what is allowed */
char       *vn_recipe_to_json      (const VnRecipe   *self);
VnRecipe   *vn_recipe_from_json    (const char       *text,
                                    const char       *name,
                                    GError          **error);
VnRecipe   *vn_recipe_load         (const char       *path,
                                    GError          **error);
gboolean    vn_recipe_save         (const VnRecipe   *self,
                                    const char       *path,
                                    GError          **error);
gboolean    vn_override_matches    (const VnOverride *self,
                                    const VnNode     *node);      /* pattern rules only */
VnOverride *vn_override_copy       (const VnOverride *self);
void        vn_override_free       (VnOverride       *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnRecipe, vn_recipe_free)

G_END_DECLS
