// SPDX-License-Identifier: Apache-2.0
// Words that order: what releases published there, and who an acquire may learn it from (PTX ISA 8.7,
// "morally strong", and 8.8, release and acquire patterns).
//
// What is published is kept by scope and by whom the scope leaves out: at sys and gpu scope one clock a
// device, at cluster and cta scope one a cluster or CTA. So a word that a thousand CTAs count at has few.
#include <stdlib.h>

#include "sim/check/inside.h"

static uint32_t bucket_of(const unsigned char *at)
{
    return (uint32_t)((uintptr_t)at >> 2 ^ (uintptr_t)at >> 14) % WORD_BUCKETS;
}

static struct word *find_word(struct pksim_check *check, const unsigned char *at)
{
    struct word *word = check->words[bucket_of(at)];
    while (word && word->at != at)
        word = word->next;
    return word;
}

static struct word *make_word(struct pksim_check *check, const unsigned char *at)
{
    struct word *word = find_word(check, at);
    if (word)
        return word;
    word = calloc(1, sizeof *word);
    if (!word) {
        check->failed = true;
        return NULL;
    }
    word->at = at;
    word->next = check->words[bucket_of(at)];
    check->words[bucket_of(at)] = word;
    return word;
}

static void clear_word(struct word *word)
{
    word->version = 0;
    while (word->publications) {
        struct publication *next = word->publications->next;
        pksim_knowledge_drop(&word->publications->known);
        free(word->publications);
        word->publications = next;
    }
}

void pksim_words_gone(struct pksim_check *check, const unsigned char *host, uint64_t size)
{
    for (uint32_t b = 0; b < WORD_BUCKETS; b++) {
        struct word **link = &check->words[b];
        while (*link) {
            struct word *word = *link;
            if ((uint64_t)(word->at - host) >= size) {
                link = &word->next;
                continue;
            }
            *link = word->next;
            clear_word(word);
            free(word);
        }
    }
}

// ---- Publishing
// ----------------------------------------------------------------------------------------------------

static uint64_t who_at(const struct pksim_warp *warp, enum pksim_scope scope)
{
    switch (scope) {
    case PKSIM_SCOPE_NONE:
        break;
    case PKSIM_SCOPE_CTA:
        return warp->cta->check->number;
    case PKSIM_SCOPE_CLUSTER:
        return warp->cta->cluster->check->number;
    case PKSIM_SCOPE_GPU:
    case PKSIM_SCOPE_SYS:
        return warp->cta->run->device;
    }
    return 0;
}

static void publish_at(struct pksim_warp *warp, struct word *word, enum pksim_scope scope,
                       const struct knowledge *known)
{
    struct pksim_check *check = warp->check->launch->check;
    struct publication *p = word->publications;
    uint64_t who = who_at(warp, scope);
    while (p && (p->scope != scope || p->who != who))
        p = p->next;
    if (!p) {
        p = calloc(1, sizeof *p);
        if (!p) {
            check->failed = true;
            return;
        }
        p->scope = scope;
        p->who = who;
        p->next = word->publications;
        word->publications = p;
    }
    pksim_knowledge_join(check, &p->known, known);
    p->version = word->version = ++check->versions;
}

static bool releases(uint32_t order)
{
    return order == PKSIM_RELEASE || order == PKSIM_ACQ_REL;
}

static bool acquires(uint32_t order)
{
    return order == PKSIM_ACQUIRE || order == PKSIM_ACQ_REL;
}

static enum pksim_scope scope_of(struct pksim_access_kind kind)
{
    return kind.order == PKSIM_VOLATILE || !kind.scope ? PKSIM_SCOPE_SYS : (enum pksim_scope)kind.scope;
}

// A relaxed write publishes what fences before it have released, at the narrower of both scopes.
static void publish_fenced(struct pksim_warp *warp, uint32_t lane, struct word *word, enum pksim_scope scope)
{
    const struct view *view = pksim_lane_view(warp->check, lane);
    const struct pksim_clock *wider = NULL;
    for (uint32_t s = scope; s >= PKSIM_SCOPE_CTA; s--) {
        const struct pksim_clock *clock = view->released[s].clock[CLOCK_ORDER];
        if (clock && clock != wider)
            publish_at(warp, word, (enum pksim_scope)s, &view->released[s]);
        wider = clock;
    }
}

static void publish_weakly(struct pksim_warp *warp, struct word *word, struct knowledge *known)
{
    struct knowledge any = {0};
    any.clock[CLOCK_ANY] = known->clock[CLOCK_ANY];
    publish_at(warp, word, PKSIM_SCOPE_SYS, &any);
}

