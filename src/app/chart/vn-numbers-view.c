/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The elements of a tensor as lines of a list, and as text to be copied. */
#include "vn-numbers-view.h"

#include "vn-constant-look.h"
#include "vn-i18n.h"

#define LONGEST_ROW  6    /* elements of the last axis that have one line together */
#define PER_LINE     4
#define LINE_HEIGHT 18    /* pixels */
#define MOST_LINES  12    /* that are seen without scrolling */
#define LEAST_WIDTH  8    /* characters of a column */

/* ---- lines ---- */

#define NUMBERS_TYPE_LINES (numbers_lines_get_type ())
G_DECLARE_FINAL_TYPE (NumbersLines, numbers_lines, NUMBERS, LINES, GObject)

struct _NumbersLines
{
  GObject   parent_instance;

  VnTensor *tensor;
  guint     per_line;
};

static gsize
numbers_view_get_row (const VnTensor *tensor)
{
  return tensor->shape.rank > 0 ? (gsize) MAX (tensor->shape.dims[tensor->shape.rank - 1], 1) : 1;
}

static guint
numbers_view_get_per_line (const VnTensor *tensor)
{
  gsize row = numbers_view_get_row (tensor);

  return row > 1 && row <= LONGEST_ROW ? (guint) row : PER_LINE;
}

/* "0, 3, 1": where element @i is; a scalar is nowhere. */
static void
numbers_view_add_place (GString        *text,
                        const VnTensor *tensor,
                        gsize           i)
{
  const VnShape *shape = &tensor->shape;

  for (int axis = 0; axis < shape->rank; axis++)
    {
      gsize inner = (gsize) vn_shape_count (shape, axis + 1, shape->rank);

      g_string_append_printf (text, "%s%zu", axis > 0 ? ", " : "", i / MAX (inner, 1) % (gsize) MAX (shape->dims[axis], 1));
    }
}

/* In columns, as wide as most numbers are. */
static void
numbers_view_add_elements (GString        *text,
                           const VnTensor *tensor,
                           gsize           first,
                           gsize           n)
{
  for (gsize i = first; i < MIN (first + n, tensor->n_elements); i++)
    {
      g_autofree char *number = vn_constant_dup_element (tensor, i);

      for (glong k = g_utf8_strlen (number, -1); k < LEAST_WIDTH; k++)
        g_string_append_c (text, ' ');
      g_string_append (text, number);
      g_string_append_c (text, ' ');
    }
}

/* As programs read it, with all digits. */
static void
numbers_view_add_exactly (GString        *text,
                          const VnTensor *tensor,
                          gsize           i)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];

  if (vn_dtype_is_float (tensor->dtype))
    g_string_append (text, g_ascii_formatd (digits, sizeof digits, tensor->dtype == VN_DTYPE_F64 ? "%.17g" : "%.9g",
                                            vn_tensor_get_double (tensor, i)));
  else
    g_string_append_printf (text, "%" G_GINT64_FORMAT, vn_tensor_get_s64 (tensor, i));
}

static GType
numbers_lines_get_item_type (GListModel *model)
{
  return GTK_TYPE_STRING_OBJECT;
}

static guint
numbers_lines_get_n_items (GListModel *model)
{
  const NumbersLines *self = NUMBERS_LINES (model);

  return (guint) MIN ((self->tensor->n_elements + self->per_line - 1) / self->per_line, G_MAXINT);
}

static gpointer
numbers_lines_get_item (GListModel *model,
                        guint       position)
{
  const NumbersLines *self = NUMBERS_LINES (model);
  g_autoptr(GString) text = g_string_new (NULL);
  gsize first = (gsize) position * self->per_line;

  if (position >= numbers_lines_get_n_items (model))
    return NULL;
  numbers_view_add_place (text, self->tensor, first);
  g_string_append_c (text, '\t');
  numbers_view_add_elements (text, self->tensor, first, self->per_line);
  return gtk_string_object_new (text->str);
}

static void
numbers_lines_init_list (GListModelInterface *interface)
{
  interface->get_item_type = numbers_lines_get_item_type;
  interface->get_n_items = numbers_lines_get_n_items;
  interface->get_item = numbers_lines_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (NumbersLines, numbers_lines, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, numbers_lines_init_list))

static void
numbers_lines_finalize (GObject *object)
{
  vn_tensor_unref (NUMBERS_LINES (object)->tensor);
  G_OBJECT_CLASS (numbers_lines_parent_class)->finalize (object);
}

static void
numbers_lines_class_init (NumbersLinesClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = numbers_lines_finalize;
}

static void
numbers_lines_init (NumbersLines *self)
{
}

