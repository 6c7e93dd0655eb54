/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers with names as text. */
#include "vn-dims-private.h"

/* Whether the text of @number binds weaker than a product. */
static gboolean
dims_text_is_sum (VnDims *self,
                  gint64  number)
{
  return vn_dims_is_symbolic (number) && vn_dims_get_expr (self, number)->n > 1;
}

static void dims_text_append_number (GString *text,
                                     VnDims  *self,
                                     gint64   number);

static void
dims_text_append_operand (GString *text,
                          VnDims  *self,
                          gint64   number,
                          gboolean bracket)
{
  if (bracket)
    g_string_append_c (text, '(');
  dims_text_append_number (text, self, number);
  if (bracket)
    g_string_append_c (text, ')');
}

static void
dims_text_append_atom (GString      *text,
                       VnDims       *self,
                       const VnAtom *atom)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  switch (atom->kind)
    {
    case VN_ATOM_SYMBOL:
      g_string_append (text, atom->name);
      return;
    case VN_ATOM_REAL:
      g_string_append (text, g_ascii_formatd (buffer, sizeof buffer, "%.7g", atom->real));
      return;
    case VN_ATOM_FLOOR:
      g_string_append (text, "floor(");
      dims_text_append_operand (text, self, atom->a, atom->b != 1 && dims_text_is_sum (self, atom->a));
      if (atom->b != 1)
        {
          g_string_append_c (text, '/');
          dims_text_append_operand (text, self, atom->b, vn_dims_is_symbolic (atom->b));
        }
      break;
    case VN_ATOM_MIN:
    case VN_ATOM_MAX:
      g_string_append (text, atom->kind == VN_ATOM_MIN ? "min(" : "max(");
      dims_text_append_number (text, self, atom->a);
      g_string_append (text, ", ");
      dims_text_append_number (text, self, atom->b);
      break;
    }
  g_string_append_c (text, ')');
}

static void
dims_text_append_term (GString      *text,
                       VnDims       *self,
                       const VnTerm *term,
                       gboolean      first)
{
  guint64 size = term->coef < 0 ? 0 - (guint64) term->coef : (guint64) term->coef;

  if (first)
    g_string_append (text, term->coef < 0 ? "-" : "");
  else
    g_string_append (text, term->coef < 0 ? " - " : " + ");
  if (size != 1 || term->n == 0)
    g_string_append_printf (text, "%" G_GUINT64_FORMAT "%s", size, term->n > 0 ? "*" : "");
  for (guint i = 0; i < term->n; i++)
    {
      if (i > 0)
        g_string_append_c (text, '*');
      dims_text_append_atom (text, self, g_ptr_array_index (self->atoms, term->factors[i]));
    }
}

static void
dims_text_append_number (GString *text,
                         VnDims  *self,
                         gint64   number)
{
  const VnExpr *expr;

  if (!vn_dims_is_symbolic (number))
    {
      g_string_append_printf (text, "%" G_GINT64_FORMAT, number);
      return;
    }
  expr = vn_dims_get_expr (self, number);
  if (expr->den != 1 && expr->n > 1)
    g_string_append_c (text, '(');
  for (guint i = 0; i < expr->n; i++)
    dims_text_append_term (text, self, &expr->terms[i], i == 0);
  if (expr->den != 1 && expr->n > 1)
    g_string_append_c (text, ')');
  if (expr->den != 1)
    g_string_append_printf (text, "/%" G_GINT64_FORMAT, expr->den);
}

/**
 * vn_dims_to_string:
 *
 * Returns: (transfer full): "H", "2*H + 1", "floor((H + 1)/2)"; equal numbers have equal texts
 */
char *
vn_dims_to_string (VnDims *self,
                   gint64  number)
{
  GString *text = g_string_new (NULL);

  dims_text_append_number (text, self, number);
  return g_string_free (text, FALSE);
}
