/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators on text: RegexFullMatch against what RE2's description says, StringSplit against Python's str.split(). */
#include "op-call.h"
#include "vn-error.h"
#include "vn-op-body.h"

#include <malloc.h>

static VnTensor *
new_strings (const char * const *texts)
{
  VnShape shape = VN_SHAPE ((gint64) g_strv_length ((char **) texts));
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_STRING, &shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      g_free (((char **) tensor->data)[i]);
      ((char **) tensor->data)[i] = g_strdup (texts[i]);
    }
  return tensor;
}

/* The node's attribute is set by itself: patterns have spaces, brackets and signs that the notation of OpCall takes. */
static gboolean
match (const char *pattern,
       const char *text,
       GError    **error)
{
  g_autoptr(VnModel) model = vn_model_new (8, 20);
  g_autoptr(VnTensor) in = new_strings ((const char * const[]) { text, NULL });
  VnValue *input = vn_graph_add_input (model->graph, "x", VN_DTYPE_STRING, &in->shape);
  VnValue *output = vn_graph_add_value (model->graph, "y", VN_DTYPE_UNDEFINED, NULL);
  VnNode *node = vn_graph_add_node (model->graph, NULL, "", "RegexFullMatch", &input, 1, &output, 1);
  g_autoptr(VnTensor) out = vn_tensor_new (VN_DTYPE_BOOL, &in->shape, NULL);
  VnTensorType in_type = { VN_DTYPE_STRING, in->shape }, out_type = { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
  VnOpContext ctx = { .op = vn_op_lookup_node (node, NULL), .node = node, .opset = 20, .n_inputs = 1, .n_outputs = 1,
                      .in_types = &in_type, .in = &in, .out_types = &out_type, .out = &out, .n_threads = 1 };

  vn_node_set_string (node, "pattern", pattern);
  g_assert_nonnull (ctx.op);
  if (!ctx.op->infer (&ctx, error))
    return FALSE;
  g_assert_cmpint (out_type.dtype, ==, VN_DTYPE_BOOL);
  return ctx.op->run (&ctx, error) && ((const guint8 *) out->data)[0] != 0;
}

typedef struct
{
  const char *pattern, *text;
  gboolean    matches;
} Match;

static const Match matches[] = {
  { "www\\.[\\w.-]+\\.com\\b", "www.google.com", TRUE },
  { "www\\.[\\w.-]+\\.com\\b", "www.facebook.comx", FALSE },
  { "a", "ab", FALSE },
  { "a|ab", "ab", TRUE },           /* the whole string counts, not the first branch */
  { "", "", TRUE },
  { "", "x", FALSE },
  { "a$", "a\n", FALSE },           /* no newline before the end */
  { ".", "\n", FALSE },
  { "(?s).", "\n", TRUE },
  { ".", "é", TRUE },               /* characters, not bytes */
  { "\\d+", "123", TRUE },
  { "\\d", "\xd9\xa1", FALSE },     /* only ASCII digits */
  { "\\D", "\xd9\xa1", TRUE },
  { "\\w", "é", FALSE },
  { "\\W", "é", TRUE },
  { "[^\\w]", "é", TRUE },
  { "[\\W]", "é", TRUE },
  { "[\\W]", "_", FALSE },
  { "\\s", "\v", FALSE },           /* no vertical tabulator */
  { "[[:space:]]", "\v", TRUE },
  { "[[:alpha:]]", "é", FALSE },
  { "[[:^alpha:]]", "é", TRUE },
  { "[[:punct:]]+", "!/:@[`{~", TRUE },
  { "[^[:punct:]]+", "aZ0 ", TRUE },
  { "\\S\\s\\S", "a b", TRUE },
  { "a\\bb", "ab", FALSE },
  { "a\\b b", "a b", TRUE },
  { "a\\Bb", "ab", TRUE },
  { "é\\bé", "éé", FALSE },         /* neither is a word character */
  { "é\\bx", "éx", TRUE },
  { "(?i)straSSe", "STRASSE", TRUE },
  { "(?i:a)b", "Ab", TRUE },
  { "(?i:a)b", "AB", FALSE },
  { "(?P<name>a)(?:b)", "ab", TRUE },
  { "\\Qa.b\\E+", "a.bb", TRUE },
  { "\\Qa.b\\E", "axb", FALSE },
  { "[]a]+", "]a", TRUE },
  { "[^]a]", "b", TRUE },
  { "[a[]", "[", TRUE },
  { "\\x41\\x{e9}", "Aé", TRUE },
  { "a{2,3}", "aaa", TRUE },
  { "a{2,3}?", "aaa", TRUE },
  { "(?U)a+", "aaa", TRUE },
  { "a\\z", "a", TRUE },
  { "(?i)(a(b)c)", "ABC", TRUE },
};

static void
test_regex (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (matches); i++)
    {
      g_autoptr(GError) error = NULL;
      gboolean found = match (matches[i].pattern, matches[i].text, &error);

      g_test_message ("%s on %s", matches[i].pattern, matches[i].text);
      g_assert_no_error (error);
      g_assert_cmpint (found, ==, matches[i].matches);
    }
}

