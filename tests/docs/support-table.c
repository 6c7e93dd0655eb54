/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of README.md that come from the .def files. Without arguments: compares the text between the markers of
 * README.md (environment: VN_README) with what the tables say. With --generate: writes it. */
#include "vn-calibrate.h"
#include "vn-file.h"
#include "vn-op.h"
#include "vn-pass.h"
#include "vn-recipe-private.h"

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

/* ---- element types ---- */

#define BITS8 (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8))
#define SIGNED (VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (S16) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64))
#define UNSIGNED (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (U64))
#define FLOATS (VN_DTYPE_BIT (F16) | VN_DTYPE_BIT (BF16) | VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64))
#define FLOAT8 (VN_DTYPE_BIT (F8E4M3) | VN_DTYPE_BIT (F8E4M3UZ) | VN_DTYPE_BIT (F8E5M2) | VN_DTYPE_BIT (F8E5M2UZ) | \
                VN_DTYPE_BIT (F8E8M0))
#define SMALL (VN_DTYPE_BIT (U4) | VN_DTYPE_BIT (S4) | VN_DTYPE_BIT (U2) | VN_DTYPE_BIT (S2) | VN_DTYPE_BIT (F4E2M1))
#define EVERY (((VnDTypeSet) 2 << VN_DTYPE_S2) - 2)   /* all that tensors can have */

static const struct { VnDTypeSet set; const char *name; } groups[] = {
  { EVERY, "all" }, { FLOATS | SIGNED | UNSIGNED, "numbers" }, { FLOATS, "floats" }, { SIGNED | UNSIGNED, "integers" },
  { SIGNED, "signed" }, { UNSIGNED, "unsigned" }, { BITS8, "int8, uint8" },
  { VN_DTYPE_BIT (C64) | VN_DTYPE_BIT (C128), "complex" }, { FLOAT8, "float8" }, { SMALL, "4 and 2 bits" },
};

static char *
describe (VnDTypeSet set)
{
  GString *text = g_string_new (NULL);

  set &= EVERY;
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    if ((set & groups[i].set) == groups[i].set)
      {
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", groups[i].name);
        set &= ~groups[i].set;
      }
  for (int dtype = 1; dtype < VN_N_DTYPES; dtype++)
    if ((set >> dtype & 1) != 0)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", vn_dtype_get_name ((VnDType) dtype));
  return g_string_free (text, FALSE);
}

/* Types of the data; what takes anything states none, and what has no input has none. */
static VnDTypeSet
types_of (const VnOp *op)
{
  return op->max_inputs == 0 ? 0 : op->dtypes == 0 ? EVERY : vn_op_get_dtypes (op) & EVERY;
}

static void
append_op (GString    *row,
           const VnOp *op)
{
  g_string_append_printf (row, "%s%s %u", row->len > 0 ? ", " : "", op->type, op->since);
  if (op->until > op->since)
    g_string_append_printf (row, "\342\200\223%u", op->until);
}

static void
append_ops (GString *text)
{
  g_autoptr(GPtrArray) ops = sorted_ops ();

  g_string_append (text, "| domain | element types of the data | operators the engine runs (lowest opset, or from\342\200\223to) |\n"
                         "|---|---|---|\n");
  for (guint i = 0; i < ops->len; i++)
    {
      const VnOp *first = g_ptr_array_index (ops, i);
      g_autoptr(GString) row = g_string_new (NULL);
      g_autofree char *types = NULL;
      gboolean shown = FALSE;

      /* One row for all operators of a domain with the same types, at the place of the first of them. */
      for (guint k = 0; k < ops->len; k++)
        {
          const VnOp *op = g_ptr_array_index (ops, k);

          if (strcmp (op->domain, first->domain) != 0 || types_of (op) != types_of (first))
            continue;
          shown = shown || k < i;
          append_op (row, op);
        }
      types = types_of (first) != 0 ? describe (types_of (first)) : g_strdup ("no input");
      if (!shown)
        g_string_append_printf (text, "| %s | %s | %s |\n", first->domain[0] != '\0' ? first->domain : "ai.onnx", types,
                                row->str);
    }
  g_string_append (text, "\nFloats are float16, bfloat16, float32 and float64, integers have 8 to 64 bits with or without sign, numbers are both.\n"
                         "What else an operator takes (indices, axes, scales) is of the types that ONNX gives it.\n\n");
}

static void
append_names (GString    *text,
              VnDTypeSet  set)
{
  const char *separator = "";

  for (int dtype = 1; dtype < VN_N_DTYPES; dtype++)
    if ((set >> dtype & 1) != 0)
      {
        g_string_append_printf (text, "%s%s", separator, vn_dtype_get_name ((VnDType) dtype));
        separator = ", ";
      }
}

static void
append_formats (GString *text)
{
  g_string_append (text, "| format | activations | weights |\n|---|---|---|\n");
  for (int i = 0; i < VN_N_FORMATS; i++)
    {
      const VnFormatTraits *format = vn_format_get_traits ((VnFormat) i);

      g_string_append_printf (text, "| `%s` | ", format->id);
      append_names (text, format->activations);
      g_string_append (text, " | ");
      append_names (text, format->weights);
      g_string_append (text, " |\n");
    }
  g_string_append_c (text, '\n');
}

static void
append_rest (GString *text)
{
  guint n;
  const VnPreset * const *presets = vn_preset_list (&n);
  const VnRangeMethod * const *methods;
  const VnPass * const *passes;
  static const char * const stages[] = { "always", "`prepare`", "`prepare --pass`" };

  g_string_append (text, "| preset | what it does |\n|---|---|\n");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "| `%s` | %s: %s |\n", presets[i]->id, presets[i]->title, presets[i]->summary);
  methods = vn_range_method_list (&n);
  g_string_append (text, "\n| range method | what it does |\n|---|---|\n");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "| `%s` | %s |\n", methods[i]->id, methods[i]->summary);
  passes = vn_pass_list (&n);
  g_string_append (text, "\n| preparation | when | what it does |\n|---|---|---|\n");
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "| `%s` | %s | %s |\n", passes[i]->id, stages[passes[i]->stage], passes[i]->summary);
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
  append_formats (table);
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
