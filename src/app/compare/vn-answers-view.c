/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The boxes of a detector on the samples, float and quantized beside each other: a list of samples, and two pictures of one. */
#include "vn-answers-view.h"

#include "vn-boxes-picture.h"
#include "vn-compare-source.h"
#include "vn-i18n.h"
#include "vn-model-data.h"
#include "vn-sample-thumb.h"
#include "vn-thread.h"

#define PICTURE_SIZE 640
#define LIST_WIDTH   236
#define MOST_ROWS    200

struct _VnAnswersView
{
  GtkWidget        parent_instance;

  VnDocument      *document;
  VnRun           *run;            /* nullable: whose answers are shown */
  VnDataset       *dataset;        /* nullable: not opened yet */
  GCancellable    *opening, *loading;   /* nullable */
  GPtrArray       *sorted;         /* of VnSampleAnswer, borrowed from @run: the most lost first */
  guint            shown;

  GtkWidget       *box;
  GtkListBox      *list;
  GtkLabel        *titles[2];
  VnBoxesPicture  *pictures[2];
};

G_DEFINE_FINAL_TYPE (VnAnswersView, vn_answers_view, GTK_TYPE_WIDGET)

static guint
answers_view_count_lost (const VnSampleAnswer *answer)
{
  return answer->first->len - vn_sample_answer_count_kept (answer);
}

static int
answers_view_compare (gconstpointer a,
                      gconstpointer b)
{
  const VnSampleAnswer *x = *(VnSampleAnswer * const *) a, *y = *(VnSampleAnswer * const *) b;
  guint lost_x = answers_view_count_lost (x), lost_y = answers_view_count_lost (y);

  if (lost_x != lost_y)
    return lost_x > lost_y ? -1 : 1;
  return x->sample < y->sample ? -1 : x->sample > y->sample;
}

/* ---- one sample ---- */

static void
answers_view_say (VnAnswersView        *self,
                  const VnSampleAnswer *answer)
{
  guint n = answer->first->len, n_kept = vn_sample_answer_count_kept (answer), n_added = answer->other->len - n_kept;
  g_autofree char *first = g_strdup_printf (ngettext ("Float · %u detection", "Float · %u detections", n), n), *other = NULL;

  other = g_strdup_printf (_("Quantized · %u kept, %u lost, %u added"), n_kept, n - n_kept, n_added);
  gtk_label_set_label (self->titles[0], first);
  gtk_label_set_label (self->titles[1], other);
}

typedef struct
{
  VnDataset      *dataset;
  VnRun          *run;       /* keeps @answer */
  VnSampleAnswer *answer;
} Load;

static void
answers_view_free_load (gpointer data)
{
  Load *self = data;

  vn_dataset_unref (self->dataset);
  vn_run_unref (self->run);
  g_free (self);
}

static void
answers_view_run_load (GTask        *task,
                       gpointer      source,
                       gpointer      data,
                       GCancellable *cancellable)
{
  const Load *load = data;
  GError *error = NULL;
  GdkPixbuf *pixbuf;

  if (g_task_return_error_if_cancelled (task))
    return;
  pixbuf = vn_dataset_load_preview (load->dataset, load->answer->sample, TRUE, PICTURE_SIZE, &error);
  if (pixbuf != NULL)
    g_task_return_pointer (task, pixbuf, g_object_unref);
  else
    g_task_return_error (task, error);
}

static void
answers_view_loaded (GObject      *source,
                     GAsyncResult *async,
                     gpointer      data)
{
  VnAnswersView *self = VN_ANSWERS_VIEW (source);
  const Load *load = g_task_get_task_data (G_TASK (async));
  g_autoptr(GError) error = NULL;
  g_autoptr(GdkPixbuf) pixbuf = g_task_propagate_pointer (G_TASK (async), &error);
  g_autoptr(GdkTexture) texture = NULL;

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || self->run != load->run)
    return;
  texture = pixbuf != NULL ? gdk_texture_new_for_pixbuf (pixbuf) : NULL;
  for (guint i = 0; i < 2; i++)
    vn_boxes_picture_set (self->pictures[i], texture, load->answer, i);
  answers_view_say (self, load->answer);
  self->shown = load->answer->sample;
}

static void
answers_view_show (VnAnswersView  *self,
                   VnSampleAnswer *answer)
{
  g_autoptr(GTask) task = NULL;
  Load *load;

  if (self->loading != NULL)
    g_cancellable_cancel (self->loading);
  g_clear_object (&self->loading);
  if (self->dataset == NULL || answer->sample >= vn_dataset_get_n (self->dataset))
    return;
  self->loading = g_cancellable_new ();
  load = g_new0 (Load, 1);
  *load = (Load) { vn_dataset_ref (self->dataset), vn_run_ref (self->run), answer };
  task = g_task_new (self, self->loading, answers_view_loaded, NULL);
  g_task_set_task_data (task, load, answers_view_free_load);
  vn_thread_run_task (task, answers_view_run_load);
}

