/* Unbalanced tree search (Olivier et al., LCPC 2006): one task per node of a tree that is generated during the walk. A
 * node's random state determines its number of children. The state of a child is a hash of its parent's state. The
 * trees are as in numasim/workload/families/uts.py, where a node's random state is a stream of splitmix64. */
#include <math.h>
#include <stdlib.h>

#include "base/wide.h"
#include "kernels/kernel.h"
#include "policy/draws.h"

enum { DRAW_ARRIVAL = 8, MOST_CHILDREN = 100, MOST_DEPTH = 1000, ROUNDING = 1000000000 };
enum { TREE, SEED, ROOT_CHILDREN, CHILDREN, PROBABILITY, SHAPE, DEPTH, NODE, ROUNDS };
enum { BINOMIAL, GEOMETRIC };
enum { LINEAR, EXPONENTIAL, CYCLIC, FIXED };

typedef struct {
    uint64_t nodes, leaves, checksum;
} count;

typedef struct {
    ns_state_memory memory;
    int64_t tree, seed, root_children, children, probability, shape, depth, node_ps, rounds;
    uint64_t bound;                    /* binomial: a node has children if its draw is below `bound` */
    int64_t levels;                    /* geometric: nodes at this depth and deeper have no children */
    uint64_t (*bounds)[MOST_CHILDREN]; /* [levels] geometric: a node has at least c children if its draw is below
                                          bounds[c - 1] */
    count result, twin;
} state;

static const ns_parameter PARAMETERS[] = {
    {"tree", NS_CHOICE, "binomial", 0, 0, NS_CHOICES("binomial", "geometric"), "what the number of children follows",
     NS_AT(tree)},
    {"tree_seed", NS_INTEGER, "0", 0, INT64_MAX, NULL, "determines the state of the root", NS_AT(seed)},
    {"root_children", NS_INTEGER, "0", 0, 100000, NULL,
     "children of the root (geometric: their mean number); 0: 2000 (binomial) or 4 (geometric)", NS_AT(root_children)},
    {"children", NS_INTEGER, "8", 1, 100, NULL, "binomial: how many children a node has that has any", NS_AT(children)},
    {"probability", NS_FRACTION, "0.12", 0, 0, NULL, "binomial: the probability that a node has children",
     NS_AT(probability)},
    {"shape", NS_CHOICE, "fixed", 0, 0, NS_CHOICES("linear", "exponential", "cyclic", "fixed"),
     "geometric: how the mean number of children depends on the depth", NS_AT(shape)},
    {"depth", NS_INTEGER, "6", 1, MOST_DEPTH, NULL, "geometric: the depth of the tree (cyclic: the length of a cycle)",
     NS_AT(depth)},
    {"node_ns", NS_TIME, "400", 0, 1000000000, NULL, "declared for the state of one child", NS_AT(node_ps)},
    {"rounds", NS_INTEGER, "100", 1, 1000000, NULL, "how often a state is hashed for its checksum", NS_AT(rounds)},
};

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

/* Return floor(fraction * 2^64), where `fraction` is in units of 10^-18. For a fraction of 1, return 2^64 - 1. */
static uint64_t bound_of(int64_t fraction) {
    const ns_uwide wide = ((ns_uwide)(uint64_t)fraction << 64) / UINT64_C(1000000000000000000);
    return wide > UINT64_MAX ? UINT64_MAX : (uint64_t)wide;
}

/* Return the mean number of children of a node at a depth. */
static double mean_at(const state *self, int64_t depth) {
    const double root = (double)self->root_children, deepest = (double)self->depth, at = (double)depth;
    switch (self->shape) {
        case LINEAR: return root * fmax(0.0, 1 - at / deepest);
        case EXPONENTIAL:
            if (depth == 0) return root;
            return self->depth == 1 ? 0.0 : root * pow(at, -log(root) / log(deepest));
        case CYCLIC: return depth > 5 * self->depth ? 0.0 : pow(root, sin(2 * 3.141592653589793 * at / deepest));
        default: return depth < self->depth ? root : 0.0;
    }
}

/* Return the quotient of the 192-bit number `high` 2^128 + `number` and `divisor`. `divisor` is larger than `high`. */
static ns_uwide divided(uint64_t high, ns_uwide number, uint64_t divisor) {
    const ns_uwide upper = ((ns_uwide)high << 64) | (uint64_t)(number >> 64);
    const ns_uwide lower = (upper % divisor << 64) | (uint64_t)number;
    return (upper / divisor << 64) | (lower / divisor);
}

/* Return `number`, a fraction below 1 in 128 bits, times factor / divisor. Both factor and divisor are below 2^50. */
static ns_uwide scaled(ns_uwide number, uint64_t factor, uint64_t divisor) {
    const ns_uwide low = (ns_uwide)(uint64_t)number * factor;
    const ns_uwide high = (ns_uwide)(uint64_t)(number >> 64) * factor + (uint64_t)(low >> 64);
    return divided((uint64_t)(high >> 64), (high << 64) | (uint64_t)low, divisor);
}

/* Set the bounds so that a node has at least c children with probability (b / (1 + b))^c, where b is `mean` rounded to
 * 10^-9. The power is computed in 128 bits with an error below 2^-121. So its upper 64 bits, the bound, are exact
 * except with a chance of 2^-57. */
