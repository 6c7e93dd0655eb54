/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as data: the walk over the table of sections, and what belongs to whom. */
#include "vn-report-build.h"

#include "vn-i18n.h"

/* The table of sections: vn-report-sections.def. */
static const struct
{
  const char         *id, *title;
  VnReportLayout      layouts;
  gboolean            is_head;
  VnReportBuildFunc   build;
} sections[] = {
#define VN_REPORT_SECTION(id, title, layouts, is_head) { #id, title, layouts, is_head, _vn_report_build_##id },
#include "vn-report-sections.def"
#undef VN_REPORT_SECTION
};

/* ---- what is freed ---- */

static void
report_model_free_section (gpointer data)
{
  VnReportSection *section = data;

  g_ptr_array_unref (section->contents);
  g_ptr_array_unref (section->briefs);
  g_free (section);
}

/* ---- the model ---- */

static const char *
report_model_get_title (const VnReportInput *input,
                        VnReportLayout       layout)
{
  if (layout == VN_REPORT_LAYOUT_XSLIM)
    return _("Quantization analysis");
  return input->recipe != NULL ? _("Quantization report") : _("Comparison");
}

/**
 * vn_report_model_new:
 * @input: what a run found; not needed any more afterwards
 * @layout: which sections; of %VN_REPORT_LAYOUT_XSLIM @input must have errors and the float network
 *
 * It holds no times and no folders but those in the command: the same run gives the same report.
 *
 * Returns: (transfer full): all that is told of it, in the language of the user
 */
VnReportModel *
vn_report_model_new (const VnReportInput *input,
                     VnReportLayout       layout)
{
  VnReportModel *self;

  g_return_val_if_fail (input != NULL && input->source != NULL, NULL);
  g_return_val_if_fail (layout != VN_REPORT_LAYOUT_XSLIM || (input->errors != NULL && input->prepared != NULL), NULL);

  self = g_new0 (VnReportModel, 1);
  self->title = report_model_get_title (input, layout);
  self->sections = g_ptr_array_new_with_free_func (report_model_free_section);
  for (guint i = 0; i < G_N_ELEMENTS (sections); i++)
    {
      VnReportSection *section;

      if (!(sections[i].layouts & layout))
        continue;
      section = g_new0 (VnReportSection, 1);
      *section = (VnReportSection) { sections[i].id, _(sections[i].title), sections[i].is_head,
                                     g_ptr_array_new_with_free_func (_vn_report_content_free),
                                     g_ptr_array_new_with_free_func (_vn_report_brief_free) };
      sections[i].build (section, input);
      if (section->contents->len > 0)
        g_ptr_array_add (self->sections, section);
      else
        report_model_free_section (section);
    }
  return self;
}

void
vn_report_model_free (VnReportModel *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->sections);
  g_free (self);
}

/**
 * vn_report_model_find:
 *
 * Returns: (transfer none) (nullable): the section of that id, if the report has it
 */
const VnReportSection *
vn_report_model_find (const VnReportModel *self,
                      const char          *id)
{
  g_return_val_if_fail (self != NULL && id != NULL, NULL);

  for (guint i = 0; i < self->sections->len; i++)
    {
      const VnReportSection *section = g_ptr_array_index (self->sections, i);

      if (g_str_equal (section->id, id))
        return section;
    }
  return NULL;
}
