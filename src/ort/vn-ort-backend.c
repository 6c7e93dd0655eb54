/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cuts parts out of networks for ONNX Runtime, and has them run in a process of its own, which is started when the first one is
 * opened. */
#include "vn-ort-backend.h"

#include "ort-process.h"
#include "ort-server.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-onnx.h"
#include "vn-parallel.h"

#include <glib/gstdio.h>
#include <string.h>

#define MOST_CHANNELS 16u

/**
 * Part:
 * @id: what the process calls it
 * @path: file of its model, so that another process can be given it, too
 * @process: (nullable): the one that it was opened in
 * @n_inputs: that are no constants
 * @types: (array length=n_outputs): of the outputs, as far as known
 */
typedef struct
{
  GMutex        lock;
  guint64       id;
  char         *path;
  VnOrtProcess *process;
  guint         n_inputs, n_outputs;
  VnTensorType *types;
} Part;

/**
 * VnOrtBackend:
 * @folder: (nullable): of files of parts
 * @failure: (nullable): why nothing can be run any more
 * @kernels: description of a node -> whether it can be run
 */
struct _VnOrtBackend
{
  VnBackend     parent_instance;

  char         *provider, *custom_ops;
  char         *ep_library, *ep_options;   /* (nullable): as VnOrtWords have them */
  VnOrtPlugin   plugin;                    /* the same */
  GMutex        lock;
  char         *folder;
  VnOrtProcess *process;
  GError       *failure;
  guint64       n_parts;
  GHashTable   *kernels;
};

G_DEFINE_FINAL_TYPE (VnOrtBackend, vn_ort_backend, VN_TYPE_BACKEND)

/* ---- the process ---- */

/* Single operators that we have no kernel for run on the CPU. */
static gboolean
ort_backend_takes_plugin (VnOrtBackend *self)
{
  return self->ep_library != NULL && vn_backend_takes_all (VN_BACKEND (self));
}

static gboolean
ort_backend_take_version (const VnOrtMessage  *reply,
                          const guint8        *shared,
                          gpointer             data,
                          GError             **error)
{
  VnOrtBackend *self = data;
  const char *named = ort_backend_takes_plugin (self) ? self->plugin.name : self->provider;
  g_autofree char *title = g_strdup_printf ("ONNX Runtime %s (%s)", reply->text, named != NULL ? named : "cpu");

  vn_backend_set_title (VN_BACKEND (self), title);
  return TRUE;
}

static VnOrtProcess *
ort_backend_start_process (VnOrtBackend  *self,
                           GError       **error)
{
  g_autoptr(VnOrtProcess) process = NULL;
  g_auto(VnOrtMessage) request = { .kind = VN_ORT_SETUP };

  if (!vn_ort_server_is_there ())
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, "%s", _("this program cannot start ONNX Runtime"));
      return NULL;
    }
  if (self->folder == NULL && (self->folder = g_dir_make_tmp (VN_ORT_FOLDER "XXXXXX", error)) == NULL)
    return NULL;
  process = vn_ort_process_new (self->folder, CLAMP (vn_parallel_default_threads (), 1, MOST_CHANNELS), error);
  if (process == NULL)
    return NULL;
  request.text = g_strdup_printf ("%s\n%s\n%s\n%s", self->provider != NULL ? self->provider : "",
                                  self->custom_ops != NULL ? self->custom_ops : "",
                                  ort_backend_takes_plugin (self) ? self->ep_library : "",
                                  ort_backend_takes_plugin (self) ? self->ep_options : "");
  if (!vn_ort_process_ask (process, &request, NULL, 0, ort_backend_take_version, self, NULL, error))
    return NULL;
  return g_steal_pointer (&process);
}

/* One that was cancelled makes room for another; one that has crashed would do so again. */
static VnOrtProcess *
ort_backend_ref_process (VnOrtBackend  *self,
                         GError       **error)
{
  VnOrtProcess *process = NULL;

  g_mutex_lock (&self->lock);
  if (self->process != NULL && vn_ort_process_has_ended (self->process))
    g_clear_pointer (&self->process, vn_ort_process_unref);
  if (self->process == NULL && self->failure == NULL)
    self->process = ort_backend_start_process (self, &self->failure);
  if (self->failure != NULL)
    g_propagate_error (error, g_error_copy (self->failure));
  else
    process = vn_ort_process_ref (self->process);
  g_mutex_unlock (&self->lock);
  return process;
}

