package capture

import "time"

// add adds n events at a time, which is not before the earlier events.
func (b *Burst) add(at time.Time, n int64, window time.Duration) {
	if n <= 0 {
		return
	}
	ms, width := at.UnixMilli(), window.Milliseconds()
	begin := time.UnixMilli(ms - ms%width).UTC() // times are after 1970
	b.join(&Burst{Total: n, Most: n, At: begin, HeadAt: begin, Head: n, TailAt: begin, Tail: n})
}

// join adds the events of the next stretch.
func (b *Burst) join(next *Burst) {
	if next.Total == 0 {
		return
	}
	if b.Total == 0 {
		*b = *next
		return
	}
	b.Total += next.Total
	if !b.TailAt.Equal(next.HeadAt) {
		b.TailAt, b.Tail = next.TailAt, next.Tail
		b.most(next.Most, next.At)
		return
	}
	// Both stretches lie in one window.
	alone := b.HeadAt.Equal(b.TailAt)
	b.Tail += next.Head
	if alone {
		b.Head = b.Tail
	}
	b.most(b.Tail, b.TailAt)
	b.most(next.Most, next.At)
	if !next.TailAt.Equal(next.HeadAt) {
		b.TailAt, b.Tail = next.TailAt, next.Tail
	}
}

func (b *Burst) most(n int64, at time.Time) {
	if n > b.Most {
		b.Most, b.At = n, at
	}
}
