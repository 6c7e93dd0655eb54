/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each X.onnx of golden/read gives X.ref: the model as text, or the error. With --generate the files are written.
 * What is readable must also survive writing and reading again. */
#include "vn-onnx.h"
#include "vn-validate.h"

#include <string.h>

#define DIGITS "0123456789"

static gboolean generate;

static void dump_graph (GString       *out,
                        const VnGraph *graph,
                        int            indent);

static void
dump_extra (GString    *out,
            const char *what,
            GBytes     *extra)
{
  if (extra == NULL)
    return;
  g_string_append_printf (out, " %s=", what);
  for (gsize i = 0; i < g_bytes_get_size (extra); i++)
    g_string_append_printf (out, "%02x", ((const guint8 *) g_bytes_get_data (extra, NULL))[i]);
}

static void
dump_tensor (GString        *out,
             const VnTensor *tensor)
{
  g_autofree char *shape = vn_shape_to_string (&tensor->shape, ",");

  g_string_append_printf (out, "%s[%s] ", vn_dtype_get_name (tensor->dtype), shape);
  if (tensor->dtype == VN_DTYPE_STRING)
    for (gsize i = 0; i < tensor->n_elements; i++)
      g_string_append_printf (out, "“%s”", ((char **) tensor->data)[i]);
  else
    for (gsize i = 0; i < tensor->n_bytes; i++)
      g_string_append_printf (out, "%02x", ((const guint8 *) tensor->data)[i]);
}

static void
dump_value (GString       *out,
            const VnValue *value)
{
  g_autofree char *type = vn_type_to_string (&value->type);

  g_string_append_printf (out, "%s: %s%s%s%s, %u uses", value->name, type, value->has_info ? ", declared" : "",
                          value->is_input ? ", input" : "", value->is_output ? ", output" : "", value->uses->len);
  dump_extra (out, "encoded", value->type.encoded);
  dump_extra (out, "extra", value->extra);
  if (value->initializer != NULL)
    {
      g_string_append (out, " = ");
      dump_tensor (out, value->initializer);
      dump_extra (out, "extra", value->initializer_extra);
    }
  g_string_append_c (out, '\n');
}

static void
dump_attr (GString      *out,
           const VnAttr *attr,
           int           indent)
{
  g_string_append_printf (out, "%*s%s (%d):", indent, "", attr->name, attr->type);
  if (attr->ref_name != NULL)
    g_string_append_printf (out, " reference to %s", attr->ref_name);
  else if (attr->type == VN_ATTR_FLOAT)
    g_string_append_printf (out, " %g", (double) attr->f);
  else if (attr->type == VN_ATTR_INT)
    g_string_append_printf (out, " %" G_GINT64_FORMAT, attr->i);
  dump_extra (out, "s", attr->s);
  for (guint i = 0; attr->floats != NULL && i < attr->floats->len; i++)
    g_string_append_printf (out, " %g", (double) g_array_index (attr->floats, float, i));
  for (guint i = 0; attr->ints != NULL && i < attr->ints->len; i++)
    g_string_append_printf (out, " %" G_GINT64_FORMAT, g_array_index (attr->ints, gint64, i));
  for (guint i = 0; attr->strings != NULL && i < attr->strings->len; i++)
    dump_extra (out, "s", g_ptr_array_index (attr->strings, i));
  if (attr->tensor != NULL)
    {
      g_string_append_printf (out, " %s ", attr->tensor_name != NULL ? attr->tensor_name : "(unnamed)");
      dump_tensor (out, attr->tensor);
    }
  for (guint i = 0; attr->tensors != NULL && i < attr->tensors->len; i++)
    {
      g_string_append_c (out, ' ');
      dump_tensor (out, g_ptr_array_index (attr->tensors, i));
    }
  dump_extra (out, "extra", attr->extra);
  g_string_append_c (out, '\n');
  if (attr->graph != NULL)
    dump_graph (out, attr->graph, indent + 2);
}

static void
dump_node (GString      *out,
           const VnNode *node,
           int           indent)
{
  g_string_append_printf (out, "%*snode “%s” %s%s%s%s (", indent, "", node->name, node->domain,
                          *node->domain != '\0' ? "." : "", node->op_type, node->written_domain_alias ? " [alias]" : "");
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      g_string_append_printf (out, "%s%s%s", i > 0 ? ", " : "", value != NULL ? value->name : "-",
                              value != NULL && value->graph != node->graph ? " [outer]" : "");
    }
  g_string_append (out, ") ->");
  for (guint i = 0; i < node->outputs->len; i++)
    g_string_append_printf (out, " %s", vn_node_get_output (node, i) != NULL ? vn_node_get_output (node, i)->name : "-");
  dump_extra (out, "extra", node->extra);
  g_string_append_c (out, '\n');
  for (guint i = 0; i < node->attrs->len; i++)
    dump_attr (out, g_ptr_array_index (node->attrs, i), indent + 2);
}

static void
dump_graph (GString       *out,
            const VnGraph *graph,
            int            indent)
{
  g_string_append_printf (out, "%*sgraph “%s”", indent, "", graph->name);
  dump_extra (out, "extra", graph->extra);
  g_string_append_c (out, '\n');
  for (guint i = 0; i < graph->values->len; i++)
    {
      g_string_append_printf (out, "%*svalue ", indent + 2, "");
      dump_value (out, g_ptr_array_index (graph->values, i));
    }
  for (guint i = 0; i < graph->nodes->len; i++)
    dump_node (out, g_ptr_array_index (graph->nodes, i), indent + 2);
}