void pksim_word_write(struct pksim_warp *warp, uint32_t lane, const unsigned char *at,
                      struct pksim_access_kind kind, bool rmw)
{
    struct pksim_check *check = warp->check->launch->check;
    struct word *word = make_word(check, at);
    struct knowledge known;
    if (!word)
        return;
    if (!rmw) // what was published before goes on with read-modify-writes only
        clear_word(word);
    publish_fenced(warp, lane, word, scope_of(kind));
    pksim_publish(warp, 1u << lane, &known);
    if (releases(kind.order))
        publish_at(warp, word, scope_of(kind), &known);
    if (!releases(kind.order) || scope_of(kind) != PKSIM_SCOPE_SYS)
        publish_weakly(warp, word, &known);
    pksim_knowledge_drop(&known);
}

// ---- Learning
// ------------------------------------------------------------------------------------------------------

// What is published at a wide scope by an unknown CTA of the same device is taken for this CTA's: that may
// miss a race between narrow and wide scopes, and invents none.
static bool reaches(const struct pksim_warp *warp, const struct publication *p, enum pksim_scope scope)
{
    bool same_device = p->scope >= PKSIM_SCOPE_GPU && p->who == warp->cta->run->device;
    switch (p->scope) {
    case PKSIM_SCOPE_SYS:
        return scope == PKSIM_SCOPE_SYS || same_device;
    case PKSIM_SCOPE_GPU:
        return same_device;
    case PKSIM_SCOPE_CLUSTER:
    case PKSIM_SCOPE_CTA:
        return p->who == who_at(warp, p->scope);
    case PKSIM_SCOPE_NONE:
        break;
    }
    return false;
}

static void learn(struct pksim_warp *warp, uint32_t lane, const struct publication *p, enum pksim_scope scope,
                  bool now)
{
    struct pksim_check *check = warp->check->launch->check;
    if (now) {
        pksim_acquire(warp, 1u << lane, &p->known);
        return;
    }
    struct knowledge any = {0};
    any.clock[CLOCK_ANY] = p->known.clock[CLOCK_ANY];
    pksim_acquire(warp, 1u << lane, &any);
    if (!p->known.clock[CLOCK_ORDER])
        return;
    struct view *view = pksim_own_view(check, warp->check, lane);
    // A fence of any scope up to the read's that reaches the publisher makes it count.
    for (uint32_t s = PKSIM_SCOPE_CTA; s <= (uint32_t)scope; s++)
        if (reaches(warp, p, (enum pksim_scope)s))
            pksim_knowledge_join(check, &view->pending[s], &p->known);
}

enum poll pksim_word_poll(struct pksim_warp *warp, uint32_t lane, const unsigned char *at)
{
    struct pksim_check_warp *w = warp->check;
    struct pksim_check_lane *l = &w->lanes[lane];
    const struct word *word = find_word(w->launch->check, at);
    uint64_t version = word ? word->version : 0;
    uint32_t line = warp->code[warp->pc].line;
    bool again = l->poll.at == at && l->poll.tick == w->tick && l->poll.line == line;
    if (again && l->poll.version == version)
        return POLL_SAME;
    l->poll.before = l->poll.at == at && l->poll.line == line ? l->poll.version : 0;
    l->poll.at = at;
    l->poll.version = version;
    l->poll.tick = w->tick;
    l->poll.line = line;
    return again ? POLL_AGAIN : POLL_FIRST;
}

void pksim_word_read(struct pksim_warp *warp, uint32_t lane, const unsigned char *at,
                     struct pksim_access_kind kind)
{
    struct pksim_check *check = warp->check->launch->check;
    const struct word *word = find_word(check, at);
    enum pksim_scope scope = scope_of(kind);
    const struct pksim_check_lane *l = &warp->check->lanes[lane];
    uint64_t seen = kind.access == PKSIM_READ && l->poll.at == at ? l->poll.before : 0;
    for (const struct publication *p = word ? word->publications : NULL; p; p = p->next) {
        if (p->version <= seen)
            continue; // this lane has learnt it with the same instruction
        if (reaches(warp, p, scope)) {
            learn(warp, lane, p, scope, acquires(kind.order));
        } else {
            struct knowledge any = {0};
            any.clock[CLOCK_ANY] = p->known.clock[CLOCK_ANY];
            pksim_acquire(warp, 1u << lane, &any);
        }
    }
}
