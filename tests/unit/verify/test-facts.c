/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runtimes tell of the nodes of an export, as each prints it; and what is printed by one that means harm. */
#include "verify-facts.h"

#include <math.h>
#include <string.h>

/* A convolution on integers, 2 × 4 × 4 of 3 × 3 × 3 filters; a product of matrices in float; and what multiplies nothing. */
#define OPENVINO \
  "{ \"nodes\": [ " \
  "{ \"name\": \"c\", " \
  "  \"about\": { \"layerType\": \"Convolution\", \"runtimePrecision\": \"u8\", \"primitiveType\": \"jit_u8\" }," \
  "  \"result\": [[1, 2, 4, 4]], \"operands\": [[1, 3, 6, 6], [2, 3, 3, 3]] }, " \
  "{ \"name\": \"m\", \"about\": { \"layerType\": \"MatMul\", \"runtimePrecision\": \"f32\", \"primitiveType\": \"brgemm\" }," \
  "  \"result\": [[1, 4, 4]], \"operands\": [[1, 4, 9], [1, 9, 4]] }, " \
  "{ \"name\": \"r\", \"about\": { \"layerType\": \"Reorder\", \"runtimePrecision\": \"f32\" } } ] }"

/* A convolution between quantizers, whose name has got a number; one that stands alone is in float. */
#define QNN \
  "{ \"subgraph_traces\": [ " \
  "{ \"op_mappings\": [ { \"dst_name\": \"conv_token_19\", \"dst_qnn_op_type\": \"Conv2d\"," \
  "  \"sources\": [ { \"type\": \"OP\" }, { \"type\": \"TENSOR\" }, { \"type\": \"OP\" } ] } ] }, " \
  "{ \"op_mappings\": [ { \"dst_name\": \"gemm\", \"dst_qnn_op_type\": \"FullyConnected\"," \
  "  \"sources\": [ { \"type\": \"OP\" }, { \"type\": \"TENSOR\" } ] } ] } ], " \
  "\"unsupported_nodes\": [ " \
  "{ \"node_name\": \"norm\", \"op_type\": \"LayerNormalization\", \"reason\": \"Failed to add node.\" }, " \
  "{ \"node_name\": \"norm_q\", \"op_type\": \"QuantizeLinear\", \"reason\": \"Failed to add node.\" }, " \
  "{ \"node_name\": \"gru\", \"op_type\": \"GRU\", \"reason\": \"not supported\" } ] }"
#define QNN_LOG \
  "[W] qnn_model_wrapper.cc:565 QNN.backendValidateOpConfig() failed for node `norm` of type `LayerNorm` with error code 3110\n" \
  "\xff\xfe not text\n"

#define TRACT \
  "{ \"nodes\": [ { \"op_name\": \"OptMatMul\", \"node_name\": \"a\", \"cost\": { \"FMA(F32)\": \"300\" } }, " \
  "{ \"op_name\": \"OptMatMul\", \"node_name\": \"b\", \"cost\": { \"Params(F32)\": \"4\", \"FMA(I8)\": \"100\" } }, " \
  "{ \"op_name\": \"Const\", \"node_name\": \"k\", \"cost\": { \"Params(F32)\": \"4\" } } ] }"

static VnRuntimeForecast *
make_forecast (void)
{
  static const char * const names[] = { "conv", "gemm", "relu" };
  static const double macs[] = { 75, 25, 0 };
  VnRuntimeForecast *forecast = vn_runtime_forecast_new_empty ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      VnRuntimeNode *node = g_new0 (VnRuntimeNode, 1);

      *node = (VnRuntimeNode) { .label = g_strdup (names[i]), .output = g_strdup (names[i]), .op_type = g_strdup ("Conv"),
                                .macs = macs[i] };
      vn_runtime_forecast_add (forecast, node);
    }
  return forecast;
}

static VnVerification *
read_facts (const char *runtime,
            const char *text,
            const char *log)
{
  g_autoptr(VnRuntimeForecast) forecast = make_forecast ();
  g_autoptr(JsonNode) facts = text != NULL ? json_from_string (text, NULL) : NULL;
  VnVerification *found = vn_verification_new ();

  found->runtime = vn_target_runtime_find (runtime, NULL);
  g_assert_nonnull (found->runtime);
  vn_verify_facts_read (found, facts, log, forecast);
  return found;
}