/* ---- widget ---- */

struct _VnNumbersView
{
  GtkWidget    parent_instance;

  GtkWidget   *scroller;
  GtkListView *list;
};

G_DEFINE_FINAL_TYPE (VnNumbersView, vn_numbers_view, GTK_TYPE_WIDGET)

static void
numbers_view_make_row (GtkListItemFactory *factory,
                       GtkListItem        *item)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *place = gtk_label_new (NULL), *numbers = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (place), 0);
  gtk_label_set_xalign (GTK_LABEL (numbers), 1);
  gtk_widget_set_hexpand (numbers, TRUE);
  gtk_widget_add_css_class (place, "dim-label");
  gtk_widget_add_css_class (place, "caption");
  gtk_widget_add_css_class (place, "numeric");
  gtk_widget_add_css_class (numbers, "monospace");
  gtk_widget_add_css_class (numbers, "caption");
  gtk_box_append (GTK_BOX (box), place);
  gtk_box_append (GTK_BOX (box), numbers);
  gtk_list_item_set_child (item, box);
}

static void
numbers_view_bind_row (GtkListItemFactory *factory,
                       GtkListItem        *item)
{
  GtkWidget *place = gtk_widget_get_first_child (gtk_list_item_get_child (item));
  g_auto(GStrv) parts = g_strsplit (gtk_string_object_get_string (gtk_list_item_get_item (item)), "\t", 2);

  gtk_label_set_label (GTK_LABEL (place), parts[0]);
  gtk_label_set_label (GTK_LABEL (gtk_widget_get_next_sibling (place)), parts[1]);
}

static void
vn_numbers_view_dispose (GObject *object)
{
  VnNumbersView *self = VN_NUMBERS_VIEW (object);

  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  G_OBJECT_CLASS (vn_numbers_view_parent_class)->dispose (object);
}

static void
vn_numbers_view_class_init (VnNumbersViewClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_numbers_view_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BIN_LAYOUT);
}

static void
vn_numbers_view_init (VnNumbersView *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (numbers_view_make_row), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (numbers_view_bind_row), NULL);
  self->list = GTK_LIST_VIEW (gtk_list_view_new (NULL, factory));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Values"), -1);
  self->scroller = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scroller), GTK_WIDGET (self->list));
  gtk_widget_set_parent (self->scroller, GTK_WIDGET (self));
}

/**
 * vn_numbers_view_new:
 *
 * Returns: (transfer floating): an empty table
 */
GtkWidget *
vn_numbers_view_new (void)
{
  return g_object_new (VN_TYPE_NUMBERS_VIEW, NULL);
}

/**
 * vn_numbers_view_set:
 * @tensor: of floats, integers or truth values; kept
 */
void
vn_numbers_view_set (VnNumbersView  *self,
                     const VnTensor *tensor)
{
  NumbersLines *lines;
  g_autoptr(GtkSelectionModel) selection = NULL;

  g_return_if_fail (VN_IS_NUMBERS_VIEW (self) && tensor != NULL);

  lines = g_object_new (NUMBERS_TYPE_LINES, NULL);
  lines->tensor = vn_tensor_ref ((VnTensor *) tensor);
  lines->per_line = numbers_view_get_per_line (tensor);
  selection = GTK_SELECTION_MODEL (gtk_no_selection_new (G_LIST_MODEL (lines)));
  gtk_list_view_set_model (self->list, selection);
  gtk_scrolled_window_set_min_content_height (GTK_SCROLLED_WINDOW (self->scroller), LINE_HEIGHT *
                                              (int) MIN (g_list_model_get_n_items (G_LIST_MODEL (lines)), MOST_LINES));
}

/**
 * vn_numbers_dup_text:
 * @most: elements
 * @is_whole: (out): whether all are there
 *
 * Returns: (transfer full): elements apart by tabs, a line for each row of the last axis: what a spreadsheet takes
 */
char *
vn_numbers_dup_text (const VnTensor *tensor,
                     gsize           most,
                     gboolean       *is_whole)
{
  GString *text;
  gsize row, n;

  g_return_val_if_fail (tensor != NULL && is_whole != NULL, NULL);

  text = g_string_new (NULL);
  row = numbers_view_get_row (tensor);
  n = MIN (tensor->n_elements, most);
  *is_whole = n == tensor->n_elements;
  for (gsize i = 0; i < n; i++)
    {
      numbers_view_add_exactly (text, tensor, i);
      g_string_append_c (text, (i + 1) % row == 0 || i + 1 == n ? '\n' : '\t');
    }
  return g_string_free (text, FALSE);
}