static void
ort_backend_set_failure (VnOrtBackend  *self,
                         VnOrtProcess  *process,
                         const GError  *reason)
{
  if (!vn_ort_process_has_ended (process) || g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  g_mutex_lock (&self->lock);
  if (self->failure == NULL)
    self->failure = g_error_copy (reason);
  g_mutex_unlock (&self->lock);
}

/**
 * vn_ort_backend_start:
 *
 * Starts the process now, for who has named it: otherwise that waits until a part is to be run.
 *
 * Returns: %FALSE if there is no libonnxruntime, no such provider in it, or the library of operators cannot be loaded
 */
gboolean
vn_ort_backend_start (VnOrtBackend  *self,
                      GError       **error)
{
  g_autoptr(VnOrtProcess) process = NULL;

  g_return_val_if_fail (VN_IS_ORT_BACKEND (self), FALSE);

  process = ort_backend_ref_process (self, error);
  return process != NULL;
}

/* ---- models of parts ---- */

static VnShape
ort_backend_plain_shape (const VnShape *shape)
{
  VnShape plain = *shape;

  for (int i = 0; i < plain.rank; i++)
    plain.dims[i] = MAX (plain.dims[i], VN_DIM_UNKNOWN);   /* sizes known by name are no sizes */
  return plain;
}

static void
ort_backend_add_inputs (const VnBackendPart *part,
                        VnGraph             *graph,
                        GHashTable          *values)
{
  for (guint i = 0; i < part->n_inputs; i++)
    {
      const VnTensorType *type = &part->in_types[i];
      const VnShape shape = ort_backend_plain_shape (&type->shape);
      VnValue *value;

      if (part->constants[i] != NULL)
        value = vn_graph_add_initializer (graph, part->inputs[i]->name, part->constants[i]);
      else
        value = vn_graph_add_input (graph, part->inputs[i]->name,
                                    type->dtype != VN_DTYPE_UNDEFINED ? type->dtype : VN_DTYPE_F32, &shape);
      g_hash_table_insert (values, (gpointer) part->inputs[i], value);
    }
}

/* What one node makes, and another reads. */
static void
ort_backend_add_node (const VnNode *node,
                      VnGraph      *graph,
                      GHashTable   *values)
{
  const guint n_in = node->inputs->len, n_out = node->outputs->len;
  g_autofree VnValue **inputs = g_new0 (VnValue *, n_in + 1), **outputs = g_new0 (VnValue *, n_out + 1);
  g_autofree char *label = vn_node_dup_label (node);
  VnNode *copy;

  for (guint i = 0; i < n_in; i++)
    if (vn_node_get_input (node, i) != NULL)
      inputs[i] = g_hash_table_lookup (values, vn_node_get_input (node, i));
  for (guint i = 0; i < n_out; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);

      if (value == NULL)
        continue;
      outputs[i] = vn_graph_add_value (graph, value->name, VN_DTYPE_UNDEFINED, NULL);
      g_hash_table_insert (values, (gpointer) value, outputs[i]);
    }
  copy = vn_graph_add_node (graph, label, node->domain, node->op_type, inputs, n_in, outputs, n_out);
  for (guint i = 0; i < node->attrs->len; i++)
    vn_node_set_attr (copy, vn_attr_copy (g_ptr_array_index (node->attrs, i)));
}

static VnModel *
ort_backend_cut (const VnBackendPart *part)
{
  g_autoptr(GHashTable) values = g_hash_table_new (NULL, NULL);
  VnModel *model = vn_model_new (part->model->ir_version, 0);

  for (guint i = 0; i < part->model->opsets->len; i++)
    {
      const VnOpset *opset = &g_array_index (part->model->opsets, VnOpset, i);

      vn_model_set_opset (model, opset->domain, vn_model_get_opset (part->model, opset->domain));
    }
  ort_backend_add_inputs (part, model->graph, values);
  for (guint i = 0; i < part->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (part->nodes, i);

      if (vn_model_get_opset (model, node->domain) == 0)
        vn_model_set_opset (model, node->domain, 1);   /* used but not imported */
      ort_backend_add_node (node, model->graph, values);
    }
  for (guint i = 0; i < part->n_outputs; i++)
    vn_graph_set_output (model->graph, i, g_hash_table_lookup (values, part->outputs[i]));
  return model;
}

/* ---- opening ---- */