static void
answers_view_row_selected (VnAnswersView *self,
                           GtkListBoxRow *row)
{
  if (row != NULL && (guint) gtk_list_box_row_get_index (row) < self->sorted->len)
    answers_view_show (self, g_ptr_array_index (self->sorted, (guint) gtk_list_box_row_get_index (row)));
}

/* ---- the list ---- */

static GtkWidget *
answers_view_make_row (VnAnswersView        *self,
                       const VnSampleAnswer *answer,
                       guint                 number)
{
  guint n = answer->first->len, n_kept = vn_sample_answer_count_kept (answer), n_added = answer->other->len - n_kept;
  const char *name = vn_dataset_get_name (self->dataset, answer->sample);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8), *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *label,
            *below = gtk_label_new (name);
  g_autofree char *text = NULL;

  if (n == 0)
    text = n_added > 0 ? g_strdup_printf (ngettext ("%u added", "%u added", n_added), n_added) : g_strdup (_("nothing detected"));
  else
    text = n_kept == n ? g_strdup_printf (ngettext ("all %u kept", "all %u kept", n), n)
                       : g_strdup_printf (_("%u of %u kept"), n_kept, n);
  label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_xalign (GTK_LABEL (below), 0);
  gtk_label_set_ellipsize (GTK_LABEL (below), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_add_css_class (label, n_kept < n ? "heading" : "numeric");
  gtk_widget_add_css_class (below, "caption");
  gtk_widget_add_css_class (below, "dim-label");
  gtk_box_append (GTK_BOX (texts), label);
  gtk_box_append (GTK_BOX (texts), below);
  gtk_widget_set_valign (texts, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (box), vn_sample_thumb_new (self->dataset, answer->sample, number));
  gtk_box_append (GTK_BOX (box), texts);
  gtk_widget_set_tooltip_text (box, name);
  return box;
}

static void
answers_view_fill (VnAnswersView *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->list))) != NULL)
    gtk_list_box_remove (self->list, child);
  for (guint i = 0; self->dataset != NULL && i < MIN (self->sorted->len, MOST_ROWS); i++)
    {
      const VnSampleAnswer *answer = g_ptr_array_index (self->sorted, i);

      if (answer->sample < vn_dataset_get_n (self->dataset))
        gtk_list_box_append (self->list, answers_view_make_row (self, answer, i + 1));
    }
  if (gtk_list_box_get_row_at_index (self->list, 0) != NULL)
    gtk_list_box_select_row (self->list, gtk_list_box_get_row_at_index (self->list, 0));
}

/* The samples as the run had them, whatever the bench has now. */
typedef struct
{
  VnRun      *run;
  VnModel    *model;
  VnDataSpec *data;
  GHashTable *shapes;    /* nullable */
} Opening;

static void
answers_view_free_opening (gpointer data)
{
  Opening *self = data;

  vn_run_unref (self->run);
  vn_model_unref (self->model);
  vn_data_spec_free (self->data);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_free (self);
}

static void
answers_view_run_opening (GTask        *task,
                          gpointer      source,
                          gpointer      data,
                          GCancellable *cancellable)
{
  const Opening *opening = data;
  g_autoptr(GHashTable) sizes = NULL;
  GError *error = NULL;
  VnDataset *dataset = vn_model_open_data (opening->model, opening->data, opening->shapes, &sizes, NULL, &error);

  if (dataset != NULL)
    g_task_return_pointer (task, dataset, (GDestroyNotify) vn_dataset_unref);
  else
    g_task_return_error (task, error);
}

static void
answers_view_opened (GObject      *source,
                     GAsyncResult *async,
                     gpointer      data)
{
  VnAnswersView *self = VN_ANSWERS_VIEW (source);
  const Opening *opening = g_task_get_task_data (G_TASK (async));
  g_autoptr(VnDataset) dataset = g_task_propagate_pointer (G_TASK (async), NULL);

  if (dataset == NULL || self->run != opening->run)
    return;
  g_clear_object (&self->opening);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  self->dataset = g_steal_pointer (&dataset);
  answers_view_fill (self);
}

