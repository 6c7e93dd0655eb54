/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Runtimes that exports can be run in here, from vn-runtimes.def. */

#include "vn-preset.h"

G_BEGIN_DECLS

/* VN_TARGET_RUNTIME_TIMES: how long it takes here says how long it takes; VN_TARGET_RUNTIME_STATIC: it takes one size of each
 * input alone; VN_TARGET_RUNTIME_PROVIDER: it is an execution provider of ONNX Runtime, which takes options. */
typedef enum
{
  VN_TARGET_RUNTIME_TIMES = 1 << 0, VN_TARGET_RUNTIME_STATIC = 1 << 1, VN_TARGET_RUNTIME_PROVIDER = 1 << 2
} VnTargetRuntimeTraits;

/**
 * VnRuntimeFacts: where stands what in what a runtime tells of an export; all are nullable.
 * @nodes: list of what it computes
 * @name, @kind, @type, @kernel: of one: members of it
 * @suffix: what follows the name that the node has in the file, and digits behind it
 * @members, @member_kind, @member: list in it of what it consists of, and which of these are nodes of the file; where it has no
 *   @type, several are a node between quantizers, which is computed in integers
 * @result, @operands: lists in it of sizes
 * @costs, @cost: member of it with numbers by what is done, "FMA(F32)"; and how those of multiplications begin
 * @partitions: list of the parts that the network was cut into
 * @refused: list of nodes that fell back
 * @refused_name, @refused_kind, @refused_reason: of one: members of it
 * @companions: kinds, by blanks, of nodes that fall back with another, and are not told
 * @log: pattern of lines that it logs, with a better reason: groups name, reason, kind, error
 */
typedef struct
{
  const char *nodes, *name, *suffix, *kind, *type, *kernel;
  const char *members, *member_kind, *member;
  const char *result, *operands, *costs, *cost;
  const char *partitions;
  const char *refused, *refused_name, *refused_kind, *refused_reason, *companions;
  const char *log;
} VnRuntimeFacts;

/**
 * VnTargetRuntime: a line of vn-runtimes.def. Code asks for what stands in it, never for one by its name.
 * @id: "openvino"; also the part of the script, and the folder of its environment
 * @title: its name, in every language
 * @module: what Python imports
 * @package: what pip calls it
 * @requirements: what pip installs, by blanks
 * @megabytes: about so many are downloaded for that
 * @variable: (nullable): of the environment: a Python that has it; %NULL: VN_PYTHON
 * @library: (nullable): of the environment: a library that does without Python
 * @patience: seconds that are waited where nobody asked for it
 * @products: (nullable): kinds of nodes that multiply, by blanks, each with how its multiplications are counted (verify-facts.c);
 *   %NULL: what multiplies in the file does
 * @integers: (nullable): types in which they are integers, by blanks
 */
typedef struct
{
  const char            *id, *title;
  const char            *module, *package, *requirements, *variable, *library;
  guint                  megabytes;
  VnTargetRuntimeTraits  traits;
  guint                  patience;
  const char            *products, *integers;
  VnRuntimeFacts         facts;
} VnTargetRuntime;

const VnTargetRuntime *vn_target_runtime_list        (guint                  *n);
const VnTargetRuntime *vn_target_runtime_get_default (void);
const VnTargetRuntime *vn_target_runtime_find        (const char             *id,
                                                      GError                **error);
const VnTargetRuntime *vn_target_runtime_of          (const VnPreset         *preset);   /* nullable */
guint                  vn_target_runtime_get_index   (const VnTargetRuntime  *self);

G_END_DECLS
