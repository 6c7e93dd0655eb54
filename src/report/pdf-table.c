/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables on pages: text wraps in its column; columns that do not fit beside each other come in a table of their own below, with
 * what the rows are about; rows go on on the next page, below the headings again. */
#include "pdf-table.h"

#include "vn-i18n.h"

#include <string.h>

#define MOST_ROWS   40u      /* of a table on paper; JSON and Markdown have all */
#define MOST_TEXT   220u     /* characters of a cell */
#define MOST_LIST   110u     /* the same, of one that has a list */
#define SIZE        7.5      /* of text */
#define LARGE_SIZE  8.5      /* of tables that are read first */
#define SIGN        0.72     /* of the size of signs on a screen */
#define GAP         8.0      /* between columns */
#define PAD         2.5      /* above and below text */
#define LEAST_TEXT  74.0     /* a column of text is made no narrower */
#define MOST_PIECE 100.0     /* of a name that is not broken */
#define MOST_COLUMN 230.0

/**
 * Column:
 * @column: its index in the table
 * @natural: how wide it is if nothing wraps
 * @least: how narrow it may become
 * @is_key: tells what rows are about
 */
typedef struct
{
  guint    column;
  double   natural, least, width;
  gboolean is_key;
} Column;

typedef struct
{
  PdfPage               *page;
  const VnReportContent *content;
  const GPtrArray       *rows;
  guint                  n_rows;
  GArray                *columns;    /* of Column: those of a block */
} Table;

static const PdfText dim = { .size = 8.5, .alpha = 0.6, .width = PDF_INNER };
static const PdfText subheading = { .size = 10, .alpha = 1, .width = PDF_INNER, .bold = TRUE };

/* ---- text ---- */

/*< private >
 * _vn_pdf_append_joined:
 */
void
_vn_pdf_append_joined (GString      *text,
                       VnReportJoin  join,
                       const char   *shown)
{
  static const char * const before[] = { "", " … ", ", ", " (" };

  if (*shown != '\0')
    g_string_append_printf (text, "%s%s%s", before[join], shown, join == VN_REPORT_JOIN_PARENTHESES ? ")" : "");
}

static char *
pdf_table_dup_title (const VnReportColumn *column)
{
  if (column->title == NULL)
    return g_strdup ("");
  return column->unit != NULL && *column->unit != '\0'
         ? g_strjoin (" ", _(column->title), _(column->unit), NULL) : g_strdup (_(column->title));
}

static char *
pdf_table_dup_text (const Table     *self,
                    const GPtrArray *row,
                    guint            column)
{
  GString *text = g_string_new (NULL);

  for (guint c = column; c < self->content->n_columns && (c == column || self->content->columns[c].join != VN_REPORT_APART); c++)
    {
      const VnReportValue *value = g_ptr_array_index (row, c);
      g_autofree char *shown = vn_report_value_dup_shown (value, value->parts != NULL ? MOST_LIST : MOST_TEXT);

      _vn_pdf_append_joined (text, self->content->columns[c].join, shown);
    }
  return g_string_free (text, FALSE);
}

static PdfText
pdf_table_get_style (const Table *self)
{
  return (PdfText) { .size = self->content->is_large ? LARGE_SIZE : SIZE, .alpha = 0.9 };
}

/* ---- widths ---- */

static double
pdf_table_measure (Table      *self,
                   const char *text,
                   gboolean    bold)
{
  PdfText style = pdf_table_get_style (self);

  style.bold = bold;
  return _vn_pdf_measure_width (self->page, &style, text);
}

/* The longest piece that wrapping leaves whole if it can: names wrap behind strokes. */
static double
pdf_table_measure_words (Table      *self,
                         const char *text,
                         gboolean    bold)
{
  double most = 0;

  while (*text != '\0')
    {
      const gsize length = strcspn (text, " /"), end = length + (text[length] == '/');
      g_autofree char *word = g_strndup (text, end);

      most = MAX (most, pdf_table_measure (self, word, bold));
      text += text[length] == ' ' ? length + 1 : end;
    }
  return most;
}

/* Returns: how wide the sign of a cell is, that stands in place of its text; 0: it has none */
static double
pdf_table_measure_sign (const VnReportValue *value)
{
  double width, height;

  vn_sign_get_size (&value->sign, &width, &height);
  return width * SIGN;
}

