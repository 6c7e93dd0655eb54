/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict on a run, as the commands print it. */
#include "vn-cmd.h"

#include "vn-data-suspicion.h"
#include "vn-i18n.h"
#include "vn-verdict.h"

/* First what is suspected of the samples, with its remedy. */
void
vn_cmd_print_verdict (VnErrorTable     *errors,
                      const VnAccuracy *accuracy,
                      VnNotes          *notes)
{
  g_autoptr(VnVerdict) verdict = vn_verdict_new (errors, accuracy, notes);

  for (guint i = 0; i < verdict->suspicions->len; i++)
    {
      const VnNote *note = g_ptr_array_index (verdict->suspicions, i);

      vn_cmd_print ("  %s: %s%s%s\n", _("suspicious samples"), note->subject != NULL ? note->subject : "",
                    note->subject != NULL ? ": " : "", note->text);
      vn_cmd_print ("    %s\n", vn_data_suspicion_get_remedy (note));
    }
  vn_cmd_print ("  %s\n    %s\n", verdict->title, verdict->text);
}

/* "verdict" for people, "level" for machines. */
void
vn_cmd_json_verdict (JsonBuilder      *json,
                     VnErrorTable     *errors,
                     const VnAccuracy *accuracy,
                     VnNotes          *notes)
{
  g_autoptr(VnVerdict) verdict = vn_verdict_new (errors, accuracy, notes);

  vn_json_add_text (json, "verdict", verdict->title);
  vn_json_add_text (json, "level", verdict->id);
}