/* Whether there is one for each of the part. */
static gboolean
ort_backend_has_outputs (const VnOrtMessage  *reply,
                         const Part          *part,
                         GError             **error)
{
  if (reply->n_places == part->n_outputs)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("ONNX Runtime: expected %u outputs, found %u"), part->n_outputs,
               reply->n_places);
  return FALSE;
}

static gboolean
ort_backend_take_types (const VnOrtMessage  *reply,
                        const guint8        *shared,
                        gpointer             data,
                        GError             **error)
{
  Part *part = data;

  if (!ort_backend_has_outputs (reply, part, error))
    return FALSE;
  for (guint i = 0; i < part->n_outputs; i++)
    {
      const VnOrtPlace *place = &reply->places[i];
      VnTensorType *type = &part->types[i];

      *type = (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
      if (!vn_dtype_is_valid (place->dtype) || place->dtype == VN_DTYPE_STRING || place->rank > VN_MAX_RANK)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, "%s", _("ONNX Runtime: an output is not a numeric tensor"));
          return FALSE;
        }
      type->dtype = (VnDType) place->dtype;
      type->shape.rank = MAX (place->rank, VN_RANK_UNKNOWN);
      for (int d = 0; d < type->shape.rank; d++)
        type->shape.dims[d] = MAX (place->dims[d], VN_DIM_UNKNOWN);
    }
  return TRUE;
}

/* In the process that there is now. */
static VnOrtProcess *
ort_backend_ref_opened (VnOrtBackend  *self,
                        Part          *part,
                        GCancellable  *cancellable,
                        GError       **error)
{
  g_autoptr(VnOrtProcess) process = ort_backend_ref_process (self, error);
  gboolean good = process != NULL;

  g_mutex_lock (&part->lock);
  if (good && part->process != process)
    {
      g_auto(VnOrtMessage) request = { .kind = VN_ORT_OPEN, .part = part->id, .text = g_strdup (part->path) };
      g_autoptr(GError) reason = NULL;

      good = vn_ort_process_ask (process, &request, NULL, 0, ort_backend_take_types, part, cancellable, &reason);
      if (good)
        {
          g_clear_pointer (&part->process, vn_ort_process_unref);
          part->process = vn_ort_process_ref (process);
        }
      else
        {
          ort_backend_set_failure (self, process, reason);
          g_propagate_error (error, g_steal_pointer (&reason));
        }
    }
  g_mutex_unlock (&part->lock);
  return good ? g_steal_pointer (&process) : NULL;
}

static void
ort_backend_free_part (Part *part)
{
  g_unlink (part->path);
  g_clear_pointer (&part->process, vn_ort_process_unref);
  g_mutex_clear (&part->lock);
  g_free (part->path);
  g_free (part->types);
  g_free (part);
}

static Part *
ort_backend_new_part (VnOrtBackend        *self,
                      const VnBackendPart *from)
{
  Part *part = g_new0 (Part, 1);
  g_autofree char *name = NULL;

  g_mutex_init (&part->lock);
  g_mutex_lock (&self->lock);
  part->id = ++self->n_parts;
  g_mutex_unlock (&self->lock);
  name = g_strdup_printf ("part-%llu.onnx", (unsigned long long) part->id);
  part->path = g_build_filename (self->folder, name, NULL);
  part->n_outputs = from->n_outputs;
  part->types = g_new0 (VnTensorType, from->n_outputs + 1);
  for (guint i = 0; i < from->n_inputs; i++)
    part->n_inputs += from->constants[i] == NULL;
  return part;
}

static gpointer
ort_backend_open (VnBackend            *backend,
                  const VnBackendPart  *from,
                  GError              **error)
{
  VnOrtBackend *self = VN_ORT_BACKEND (backend);
  g_autoptr(VnOrtProcess) process = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GBytes) bytes = NULL;
  Part *part;

  if (!vn_ort_backend_start (self, error))
    return NULL;
  part = ort_backend_new_part (self, from);
  model = ort_backend_cut (from);
  bytes = vn_onnx_write_bytes (model, error);
  if (bytes != NULL &&   /* files that appear under their names at the end of a command are no use here */
      g_file_set_contents_full (part->path, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes),
                                G_FILE_SET_CONTENTS_NONE, 0600, error) &&
      (process = ort_backend_ref_opened (self, part, NULL, error)) != NULL)
    return part;
  ort_backend_free_part (part);
  return NULL;
}

static VnTensorType
ort_backend_get_type (VnBackend *self,
                      gpointer   opened,
                      guint      i)
{
  return ((Part *) opened)->types[i];
}

