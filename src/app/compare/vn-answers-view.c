/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both networks answer to the samples, float and quantized beside each other: a list of samples, and two pictures of one. */
#include "vn-answers-view.h"

#include "vn-adaptive-bin.h"
#include "vn-answer-cures.h"
#include "vn-answer-picture.h"
#include "vn-answer-words.h"
#include "vn-class-names.h"
#include "vn-compare-source.h"
#include "vn-i18n.h"
#include "vn-model-data.h"
#include "vn-rows.h"
#include "vn-sample-thumb.h"
#include "vn-thread.h"

#define PICTURE_SIZE 640
#define LIST_WIDTH   236
#define MOST_ROWS    200
#define NARROW       860   /* there is room for the pictures alone */

struct _VnAnswersView
{
  GtkWidget        parent_instance;

  VnDocument      *document;
  VnRun           *run;            /* nullable: whose answers are shown */
  VnDataset       *dataset;        /* nullable: not opened yet */
  GCancellable    *opening, *loading;   /* nullable */
  char           **names;          /* nullable: of classes */
  GPtrArray       *sorted;         /* of VnSampleAnswer, borrowed from @run: the most lost first */
  guint            shown;
  gboolean         wants_focus;    /* the list shall have it, once there is one */

  GtkWidget       *adaptive;
  GtkListBox      *list;
  GtkLabel        *titles[2], *captions[2];
  VnAnswerPicture *pictures[2];
  VnAnswerCures   *cures;
};

G_DEFINE_FINAL_TYPE (VnAnswersView, vn_answers_view, GTK_TYPE_WIDGET)

/* Of a run that learns more the answers stay the same ones, and so does what is shown. */
static gboolean
answers_view_is_of (VnAnswersView *self,
                    VnRun         *run)
{
  return self->run == run || (self->run != NULL && run != NULL && run->answers != NULL && self->run->answers == run->answers);
}

/* ---- one sample ---- */

static void
answers_view_say (VnAnswersView        *self,
                  const VnSampleAnswer *answer)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *title = vn_answer_words_dup_title (answer, self->names, i);
      g_autofree char *markup = vn_answer_words_dup_markup (answer, self->names, i);

      gtk_label_set_label (self->titles[i], title);
      gtk_label_set_markup (self->captions[i], markup != NULL ? markup : "");
      gtk_widget_set_visible (GTK_WIDGET (self->captions[i]), markup != NULL);
    }
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

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || !answers_view_is_of (self, load->run))
    return;
  texture = pixbuf != NULL ? gdk_texture_new_for_pixbuf (pixbuf) : NULL;
  for (guint i = 0; i < 2; i++)
    {
      vn_answer_picture_set (self->pictures[i], texture, load->answer, self->names, i);
      gtk_widget_set_visible (GTK_WIDGET (self->pictures[i]), texture != NULL || load->answer->form == VN_ANSWER_BOXES ||
                                                              load->answer->form == VN_ANSWER_MASK);
    }
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
  const char *name = vn_dataset_get_name (self->dataset, answer->sample);
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8),
            *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0), *label, *below = gtk_label_new (name);
  g_autofree char *text = vn_answer_words_dup_row (answer, self->names), *spoken = g_strdup_printf ("%s, %s", name, text);

  label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_xalign (GTK_LABEL (below), 0);
  gtk_label_set_ellipsize (GTK_LABEL (below), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (label, vn_sample_answer_is_whole (answer) ? "numeric" : "heading");
  gtk_widget_add_css_class (below, "caption");
  gtk_widget_add_css_class (below, "dim-label");
  gtk_box_append (GTK_BOX (texts), label);
  gtk_box_append (GTK_BOX (texts), below);
  gtk_widget_set_valign (texts, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (box), vn_sample_thumb_new (self->dataset, answer->sample, number));
  gtk_box_append (GTK_BOX (box), texts);
  gtk_widget_set_tooltip_text (box, spoken);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (row), box);
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken, -1);
  return row;
}

static void
answers_view_fill (VnAnswersView *self)
{
  GtkListBoxRow *first;

  vn_list_box_clear (self->list);
  for (guint i = 0; self->dataset != NULL && i < MIN (self->sorted->len, MOST_ROWS); i++)
    {
      const VnSampleAnswer *answer = g_ptr_array_index (self->sorted, i);

      if (answer->sample < vn_dataset_get_n (self->dataset))
        gtk_list_box_append (self->list, answers_view_make_row (self, answer, i + 1));
    }
  if ((first = gtk_list_box_get_row_at_index (self->list, 0)) != NULL)
    {
      gtk_list_box_select_row (self->list, first);
      if (self->wants_focus)
        gtk_widget_grab_focus (GTK_WIDGET (first));
      self->wants_focus = FALSE;
    }
}

/* How many answers are kept, and whether some are lost. */
static void
answers_view_sum_up (VnAnswersView *self)
{
  const VnSampleAnswer *worst = self->sorted->len > 0 ? g_ptr_array_index (self->sorted, 0) : NULL;
  g_autofree char *figures = NULL, *mean = NULL, *perplexity = NULL;
  const VnKept *kept;

  if (worst == NULL)
    return;
  kept = &self->run->accuracy.kept;
  mean = vn_kept_dup_mean (kept);
  perplexity = vn_kept_dup_perplexity (kept);
  figures = vn_answer_words_dup_summary (self->sorted, kept);
  vn_answer_cures_set_answers (self->cures, figures, vn_task_get_name (worst->kept.task), !vn_sample_answer_is_whole (worst));
  if (mean != NULL)
    vn_answer_cures_add_figure (self->cures, mean, vn_task_get_second_title (kept->task));
  if (perplexity != NULL)
    vn_answer_cures_add_figure (self->cures, perplexity, _("perplexity"));
}

