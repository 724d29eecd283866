package access

import (
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Of attempts to sign in, for an account and for an address.
const (
	triesAtOnce = 5
	triesEvery  = 10 * time.Second
	mostLimits  = 10_000 // limiters that are kept
)

// limits holds attempts to sign in back.
type limits struct {
	mu  sync.Mutex
	all map[string]*rate.Limiter
}

// allow reports whether there may be one more attempt of an address for an account.
func (l *limits) allow(from, account string) bool {
	if a, err := netip.ParseAddr(from); err == nil && a.Is6() {
		if p, err := a.Prefix(64); err == nil { // one customer has as many addresses as this
			from = p.String()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) >= mostLimits {
		l.forget()
	}
	// Each counts, whatever the other says.
	address := l.one("address " + from).Allow()
	return l.one("account "+strings.ToLower(account)).Allow() && address
}

func (l *limits) one(key string) *rate.Limiter {
	if l.all[key] == nil {
		if l.all == nil {
			l.all = map[string]*rate.Limiter{}
		}
		l.all[key] = rate.NewLimiter(rate.Every(triesEvery), triesAtOnce)
	}
	return l.all[key]
}

// forget drops the limiters that hold nothing back, and all when that makes no room.
func (l *limits) forget() {
	for key, one := range l.all {
		if one.Tokens() >= triesAtOnce {
			delete(l.all, key)
		}
	}
	if len(l.all) >= mostLimits {
		clear(l.all)
	}
}
