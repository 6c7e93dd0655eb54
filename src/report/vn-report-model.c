/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report as data: the walk over the table of sections, and what belongs to whom. */
#include "vn-report-build.h"

#include "vn-i18n.h"

/* The table of sections: vn-report-sections.def. */
static const struct
{
  const char         *id, *title;
  VnReportLayout      layouts;
  VnReportStage       stage;
  VnReportBuildFunc   build;
} sections[] = {
#define VN_REPORT_SECTION(id, title, layouts, stage) { #id, title, layouts, VN_REPORT_STAGE_##stage, _vn_report_build_##id },
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
report_model_get_title (VnRun          *run,
                        VnReportLayout  layout)
{
  if (layout == VN_REPORT_LAYOUT_XSLIM)
    return _("Quantization analysis");
  return run->recipe != NULL ? _("Quantization report") : _("Comparison");
}

/* When the run ended, not when this is written: the same result gives the same report. */
static char *
report_model_dup_made (VnRun *run)
{
  g_autoptr(GDateTime) time = run->time > 0 ? g_date_time_new_from_unix_local (run->time) : NULL;
  /* Translators: a day and a time, as g_date_time_format() takes them: “20 November 2026, 14:02” */
  g_autofree char *when = time != NULL ? g_date_time_format (time, _("%-d %B %Y, %H:%M")) : NULL;

  return when != NULL ? g_strdup_printf ("%s\nVernier %s", when, VN_VERSION) : NULL;
}

/* The folder alone: where it lies is nobody's business. */
static char *
report_model_dup_samples (VnRun *run)
{
  g_autofree char *name = run->data != NULL && run->data->path != NULL ? g_path_get_basename (run->data->path) : NULL;

  if (name == NULL || run->n_calibration == 0)
    return NULL;
  if (vn_data_spec_is_random (run->data))
    return g_strdup_printf (ngettext ("calibrated on %u random sample", "calibrated on %u random samples", run->n_calibration),
                            run->n_calibration);
  /* Translators: number of samples, name of their folder */
  return g_strdup_printf (_("calibrated on %u of %s"), run->n_calibration, name);
}

static char *
report_model_dup_foot (VnRun *run)
{
  const guint n = run->n_held_out;
  g_autofree char *calibrated = NULL, *measured = NULL;

  if (run->recipe == NULL)
    return n > 0 ? g_strdup_printf (ngettext ("Compared on %u sample.", "Compared on %u samples.", n), n) : NULL;
  calibrated = report_model_dup_samples (run);
  measured = run->errors == NULL || n == 0 ? g_strdup (_("Not measured")) :
             run->left_out ? g_strdup_printf (ngettext ("Measured on %u sample, excluded from calibration for it",
                                                          "Measured on %u samples, each excluded from calibration in turn", n),
                                                          n) :
             g_strdup_printf (ngettext ("Measured on %u sample not used for calibration",
                                        "Measured on %u samples not used for calibration", n), n);
  return calibrated != NULL ? g_strdup_printf (_("%s; %s."), measured, calibrated) : g_strdup_printf (_("%s."), measured);
}

/**
 * vn_report_model_new:
 * @run: with its model as opened; not needed any more afterwards. Without recipe it is a comparison of two networks: the float
 *   one is @source and @prepared
 * @layout: which sections; of %VN_REPORT_LAYOUT_XSLIM @run must have errors and the float network
 *
 * It holds no folders but those in the command, and no time but that when the run ended: the same run gives the same report.
 *
 * Returns: (transfer full): all that is told of it, in the language of the user
 */
VnReportModel *
vn_report_model_new (VnRun          *run,
                     VnReportLayout  layout)
{
  VnReportModel *self;

  g_return_val_if_fail (run != NULL && run->source != NULL, NULL);
  g_return_val_if_fail (layout != VN_REPORT_LAYOUT_XSLIM || (run->errors != NULL && run->prepared != NULL), NULL);

  self = g_new0 (VnReportModel, 1);
  self->title = report_model_get_title (run, layout);
  self->made = report_model_dup_made (run);
  self->foot = report_model_dup_foot (run);
  self->sections = g_ptr_array_new_with_free_func (report_model_free_section);
  for (guint i = 0; i < G_N_ELEMENTS (sections); i++)
    {
      VnReportSection *section;

      if (!(sections[i].layouts & layout))
        continue;
      section = g_new0 (VnReportSection, 1);
      *section = (VnReportSection) { sections[i].id, _(sections[i].title), sections[i].stage,
                                     sections[i].stage == VN_REPORT_STAGE_HEAD,
                                     g_ptr_array_new_with_free_func (_vn_report_content_free),
                                     g_ptr_array_new_with_free_func (_vn_report_brief_free) };
      sections[i].build (section, run);
      if (section->contents->len > 0)
        g_ptr_array_add (self->sections, section);
      else
        report_model_free_section (section);
    }
  return self;
}

/**
 * vn_report_model_dup_about:
 *
 * Returns: (transfer full): which network it is about, for a line below the title: "net.onnx · Nodes 131 · Opset 13"
 */
char *
vn_report_model_dup_about (const VnReportModel *self)
{
  const VnReportSection *section;
  GString *about;

  g_return_val_if_fail (self != NULL, NULL);

  section = vn_report_model_find (self, "model");
  about = g_string_new (NULL);

  for (guint i = 0; section != NULL && i < section->contents->len; i++)
    {
      const VnReportContent *content = g_ptr_array_index (section->contents, i);

      for (guint k = 0; content->kind == VN_REPORT_FACTS && k < content->facts->len; k++)
        {
          const VnReportFact *fact = g_ptr_array_index (content->facts, k);

          if (*fact->value->display != '\0')
            g_string_append_printf (about, "%s%s%s%s", about->len > 0 ? " · " : "", k > 0 ? fact->label : "", k > 0 ? " " : "",
                                    fact->value->display);
        }
    }
  return g_string_free (about, FALSE);
}

void
vn_report_model_free (VnReportModel *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->sections);
  g_free (self->made);
  g_free (self->foot);
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
