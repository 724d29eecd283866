// Package keyed collects values by a key.
package keyed

import (
	"iter"
	"slices"
)

// Lists has values by key, the keys in the order in which they came. The zero value has none.
type Lists[K comparable, V any] struct {
	keys []K
	of   map[K][]V
}

// Add adds values of a key.
func (b *Lists[K, V]) Add(key K, values ...V) {
	if _, ok := b.of[key]; !ok {
		if b.of == nil {
			b.of = map[K][]V{}
		}
		b.keys = append(b.keys, key)
	}
	b.of[key] = append(b.of[key], values...)
}

// Of returns the values of a key.
func (b *Lists[K, V]) Of(key K) []V { return b.of[key] }

// Sort sorts the keys.
func (b *Lists[K, V]) Sort(compare func(x, y K) int) { slices.SortFunc(b.keys, compare) }

// All returns the keys in order, each with its values.
func (b *Lists[K, V]) All() iter.Seq2[K, []V] {
	return func(yield func(K, []V) bool) {
		for _, key := range b.keys {
			if !yield(key, b.of[key]) {
				return
			}
		}
	}
}
