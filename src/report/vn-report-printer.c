/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The forms of report: the table of printers, and files written with them. */
#include "vn-report.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-file-hold.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

static const VnReportPrinter printers[] = {
#define VN_REPORT_PRINTER(id, file, is_text, print, title) { #id, file, is_text, print, title },
#include "vn-report-printers.def"
#undef VN_REPORT_PRINTER
};

/**
 * vn_report_printer_list:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): vn-report-printers.def
 */
const VnReportPrinter *
vn_report_printer_list (guint *n)
{
  g_return_val_if_fail (n != NULL, NULL);

  *n = G_N_ELEMENTS (printers);
  return printers;
}

/**
 * vn_report_printer_find:
 *
 * Returns: (transfer none) (nullable): the printer with that id
 */
const VnReportPrinter *
vn_report_printer_find (const char *id)
{
  g_return_val_if_fail (id != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (printers); i++)
    if (g_str_equal (id, printers[i].id))
      return &printers[i];
  return NULL;
}

static const VnReportPrinter *
report_printer_find_ending (const char *path)
{
  for (guint i = 0; i < G_N_ELEMENTS (printers); i++)
    if (g_str_has_suffix (path, strrchr (printers[i].file, '.')))
      return &printers[i];
  return NULL;
}

/**
 * vn_report_printer_find_for_file:
 *
 * Returns: (transfer none): the printer whose files end as @path does, otherwise the first of the table
 */
const VnReportPrinter *
vn_report_printer_find_for_file (const char *path)
{
  const VnReportPrinter *found;

  g_return_val_if_fail (path != NULL, NULL);

  found = report_printer_find_ending (path);
  return found != NULL ? found : &printers[0];
}

/* Whether this build has it. */
static gboolean
report_printer_is_there (const VnReportPrinter *self)
{
  return vn_report_has_pdf || self->print != vn_report_print_pdf;
}

/* Of a path that names a file: what prints it; NULL: it is a folder. */
static const VnReportPrinter *
report_printer_find_single (const char *path)
{
  return g_file_test (path, G_FILE_TEST_IS_DIR) ? NULL : report_printer_find_ending (path);
}

/**
 * vn_report_check_form:
 * @path: as vn_report_export() takes it
 *
 * Returns: %FALSE with %VN_ERROR_UNSUPPORTED if this build does not write reports whose files end so
 */
gboolean
vn_report_check_form (const char  *path,
                      GError     **error)
{
  const VnReportPrinter *single;

  g_return_val_if_fail (path != NULL, FALSE);

  single = report_printer_find_single (path);
  if (single == NULL || report_printer_is_there (single))
    return TRUE;
  g_set_error_literal (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                       _("This build does not write PDF: write .html, which a browser prints, or use a build with cairo"));
  return FALSE;
}

/**
 * vn_report_add_outputs:
 * @files: told what a report is written to
 * @path: (nullable): as vn_report_export() takes it; %NULL: none is
 */
void
vn_report_add_outputs (VnFileSet  *files,
                       const char *path)
{
  g_return_if_fail (files != NULL);

  if (path != NULL && report_printer_find_single (path) != NULL)
    {
      vn_file_set_writes (files, path, _("the report"));
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (printers); i++)
    if (report_printer_is_there (&printers[i]))
      vn_file_set_writes_in (files, path, printers[i].file, _("the report"));
}

/**
 * vn_report_write:
 * @printer: (nullable): %NULL: the one for the ending of @path
 *
 * Returns: %FALSE with @error set if the file could not be written; what stood there is replaced only by a complete new one
 */
gboolean
vn_report_write (const VnReportModel    *model,
                 const VnReportPrinter  *printer,
                 const char             *path,
                 GError                **error)
{
  g_autoptr(GBytes) bytes = NULL;

  g_return_val_if_fail (model != NULL && path != NULL, FALSE);

  if (printer == NULL)
    printer = vn_report_printer_find_for_file (path);
  bytes = printer->print (model, error);
  return bytes != NULL && vn_file_write_all (path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), error);
}

/**
 * vn_report_expect_memory:
 * @path: as vn_report_export() takes it
 *
 * Before anything is written: GLib ends a process that cannot have the thread which looks for fonts.
 *
 * Returns: %FALSE with %VN_ERROR_MEMORY if there is too little for what pages are drawn with
 */
gboolean
vn_report_expect_memory (const char  *path,
                         GError     **error)
{
  const VnReportPrinter *single;

  g_return_val_if_fail (path != NULL, FALSE);

  single = report_printer_find_single (path);
  return (single != NULL && single->print != vn_report_print_pdf) ||
         vn_memory_expect (VN_REPORT_FONT_BYTES + ((gsize) 64 << 20), error);
}

/**
 * vn_report_export:
 * @path: a file that ends as one of the table does: the report in that form; otherwise a folder for all forms there are,
 * made if missing
 *
 * Returns: %FALSE with @error set if something could not be written
 */
gboolean
vn_report_export (const VnReportModel  *model,
                  const char           *path,
                  GError              **error)
{
  g_return_val_if_fail (model != NULL && path != NULL, FALSE);

  if (report_printer_find_single (path) != NULL)
    return vn_report_write (model, NULL, path, error);
  if (!vn_file_make_folder (path, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (printers); i++)
    {
      g_autofree char *file = g_build_filename (path, printers[i].file, NULL);

      if (report_printer_is_there (&printers[i]) && !vn_report_write (model, &printers[i], file, error))
        return FALSE;
    }
  return TRUE;
}
