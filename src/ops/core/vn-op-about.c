/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known here of an operator, in words: in which types it is run, how it is quantized. */
#include "vn-op-doc.h"

#include "vn-format.h"
#include "vn-i18n.h"

#define BITS8 (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8))
#define SIGNED (VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (S16) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64))
#define UNSIGNED (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (U64))
#define FLOATS (VN_DTYPE_BIT (F16) | VN_DTYPE_BIT (BF16) | VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64))
#define FLOAT8 (VN_DTYPE_BIT (F8E4M3) | VN_DTYPE_BIT (F8E4M3UZ) | VN_DTYPE_BIT (F8E5M2) | VN_DTYPE_BIT (F8E5M2UZ) | \
                VN_DTYPE_BIT (F8E8M0))
#define SMALL (VN_DTYPE_BIT (U4) | VN_DTYPE_BIT (S4) | VN_DTYPE_BIT (U2) | VN_DTYPE_BIT (S2) | VN_DTYPE_BIT (F4E2M1))
#define EVERY (((VnDTypeSet) 2 << VN_DTYPE_S2) - 2)   /* all that tensors can have */

static const struct { VnDTypeSet set; const char *name; } type_groups[] = {
  { EVERY, N_("all") }, { FLOATS | SIGNED | UNSIGNED, N_("values") }, { FLOATS, N_("floats") },
  { SIGNED | UNSIGNED, N_("integers") }, { SIGNED, N_("signed") }, { UNSIGNED, N_("unsigned") }, { BITS8, "int8, uint8" },
  { VN_DTYPE_BIT (C64) | VN_DTYPE_BIT (C128), N_("complex") }, { FLOAT8, "float8" }, { SMALL, N_("4 and 2 bits") },
};

/**
 * vn_op_dup_types:
 *
 * Floats are those of 16 to 64 bits, integers have 8 to 64 bits, numbers are both.
 *
 * Returns: (transfer full): element types in few words
 */
char *
vn_op_dup_types (VnDTypeSet types)
{
  GString *text = g_string_new (NULL);

  types &= EVERY;
  for (guint i = 0; i < G_N_ELEMENTS (type_groups); i++)
    if ((types & type_groups[i].set) == type_groups[i].set)
      {
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", _(type_groups[i].name));
        types &= ~type_groups[i].set;
      }
  for (int dtype = 1; dtype < VN_N_DTYPES; dtype++)
    if ((types >> dtype & 1) != 0)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", vn_dtype_get_name ((VnDType) dtype));
  return g_string_free (text, FALSE);
}

/**
 * vn_op_doc_get_kind:
 *
 * Returns: the kind of a value or attribute in the language of the user; "" of a type
 */
const char *
vn_op_doc_get_kind (const VnOpDocItem *item)
{
  g_return_val_if_fail (item != NULL, "");

  return g_str_equal (item->kind, "optional") ? _("optional") : g_str_equal (item->kind, "variadic") ? _("one or more")
         : g_str_equal (item->kind, "required") ? _("required") : "";
}

/**
 * vn_op_doc_explain_missing:
 * @domain: of an operator that vn_op_doc_find() does not know
 *
 * Returns: why there is no text of ONNX
 */
const char *
vn_op_doc_explain_missing (const char *domain)
{
  g_return_val_if_fail (domain != NULL, "");

  if (domain[0] != '\0' && !g_str_has_prefix (domain, "ai.onnx"))
    return _("ONNX does not describe the operators of this domain.");
  return vn_op_doc_get_source () == NULL
         ? _("This build has no descriptions of operators: ONNX's package for Python was missing when it was made.")
         : _("The version of ONNX that this build knows has no such operator.");
}

static const char *
op_about_describe_role (VnQuantRole role)
{
  switch (role)
    {
    case VN_QUANT_COMPUTE:
      return N_("Input, weight, bias and output are quantized");
    case VN_QUANT_MATMUL:
      return N_("Both inputs and the output are quantized; either input may be a weight");
    case VN_QUANT_GENERIC:
      return N_("Every float input and output is quantized");
    case VN_QUANT_CLAMP:
      return N_("Becomes part of the range of the node before it, or takes the scale of its input");
    case VN_QUANT_PASSTHROUGH:
      return N_("The output takes scale and zero point of the input");
    case VN_QUANT_NORM:
      return N_("Input and output are quantized; its factors are the weight");
    case VN_QUANT_OPAQUE:
    default:
      return N_("Stays as it is, unless a rule names it");
    }
}

static void
op_about_add (GPtrArray  *facts,
              const char *title,
              char       *text)
{
  g_ptr_array_add (facts, g_strdup (title));
  g_ptr_array_add (facts, text);
}

static void
op_about_add_quantizing (GPtrArray           *facts,
                         const VnQuantTraits *traits)
{
  g_autofree char *low = vn_format_number (traits->out_min, 3), *high = vn_format_number (traits->out_max, 3);

  op_about_add (facts, _("Quantizing"), g_strdup (_(op_about_describe_role (traits->role))));
  if (traits->out_min < traits->out_max)
    op_about_add (facts, _("Range of the output"), g_strdup_printf ("%s … %s", low, high));
  if (traits->role != VN_QUANT_OPAQUE)
    op_about_add (facts, _("By onnxruntime.quantization"), g_strdup (traits->in_ort_default ? _("Quantized by default")
                                                                     : _("Quantized only where it is named")));
}

/**
 * vn_op_list_facts:
 * @domain: "" is ai.onnx
 * @opset: version of @domain; 0: the newest that is known
 * @facts: gets (transfer full) titles and texts by turns
 *
 * What is true of the operator here: whether the engine runs it, in which versions and types, and how it is quantized.
 */
void
vn_op_list_facts (const char *domain,
                  const char *name,
                  gint64      opset,
                  GPtrArray  *facts)
{
  const VnOp *op = NULL;
  VnDTypeSet types;
  guint n;
  const VnOp * const *ops = vn_op_list (&n);

  g_return_if_fail (domain != NULL && name != NULL && facts != NULL);

  for (guint i = 0; i < n; i++)
    if (g_str_equal (ops[i]->type, name) && g_str_equal (ops[i]->domain, domain) &&
        (opset <= 0 || (ops[i]->since <= opset && (ops[i]->until == 0 || ops[i]->until >= opset))) &&
        (op == NULL || ops[i]->since > op->since))
      op = ops[i];
  if (op == NULL)
    {
      op_about_add (facts, _("Engine"), g_strdup (_("Not run here; what depends on it cannot be measured")));
      return;
    }
  op_about_add (facts, _("Engine"), op->until > 0 ? g_strdup_printf (_("Runs versions %u to %u"), op->since, op->until)
                                    : g_strdup_printf (_("Runs version %u and later"), op->since));
  types = op->max_inputs == 0 ? 0 : op->dtypes == 0 ? EVERY : vn_op_get_dtypes (op) & EVERY;
  if (types != 0)
    op_about_add (facts, _("Types of the input"), vn_op_dup_types (types));
  op_about_add_quantizing (facts, &op->quant);
}
