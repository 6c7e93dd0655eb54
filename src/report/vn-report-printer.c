/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The forms of report: the table of printers, and files written with them. */
#include "vn-report.h"

#include "vn-file.h"
#include "vn-i18n.h"

#include <string.h>

static const VnReportPrinter printers[] = {
#define VN_REPORT_PRINTER(id, file, print) { #id, file, print },
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
 * vn_report_printer_find_for_file:
 *
 * Returns: (transfer none): the printer whose files end as @path does, otherwise the first of the table
 */
const VnReportPrinter *
vn_report_printer_find_for_file (const char *path)
{
  g_return_val_if_fail (path != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (printers); i++)
    if (g_str_has_suffix (path, strrchr (printers[i].file, '.')))
      return &printers[i];
  return &printers[0];
}

/**
 * vn_report_add_outputs:
 * @files: told what a report in @folder is written to
 * @folder: (nullable): %NULL: none is
 */
void
vn_report_add_outputs (VnFileSet  *files,
                       const char *folder)
{
  g_return_if_fail (files != NULL);

  for (guint i = 0; i < G_N_ELEMENTS (printers); i++)
    vn_file_set_writes_in (files, folder, printers[i].file, _("the report"));
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