/* The samples as the run had them, whatever the bench has now. */
typedef struct
{
  VnRun      *run;
  VnModel    *model;
  VnDataSpec *data;
  GHashTable *shapes;    /* nullable */
  char      **names;     /* nullable: found while opening */
} Opening;

static void
answers_view_free_opening (gpointer data)
{
  Opening *self = data;

  vn_run_unref (self->run);
  vn_model_unref (self->model);
  vn_data_spec_free (self->data);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_strfreev (self->names);
  g_free (self);
}

static void
answers_view_run_opening (GTask        *task,
                          gpointer      source,
                          gpointer      data,
                          GCancellable *cancellable)
{
  Opening *opening = data;
  const VnSampleAnswer *answer = g_ptr_array_index (opening->run->answers, 0);
  g_autoptr(GHashTable) sizes = NULL;
  GError *error = NULL;
  VnDataset *dataset = vn_model_open_data (opening->model, opening->data, opening->shapes, &sizes, NULL, &error);

  opening->names = vn_class_names_find (opening->model, dataset, answer->n_classes, answer->kept.task == VN_TASK_TEXT);
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
  Opening *opening = g_task_get_task_data (G_TASK (async));
  g_autoptr(VnDataset) dataset = g_task_propagate_pointer (G_TASK (async), NULL);

  if (dataset == NULL || !answers_view_is_of (self, opening->run))
    return;
  g_clear_object (&self->opening);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  self->dataset = g_steal_pointer (&dataset);
  g_strfreev (self->names);
  self->names = g_steal_pointer (&opening->names);
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
  g_clear_pointer (&self->adaptive, gtk_widget_unparent);
  g_clear_pointer (&self->sorted, g_ptr_array_unref);
  g_clear_pointer (&self->run, vn_run_unref);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->names, g_strfreev);
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
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6), *title = gtk_label_new (NULL), *caption = gtk_label_new (NULL),
            *picture = vn_answer_picture_new ();

  self->titles[side] = GTK_LABEL (title);
  self->captions[side] = GTK_LABEL (caption);
  gtk_label_set_wrap (self->captions[side], TRUE);
  gtk_label_set_wrap_mode (self->captions[side], PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable (self->captions[side], TRUE);
  gtk_label_set_xalign (self->captions[side], 0);
  gtk_widget_add_css_class (caption, "numeric");
  self->pictures[side] = VN_ANSWER_PICTURE (picture);
  gtk_widget_add_css_class (title, "heading");
  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_widget_set_hexpand (box, TRUE);
  gtk_widget_set_vexpand (picture, TRUE);
  gtk_box_append (GTK_BOX (box), title);
  gtk_box_append (GTK_BOX (box), picture);
  gtk_box_append (GTK_BOX (box), caption);
  return box;
}

/* @box: the list and the pictures, beside which there may be room */
static void
answers_view_add_cures (VnAnswersView *self,
                        GtkWidget     *box)
{
  self->cures = VN_ANSWER_CURES (vn_answer_cures_new ());
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->cures));
  self->adaptive = g_object_new (VN_TYPE_ADAPTIVE_BIN, "child", box, "min-width", 0, "break-at", NARROW, NULL);
  gtk_widget_set_parent (self->adaptive, GTK_WIDGET (self));
  g_object_bind_property (self->adaptive, "narrow", self->cures, "visible", G_BINDING_SYNC_CREATE | G_BINDING_INVERT_BOOLEAN);
}

static void
vn_answers_view_init (VnAnswersView *self)
{
  GtkWidget *scroller = gtk_scrolled_window_new (), *list = gtk_list_box_new (),
            *sides = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);

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
  gtk_box_append (GTK_BOX (box), scroller);
  gtk_box_append (GTK_BOX (box), sides);
  gtk_widget_add_css_class (box, "answers");
  answers_view_add_cures (self, box);
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
  vn_answer_cures_set_document (self->cures, document);
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

  if (answers_view_is_of (self, run))
    {
      if (run != NULL)
        {
          vn_run_ref (run);
          g_clear_pointer (&self->run, vn_run_unref);
          self->run = run;
        }
      return;
    }
  answers_view_stop (self);
  g_clear_object (&self->opening);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->run, vn_run_unref);
  self->shown = G_MAXUINT;
  self->run = run != NULL ? vn_run_ref (run) : NULL;
  g_clear_pointer (&self->sorted, g_ptr_array_unref);
  self->sorted = vn_answers_view_has_answers (self) ? vn_sample_answers_sort (run->answers) : g_ptr_array_new ();
  g_clear_pointer (&self->names, g_strfreev);
  answers_view_fill (self);
  answers_view_sum_up (self);
  answers_view_open (self);
}

/**
 * vn_answers_view_has_answers:
 *
 * Returns: whether it is known of the run what both networks answer; of one that was kept there are only figures
 */
gboolean
vn_answers_view_has_answers (VnAnswersView *self)
{
  const GPtrArray *answers;

  g_return_val_if_fail (VN_IS_ANSWERS_VIEW (self), FALSE);

  answers = self->run != NULL ? self->run->answers : NULL;
  return answers != NULL && answers->len > 0 && ((const VnSampleAnswer *) answers->pdata[0])->form != VN_ANSWER_FIGURES;
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

/**
 * vn_answers_view_focus_list:
 *
 * The arrow keys walk through the samples from now on.
 */
void
vn_answers_view_focus_list (VnAnswersView *self)
{
  GtkListBoxRow *row;

  g_return_if_fail (VN_IS_ANSWERS_VIEW (self));

  row = gtk_list_box_get_selected_row (self->list);
  self->wants_focus = row == NULL;
  if (row != NULL)
    gtk_widget_grab_focus (GTK_WIDGET (row));
}