/* Numbers do not wrap; text and headings do. */
static Column
pdf_table_size (Table    *self,
                guint     column,
                gboolean  is_key)
{
  const VnReportColumn *info = &self->content->columns[column];
  g_autofree char *title = pdf_table_dup_title (info);
  const double words = pdf_table_measure_words (self, title, TRUE);
  double title_width, cells = 0, pieces = 0, least;

  for (guint r = 0; r < self->n_rows; r++)
    {
      const GPtrArray *row = g_ptr_array_index (self->rows, r);
      const gboolean bold = ((VnReportValue *) g_ptr_array_index (row, column))->is_bad;
      g_autofree char *text = pdf_table_dup_text (self, row, column);
      const double sign = pdf_table_measure_sign (g_ptr_array_index (row, column));
      const double whole = sign > 0 ? sign : pdf_table_measure (self, text, bold);

      cells = MAX (cells, whole);
      if (!info->is_number && whole > LEAST_TEXT && pieces < MOST_PIECE)
        pieces = MAX (pieces, pdf_table_measure_words (self, text, bold));
    }
  title_width = pdf_table_measure (self, title, TRUE);
  least = info->is_number ? MIN (cells, MOST_COLUMN) : MIN (cells, CLAMP (pieces, LEAST_TEXT, MOST_PIECE));
  return (Column) { column, MAX (MIN (MAX (cells, title_width), MOST_COLUMN), words) + GAP + 0.5, MAX (least, words) + GAP + 0.5,
                    0, is_key };
}

/* What says what a row is about: what all parts repeat, else the first column of text with all that stands before it. */
static gboolean
pdf_table_is_key (const Table  *self,
                  const GArray *columns,
                  guint         i)
{
  gboolean any = FALSE;

  for (guint k = 0; k < columns->len; k++)
    any = any || self->content->columns[g_array_index (columns, guint, k)].part == VN_REPORT_ALL_PARTS;
  if (any)
    return self->content->columns[g_array_index (columns, guint, i)].part == VN_REPORT_ALL_PARTS;
  for (guint k = 0; k < i; k++)
    {
      const VnReportColumn *before = &self->content->columns[g_array_index (columns, guint, k)];

      if (before->title != NULL && !before->is_number)
        return FALSE;
    }
  return TRUE;
}

static GArray *
pdf_table_size_all (Table        *self,
                    const GArray *columns)
{
  GArray *sized = g_array_new (FALSE, FALSE, sizeof (Column));

  for (guint i = 0; i < columns->len; i++)
    {
      Column column = pdf_table_size (self, g_array_index (columns, guint, i), pdf_table_is_key (self, columns, i));

      g_array_append_val (sized, column);
    }
  return sized;
}

/* As many of @all from @first on as fit, behind the keys if these were in a block before. Returns: the first that does not. */
static guint
pdf_table_take_block (Table  *self,
                      GArray *all,
                      guint   first)
{
  double sum = 0;
  guint i = first;

  g_array_set_size (self->columns, 0);
  for (guint k = 0; k < first; k++)
    {
      const Column *key = &g_array_index (all, Column, k);

      if (!key->is_key)
        continue;
      sum += key->least;
      g_array_append_val (self->columns, *key);
    }
  for (; i < all->len; i++)
    {
      const Column *column = &g_array_index (all, Column, i);

      if (i > first && sum + column->least > self->page->inner)
        break;
      sum += column->least;
      g_array_append_val (self->columns, *column);
    }
  return i;
}

/* As wide as there is room: the last column of text grows. */
static void
pdf_table_fill (Table *self)
{
  Column *last = NULL;
  double sum = 0;

  for (guint i = 0; i < self->columns->len; i++)
    {
      Column *column = &g_array_index (self->columns, Column, i);

      sum += column->width;
      if (self->content->columns[column->column].title != NULL && !self->content->columns[column->column].is_number)
        last = column;
    }
  if (last != NULL)
    last->width += MAX (self->page->inner + GAP - sum, 0);
}

/* What is left beyond the least goes where text would wrap; what is too much, as of a single wide column, is taken from all. */
static void
pdf_table_share_out (Table *self)
{
  double least = 0, natural = 0, part;

  for (guint i = 0; i < self->columns->len; i++)
    {
      least += g_array_index (self->columns, Column, i).least;
      natural += g_array_index (self->columns, Column, i).natural;
    }
  part = natural > least ? CLAMP ((self->page->inner - least) / (natural - least), 0, 1) : 0;
  for (guint i = 0; i < self->columns->len; i++)
    {
      Column *column = &g_array_index (self->columns, Column, i);

      column->width = (column->least + part * (column->natural - column->least)) * MIN (1, self->page->inner / least);
    }
  if (self->content->is_large)
    pdf_table_fill (self);
}

/* ---- rows ---- */

/* In the middle of the first line. */
static double
pdf_table_put_sign (Table               *self,
                    const VnReportValue *value,
                    double               x,
                    gboolean             draw)
{
  double width, height;

  vn_sign_get_size (&value->sign, &width, &height);
  if (draw)
    {
      cairo_save (self->page->cr);
      cairo_translate (self->page->cr, x, self->page->y + PAD - 0.4);
      cairo_scale (self->page->cr, SIGN, SIGN);
      vn_sign_draw (&value->sign, self->page->pen, 0, 0);
      cairo_restore (self->page->cr);
      if (self->page->said != NULL)
        g_string_append_printf (self->page->said, "%s\n", value->display);
    }
  return height * SIGN;
}

