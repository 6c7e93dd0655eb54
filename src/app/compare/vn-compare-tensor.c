/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pane of one tensor: has it read from both networks in the background, first on one sample, then the errors on all. */
#include "compare-tensor-private.h"

#include "vn-adaptive-bin.h"
#include "vn-compare-source.h"
#include "vn-i18n.h"

#define NARROW 760
#define ALL_DELAY_MS 600    /* nobody who walks over nodes wants all samples of each */

G_DEFINE_FINAL_TYPE (VnCompareTensor, vn_compare_tensor, ADW_TYPE_BIN)

/* ---- reading ---- */

static void
compare_tensor_stop (VnCompareTensor *self)
{
  g_clear_handle_id (&self->all_timeout, g_source_remove);
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  if (self->spinner != NULL)
    gtk_spinner_stop (self->spinner);
}

static const VnNode *
compare_tensor_get_node (VnCompareTensor *self)
{
  return g_ptr_array_index (vn_bench_get_model (VN_BENCH (self->document))->graph->nodes, self->node);
}

static gboolean
compare_tensor_make_query (VnCompareTensor *self,
                           VnTensorQuery   *query)
{
  gboolean (*find) (VnComparedModel *, VnComparedModel *, guint, VnTensorSource *);

  *query = (VnTensorQuery) { .is_weight = gtk_toggle_button_get_active (self->weight), .sample = self->sample,
                             .axis = vn_tensor_query_get_axis (compare_tensor_get_node (self)) };
  find = query->is_weight ? vn_compared_model_find_weight : vn_compared_model_find_tensor;
  return find (self->models[0], self->models[1], self->node, &query->sources[0]) &&
         find (self->models[1], self->models[0], self->node, &query->sources[1]);
}

static void
compare_tensor_make_reader (VnCompareTensor *self)
{
  VnRun *first = vn_compared_model_get_result (self->models[0]), *second = vn_compared_model_get_result (self->models[1]);
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnDataSpec) data = NULL;
  guint n_calibration;

  if (self->reader != NULL)
    return;
  data = vn_compare_source_dup_data (self->document, second != NULL ? second : first, &shapes, &n_calibration);
  self->reader = vn_tensor_reader_new (data, shapes, n_calibration);
}

static void
compare_tensor_show_problem (VnCompareTensor *self,
                             const char      *title,
                             const char      *text)
{
  adw_status_page_set_title (self->empty, title);
  adw_status_page_set_description (self->empty, text);
  gtk_stack_set_visible_child_name (self->stack, "empty");
}

static void
compare_tensor_start (VnCompareTensor     *self,
                      gboolean             all,
                      GAsyncReadyCallback  done)
{
  g_autoptr(VnJob) job = NULL;
  VnTensorQuery query;

  if (!compare_tensor_make_query (self, &query))
    {
      compare_tensor_show_problem (self, _("No Counterpart"),
                                   query.is_weight ? _("One of the two models has no weight that corresponds to that "
                                                       "of this node.")
                                                   : _("One of the two models has no tensor that corresponds to the "
                                                       "output of this node."));
      return;
    }
  query.all = all;
  compare_tensor_make_reader (self);
  self->cancellable = g_cancellable_new ();
  job = vn_tensor_job_new (self->reader, &query);
  g_object_set_data_full (G_OBJECT (job), "cancellable", g_object_ref (self->cancellable), g_object_unref);
  vn_job_start (job, self->cancellable, done, g_object_ref (self));
  if (!all)
    gtk_spinner_start (self->spinner);
}

/* %NULL: nobody waits for it any more, or it failed, which is said. */
static VnTensorView *
compare_tensor_take (VnCompareTensor *self,
                     GObject         *source,
                     GAsyncResult    *async)
{
  g_autoptr(GError) error = NULL;

  if (!vn_job_finish (VN_JOB (source), async, &error))
    {
      if (self->cancellable != NULL && self->cancellable == g_object_get_data (source, "cancellable"))
        {
          compare_tensor_stop (self);
          compare_tensor_show_problem (self, _("Cannot Be Shown"), error->message);
        }
      return NULL;
    }
  if (self->cancellable == NULL || self->cancellable != g_object_get_data (source, "cancellable"))
    return NULL;
  g_clear_object (&self->cancellable);
  gtk_spinner_stop (self->spinner);
  return vn_tensor_view_ref (vn_tensor_job_get_view (VN_JOB (source)));
}

