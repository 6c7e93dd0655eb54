/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section: what was found that did not stop the work. */
#include "vn-report-build.h"

#include "vn-data-suspicion.h"
#include "vn-i18n.h"

/* What to do about a suspicion stands in front of the verdict. */
static const char *
section_notes_get_remedy (const VnNote *note)
{
  return vn_data_suspicion_is (note) ? NULL : note->remedy;
}

void
_vn_report_build_notes (VnReportSection *section,
                        VnRun           *run)
{
  static const char * const titles[] = { NULL, N_("Warning."), N_("Problem.") };
  GPtrArray *lines;

  if (run->notes == NULL)
    return;
  lines = _vn_report_add_notes (section, NULL);
  for (guint i = 0; i < vn_notes_get_n (run->notes); i++)
    {
      const VnNote *note = vn_notes_get (run->notes, i);

      _vn_report_add_note (lines, note, titles[note->level] != NULL ? _(titles[note->level]) : NULL,
                           section_notes_get_remedy (note));
    }
}
