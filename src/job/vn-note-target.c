/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What has to be said of an export for a runtime: what that does not take as it stands, and how to see there what it makes of
 * the operators. */
#include "vn-forecast-export.h"

#include "vn-i18n.h"

/* (transfer full) (nullable): inputs with sizes that the file leaves open; @batches: or more than one sample at a time */
static char *
note_target_list_open_inputs (const VnGraph *graph,
                              gboolean       batches)
{
  GString *names = NULL;

  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->inputs, i);
      const VnShape *shape = &value->type.shape;

      if (value->initializer != NULL || value->type.kind != VN_TYPE_TENSOR ||
          (vn_shape_is_static (shape) && !(batches && shape->rank > 1 && shape->dims[0] > 1)))
        continue;
      names = names == NULL ? g_string_new (NULL) : g_string_append (names, ", ");
      g_string_append_printf (names, "“%s”", value->name);
    }
  return names != NULL ? g_string_free (names, FALSE) : NULL;
}

static void
note_target_shapes (const VnPreset *target,
                    const VnModel  *quantized,
                    VnNotes        *notes)
{
  const gboolean one = target->shapes == VN_TARGET_SHAPES_ONE_SAMPLE;
  g_autofree char *open = target->shapes != VN_TARGET_SHAPES_ANY ? note_target_list_open_inputs (quantized->graph, one) : NULL;

  if (open == NULL)
    return;
  vn_notes_add (notes, VN_NOTE_WARNING, VN_NOTE_CODE_TARGET_SHAPES, target->id,
                one ? _("%s needs static shapes with batch size 1, unlike these inputs: %s. Set them with “prepare --shape”")
                    : _("%s needs static shapes; these inputs have dynamic ones: %s. Set them with “prepare --shape”"),
                _(target->title), open);
}

/**
 * vn_job_note_target:
 * @result: with its quantized network; gets notes if its recipe is for a runtime
 */
void
vn_job_note_target (VnRun *result)
{
  const VnPreset *target;
  g_autoptr(GError) unsuited = NULL;
  gint64 opset;

  g_return_if_fail (result != NULL && result->recipe != NULL && result->quantized != NULL);

  target = vn_recipe_get_target (result->recipe);
  if (!vn_preset_is_target (target))
    return;
  note_target_shapes (target, result->quantized, result->notes);
  if (!vn_recipe_suits_target (result->recipe, &unsuited))
    vn_notes_add (result->notes, VN_NOTE_WARNING, VN_NOTE_CODE_TARGET_SETTING, target->id, "%s", unsuited->message);
  opset = vn_model_get_opset (result->quantized, "");
  if (target->opset_max > 0 && opset > target->opset_max)
    vn_notes_add (result->notes, VN_NOTE_WARNING, VN_NOTE_CODE_TARGET_OPSET, target->id,
                  _("The export has opset %lld, but %s supports opsets up to %d only"), (long long) opset, _(target->title),
                  target->opset_max);
  if (target->caution != NULL)
    vn_notes_add (result->notes, VN_NOTE_WARNING, VN_NOTE_CODE_TARGET, target->id, "%s", _(target->caution));
  if (target->check != NULL)
    vn_notes_add (result->notes, VN_NOTE_INFO, VN_NOTE_CODE_TARGET_CHECK, target->id,
                  _("To see which nodes %s runs in float: %s"), _(target->title), _(target->check));
}
