package site

import (
	"sync"
	"time"

	"homenode/output/answer"
	"homenode/serve/held"
)

// presentFor is how long the present is shown as it was: many viewers see the same, and hosts are asked no more often than every 20 s.
const presentFor = 2 * time.Second

// A present keeps what pages show of the present, by page and fleet, for a moment. Who asks meanwhile waits for it.
type present struct {
	mu  sync.Mutex
	all map[string]presentAnswer
}

type presentAnswer struct {
	a     *answer.Answer
	fleet *held.Fleet
	at    time.Time
}

// of returns an answer, which is not to be changed, or makes it.
func (p *present) of(page string, fleet *held.Fleet, make func() (*answer.Answer, error)) (*answer.Answer, error) {
	if fleet != nil {
		page += "\n" + fleet.Name
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if x, ok := p.all[page]; ok && x.fleet == fleet && time.Since(x.at) < presentFor {
		return x.a, nil
	}
	a, err := make()
	if err != nil {
		return nil, err
	}
	if p.all == nil {
		p.all = map[string]presentAnswer{}
	}
	p.all[page] = presentAnswer{a, fleet, time.Now()}
	return a, nil
}