static void
compare_tensor_all_done (GObject      *source,
                         GAsyncResult *async,
                         gpointer      data)
{
  g_autoptr(VnCompareTensor) self = data;
  VnTensorView *all = compare_tensor_take (self, source, async);

  if (all == NULL)
    return;
  g_clear_pointer (&self->all, vn_tensor_view_unref);
  self->all = all;
  _vn_compare_tensor_show_figures (self);
  _vn_compare_tensor_show_worst (self);
}

static gboolean
compare_tensor_wants_all (gpointer data)
{
  VnCompareTensor *self = data;

  self->all_timeout = 0;
  compare_tensor_start (self, TRUE, compare_tensor_all_done);
  return G_SOURCE_REMOVE;
}

static void
compare_tensor_one_done (GObject      *source,
                         GAsyncResult *async,
                         gpointer      data)
{
  g_autoptr(VnCompareTensor) self = data;
  VnTensorView *view = compare_tensor_take (self, source, async);

  if (view == NULL)
    return;
  g_clear_pointer (&self->view, vn_tensor_view_unref);
  self->view = view;
  self->sample = view->sample;
  _vn_compare_tensor_show_view (self);
  if (self->all == NULL && !view->is_weight)
    self->all_timeout = g_timeout_add (ALL_DELAY_MS, compare_tensor_wants_all, self);
}

