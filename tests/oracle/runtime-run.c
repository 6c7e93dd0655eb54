/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints what the forecast says of models: for each a line "MODEL TAB path TAB seconds TAB share of integer multiplications TAB
 * margin", lines "KERNEL TAB operator TAB number TAB seconds", then a line "label TAB output TAB operator TAB kind TAB kernel TAB
 * into TAB reason TAB multiplications TAB seconds" for each node.
 *
 * usage: runtime-run [--shape NAME=1x3x8x8] MODEL... */
#include "vn-onnx.h"
#include "vn-runtime.h"

#include <stdio.h>
#include <string.h>

static void
print_forecast (const char              *path,
                const VnRuntimeForecast *forecast)
{
  printf ("MODEL\t%s\t%.9g\t%.6g\t%.6g\n", path, forecast->seconds, vn_runtime_forecast_integer_share (forecast),
          vn_runtime_get_margin ());
  for (guint i = 0; i < forecast->kernels->len; i++)
    {
      const VnRuntimeKernel *kernel = g_ptr_array_index (forecast->kernels, i);

      printf ("KERNEL\t%s\t%u\t%.9g\n", kernel->kernel, kernel->n, kernel->seconds);
    }
  for (guint i = 0; i < forecast->nodes->len; i++)
    {
      const VnRuntimeNode *node = g_ptr_array_index (forecast->nodes, i);

      printf ("%s\t%s\t%s\t%s\t%s\t%s\t%d\t%.9g\t%.9g\n", node->label, node->output, node->op_type,
              vn_runtime_kind_get_id (node->kind),
              node->kernel != NULL ? node->kernel : "", node->into != NULL ? node->into : "", node->reason, node->macs,
              node->seconds);
    }
}

static gboolean
add_shape (GHashTable *shapes,
           const char *text)
{
  const char *equals = strrchr (text, '=');
  VnShape *shape = g_new0 (VnShape, 1);
  g_auto(GStrv) dims = g_strsplit (equals != NULL ? equals + 1 : "", "x", VN_MAX_RANK);

  for (guint i = 0; dims[i] != NULL; i++)
    shape->dims[shape->rank++] = g_ascii_strtoll (dims[i], NULL, 10);
  g_hash_table_insert (shapes, g_strndup (text, equals != NULL ? (gsize) (equals - text) : 0), shape);
  return equals != NULL;
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GHashTable) shapes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (int i = 1; i < argc; i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) model = NULL;
      g_autoptr(VnRuntimeForecast) forecast = NULL;

      if (g_str_equal (argv[i], "--shape") && i + 1 < argc)
        {
          if (!add_shape (shapes, argv[++i]))
            return 2;
          continue;
        }
      model = vn_onnx_read_file (argv[i], &error);
      forecast = model != NULL ? vn_runtime_forecast_new (model, shapes, NULL, &error) : NULL;
      if (forecast == NULL)
        {
          fprintf (stderr, "%s: %s\n", argv[i], error->message);
          return 1;
        }
      print_forecast (argv[i], forecast);
    }
  return 0;
}