static char *
join_nodes (const GPtrArray *nodes)
{
  g_autoptr(GString) text = g_string_new (NULL);

  for (guint i = 0; i < nodes->len; i++)
    {
      const VnVerifiedNode *node = g_ptr_array_index (nodes, i);
      g_autofree char *one = vn_verified_node_dup_text (node);

      g_string_append_printf (text, "%s%s%s", i > 0 ? "; " : "", one, node->reason != NULL ? node->reason : "");
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
test_told (void)
{
  static const struct
  {
    const char *runtime, *facts, *log;
    guint       products, integers, partitions;
    double      share;
    const char *floats, *fallen;
  } cases[] = {
    { "openvino", OPENVINO, NULL, 2, 1, 0, 864. / 1008, "m (MatMul, f32, brgemm)", "" },
    { "qnn", QNN, QNN_LOG, 2, 1, 2, 0.75, "gemm (Conv)",
      "norm (LayerNormalization)backendValidateOpConfig() failed with error code 3110: LayerNorm; gru (GRU)not supported" },
    { "tract", TRACT, NULL, 2, 1, 0, 0.25, "a (OptMatMul, F32)", "" },
    { "onnxruntime", OPENVINO, NULL, 0, 0, 0, NAN, "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnVerification) found = read_facts (cases[i].runtime, cases[i].facts, cases[i].log);
      g_autofree char *floats = join_nodes (found->floats), *fallen = join_nodes (found->fallen);

      g_test_message ("%s: %u of %u, %g", cases[i].runtime, found->n_integer_products, found->n_products, found->integer_share);
      g_assert_cmpuint (found->n_products, ==, cases[i].products);
      g_assert_cmpuint (found->n_integer_products, ==, cases[i].integers);
      g_assert_cmpuint (found->n_partitions, ==, cases[i].partitions);
      g_assert_true (isnan (cases[i].share) ? isnan (found->integer_share) : fabs (found->integer_share - cases[i].share) < 1e-9);
      g_assert_cmpstr (floats, ==, cases[i].floats);
      g_assert_cmpstr (fallen, ==, cases[i].fallen);
    }
}

/* Of another kind than it should be: as if it were not there. */
static void
test_hostile (void)
{
  static const char * const texts[] = {
    NULL, "null", "7", "[]", "{}", "{ \"nodes\": 3 }", "{ \"nodes\": { \"a\": [] } }",
    "{ \"nodes\": [ null, 1, [], \"x\", {} ] }",
    "{ \"nodes\": [ { \"name\": [], \"about\": 3 }, { \"about\": { \"layerType\": [\"Convolution\"] } } ] }",
    "{ \"nodes\": [ { \"about\": { \"layerType\": \"MatMul\", \"runtimePrecision\": {} }, "
    "  \"result\": 1, \"operands\": [7, {}] } ] }",
    "{ \"nodes\": [ { \"about\": { \"layerType\": \"MatMul\" }, \"result\": [[-1, \"x\", {}, 1e300]], "
    "  \"operands\": [[], [[]]] } ] }",
    "{ \"nodes\": [ { \"op_name\": \"OptMatMul\", \"cost\": [] }, { \"op_name\": \"OptMatMul\", \"cost\": { \"FMA(\": 3 } }, "
    "  { \"op_name\": \"OptMatMul\", \"node_name\": 3, \"cost\": { \"FMA(F32)\": { } } }, "
    "  { \"op_name\": \"OptMatMul\", \"cost\": { \"FMA(I8)\": -5 } } ] }",
    "{ \"subgraph_traces\": [ 1, "
    "  { \"op_mappings\": [ 1, { \"dst_name\": 3, \"sources\": 4 }, { \"dst_name\": \"_token_\" } ] } ], "
    "  \"unsupported_nodes\": [ 1, {}, { \"node_name\": \"n\" }, { \"node_name\": 1, \"op_type\": \"A\" } ] }",
  };
  guint n;
  const VnTargetRuntime *runtimes = vn_target_runtime_list (&n);

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    for (guint k = 0; k < n; k++)
      {
        g_autoptr(VnVerification) found = read_facts (runtimes[k].id, texts[i], "`failed() failed for node ``");

        g_assert_cmpuint (found->n_integer_products, <=, found->n_products);
        g_assert_true (isnan (found->integer_share) || (found->integer_share >= 0 && found->integer_share <= 1));
        g_assert_cmpuint (found->fallen->len, ==, 0);
      }
}

/* Names and lists that are longer than anybody reads. */
static void
test_long (void)
{
  g_autoptr(GString) text = g_string_new ("{ \"nodes\": [ ");
  g_autoptr(VnVerification) found = NULL;
  g_autofree char *name = g_strnfill (5000, 'n');
  const VnVerifiedNode *first;

  for (guint i = 0; i < 3000; i++)
    g_string_append_printf (text, "%s{ \"op_name\": \"OptMatMul\", \"node_name\": \"%s\", \"cost\": { \"FMA(F32)\": \"%u\" } }",
                            i > 0 ? ", " : "", name, i);
  g_string_append (text, " ] }");
  found = read_facts ("tract", text->str, NULL);
  g_assert_cmpuint (found->n_products, ==, 3000);
  g_assert_cmpuint (found->floats->len, ==, 1000);
  first = g_ptr_array_index (found->floats, 0);
  g_assert_cmpfloat (first->macs, ==, 2999);
  g_assert_cmpuint (strlen (first->name), <, 500);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/facts/told", test_told);
  g_test_add_func ("/facts/hostile", test_hostile);
  g_test_add_func ("/facts/long", test_long);
  return g_test_run ();
}