static void
ort_backend_close (VnBackend *self,
                   gpointer   opened)
{
  Part *part = opened;
  g_auto(VnOrtMessage) request = { .kind = VN_ORT_CLOSE, .part = part->id };

  if (part->process != NULL && !vn_ort_process_has_ended (part->process))
    vn_ort_process_ask (part->process, &request, NULL, 0, NULL, NULL, NULL, NULL);
  ort_backend_free_part (part);
}

/* ---- running ---- */

typedef struct
{
  const Part *part;
  VnTensor  **out;
} Run;

static gboolean
ort_backend_take_output (const VnOrtPlace  *place,
                         gsize              size,
                         const guint8      *shared,
                         VnTensor         **out,
                         GError           **error)
{
  g_autofree char *wanted = NULL, *found = NULL;
  VnShape shape;

  if (!vn_ort_place_check (place, size, &shape, error))
    return FALSE;
  if (*out == NULL)
    return (*out = vn_tensor_new_copy ((VnDType) place->dtype, &shape, shared + place->offset, error)) != NULL;
  if ((*out)->dtype == (VnDType) place->dtype && vn_shape_equal (&(*out)->shape, &shape))
    {
      memcpy ((*out)->data, shared + place->offset, place->n_bytes);
      return TRUE;
    }
  wanted = vn_shape_to_string (&(*out)->shape, ",");
  found = vn_shape_to_string (&shape, ",");
  g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("ONNX Runtime: expected an output %s[%s], found %s[%s]"),
               vn_dtype_get_name ((*out)->dtype), wanted, vn_dtype_get_name ((VnDType) place->dtype), found);
  return FALSE;
}

