package board

import "sync"

// changes counts updates and assessments.
type changes struct {
	mu         sync.Mutex
	generation uint64
	next       chan struct{} // closed at the next change; nil without a waiter
}

// Generation returns the number of changes so far, and a channel that is closed at the next change.
func (b *Board) Generation() (generation uint64, next <-chan struct{}) {
	c := &b.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.generation, c.next
}

// Touch counts a change and wakes those who wait for one.
func (b *Board) Touch() {
	c := &b.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}
