// The pages of a run: core/memory/pages.h, whose memory is freed with it.
#pragma once

#include <new>

#include "memory/pages.h"

namespace numasim {

struct Pages : ns_pages {
    explicit Pages(const ns_full_plan& of_plan) : ns_pages{} {
        if (ns_pages_create(this, &of_plan)) return;
        ns_pages_destroy(this);
        throw std::bad_alloc();
    }
    ~Pages() { ns_pages_destroy(this); }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
};

}  // namespace numasim
