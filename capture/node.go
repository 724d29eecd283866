package capture

import (
	"time"

	"example.org/homenode/numa"
)

// unknown means that free memory is not stated.
const unknown numa.Bytes = -1

func newNode(id int) Node { return Node{ID: id, Least: unknown, LastFree: unknown} }

// tick records the node at one moment.
func (n *Node) tick(m *moment, t *numa.NodeTick) {
	at := m.tick.Time
	b := place(&n.Timeline, at.Unix(), m.options.Buckets)
	b.Ticks++
	if t.Has&numa.HasTotal != 0 && t.Total > 0 {
		n.Total = t.Total
	}
	if t.Has&numa.HasFree != 0 {
		n.LastFree = t.Free
		n.least(t.Free, at)
		kib := int64(t.Free / numa.KiB)
		b.least(kib)
		b.Frees++
		b.Free += kib
	}
	if busy, ok := t.Busy(); ok {
		share := hundredths(busy)
		n.Busy.see(share, at)
		b.Loads++
		b.Busy += share
		b.MostBusy = max(b.MostBusy, int32(share))
	}
	n.rates(t, m.tick.Since)
}

func (n *Node) least(free numa.Bytes, at time.Time) {
	if n.Least < 0 || free < n.Least {
		n.Least, n.LeastAt = free, at
	}
}

// rates adds the load of a tick over a duration.
func (n *Node) rates(t *numa.NodeTick, over time.Duration) {
	if busy, ok := t.Busy(); ok && over > 0 {
		n.Busy.last(hundredths(busy), over)
	}
}

// join adds the next stretch.
func (n *Node) join(next *Node, o *Options) {
	if next.Total > 0 {
		n.Total = next.Total
	}
	if next.Least >= 0 {
		n.least(next.Least, next.LeastAt)
	}
	if next.LastFree >= 0 {
		n.LastFree = next.LastFree
	}
	n.Busy.join(&next.Busy)
	join(&n.Timeline, &next.Timeline, o.Buckets)
}
