/* SPDX-License-Identifier: GPL-3.0-or-later */

/* JSON of other programs that is told apart to say what it is: it is none of what was expected. */

#include "vn-encodings-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

static const struct { const char *keys[2], *what; } kinds[] = {
  { { "quantization_points", NULL },
    N_("this is an NNCF configuration, which identifies quantizers by the names of a traced PyTorch graph; an ONNX "
       "file does not have these. Choose a preset, and select nodes with rules") },
  { { "defaults", "op_type" },
    N_("this is an AIMET configuration for quantization simulation; choose the preset “cpu-s8” with its per-channel "
       "setting, and exclude its operators with rules") },
  { { "passes", "targets" },
    N_("this is a configuration of AMD’s compiler (vaip), which has no quantization settings") },
  { { "configs", "values" }, N_("this is a PPQ table: pass it with --ranges") },
  { { "quant_info", NULL }, N_("this is a PPQ table: pass it with --ranges") },
  { { "act_quant_info", NULL }, N_("this is a PPQ table for TensorRT: pass it with --ranges") },
  { { "calibration_table", "onnx_file" },
    N_("these are PPQ settings for TensorRT without ranges: pass the table that they name with --ranges") },
  { { "model_parameters", NULL }, N_("this is an XQuant or XSlim configuration: pass it with --config") },
  { { "quantization_parameters", NULL }, N_("this is an XQuant or XSlim configuration: pass it with --config") },
  { { "overall_quantize_config", NULL }, N_("this is a configuration of AMD’s quantizer: pass it with --config") },
};

/*< private >
 * vn_json_describe_foreign:
 *
 * Returns: (nullable): what @root is, and what to do with it; %NULL if it is not known
 */
const char *
vn_json_describe_foreign (JsonObject *root)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (json_object_has_member (root, kinds[i].keys[0]) &&
        (kinds[i].keys[1] == NULL || json_object_has_member (root, kinds[i].keys[1])))
      return _(kinds[i].what);
  return NULL;
}