static gboolean
compare_tensor_can_read (VnCompareTensor *self)
{
  gtk_widget_set_visible (self->roles, FALSE);
  if (self->models[0] == NULL || self->models[1] == NULL || vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    compare_tensor_show_problem (self, _("Nothing to Compare"), _("Choose the content of both sides."));
  else if (self->node == VN_MATCH_NONE)
    compare_tensor_show_problem (self, self->alone != NULL ? _("Only in One Model") : _("Select a Node"),
                                 self->alone != NULL ? self->alone : _("Its tensor in both models and the difference "
                                                                       "are shown here."));
  else if (!vn_compared_model_has_network (self->models[0]) || !vn_compared_model_has_network (self->models[1]))
    gtk_stack_set_visible_child_name (self->stack, "rebuild");
  else
    return TRUE;
  return FALSE;
}

/* Whatever was chosen: another node, another sample, activation or weight. */
static void
compare_tensor_read (VnCompareTensor *self)
{
  VnTensorSource source;

  compare_tensor_stop (self);
  g_clear_pointer (&self->view, vn_tensor_view_unref);
  if (!gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  if (!compare_tensor_can_read (self))
    {
      _vn_compare_tensor_show_head (self);
      return;
    }
  gtk_widget_set_visible (self->roles, vn_compared_model_find_weight (self->models[1], self->models[0], self->node, &source));
  if (!gtk_widget_get_visible (self->roles) && gtk_toggle_button_get_active (self->weight))
    {
      self->busy = TRUE;
      gtk_toggle_button_set_active (self->activation, TRUE);
      self->busy = FALSE;
    }
  _vn_compare_tensor_show_head (self);
  compare_tensor_start (self, FALSE, compare_tensor_one_done);
}

/* ---- what is chosen ---- */

static void
compare_tensor_role_changed (VnCompareTensor *self)
{
  if (self->busy)
    return;
  self->channel = 0;
  g_clear_pointer (&self->all, vn_tensor_view_unref);
  compare_tensor_read (self);
}

static void
compare_tensor_channel_changed (VnCompareTensor *self)
{
  if (self->busy || self->view == NULL)
    return;
  self->channel = (gsize) gtk_spin_button_get_value_as_int (self->channel_spin);
  _vn_compare_tensor_show_channel (self);
}

static void
compare_tensor_channel_chosen (VnCompareTensor *self,
                               guint            channel)
{
  gtk_spin_button_set_value (self->channel_spin, channel);
}

static void
compare_tensor_sample_chosen (VnCompareTensor *self,
                              guint            sample)
{
  if (sample == self->sample && self->view != NULL)
    return;
  self->sample = sample;
  compare_tensor_read (self);
}

static void
compare_tensor_more_photos (VnCompareTensor *self)
{
  self->first_photo += 4;
  _vn_compare_tensor_show_strip (self);
}

static void
compare_tensor_rebuild (VnCompareTensor *self)
{
  g_signal_emit_by_name (self, "rebuild");
}

static void
compare_tensor_hovered (VnTensorPicture *picture,
                        VnCompareTensor *self)
{
  _vn_compare_tensor_show_hover (self, picture);
}

/* ---- widget ---- */

static void
vn_compare_tensor_dispose (GObject *object)
{
  VnCompareTensor *self = VN_COMPARE_TENSOR (object);

  self->busy = TRUE;
  compare_tensor_stop (self);
  for (guint i = 0; i < 2; i++)
    {
      g_clear_pointer (&self->models[i], vn_compared_model_unref);
      g_clear_pointer (&self->titles[i], g_free);
    }
  g_clear_pointer (&self->reader, vn_tensor_reader_unref);
  g_clear_pointer (&self->view, vn_tensor_view_unref);
  g_clear_pointer (&self->all, vn_tensor_view_unref);
  g_clear_pointer (&self->alone, g_free);
  g_clear_object (&self->document);
  self->spinner = NULL;
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_COMPARE_TENSOR);
  G_OBJECT_CLASS (vn_compare_tensor_parent_class)->dispose (object);
}

static void
compare_tensor_bind (GtkWidgetClass *class,
                     const char     *name,
                     gsize           offset)
{
  gtk_widget_class_bind_template_child_full (class, name, FALSE, (gssize) offset);
}

#define BIND(name, field) compare_tensor_bind (class, name, G_STRUCT_OFFSET (VnCompareTensor, field))

static void
compare_tensor_bind_pictures (GtkWidgetClass *class)
{
  static const char * const sides[] = { "first", "second", "difference" };

  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    {
      const struct { const char *part; gsize offset; } parts[] = {
        { "title", G_STRUCT_OFFSET (VnComparePicture, title) }, { "note", G_STRUCT_OFFSET (VnComparePicture, note) },
        { "low", G_STRUCT_OFFSET (VnComparePicture, low) }, { "high", G_STRUCT_OFFSET (VnComparePicture, high) },
        { "picture", G_STRUCT_OFFSET (VnComparePicture, picture) },
      };

      for (guint k = 0; k < G_N_ELEMENTS (parts); k++)
        {
          g_autofree char *name = g_strdup_printf ("%s_%s", sides[i], parts[k].part);

          compare_tensor_bind (class, name, G_STRUCT_OFFSET (VnCompareTensor, pictures) + i * sizeof (VnComparePicture)
                               + parts[k].offset);
        }
    }
}

static void
compare_tensor_bind_children (GtkWidgetClass *class)
{
  static const char * const figures[] = { "sqnr", "ratio", "cosine", "largest", "clipped", "scale" };

  BIND ("name", name);
  BIND ("shape", shape);
  BIND ("status", status);
  BIND ("channel_count", channel_count);
  BIND ("figures_title", figures_title);
  BIND ("cause", cause);
  BIND ("worst_title", worst_title);
  BIND ("photo_label", photo_label);
  BIND ("roles", roles);
  BIND ("channel_box", channel_box);
  BIND ("photo_box", photo_box);
  BIND ("strip", strip);
  BIND ("worst", worst);
  BIND ("fixes", fixes);
  BIND ("rebuild", rebuild);
  BIND ("activation", activation);
  BIND ("weight", weight);
  BIND ("spinner", spinner);
  BIND ("channel", channel_spin);
  BIND ("more_photos", more_photos);
  BIND ("stack", stack);
  BIND ("empty", empty);
  BIND ("values", values);
  BIND ("values_note", values_note);
  BIND ("channels", channels);
  for (guint i = 0; i < VN_N_FIGURES; i++)
    compare_tensor_bind (class, figures[i], G_STRUCT_OFFSET (VnCompareTensor, figures) + i * sizeof (GtkLabel *));
  compare_tensor_bind_pictures (class);
}

static void
vn_compare_tensor_class_init (VnCompareTensorClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_compare_tensor_dispose;
  g_type_ensure (VN_TYPE_TENSOR_PICTURE);
  g_type_ensure (VN_TYPE_BESIDE_CHART);
  g_type_ensure (VN_TYPE_CHANNELS_CHART);
  g_signal_new ("rebuild", VN_TYPE_COMPARE_TENSOR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("sample-chosen", VN_TYPE_COMPARE_TENSOR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-compare-tensor.ui");
  compare_tensor_bind_children (widget_class);
}

/* What nobody sees is not run. */
static void
compare_tensor_mapped (VnCompareTensor *self)
{
  if (self->view == NULL && self->document != NULL)
    compare_tensor_read (self);
}

static void
compare_tensor_unmapped (VnCompareTensor *self)
{
  compare_tensor_stop (self);
}

/* Words that stand before what they speak of give way first. */
static void
compare_tensor_init_narrow (VnCompareTensor *self)
{
  VnAdaptiveBin *adaptive = vn_adaptive_bin_insert (GTK_WIDGET (self), "child", 0, NARROW);
  GtkLabel *words[] = { self->shape, self->channel_count, self->photo_label };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    g_object_bind_property (adaptive, "narrow", words[i], "visible", G_BINDING_SYNC_CREATE | G_BINDING_INVERT_BOOLEAN);
}

static void
vn_compare_tensor_init (VnCompareTensor *self)
{
  self->node = VN_MATCH_NONE;
  gtk_widget_init_template (GTK_WIDGET (self));
  compare_tensor_init_narrow (self);
  g_signal_connect_after (self, "map", G_CALLBACK (compare_tensor_mapped), NULL);
  g_signal_connect (self, "unmap", G_CALLBACK (compare_tensor_unmapped), NULL);
  g_signal_connect (self, "sample-chosen", G_CALLBACK (compare_tensor_sample_chosen), NULL);
  g_signal_connect_swapped (self->weight, "toggled", G_CALLBACK (compare_tensor_role_changed), self);
  g_signal_connect_swapped (self->channel_spin, "value-changed", G_CALLBACK (compare_tensor_channel_changed), self);
  g_signal_connect_swapped (self->channels, "channel-chosen", G_CALLBACK (compare_tensor_channel_chosen), self);
  g_signal_connect_swapped (self->more_photos, "clicked", G_CALLBACK (compare_tensor_more_photos), self);
  g_signal_connect_swapped (self->rebuild, "clicked", G_CALLBACK (compare_tensor_rebuild), self);
  for (guint i = 0; i < G_N_ELEMENTS (self->pictures); i++)
    g_signal_connect (self->pictures[i].picture, "hover-changed", G_CALLBACK (compare_tensor_hovered), self);
}

/* What is known of the node changes with the document: origins, cures. */
static void
compare_tensor_document_changed (VnCompareTensor *self)
{
  if (self->view != NULL)
    _vn_compare_tensor_show_fixes (self);
}

void
vn_compare_tensor_set_document (VnCompareTensor *self,
                                VnDocument      *document)
{
  g_return_if_fail (VN_IS_COMPARE_TENSOR (self) && VN_IS_DOCUMENT (document));

  self->document = g_object_ref (document);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (compare_tensor_document_changed), self, G_CONNECT_SWAPPED);
}

/**
 * vn_compare_tensor_set_models:
 * @first, @second: (nullable): what is compared
 * @first_title, @second_title: what they are called
 */
void
vn_compare_tensor_set_models (VnCompareTensor *self,
                              VnComparedModel *first,
                              VnComparedModel *second,
                              const char      *first_title,
                              const char      *second_title)
{
  VnComparedModel *models[] = { first, second };
  const char *titles[] = { first_title, second_title };

  g_return_if_fail (VN_IS_COMPARE_TENSOR (self));

  compare_tensor_stop (self);
  for (guint i = 0; i < 2; i++)
    {
      if (models[i] != NULL)
        vn_compared_model_ref (models[i]);
      g_clear_pointer (&self->models[i], vn_compared_model_unref);
      self->models[i] = models[i];
      g_free (self->titles[i]);
      self->titles[i] = g_strdup (titles[i]);
    }
  g_clear_pointer (&self->reader, vn_tensor_reader_unref);
  g_clear_pointer (&self->all, vn_tensor_view_unref);
  self->sample = self->first_photo = 0;
  compare_tensor_read (self);
}

/**
 * vn_compare_tensor_set_node:
 * @float_node: of the float network; %VN_MATCH_NONE: none
 * @alone: (nullable): why there is none
 */
void
vn_compare_tensor_set_node (VnCompareTensor *self,
                            guint            float_node,
                            const char      *alone)
{
  g_return_if_fail (VN_IS_COMPARE_TENSOR (self));

  if (float_node == self->node && float_node != VN_MATCH_NONE && (self->view != NULL || self->cancellable != NULL))
    return;
  self->node = float_node;
  self->channel = 0;
  g_free (self->alone);
  self->alone = g_strdup (alone);
  g_clear_pointer (&self->all, vn_tensor_view_unref);
  compare_tensor_read (self);
}

/**
 * vn_compare_tensor_is_busy:
 *
 * Returns: whether something is being read, or will be
 */
gboolean
vn_compare_tensor_is_busy (VnCompareTensor *self)
{
  g_return_val_if_fail (VN_IS_COMPARE_TENSOR (self), FALSE);

  return self->cancellable != NULL || self->all_timeout != 0;
}
