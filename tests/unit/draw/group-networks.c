/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks that are shown in groups: layers with and without names, blocks, chains, and one that has no order. */
#include "group-networks.h"

#include <string.h>

void
net_init (Net *net)
{
  VnSceneNode input = { .id = (char *) "input", .kind = VN_SCENE_INPUT, .name = (char *) "image" };

  net->scene = vn_scene_new ();
  vn_scene_add_node (net->scene, &input);
  net->n = 0;
}

/* Adds a node that @a feeds, and @b unless it is VN_SCENE_NONE. "Conv+" has weights. */
guint
net_add (Net        *net,
         const char *scope,
         const char *op,
         guint       a,
         guint       b)
{
  g_autofree char *type = g_strndup (op, strcspn (op, "+"));
  g_autofree char *name = scope != NULL ? g_strdup_printf ("/%s/%s_%u", scope, type, net->n)
                                        : g_strdup_printf ("%s_%u", type, net->n);
  gboolean computes = strcmp (type, "Conv") == 0 || strcmp (type, "MatMul") == 0;
  VnSceneNode node = { .id = name, .source = net->n++, .op = type, .name = name, .shape = (char *) "1×8", .slim = !computes,
                       .weighted = strchr (op, '+') != NULL,
                       .family = computes ? VN_FAMILY_COMPUTE : strcmp (type, "Relu") == 0
                                 ? VN_FAMILY_ACTIVATION : VN_FAMILY_OTHER };
  guint index = vn_scene_add_node (net->scene, &node);
  guint from[] = { a, b };

  for (guint i = 0; i < 2; i++)
    {
      VnSceneEdge edge = { .from = from[i], .to = index, .input = i, .value = name };

      if (from[i] != VN_SCENE_NONE)
        vn_scene_add_edge (net->scene, &edge);
    }
  return index;
}

guint
add_chain (Net        *net,
           const char *scope,
           const char *ops,
           guint       from)
{
  g_auto(GStrv) words = g_strsplit (ops, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    from = net_add (net, scope, words[i], from, VN_SCENE_NONE);
  return from;
}

/* A layer of a transformer with the mask @mask, whose normalization comes after it. */
static guint
add_layer (Net   *net,
           guint  x,
           guint  mask)
{
  guint q = add_chain (net, NULL, "MatMul+ Add Reshape Transpose", x);
  guint k = add_chain (net, NULL, "MatMul+ Add Reshape Transpose", x);
  guint v = add_chain (net, NULL, "MatMul+ Add Reshape Transpose", x);
  guint a = net_add (net, NULL, "MatMul", q, k);

  a = net_add (net, NULL, "Add", a, mask);
  a = net_add (net, NULL, "Softmax", a, VN_SCENE_NONE);
  a = net_add (net, NULL, "MatMul", a, v);
  a = add_chain (net, NULL, "Transpose Reshape MatMul+ Add", a);
  x = net_add (net, NULL, "LayerNormalization", net_add (net, NULL, "Add", a, x), VN_SCENE_NONE);
  a = add_chain (net, NULL, "MatMul+ Add Gelu MatMul+ Add", x);
  return net_add (net, NULL, "LayerNormalization", net_add (net, NULL, "Add", a, x), VN_SCENE_NONE);
}

static guint
add_residual (Net        *net,
              const char *scope,
              guint       x,
              gboolean    changes)
{
  guint a = add_chain (net, scope, "Conv+ Relu Conv+ Relu Conv+", x);

  return net_add (net, scope, "Relu", net_add (net, scope, "Add", a, changes
                                               ? net_add (net, scope, "Conv+", x, VN_SCENE_NONE) : x),
                  VN_SCENE_NONE);
}

static VnScene *
make_transformer (guint n_layers)
{
  Net net;
  guint mask, x;

  net_init (&net);
  mask = add_chain (&net, NULL, "Unsqueeze Cast Sub Mul", 0);
  x = add_chain (&net, NULL, "Gather+ LayerNormalization", 0);
  for (guint i = 0; i < n_layers; i++)
    x = add_layer (&net, x, mask);
  add_chain (&net, NULL, "MatMul+ Add Split", x);
  vn_scene_seal (net.scene);
  return net.scene;
}

VnScene *
make_bert (void)
{
  return make_transformer (12);
}

/* More layers than can be seen side by side. */
VnScene *
make_deep (void)
{
  return make_transformer (60);
}

VnScene *
make_resnet (void)
{
  static const guint stages[] = { 3, 4, 6, 3 };
  Net net;
  guint x;

  net_init (&net);
  x = add_chain (&net, NULL, "Conv+ Relu MaxPool", 0);
  for (guint s = 0; s < G_N_ELEMENTS (stages); s++)
    for (guint i = 0; i < stages[s]; i++)
      x = add_residual (&net, NULL, x, i == 0);
  add_chain (&net, NULL, "GlobalAveragePool Flatten Gemm+", x);
  vn_scene_seal (net.scene);
  return net.scene;
}

VnScene *
make_scopes (void)
{
  Net net;
  guint x;

  net_init (&net);
  x = add_chain (&net, "stem", "Conv+ Relu MaxPool", 0);
  for (guint i = 0; i < 6; i++)
    {
      g_autofree char *scope = g_strdup_printf ("blocks.%u", i);

      x = add_residual (&net, scope, x, FALSE);
    }
  x = net_add (&net, NULL, "Relu", x, VN_SCENE_NONE);     /* without a scope: belongs to what uses it */
  add_chain (&net, "head", "Conv+ Relu Flatten", x);
  vn_scene_seal (net.scene);
  return net.scene;
}

/* Two scopes that feed one another in turn cannot both be groups. */
VnScene *
make_tangle (void)
{
  Net net;
  guint x = 0;

  net_init (&net);
  for (guint i = 0; i < 5; i++)
    x = add_chain (&net, i % 2 == 0 ? "a" : "b", "Conv+ Relu Clip", x);
  x = add_chain (&net, "c", "Conv+ Relu Clip Sigmoid", x);
  add_chain (&net, "d", "Conv+ Relu Clip Sigmoid", x);
  vn_scene_seal (net.scene);
  return net.scene;
}

VnScene *
make_chain (void)
{
  Net net;
  guint x = 0;
  g_autoptr(GRand) rand = g_rand_new_with_seed (5);
  static const char * const ops[] = { "Conv+", "Relu", "Clip", "Sigmoid", "Mul", "Add", "MaxPool", "Concat", "Slice", "Pad" };

  net_init (&net);
  for (guint i = 0; i < 1000; i++)
    x = net_add (&net, NULL, ops[g_rand_int_range (rand, 0, G_N_ELEMENTS (ops))], x, VN_SCENE_NONE);
  vn_scene_seal (net.scene);
  return net.scene;
}
