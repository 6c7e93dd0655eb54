/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is told of operators: by the tables here always, by ONNX where its texts were built in. */
#include "vn-op-doc.h"

#include <string.h>

static char *
list_facts (const char *domain,
            const char *name,
            gint64      opset)
{
  g_autoptr(GPtrArray) facts = g_ptr_array_new_with_free_func (g_free);
  GString *text = g_string_new (NULL);

  vn_op_list_facts (domain, name, opset, facts);
  g_assert_cmpuint (facts->len % 2, ==, 0);
  for (guint i = 0; i < facts->len; i++)
    g_string_append_printf (text, "%s%s", (const char *) facts->pdata[i], i % 2 == 0 ? ": " : "\n");
  return g_string_free (text, FALSE);
}

static void
test_facts (void)
{
  static const struct { const char *domain, *name; gint64 opset; const char *words[3]; } cases[] = {
    { "", "Conv", 17, { "Engine: Runs version", "weight", "Quantized by default" } },
    { "", "Relu", 0, { "takes the scale of its input", "floats" } },
    { "", "Reshape", 14, { "scale and zero point of the input" } },
    { "", "Softmax", 13, { "Range of the output: 0 … 1" } },
    { "", "Clip", 6, { "Runs versions" } },
    { "", "LayerNormalization", 17, { "its factors are the weight" } },
    { "", "Tanh", 13, { "only where it is named" } },
    { "com.microsoft", "MatMulNBits", 1, { "unless a rule names it" } },
    { "", "NoSuch", 13, { "Engine: Not run here" } },
    { "", "Gelu", 13, { "Engine: Not run here" } },      /* since 20 */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *facts = list_facts (cases[i].domain, cases[i].name, cases[i].opset);

      g_test_message ("%s %s", cases[i].name, facts);
      for (guint k = 0; k < 3 && cases[i].words[k] != NULL; k++)
        g_assert_nonnull (strstr (facts, cases[i].words[k]));
    }
}

static const VnOpDocItem *
get_item (GPtrArray  *items,
          const char *name)
{
  for (guint i = 0; i < items->len; i++)
    if (g_str_equal (((VnOpDocItem *) items->pdata[i])->name, name))
      return items->pdata[i];
  return NULL;
}

static void
check_conv (void)
{
  g_autoptr(VnOpDoc) first = vn_op_doc_find ("", "Conv", 7), doc = vn_op_doc_find ("", "Conv", 17),
                     none = vn_op_doc_find ("", "Conv", -1);
  const VnOpDocItem *group = get_item (doc->attributes, "group"), *bias = get_item (doc->inputs, "B");

  g_assert_cmpuint (first->since, ==, 1);
  g_assert_cmpuint (doc->since, ==, 11);
  g_assert_nonnull (none);                               /* the newest */
  g_assert_nonnull (strstr (doc->text, "convolution"));
  g_assert_cmpuint (doc->inputs->len, ==, 3);
  g_assert_cmpuint (doc->outputs->len, ==, 1);
  g_assert_cmpstr (group->fallback, ==, "1");
  g_assert_cmpstr (group->type, ==, "int");
  g_assert_cmpstr (bias->kind, ==, "optional");
  g_assert_cmpstr (bias->type, ==, "T");
  g_assert_nonnull (strstr (get_item (doc->types, "T")->type, "tensor(float16)"));
}

/* What was an attribute became an input; the name of one operator may begin that of another. */
static void
check_versions (void)
{
  g_autoptr(VnOpDoc) attributes = vn_op_doc_find ("", "Clip", 10), inputs = vn_op_doc_find ("", "Clip", 13),
                     integer = vn_op_doc_find ("", "ConvInteger", 13), scaler = vn_op_doc_find ("ai.onnx.ml", "Scaler", 3);

  g_assert_nonnull (get_item (attributes->attributes, "min"));
  g_assert_null (get_item (attributes->inputs, "min"));
  g_assert_null (get_item (inputs->attributes, "min"));
  g_assert_nonnull (get_item (inputs->inputs, "min"));
  g_assert_cmpstr (integer->name, ==, "ConvInteger");
  g_assert_nonnull (scaler);
}

/* Of those that the engine runs and that are older than what was built in. */
static void
check_all (void)
{
  guint n, n_found = 0;
  const VnOp * const *ops = vn_op_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnOpDoc) doc = vn_op_doc_find (ops[i]->domain, ops[i]->type, ops[i]->until);

      if (doc == NULL)
        continue;
      n_found++;
      g_assert_true (g_utf8_validate (doc->text, -1, NULL));
      g_assert_true (doc->text[0] != '\0' || doc->is_deprecated);
      g_assert_cmpuint (doc->outputs->len, >, 0);
      for (guint k = 0; k < doc->inputs->len; k++)
        g_assert_true (((VnOpDocItem *) doc->inputs->pdata[k])->name[0] != '\0');
    }
  g_assert_cmpuint (n_found, >, 150);
}

static void
test_texts (void)
{
  g_autoptr(VnOpDoc) unknown = vn_op_doc_find ("", "NoSuch", 13), foreign = vn_op_doc_find ("com.microsoft", "MatMulNBits", 1);

  g_assert_null (unknown);
  g_assert_null (foreign);
  g_assert_nonnull (strstr (vn_op_doc_explain_missing ("com.microsoft"), "this domain"));
  if (vn_op_doc_get_source () == NULL)
    {
      g_autoptr(VnOpDoc) conv = vn_op_doc_find ("", "Conv", 17);

      g_assert_null (conv);
      g_assert_nonnull (strstr (vn_op_doc_explain_missing (""), "This build has no descriptions"));
      return;
    }
  g_assert_nonnull (strstr (vn_op_doc_explain_missing (""), "no such operator"));
  check_conv ();
  check_versions ();
  check_all ();
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/doc/facts", test_facts);
  g_test_add_func ("/ops/doc/texts", test_texts);
  return g_test_run ();
}
