// Intrusive doubly linked lists, as list_t of the kernel: a node lives in its element, so linking never allocates.
//
// An element may be on as many lists as it has nodes, and knows of each whether it is linked (list_link_active). The
// order is the order of insertion: nothing that results depend on ever follows addresses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/verify.h"

namespace dmu {

struct list_node_t {
    list_node_t *prev = nullptr;
    list_node_t *next = nullptr;

    list_node_t() = default;
    list_node_t(const list_node_t &) = delete;
    list_node_t &operator=(const list_node_t &) = delete;
};

inline bool list_link_active(const list_node_t &node)
{
    return node.next != nullptr;
}

// offsetof, for any class. REQUIRES: the class has no virtual bases.
template <class T, class Member>
size_t member_offset(Member T::*member)
{
    alignas(T) static char place[sizeof(T)];
    auto *nobody = reinterpret_cast<T *>(place);
    return static_cast<size_t>(reinterpret_cast<char *>(&(nobody->*member)) - place);
}

template <class T>
class list_t {
public:
    // offset: bytes from the element's start to the node this list uses.
    explicit list_t(size_t offset) : offset_(static_cast<uint32_t>(offset)) { head_.prev = head_.next = &head_; }
    list_t(const list_t &) = delete;
    list_t &operator=(const list_t &) = delete;

    bool empty() const { return head_.next == &head_; }
    T *head() const { return empty() ? nullptr : element(head_.next); }
    T *tail() const { return empty() ? nullptr : element(head_.prev); }
    T *next(const T *item) const
    {
        const list_node_t *after = node(item)->next;
        return after == &head_ ? nullptr : element(after);
    }
    T *prev(const T *item) const
    {
        const list_node_t *before = node(item)->prev;
        return before == &head_ ? nullptr : element(before);
    }
    void insert_head(T *item) { link(&head_, node(item)); }
    void insert_tail(T *item) { link(head_.prev, node(item)); }
    void insert_after(T *where, T *item) { link(node(where), node(item)); }
    void remove(T *item)
    {
        list_node_t *gone = node(item);
        VERIFY(list_link_active(*gone));
        gone->prev->next = gone->next;
        gone->next->prev = gone->prev;
        gone->prev = gone->next = nullptr;
    }

private:
    list_node_t *node(const T *item) const
    {
        return reinterpret_cast<list_node_t *>(reinterpret_cast<uintptr_t>(item) + offset_);
    }
    T *element(const list_node_t *node) const
    {
        return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(node) - offset_);
    }
    static void link(list_node_t *before, list_node_t *fresh)
    {
        VERIFY(!list_link_active(*fresh));
        fresh->prev = before;
        fresh->next = before->next;
        before->next->prev = fresh;
        before->next = fresh;
    }

    list_node_t head_;
    uint32_t offset_;
};

} // namespace dmu