/* Returns: how high it is */
static double
pdf_table_put_cell (Table           *self,
                    const Column    *column,
                    const GPtrArray *row,
                    double           x,
                    gboolean         draw)
{
  const VnReportColumn *info = &self->content->columns[column->column];
  const VnReportValue *value = row != NULL ? g_ptr_array_index (row, column->column) : NULL;
  g_autofree char *text = NULL;
  PdfText style = pdf_table_get_style (self);

  if (value != NULL && value->sign.kind != VN_SIGN_NONE)
    return pdf_table_put_sign (self, value, x, draw);
  text = row != NULL ? pdf_table_dup_text (self, row, column->column) : pdf_table_dup_title (info);
  style.width = column->width - GAP;
  style.bold = row == NULL || value->is_bad;
  style.at_right = info->is_number;
  return draw ? _vn_pdf_put (self->page, &style, x, self->page->y + PAD, text) : _vn_pdf_measure (self->page, &style, text);
}

/* @row: (nullable): NULL: the headings. Returns: how high it is. */
static double
pdf_table_put_row (Table           *self,
                   const GPtrArray *row,
                   gboolean         draw)
{
  double x = self->page->left, height = 0;

  for (guint i = 0; i < self->columns->len; i++)
    {
      const Column *column = &g_array_index (self->columns, Column, i);
      const double own = pdf_table_put_cell (self, column, row, x, draw);

      height = MAX (height, own);
      x += column->width;
    }
  return height + 2 * PAD;
}

/* What a row leads to: the node that one of its cells names; NULL: none */
static const VnReportValue *
pdf_table_find_node (const GPtrArray *row)
{
  for (guint i = 0; i < row->len; i++)
    if (((const VnReportValue *) g_ptr_array_index (row, i))->node > 0)
      return g_ptr_array_index (row, i);
  return NULL;
}

static void
pdf_table_add_row (Table           *self,
                   const GPtrArray *row,
                   double           height)
{
  const VnReportValue *about = pdf_table_find_node (row);

  if (about != NULL)
    _vn_pdf_begin_row (self->page, about->node - 1, height, about->display);
  pdf_table_put_row (self, row, TRUE);
  _vn_pdf_end_row (self->page);
  self->page->y += height;
  _vn_pdf_rule (self->page, 0.15, 0.5);
}

static void
pdf_table_add_header (Table *self)
{
  self->page->y += pdf_table_put_row (self, NULL, TRUE);
  _vn_pdf_rule (self->page, 0.6, 0.7);
}

static void
pdf_table_add_block (Table *self)
{
  double header;

  pdf_table_share_out (self);
  header = pdf_table_put_row (self, NULL, FALSE);
  for (guint r = 0; r < self->n_rows; r++)
    {
      const GPtrArray *row = g_ptr_array_index (self->rows, r);
      const double height = pdf_table_put_row (self, row, FALSE);
      const guint before = self->page->number;

      _vn_pdf_need (self->page, height + (r == 0 ? header : 0));
      if (r == 0 || self->page->number != before)
        pdf_table_add_header (self);
      pdf_table_add_row (self, row, height);
    }
}

static void
pdf_table_add_part (Table        *self,
                    const GArray *columns)
{
  g_autoptr(GArray) all = NULL;

  self->n_rows = MIN (self->rows->len, MOST_ROWS);
  all = pdf_table_size_all (self, columns);
  for (guint first = 0; first < all->len;)
    {
      if (first > 0)
        {
          _vn_pdf_skip (self->page, 8);
          _vn_pdf_need (self->page, 70);
          _vn_pdf_write (self->page, &dim, _("Additional columns for the same rows:"));
        }
      first = pdf_table_take_block (self, all, first);
      pdf_table_add_block (self);
    }
  if (self->n_rows < self->rows->len)
    {
      g_autofree char *left = g_strdup_printf (ngettext ("%u more is in the Markdown and JSON reports.",
                                                         "%u more are in the Markdown and JSON reports.",
                                                         self->rows->len - self->n_rows), self->rows->len - self->n_rows);

      self->page->y += 2;
      _vn_pdf_write (self->page, &dim, left);
    }
}

/*< private >
 * _vn_pdf_add_table:
 * @content: of kind %VN_REPORT_TABLE
 */
void
_vn_pdf_add_table (PdfPage               *page,
                   const VnReportContent *content)
{
  g_autoptr(GArray) block = g_array_new (FALSE, FALSE, sizeof (Column));

  if (content->title != NULL)
    _vn_pdf_write (page, &subheading, content->title);
  if (content->intro != NULL)
    _vn_pdf_write (page, &dim, content->intro);
  for (guint part = 0; part < content->n_parts; part++)
    {
      const VnReportPart *info = &content->parts[part];
      g_autoptr(GArray) columns = vn_report_table_list_columns (content, part);
      g_autoptr(GPtrArray) rows = vn_report_table_list_rows (content, part);
      Table self = { page, content, rows, 0, block };

      if (rows->len == 0)
        continue;
      _vn_pdf_skip (page, part > 0 ? 8 : 0);
      _vn_pdf_need (page, 70);
      if (info->title != NULL)
        _vn_pdf_write (page, &subheading, _(info->title));
      if (info->intro != NULL)
        _vn_pdf_write (page, &dim, _(info->intro));
      page->y += 3;
      pdf_table_add_part (&self, columns);
    }
}
