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
report_model_free_line (gpointer data)
{
  VnReportLine *line = data;

  g_free (line->level);
  g_free (line->title);
  g_free (line->code);
  g_free (line->subject);
  g_free (line->text);
  g_free (line->remedy);
  g_free (line);
}

static void
report_model_free_content (gpointer data)
{
  VnReportContent *content = data;

  g_free (content->intro);
  g_free (content->level);
  g_free (content->title);
  g_free (content->text);
  g_clear_pointer (&content->facts, g_ptr_array_unref);
  g_clear_pointer (&content->rows, g_ptr_array_unref);
  g_clear_pointer (&content->lines, g_ptr_array_unref);
  g_free (content);
}

static void
report_model_free_section (gpointer data)
{
  VnReportSection *section = data;

  g_ptr_array_unref (section->contents);
  g_free (section);
}

/* ---- what builders add ---- */

static VnReportContent *
report_model_add_content (VnReportSection *section,
                          VnReportKind     kind,
                          const char      *id,
                          char            *intro)
{
  VnReportContent *content = g_new0 (VnReportContent, 1);

  content->kind = kind;
  content->id = id;
  content->intro = intro;
  g_ptr_array_add (section->contents, content);
  return content;
}

/*< private >
 * _vn_report_add_facts:
 * @sentence: (transfer full) (nullable): tells them all
 *
 * Returns: where _vn_report_fact() adds to
 */
GPtrArray *
_vn_report_add_facts (VnReportSection *section,
                      char            *sentence)
{
  VnReportContent *content = report_model_add_content (section, VN_REPORT_FACTS, NULL, sentence);

  content->facts = _vn_report_facts_new ();
  return content->facts;
}

/*< private >
 * _vn_report_add_table:
 * @id: (nullable): %NULL: the table is the section
 * @parts: static, at least one
 *
 * Returns: what _vn_report_add_row() adds to
 */
VnReportContent *
_vn_report_add_table (VnReportSection      *section,
                      const char           *id,
                      const VnReportColumn *columns,
                      guint                 n_columns,
                      const VnReportPart   *parts,
                      guint                 n_parts)
{
  VnReportContent *content = report_model_add_content (section, VN_REPORT_TABLE, id, NULL);

  content->columns = columns;
  content->n_columns = n_columns;
  content->parts = parts;
  content->n_parts = n_parts;
  content->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  return content;
}

/*< private >
 * _vn_report_add_row:
 *
 * Returns: where the cells go, one for each column, in their order
 */
GPtrArray *
_vn_report_add_row (VnReportContent *table)
{
  GPtrArray *row = g_ptr_array_new_full (table->n_columns, _vn_report_value_free);

  g_ptr_array_add (table->rows, row);
  return row;
}

void
_vn_report_add_verdict (VnReportSection *section,
                        const char      *level,
                        const char      *title,
                        const char      *text)
{
  VnReportContent *content = report_model_add_content (section, VN_REPORT_VERDICT, NULL, NULL);

  content->level = g_strdup (level);
  content->title = g_strdup (title);
  content->text = g_strdup (text);
}

void
_vn_report_add_command (VnReportSection *section,
                        const char      *id,
                        const char      *intro,
                        char            *command)
{
  VnReportContent *content = report_model_add_content (section, VN_REPORT_COMMAND, id, g_strdup (intro));

  content->text = command;
}

/*< private >
 * _vn_report_add_notes:
 *
 * Returns: (element-type VnReportLine): where _vn_report_add_note() adds to
 */
GPtrArray *
_vn_report_add_notes (VnReportSection *section,
                      const char      *id)
{
  VnReportContent *content = report_model_add_content (section, VN_REPORT_NOTES, id, NULL);

  content->lines = g_ptr_array_new_with_free_func (report_model_free_line);
  return content->lines;
}

/*< private >
 * _vn_report_add_note:
 * @title: (nullable): what kind of note it is, for people
 * @remedy: (nullable)
 */
void
_vn_report_add_note (GPtrArray    *lines,
                     const VnNote *note,
                     const char   *title,
                     const char   *remedy)
{
  static const char * const levels[] = { "info", "warning", "problem" };
  VnReportLine *line = g_new0 (VnReportLine, 1);

  line->level = g_strdup (levels[note->level]);
  line->title = g_strdup (title);
  line->code = g_strdup (note->code);
  line->subject = g_strdup (note->subject);
  line->text = g_strdup (note->text);
  line->remedy = g_strdup (remedy);
  g_ptr_array_add (lines, line);
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
                                     g_ptr_array_new_with_free_func (report_model_free_content) };
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
