package bus

import "earshot/internal/mailbox"

// Bound returns the rule of a queue of messages that have a size in bytes: one that finds more than
// [MaxPending] waiting is dropped.
func Bound[T any](size func(T) int) mailbox.Rule[T] {
	return func(items []T) (kept []T, dropped int) {
		bytes := 0
		for _, item := range items {
			bytes += size(item)
		}
		if bytes > MaxPending {
			return items[:len(items)-1], 1
		}
		return items, 0
	}
}
