package board

import "sync"

// changes counts what was taken and judged.
type changes struct {
	mu         sync.Mutex
	generation uint64
	next       chan struct{} // closed by the next one; nil when none waits
}

// Generation returns how often something that is shown has changed, and a channel that is closed when it changes again.
func (b *Board) Generation() (generation uint64, next <-chan struct{}) {
	c := &b.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.generation, c.next
}

// Touch says that something that is shown has changed.
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