static gboolean
ort_backend_take_outputs (const VnOrtMessage  *reply,
                          const guint8        *shared,
                          gpointer             data,
                          GError             **error)
{
  Run *run = data;

  if (!ort_backend_has_outputs (reply, run->part, error))
    return FALSE;
  for (guint i = 0; i < reply->n_places; i++)
    if (!ort_backend_take_output (&reply->places[i], reply->shared_size, shared, &run->out[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
ort_backend_run (VnBackend         *backend,
                 gpointer           opened,
                 VnTensor * const  *in,
                 VnTensor         **out,
                 GCancellable      *cancellable,
                 GError           **error)
{
  VnOrtBackend *self = VN_ORT_BACKEND (backend);
  Part *part = opened;
  Run run = { part, out };
  g_auto(VnOrtMessage) request = { .kind = VN_ORT_RUN, .part = part->id };
  g_autoptr(VnOrtProcess) process = ort_backend_ref_opened (self, part, cancellable, error);
  g_autoptr(GError) reason = NULL;

  if (process == NULL)
    return FALSE;
  if (vn_ort_process_ask (process, &request, in, part->n_inputs, ort_backend_take_outputs, &run, cancellable, &reason))
    return TRUE;
  ort_backend_set_failure (self, process, reason);
  g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

/* ---- which nodes ---- */

static char *
ort_backend_describe (const VnNode *node)
{
  g_autoptr(GString) text = g_string_new (NULL);

  g_string_printf (text, "%s\n%s\n%lld", node->domain, node->op_type,
                   (long long) vn_model_get_opset (node->graph->model, node->domain));
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      g_string_append_printf (text, " %d", value != NULL && value->type.kind == VN_TYPE_TENSOR ? (int) value->type.dtype : -1);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* It is tried: no function of libonnxruntime tells. */
static gboolean
ort_backend_try (const VnNode *node)
{
  gpointer part = vn_backend_open_node (node, NULL, NULL, NULL);

  vn_op_release (vn_backend_get_op (FALSE), part);
  return part != NULL;
}

static gboolean
ort_backend_has_kernel (VnBackend    *backend,
                        const VnNode *node)
{
  VnOrtBackend *self = VN_ORT_BACKEND (backend);
  g_autofree char *key = ort_backend_describe (node);
  gpointer known;
  gboolean found;

  g_mutex_lock (&self->lock);
  found = g_hash_table_lookup_extended (self->kernels, key, NULL, &known);
  g_mutex_unlock (&self->lock);
  if (found)
    return GPOINTER_TO_INT (known);
  found = ort_backend_try (node);
  g_mutex_lock (&self->lock);
  g_hash_table_insert (self->kernels, g_steal_pointer (&key), GINT_TO_POINTER (found));
  g_mutex_unlock (&self->lock);
  return found;
}

/* ---- the object ---- */

/**
 * vn_model_get_custom_ops:
 *
 * Returns: (transfer none) (nullable) (type filename): the library with operators that the user has named for @model
 */
const char *
vn_model_get_custom_ops (const VnModel *model)
{
  VnBackend *backend;

  g_return_val_if_fail (model != NULL, NULL);

  backend = vn_model_get_backend (model);
  return backend != NULL && VN_IS_ORT_BACKEND (backend) ? VN_ORT_BACKEND (backend)->custom_ops : NULL;
}

/**
 * vn_model_get_plugin:
 *
 * Returns: (transfer none) (nullable): the library of an execution provider that the user has named for @model, or options alone
 */
const VnOrtPlugin *
vn_model_get_plugin (const VnModel *model)
{
  const VnOrtPlugin *plugin;
  VnBackend *backend;

  g_return_val_if_fail (model != NULL, NULL);

  backend = vn_model_get_backend (model);
  plugin = backend != NULL && VN_IS_ORT_BACKEND (backend) ? &VN_ORT_BACKEND (backend)->plugin : NULL;
  return plugin != NULL && (plugin->name != NULL || plugin->n_options > 0) ? plugin : NULL;
}

/**
 * vn_ort_backend_stop:
 *
 * Ends the process and removes its files, for who leaves before all models are freed. Nothing can be run after that.
 */
void
vn_ort_backend_stop (VnOrtBackend *self)
{
  g_return_if_fail (VN_IS_ORT_BACKEND (self));

  g_mutex_lock (&self->lock);
  if (self->failure == NULL)
    g_set_error (&self->failure, VN_ERROR, VN_ERROR_UNSUPPORTED, "%s", _("ONNX Runtime was stopped"));
  g_clear_pointer (&self->process, vn_ort_process_unref);
  if (self->folder != NULL)
    vn_ort_process_remove_folder (self->folder);
  g_clear_pointer (&self->folder, g_free);
  g_mutex_unlock (&self->lock);
}

static void
ort_backend_finalize (GObject *object)
{
  VnOrtBackend *self = VN_ORT_BACKEND (object);

  vn_ort_backend_stop (self);
  g_free (self->provider);
  g_free (self->custom_ops);
  g_free (self->ep_library);
  g_free (self->ep_options);
  vn_ort_plugin_clear (&self->plugin);
  g_clear_error (&self->failure);
  g_hash_table_unref (self->kernels);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (vn_ort_backend_parent_class)->finalize (object);
}

static void
vn_ort_backend_class_init (VnOrtBackendClass *class)
{
  VnBackendClass *backend = VN_BACKEND_CLASS (class);

  G_OBJECT_CLASS (class)->finalize = ort_backend_finalize;
  backend->has_kernel = ort_backend_has_kernel;
  backend->open = ort_backend_open;
  backend->get_type = ort_backend_get_type;
  backend->run = ort_backend_run;
  backend->close = ort_backend_close;
}

static void
vn_ort_backend_init (VnOrtBackend *self)
{
  g_mutex_init (&self->lock);
  self->kernels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

/**
 * vn_ort_backend_new:
 * @settings: (nullable): %NULL: the CPU, no libraries, and only what we have no kernel for; what vn_ort_plugin_parse() refuses is
 *   left out
 *
 * Returns: (transfer full): ONNX Runtime, which is started when it is needed
 */
VnBackend *
vn_ort_backend_new (const VnOrtSettings *settings)
{
  VnOrtBackend *self = g_object_new (VN_TYPE_ORT_BACKEND, NULL);

  if (settings != NULL)
    {
      self->provider = g_strdup (settings->provider);
      self->custom_ops = settings->custom_ops != NULL ? g_canonicalize_filename (settings->custom_ops, NULL) : NULL;
      if (vn_ort_plugin_parse (&self->plugin, settings->ep_library, settings->ep_options, NULL) && self->plugin.name != NULL)
        {
          self->ep_library = g_strconcat (self->plugin.name, "=", self->plugin.path, NULL);
          self->ep_options = settings->ep_options != NULL ? g_strjoinv (VN_ORT_BETWEEN_OPTIONS, (char **) settings->ep_options)
                                                          : g_strdup ("");
        }
      vn_backend_set_takes_all (VN_BACKEND (self), settings->takes_all);
    }
  return VN_BACKEND (self);
}
