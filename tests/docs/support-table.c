/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of README.md that come from the .def files. Without arguments: compares the text between the markers of
 * README.md (environment: VN_README) with what the tables say. With --generate: writes it. */
#include "vn-calibrate.h"
#include "vn-file.h"
#include "vn-op.h"
#include "vn-pass.h"
#include "vn-recipe.h"

#include <stdio.h>
#include <string.h>

#define BEGIN "<!-- begin: made from the tables; tests/docs/support-table --generate -->\n"
#define END "<!-- end -->"

static gint
compare_types (gconstpointer a,
               gconstpointer b)
{
  const VnOp *x = *(const VnOp * const *) a, *y = *(const VnOp * const *) b;
  int order = strcmp (x->domain, y->domain);

  if (order == 0)
    order = strcmp (x->type, y->type);
  return order != 0 ? order : (int) x->since - (int) y->since;
}

static GPtrArray *
sorted_ops (void)
{
  guint n;
  const VnOp * const *ops = vn_op_list (&n);
  GPtrArray *sorted = g_ptr_array_sized_new (n);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (sorted, (gpointer) ops[i]);
  g_ptr_array_sort (sorted, compare_types);
  return sorted;
}

static void
append_ops (GString *text)
{
  g_autoptr(GPtrArray) ops = sorted_ops ();
  const char *domain = NULL, *type = "";
  guint n = 0;

  g_string_append (text, "| domain | operators the engine runs (lowest opset) |\n|---|---|\n");
  for (guint i = 0; i < ops->len; i++)
    {
      const VnOp *op = g_ptr_array_index (ops, i);

      if (domain == NULL || strcmp (domain, op->domain) != 0)
        {
          g_string_append_printf (text, "%s| %s | ", domain != NULL ? " |\n" : "", op->domain[0] != '\0' ? op->domain : "ai.onnx");
          domain = op->domain;
          type = "";
          n = 0;
        }
      if (strcmp (type, op->type) == 0)
        continue;
      type = op->type;
      g_string_append_printf (text, "%s%s %u", n++ > 0 ? ", " : "", op->type, op->since);
    }
  g_string_append (text, " |\n\n");
}

static void
append_rest (GString *text)
{
  guint n;
  const VnPreset * const *presets = vn_preset_list (&n);
  const VnRangeMethod * const *methods;
  const VnPass * const *passes;

  g_string_append (text, "| preset | what it does |\n|---|---|\n");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "| `%s` | %s: %s |\n", presets[i]->id, presets[i]->title, presets[i]->summary);
  methods = vn_range_method_list (&n);
  g_string_append (text, "\n| range method | what it does |\n|---|---|\n");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "| `%s` | %s |\n", methods[i]->id, methods[i]->summary);
  passes = vn_pass_list (&n);
  g_string_append (text, "\n| preparation | what it does |\n|---|---|\n");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "| `%s` | %s |\n", passes[i]->id, passes[i]->summary);
}

int
main (int    argc,
      char **argv)
{
  const char *path = g_getenv ("VN_README");
  g_autofree char *readme = NULL;
  g_autoptr(GString) table = g_string_new (NULL);
  g_autoptr(GError) error = NULL;
  char *begin, *end;

  append_ops (table);
  append_rest (table);
  if (path == NULL || !g_file_get_contents (path, &readme, NULL, &error) ||
      (begin = strstr (readme, BEGIN)) == NULL || (end = strstr (begin, END)) == NULL)
    {
      fprintf (stderr, "VN_README must name a README.md with the markers: %s\n", error != NULL ? error->message : "not found");
      return 1;
    }
  begin += strlen (BEGIN);
  if (argc > 1 && strcmp (argv[1], "--generate") == 0)
    {
      g_autofree char *head = g_strndup (readme, begin - readme);
      g_autofree char *all = g_strconcat (head, table->str, end, NULL);

      return vn_file_write_all (path, all, strlen (all), NULL) ? 0 : 1;
    }
  if ((gsize) (end - begin) == table->len && strncmp (begin, table->str, table->len) == 0)
    return 0;
  fprintf (stderr, "README.md does not say what the tables say; run this program with --generate. Expected:\n%s", table->str);
  return 1;
}