/* What RE2 refuses, and what no library may be given unbounded time for. */
static void
test_regex_refused (void)
{
  static const char * const patterns[] = { "(", "[a", "a**", "a++", "a{2}+", "\\1(a)", "(a)\\1", "(?=a)", "(?!a)", "(?<=a)b",
                                           "(?>a)", "(?R)", "(?#x)", "(*UTF)a", "(*LIMIT_MATCH=9999999)a", "\\Ka", "\\Ga",
                                           "(?x)a", "x)|(y", "\\", "\\Za" };

  for (gsize i = 0; i < G_N_ELEMENTS (patterns); i++)
    {
      g_autoptr(GError) error = NULL;

      g_test_message ("%s", patterns[i]);
      g_assert_false (match (patterns[i], "a", &error));
      g_assert_nonnull (error);
    }
}

static void
test_regex_endless (void)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (match ("(a+)+[bd]", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_LIMIT);
}

/* ---- StringSplit ---- */

typedef struct
{
  const char *attributes, *text;
  const char *pieces[6];
} Split;

static const Split splits[] = {
  { "", " a  b ", { "a", "b" } },
  { "", "", { NULL } },
  { "", "  ", { NULL } },
  { "maxsplit=1", "  a  b c ", { "a", "b c " } },
  { "maxsplit=0", " a b ", { "a b " } },
  { "", "a\xe3\x80\x80" "b\x1c" "c\vd", { "a", "b", "c", "d" } },
  { "delimiter=-", "a-b--c", { "a", "b", "", "c" } },
  { "delimiter=-", "-", { "", "" } },
  { "delimiter=-", "", { "" } },
  { "delimiter=-- maxsplit=1", "a--b--c", { "a", "b--c" } },
  { "delimiter=- maxsplit=0", "a-b", { "a-b" } },
  { "delimiter=ab", "xababy", { "x", "", "y" } },
};

static void
test_split (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (splits); i++)
    {
      g_autoptr(VnTensor) in = new_strings ((const char * const[]) { splits[i].text, "", NULL });
      VnTensor *outputs[2] = { NULL };
      OpCall call = { "", "StringSplit", 20, splits[i].attributes, &in, 1, 2, 1, .first_known = TRUE };
      g_autoptr(GError) error = NULL;
      gint64 n = g_strv_length ((char **) splits[i].pieces);

      g_test_message ("“%s” with %s", splits[i].text, splits[i].attributes);
      g_assert_true (op_call (&call, outputs, &error));
      g_assert_no_error (error);
      g_assert_cmpint (outputs[0]->shape.rank, ==, 2);
      g_assert_cmpint (outputs[0]->shape.dims[0], ==, 2);
      g_assert_cmpint (vn_tensor_get_s64 (outputs[1], 0), ==, n);
      for (gint64 k = 0; k < n; k++)
        g_assert_cmpstr (((char **) outputs[0]->data)[k], ==, splits[i].pieces[k]);
      vn_tensor_unref (outputs[0]);
      vn_tensor_unref (outputs[1]);
    }
}

/* Parts of texts are taken from sequences in each run: what is put into a tensor must replace what was there. */
static void
test_pieces (void)
{
  const gsize n = 20000;
  VnShape shape = VN_SHAPE ((gint64) n);
  g_autoptr(VnTensor) in = vn_tensor_new (VN_DTYPE_STRING, &shape, NULL);
  gsize before = 0;

  for (guint i = 0; i < 20; i++)
    {
      g_autoptr(VnTensor) piece = vn_slab_take (in, 0, 0, (gint64) n, TRUE, NULL);
      g_autoptr(GPtrArray) pieces = g_ptr_array_new ();
      g_autoptr(VnTensor) all = NULL;

      g_ptr_array_add (pieces, piece);
      all = vn_slab_join (pieces, 0, FALSE, NULL);
      g_assert_cmpstr (((char **) all->data)[n - 1], ==, "");
      if (i == 0)
        before = mallinfo2 ().uordblks;
    }
  g_assert_cmpuint (mallinfo2 ().uordblks, <, before + n * 32);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/string/regex", test_regex);
  g_test_add_func ("/ops/string/regex-refused", test_regex_refused);
  g_test_add_func ("/ops/string/regex-endless", test_regex_endless);
  g_test_add_func ("/ops/string/split", test_split);
  g_test_add_func ("/ops/string/pieces", test_pieces);
  return g_test_run ();
}
