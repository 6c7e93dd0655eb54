/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings, printed and as JSON. */
#include "vn-cmd.h"

#include "vn-data-suspicion.h"
#include "vn-forecast-export.h"
#include "vn-i18n.h"
#include "vn-ranks.h"
#include "vn-shown.h"

static void
cmd_notes_print (VnNotes  *notes,
                     gboolean  suspicions)
{
  const char *levels[] = { _("note"), _("warning"), _("problem") };

  if (vn_cmd_options.json || vn_ranks_get_rank () > 0)
    return;
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      /* What was found about the samples, or is to be done where the export runs, is worth a line, even where it is no more than
       * a remark. */
      if ((note->level == VN_NOTE_INFO && !g_str_has_prefix (note->code, "data-") &&
           !g_str_has_prefix (note->code, "setting-") && !g_str_has_prefix (note->code, VN_NOTE_CODE_TARGET "-") &&
           !g_str_equal (note->code, VN_NOTE_ENGINE)) ||
          (!suspicions && vn_data_suspicion_is (note)))
        continue;
      if (note->subject != NULL)
        vn_cmd_warn ("%s: %s: %s", levels[note->level], note->subject, note->text);
      else
        vn_cmd_warn ("%s: %s", levels[note->level], note->text);
      if (vn_data_suspicion_is (note))
        vn_cmd_warn ("  %s", vn_data_suspicion_get_remedy (note));
    }
}

void
vn_cmd_print_notes (VnNotes *notes)
{
  g_return_if_fail (notes != NULL);

  cmd_notes_print (notes, TRUE);
}

void
vn_cmd_print_run_notes (VnNotes *notes)
{
  g_return_if_fail (notes != NULL);

  cmd_notes_print (notes, FALSE);
}

/**
 * vn_cmd_json_part:
 * @part: (nullable): that the figures around it are of; %NULL adds nothing
 */
void
vn_cmd_json_part (JsonBuilder       *json,
                  const VnErrorPart *part)
{
  g_return_if_fail (json != NULL);

  if (part == NULL)
    return;
  vn_json_begin_object (json, "part");
  vn_json_add_int (json, "axis", part->axis);
  vn_json_add_text (json, "slices", part->slices);
  vn_json_add_number (json, "size", part->size);
  if (part->is_dead)
    vn_json_add_bool (json, "dead", TRUE);
  json_builder_end_object (json);
}

void
vn_cmd_json_notes (JsonBuilder *json,
                   VnNotes     *notes)
{
  g_return_if_fail (json != NULL);

  vn_json_begin_array (json, "notes");
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      json_builder_begin_object (json);
      vn_json_add_text (json, "level", vn_note_level_get_id (note->level));
      vn_json_add_text (json, "code", note->code);
      vn_json_add_text (json, "subject", note->subject != NULL ? note->subject : "");
      vn_json_add_text (json, "text", note->text);
      if (vn_data_suspicion_is (note))
        {
          vn_json_add_text (json, "remedy", vn_data_suspicion_get_remedy (note));
        }
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}
