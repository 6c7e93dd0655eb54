/* SPDX-License-Identifier: GPL-3.0-or-later */

/* JSON of other programs that is told apart to say what it is: it is none of what was expected. */

#include "vn-encodings-private.h"

#include "vn-error.h"
#include "vn-i18n.h"

static const struct { const char *keys[2], *what; } kinds[] = {
  { { "quantization_points", NULL },
    N_("this is an NNCF configuration: quantizers by names of a traced PyTorch graph, which an ONNX file does not have; "
       "choose a preset, and name nodes by rules") },
  { { "defaults", "op_type" },
    N_("this is an AIMET configuration of simulated quantization; choose the preset “cpu-s8” with per-channel as it says, "
       "and leave its operators in float by rules") },
  { { "passes", "targets" },
    N_("this is a configuration of AMD’s compiler (vaip), which does not say how to quantize") },
  { { "configs", "values" }, N_("this is a table of PPQ: give it as ranges, with --ranges") },
  { { "quant_info", NULL }, N_("this is a table of PPQ: give it as ranges, with --ranges") },
  { { "act_quant_info", NULL }, N_("this is a table of PPQ for TensorRT: give it as ranges, with --ranges") },
  { { "calibration_table", "onnx_file" },
    N_("these are settings of PPQ for TensorRT, which hold no ranges: give the table that they name, with --ranges") },
  { { "model_parameters", NULL }, N_("this is a configuration of XQuant or XSlim: give it with --config") },
  { { "quantization_parameters", NULL }, N_("this is a configuration of XQuant or XSlim: give it with --config") },
  { { "overall_quantize_config", NULL }, N_("this is a configuration of AMD’s quantizer: give it with --config") },
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
