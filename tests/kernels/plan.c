// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <string.h>

// Few multiprocessors make several tasks a worker out of small shapes; 132, 108 and 78 are what there is to
// buy (H100 and H200, A100, and a cut H20).
enum { FEW_SMS = 4, MACHINES = 4, GPU_SHAPES = 6, DEVICES = 8 };
static const int machine_sms[MACHINES] = {FEW_SMS, 78, 108, 132};

static int axes(const kernel_case *k)
{
    int n = 0;
    while (n < CASE_AXES && k->axes[n].name)
        n++;
    return n;
}

static long product(const kernel_case *k)
{
    long n = 1;
    for (int a = 0; a < axes(k); a++)
        n *= k->axes[a].n;
    return n;
}

/// Machine `m` with rank count `r`, number `turn` of their settings: everything rotates against everything
/// else.
static plan_setting simulated(const plan_options *o, int r, int m, int turn)
{
    int all = turn + r * MACHINES + m;
    plan_setting s = {.ranks = o->ranks[r], .sms = machine_sms[m], .seed = 1 + all % PLAN_SEEDS};
    // One device for all ranks, in every second turn; its few SMs would not hold several ranks.
    s.devices = s.sms == FEW_SMS || (r + m) % 2 ? DEVICES : 1;
    s.late = (r + m / 2 + turn / 2) % 2;
    s.straggler = all % 3 == 2 && s.devices > 1 ? all / 3 % (s.ranks < DEVICES ? s.ranks : DEVICES) : -1;
    // Multicast wants ranks on devices of their own. Each rank count runs with it and without.
    s.multicast = s.devices > 1 && s.ranks > 1 && s.ranks <= DEVICES && (r + (m > 0) + turn) % 2;
    return s;
}

static bool short_setting(const plan_options *o, const kernel_case *k, int index, plan_setting *out)
{
    int r = index / MACHINES, m = index % MACHINES;
    *out = simulated(o, r, m, 0);
    out->first = (long)r * (MACHINES + 1) + m + (m > 0);
    out->count = 1 + (m == 0); // the small machine is the quick one
    if (k->sparse) {
        out->first = (long)(index / k->sparse) * 2;
        out->count = index % k->sparse == k->sparse_first ? 2 : 0;
    }
    return true;
}

static bool full_setting(const plan_options *o, const kernel_case *k, int index, plan_setting *out)
{
    int machine = index / PLAN_SEEDS, turn = index % PLAN_SEEDS;
    long n = product(k), end = n * (turn + 1) / PLAN_SEEDS;
    *out = simulated(o, machine / MACHINES, machine % MACHINES, turn);
    out->first = machine * n + n * turn / PLAN_SEEDS;
    out->count = machine * n + end - out->first;
    return true;
}

bool plan_setting_at(const plan_options *o, const kernel_case *k, int index, plan_setting *out)
{
    if (strcmp(o->backend, "cuda") == 0) {
        if (index >= o->n_ranks)
            return false;
        long n = o->full ? product(k) : GPU_SHAPES;
        *out = (plan_setting){.ranks = o->ranks[index], .straggler = -1, .first = index * n, .count = n};
        return true;
    }
    if (index >= o->n_ranks * MACHINES * (o->full ? PLAN_SEEDS : 1))
        return false;
    return o->full ? full_setting(o, k, index, out) : short_setting(o, k, index, out);
}

void plan_values(const plan_options *o, const kernel_case *k, long step, int64_t *values)
{
    long rest = step;
    for (int a = 0; a < axes(k); a++) {
        long n = k->axes[a].n;
        values[a] = k->axes[a].values[o->full ? rest % n : (step + step / n * (a + 1)) % n];
        rest /= n;
    }
}