static void
answers_view_open (VnAnswersView *self)
{
  g_autoptr(GTask) task = NULL;
  Opening *opening;
  guint n_calibration;

  if (self->dataset != NULL || self->opening != NULL || !vn_answers_view_has_answers (self) || self->run->data == NULL ||
      !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  self->opening = g_cancellable_new ();
  opening = g_new0 (Opening, 1);
  opening->run = vn_run_ref (self->run);
  opening->model = vn_model_ref (vn_bench_get_model (VN_BENCH (self->document)));
  opening->data = vn_compare_source_dup_data (self->document, self->run, &opening->shapes, &n_calibration);
  task = g_task_new (self, self->opening, answers_view_opened, NULL);
  g_task_set_task_data (task, opening, answers_view_free_opening);
  vn_thread_run_task (task, answers_view_run_opening);
}

/* ---- widget ---- */

static void
answers_view_stop (VnAnswersView *self)
{
  if (self->opening != NULL)
    g_cancellable_cancel (self->opening);
  if (self->loading != NULL)
    g_cancellable_cancel (self->loading);
  g_clear_object (&self->loading);
}

static void
vn_answers_view_dispose (GObject *object)
{
  VnAnswersView *self = VN_ANSWERS_VIEW (object);

  answers_view_stop (self);
  g_clear_object (&self->opening);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_pointer (&self->sorted, g_ptr_array_unref);
  g_clear_pointer (&self->run, vn_run_unref);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_object (&self->document);
  G_OBJECT_CLASS (vn_answers_view_parent_class)->dispose (object);
}

static void
vn_answers_view_class_init (VnAnswersViewClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_answers_view_dispose;
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (klass), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (klass), GTK_ACCESSIBLE_ROLE_GROUP);
}

static GtkWidget *
answers_view_make_side (VnAnswersView *self,
                        guint          side)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6), *title = gtk_label_new (NULL), *picture = vn_boxes_picture_new ();

  self->titles[side] = GTK_LABEL (title);
  self->pictures[side] = VN_BOXES_PICTURE (picture);
  gtk_widget_add_css_class (title, "heading");
  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_widget_set_hexpand (box, TRUE);
  gtk_widget_set_vexpand (picture, TRUE);
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), picture);
  return box;
}

static void
vn_answers_view_init (VnAnswersView *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new (), *list = gtk_list_box_new (),
            *sides = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

  self->sorted = g_ptr_array_new ();
  self->shown = G_MAXUINT;
  self->list = GTK_LIST_BOX (list);
  gtk_widget_add_css_class (list, "navigation-sidebar");
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Samples, most lost first"), -1);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), list);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_widget_set_size_request (scroller, LIST_WIDTH, -1);
  gtk_box_set_homogeneous (GTK_BOX (sides), TRUE);
  for (guint i = 0; i < 2; i++)
    gtk_box_append (GTK_BOX (sides), answers_view_make_side (self, i));
  gtk_widget_set_hexpand (sides, TRUE);
  self->box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  gtk_box_append (GTK_BOX (self->box), scroller);
  gtk_box_append (GTK_BOX (self->box), sides);
  gtk_widget_add_css_class (self->box, "answers");
  gtk_widget_set_parent (self->box, GTK_WIDGET (self));
  g_signal_connect_swapped (list, "row-selected", G_CALLBACK (answers_view_row_selected), self);
  g_signal_connect_after (self, "map", G_CALLBACK (answers_view_open), NULL);
}

/**
 * vn_answers_view_set_document:
 */
void
vn_answers_view_set_document (VnAnswersView *self,
                              VnDocument    *document)
{
  g_return_if_fail (VN_IS_ANSWERS_VIEW (self) && VN_IS_DOCUMENT (document));

  g_set_object (&self->document, document);
}

/**
 * vn_answers_view_set_run:
 * @run: (nullable): whose answers are shown, if it has any
 */
void
vn_answers_view_set_run (VnAnswersView *self,
                         VnRun         *run)
{
  g_return_if_fail (VN_IS_ANSWERS_VIEW (self));

  if (run == self->run)
    return;
  answers_view_stop (self);
  g_clear_object (&self->opening);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->run, vn_run_unref);
  g_ptr_array_set_size (self->sorted, 0);
  self->shown = G_MAXUINT;
  self->run = run != NULL ? vn_run_ref (run) : NULL;
  for (guint i = 0; vn_answers_view_has_answers (self) && i < run->answers->len; i++)
    g_ptr_array_add (self->sorted, g_ptr_array_index (run->answers, i));
  g_ptr_array_sort (self->sorted, answers_view_compare);
  answers_view_fill (self);
  answers_view_open (self);
}

/**
 * vn_answers_view_has_answers:
 *
 * Returns: whether the run is of a detector whose boxes are known
 */
gboolean
vn_answers_view_has_answers (VnAnswersView *self)
{
  g_return_val_if_fail (VN_IS_ANSWERS_VIEW (self), FALSE);

  return self->run != NULL && self->run->answers != NULL && self->run->answers->len > 0;
}

/**
 * vn_answers_view_get_shown:
 *
 * Returns: index of the sample whose pictures are there; %G_MAXUINT: none
 */
guint
vn_answers_view_get_shown (VnAnswersView *self)
{
  g_return_val_if_fail (VN_IS_ANSWERS_VIEW (self), G_MAXUINT);

  return self->shown;
}
