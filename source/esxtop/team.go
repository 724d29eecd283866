package esxtop

import "sync"

// A team is the workers of a Reader: each fetches the next batch of the feed, in turn, and reads
// and parses it in parallel with the others.
//
//	free ──► worker: next (in turn) ──► queue, in the order of the file ──► Scan
//	                 load, parse    ──► ready ───────────────────────────►
type team struct {
	free  chan *batch
	queue chan *batch
	quit  chan struct{}
	turn  sync.Mutex
	ended bool // no batch follows
	all   sync.WaitGroup
	feed  *feed
}

func newTeam(f *feed, h *Header, opt Options) *team {
	batches := 2*opt.Workers + 1
	t := &team{free: make(chan *batch, batches+1), queue: make(chan *batch, batches+1), quit: make(chan struct{}), feed: f}
	for range batches {
		t.free <- &batch{ready: make(chan struct{}, 1)}
	}
	for range opt.Workers {
		p := newParser(h, f.end)
		t.all.Go(func() { t.work(p) })
	}
	return t
}

// work reads batches until the file or the team ends.
func (t *team) work(p *parser) {
	for {
		var b *batch
		select {
		case <-t.quit:
			return
		case b = <-t.free:
		}
		t.turn.Lock()
		if t.ended {
			t.turn.Unlock()
			return
		}
		t.feed.next(b)
		t.ended = b.last
		t.queue <- b
		t.turn.Unlock()
		p.read(t.feed, b)
		b.ready <- struct{}{}
	}
}

// stop ends the workers and returns their batches after the header in b to the feed.
func (t *team) stop(b *batch) {
	t.feed.back(b, t.close())
}

// close ends the workers and returns the batches that they had fetched.
func (t *team) close() (later []*batch) {
	close(t.quit)
	t.all.Wait()
	close(t.queue)
	for b := range t.queue {
		later = append(later, b)
	}
	return later
}