static void
dump_function (GString          *out,
               const VnFunction *function)
{
  g_string_append_printf (out, "function %s.%s", function->domain, function->name);
  for (guint i = 0; i < function->attr_names->len; i++)
    g_string_append_printf (out, " %s", (char *) g_ptr_array_index (function->attr_names, i));
  dump_extra (out, "extra", function->extra);
  g_string_append_c (out, '\n');
  dump_graph (out, function->body, 2);
}

static char *
dump_model (const VnModel *model)
{
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "ir %" G_GINT64_FORMAT, model->ir_version);
  for (guint i = 0; i < model->opsets->len; i++)
    g_string_append_printf (out, " “%s” %" G_GINT64_FORMAT, g_array_index (model->opsets, VnOpset, i).domain,
                            g_array_index (model->opsets, VnOpset, i).version);
  dump_extra (out, "extra", model->extra);
  for (guint i = 0; i < model->metadata->len; i++)
    g_string_append_printf (out, " %s", (char *) g_ptr_array_index (model->metadata, i));
  g_string_append_c (out, '\n');
  for (guint i = 0; i < vn_notes_get_n (model->notes); i++)
    g_string_append_printf (out, "note %s\n", vn_notes_get (model->notes, i)->code);
  dump_graph (out, model->graph, 0);
  for (guint i = 0; i < model->functions->len; i++)
    dump_function (out, g_ptr_array_index (model->functions, i));
  return g_string_free (out, FALSE);
}

/* Messages without the folder of this checkout. */
/* The code, what the message names in quotes, and its numbers: words may change, what is wrong and where may not. */
static char *
dump_error (const GError *error)
{
  g_auto(GStrv) parts = g_strsplit (error->message, GOLDEN_DIR "/", -1);
  g_autofree char *message = g_strjoinv ("", parts);
  g_auto(GStrv) quoted = g_strsplit (message, "“", -1);
  GString *text = g_string_new (NULL);

  g_string_printf (text, "error %s %d:", g_quark_to_string (error->domain), error->code);
  for (guint i = 0; quoted[i] != NULL; i++)
    {
      const char *end = i > 0 ? strstr (quoted[i], "”") : quoted[i];

      g_assert_nonnull (end);
      if (i > 0)
        g_string_append_printf (text, " “%.*s”", (int) (end - quoted[i]), quoted[i]);
      for (const char *at = strpbrk (end, DIGITS); at != NULL; at = strpbrk (at + strspn (at, DIGITS), DIGITS))
        g_string_append_printf (text, " %.*s", (int) strspn (at, DIGITS), at);
    }
  g_string_append_c (text, '\n');
  return g_string_free (text, FALSE);
}

static char *
replace (const char *text,
         const char *from,
         const char *to)
{
  g_auto(GStrv) parts = g_strsplit (text, from, -1);

  return g_strjoinv (to, parts);
}

/* A graph without a name is written with one, which onnx.checker wants; a sparse tensor as a dense one. */
static void
check_rewritten (const VnModel *model,
                 const char    *path,
                 const char    *text)
{
  g_autofree char *named = replace (text, "\ngraph “”\n", "\ngraph “graph”\n");
  g_autofree char *expected = replace (named, "\nnote sparse-initializer\n", "\n");
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = vn_onnx_write_bytes (model, &error);
  g_autoptr(VnModel) again = NULL;
  g_autofree char *dump = NULL;

  g_assert_no_error (error);
  again = vn_onnx_read_bytes (bytes, path, &error);
  g_assert_no_error (error);
  dump = dump_model (again);
  g_assert_cmpstr (dump, ==, expected);
}

static void
test_file (gconstpointer data)
{
  const char *path = data;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = vn_onnx_read_file (path, &error);
  g_autofree char *text = model != NULL ? dump_model (model) : dump_error (error);
  g_autofree char *stem = g_strndup (path, strlen (path) - strlen (".onnx"));
  g_autofree char *ref = g_strconcat (stem, ".ref", NULL);
  g_autofree char *expected = NULL;
  g_autofree char *base = g_path_get_basename (path);

  g_assert_true ((model != NULL) == (error == NULL));
  g_assert_true ((model == NULL) == g_str_has_prefix (base, "bad-"));
  if (generate)
    g_assert_true (g_file_set_contents (ref, text, -1, NULL));
  g_test_message ("%s", text);
  g_assert_true (g_file_get_contents (ref, &expected, NULL, NULL));
  g_assert_cmpstr (text, ==, expected);
  if (model != NULL)
    {
      g_assert_true (vn_model_validate (model, VN_VALIDATE_SIZES, NULL, &error));
      check_rewritten (model, path, text);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GDir) dir = NULL;
  const char *name;
  guint n = 0;

  g_test_init (&argc, &argv, NULL);
  generate = argc > 1 && g_str_equal (argv[1], "--generate");
  dir = g_dir_open (GOLDEN_DIR, 0, NULL);
  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".onnx"))
      {
        g_autofree char *test = g_strdup_printf ("/onnx/golden/%s", name);

        g_test_add_data_func_full (test, g_build_filename (GOLDEN_DIR, name, NULL), test_file, g_free);
        n++;
      }
  g_assert_cmpuint (n, >, 30);
  return g_test_run ();
}