static void set_bounds(uint64_t *bounds, double mean) {
    const uint64_t factor = (uint64_t)nearbyint(mean * ROUNDING), divisor = factor + ROUNDING;
    ns_uwide power = divided(factor, 0, divisor);
    for (int children = 0; children < MOST_CHILDREN; children++) {
        bounds[children] = (uint64_t)(power >> 64);
        power = scaled(power, factor, divisor);
    }
}

static int set_levels(state *self) {
    self->levels = self->shape == CYCLIC ? 5 * self->depth + 1 : self->depth;
    if (self->shape == EXPONENTIAL) self->levels = MOST_DEPTH;
    self->bounds = ns_state_take(&self->memory, self->levels * (int64_t)sizeof *self->bounds);
    if (!self->bounds) return NS_ERROR_MEMORY;
    for (int64_t depth = 0; depth < self->levels; depth++) set_bounds(self->bounds[depth], mean_at(self, depth));
    return NS_OK;
}

static int64_t children_of(const state *self, uint64_t node, int64_t depth) {
    const uint64_t number = ns_draw(node, 0);
    if (self->tree == BINOMIAL) {
        if (depth == 0) return self->root_children;
        return number < self->bound ? self->children : 0;
    }
    int64_t children = 0;
    if (depth >= self->levels) return 0;
    while (children < MOST_CHILDREN && number < self->bounds[depth][children]) children++;
    return children;
}

/* Return the checksum of a node. To compute it takes about as long as to compute the states of the node's children. */
static uint64_t checksum_of(const state *self, uint64_t node, int64_t children) {
    uint64_t sum = node;
    for (int64_t round = (children ? children : 1) * self->rounds; round > 0; round--) sum = ns_mix(sum + NS_GAMMA);
    return sum;
}

static void add(count *self, const count *other) {
    self->nodes += other->nodes;
    self->leaves += other->leaves;
    self->checksum += other->checksum;
}

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

typedef struct {
    const state *of;
    uint64_t node;
    int64_t depth;
    count *found; /* where to store the counts of the subtree */
} visit;

/* The results of up to FEW_CHILDREN children are on the stack of their parent, those of more children on the heap. */
enum { FEW_CHILDREN = 8 };

static void walk(ns_task *self, void *arguments) {
    const visit *at = arguments;
    const state *of = at->of;
    const int64_t children = children_of(of, at->node, at->depth);
    count all = {1, children == 0, checksum_of(of, at->node, children)}, few[FEW_CHILDREN];
    count *found = children <= FEW_CHILDREN ? few : malloc((size_t)children * sizeof *found);
    ns_work(self, of->node_ps * (children ? children : 1));
    for (int64_t child = 0; child < children && found; child++) {
        const visit next = {of, ns_draw(at->node, (uint64_t)child + 1), at->depth + 1, &found[child]};
        ns_spawn(self, walk, &next, sizeof next);
    }
    if (children) ns_join(self);
    for (int64_t child = 0; child < children && found; child++) add(&all, &found[child]);
    if (found != few) free(found);
    *at->found = all; /* too small if memory was short; the comparison with the twin shows this */
}

static count walk_serially(const state *self, uint64_t node, int64_t depth) {
    const int64_t children = children_of(self, node, depth);
    count all = {1, children == 0, checksum_of(self, node, children)};
    for (int64_t child = 0; child < children; child++) {
        const count below = walk_serially(self, ns_draw(node, (uint64_t)child + 1), depth + 1);
        add(&all, &below);
    }
    return all;
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

static int create(void *whole, ns_setting *setting) {
    static const int ONLY_OF[][2] = {[BINOMIAL] = {CHILDREN, PROBABILITY}, [GEOMETRIC] = {SHAPE, DEPTH}};
    state *self = whole;
    for (int at = 0; at < 2; at++) {
        const int other = ONLY_OF[BINOMIAL + GEOMETRIC - self->tree][at];
        if (!setting->values[other].given) continue;
        return ns_setting_refuse(setting, "%s is no parameter of a %s tree", PARAMETERS[other].name,
                                 self->tree == BINOMIAL ? "binomial" : "geometric");
    }
    const double expected = (double)self->children * (double)self->probability * 1e-18;
    if (self->tree == BINOMIAL && expected >= 1) {
        return ns_setting_refuse(
            setting, "children x probability is %.3f, and has to be below 1, or the tree never ends", expected);
    }
    self->bound = bound_of(self->probability);
    if (!self->root_children) self->root_children = self->tree == BINOMIAL ? 2000 : 4;
    return self->tree == GEOMETRIC ? set_levels(self) : NS_OK;
}

static uint64_t root_of(const state *self) { return ns_base((uint64_t)self->seed, DRAW_ARRIVAL, 0); }

static int run(void *whole, ns_pool *pool) {
    state *self = whole;
    return ns_pool_run(pool, walk, &(visit){self, root_of(self), 0, &self->result}, sizeof(visit));
}

static void run_twin(void *whole) {
    state *self = whole;
    self->twin = walk_serially(self, root_of(self), 0);
}

static bool matches(const void *whole) {
    const count *a = &((const state *)whole)->result, *b = &((const state *)whole)->twin;
    return a->nodes == b->nodes && a->leaves == b->leaves && a->checksum == b->checksum;
}

const ns_kernel ns_uts_kernel = {
    .name = "uts",
    .meaning = "unbalanced tree search (Olivier et al. 2006), a task per node",
    NS_KERNEL_COMMON,
    .create = create,
    .run = run,
};
