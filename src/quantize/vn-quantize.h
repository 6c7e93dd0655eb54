/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Planning a quantization: which tensor gets which type, scale and zero point; and carrying it out. */

#include "vn-calibrate.h"
#include "vn-encodings.h"
#include "vn-recipe.h"

G_BEGIN_DECLS

/* Code of the notes about joins of unlike numbers that “float-mixed” leaves in float. */
#define VN_NOTE_CODE_MIXED_STAYS_FLOAT "mixed-stays-float"

typedef enum { VN_TENSOR_ACTIVATION, VN_TENSOR_WEIGHT, VN_TENSOR_BIAS } VnTensorRole;

/**
 * VnTensorPlan: the decision on one tensor.
 * @name: of the value in the prepared model
 * @scale: float32, scalar or one per channel; NULL if the tensor stays float
 * @zero_point: of type @dtype, same shape as @scale
 * @axis: channel axis for per-channel, else -1
 * @factors: (nullable): of an activation with scales per channel that neighbours hold: float32, one for each channel: the
 *   network as written holds the tensor divided by these, with one scale and zero point
 * @narrow: of a constant: its integers keep to the levels that have an opposite
 * @even_levels, @reduce_range: of a weight: whether there are as many levels below 0 as above, and half of them
 * @shares: name of the tensor whose parameters it takes (passthrough), or NULL
 * @rule: what decided: translated, "preset CPU, 8 bit", "rule 2: type:Softmax"
 */
typedef struct
{
  char        *name;
  VnTensorRole role;
  gboolean     quantized;
  VnDType      dtype;
  VnTensor    *scale, *zero_point;
  VnTensor    *factors;
  int          axis;
  gboolean     narrow, even_levels, reduce_range;
  double       min, max;     /* range it was made from */
  char        *method;
  char        *shares;
  char        *rule;
} VnTensorPlan;

/**
 * VnQuantPlan: the resolved recipe: one row per tensor, and which nodes take part. Immutable.
 */
typedef struct _VnQuantPlan VnQuantPlan;

VnQuantPlan        *vn_quant_plan_ref       (VnQuantPlan  *self);
void                vn_quant_plan_unref     (VnQuantPlan  *self);
guint               vn_quant_plan_get_n     (VnQuantPlan  *self);
const VnTensorPlan *vn_quant_plan_get       (VnQuantPlan  *self,
                                             guint         i);
const VnTensorPlan *vn_quant_plan_find      (VnQuantPlan  *self,
                                             const char   *value_name);
const VnValue      *vn_quant_plan_find_clamped (VnQuantPlan  *self,
                                                const VnValue *value);     /* NULL: its own range is its own */
VnQuantPlan        *vn_quant_plan_find_body (VnQuantPlan  *self,
                                             const VnNode *holder,
                                             const char   *attr);        /* NULL: nothing in it is quantized */
guint               vn_quant_plan_count_quantized (VnQuantPlan  *self);   /* tensors, also of graphs inside nodes */
gboolean            vn_quant_plan_is_node_quantized (VnQuantPlan *self,
                                                     const char  *node_label);   /* vn_node_dup_label() */

/**
 * vn_quantize_list_values:
 *
 * Returns: (transfer container) (element-type VnValue): the activations of @prepared that need a range under
 *   @recipe: what calibration has to observe. A superset for all methods, so that the statistics serve other
 *   recipes of the same model, too.
 */
GPtrArray          *vn_quantize_list_values (const VnModel   *prepared,
                                             const VnRecipe  *recipe);

guint               vn_quantize_count_quantized (const VnModel *model);   /* 0: a float network */
gboolean            vn_quantize_check_is_float (const VnModel  *model,
                                                GError        **error);

gint64              vn_quantize_get_opset   (const VnModel   *model,
                                             const VnRecipe  *recipe);   /* the opset the export needs */

/* Resolves the recipe. A rule that matches nothing is reported in @notes. */
VnQuantPlan        *vn_quantize_resolve     (const VnModel   *prepared,
                                             const VnRecipe  *recipe,
                                             VnStats         *stats,
                                             VnNotes         *notes,
                                             GError         **error);

gboolean            vn_quantize_find_masks  (const VnModel   *prepared,
                                             const VnRecipe  *recipe,
                                             VnNotes         *notes,
                                             GError         **error);

/* Writes the plan into a copy of @prepared, in the recipe's format. @value_names (nullable, out): from name of a
 * value in @prepared to the name of the float tensor in the result that stands for it after quantization: the output
 * of its DequantizeLinear, or itself. */
VnModel            *vn_quantize_write       (const VnModel   *prepared,
                                             const VnRecipe  *recipe,
                                             VnQuantPlan     *plan,
                                             GHashTable     **value_names,
                                             GError         **error);

VnDType             vn_quantize_get_float_type (const VnModel *prepared,
                                             const VnRecipe  *recipe);
gboolean            vn_quantize_narrow      (VnModel         *quantized,
                                             const VnModel   *source,
                                             const VnRecipe  *recipe,
                                             GHashTable      *value_names,
                                             GError         **error);
void                vn_quantize_keep_types  (VnModel         *quantized,
                                             const VnModel   *source,
                                             GHashTable      *value_names);
void                vn_quantize_note_types  (const VnModel   *result,
                                             const VnModel   *source,
                                             VnNotes         *notes);

/* What calibration found, as encodings. */
VnEncodingTable  *vn_encoding_table_new_from_stats (const VnModel   *prepared,
                                                    const VnRecipe  *recipe,
                                                    VnStats         *stats,
                                                    GError         **error);

/* ---- number formats ---- */

/* scale and zero point of a range, as onnxruntime.quantization computes them */
void     vn_quant_params_from_range (double    min,
                                     double    max,
                                     VnDType   dtype,
                                     gboolean  symmetric,
                                     gboolean  reduce_range,
                                     float    *scale,
                                     gint64   *zero_point);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnQuantPlan, vn_quant_plan_unref)

G_END_DECLS
