package access

import (
	"hash/maphash"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Of attempts to sign in, for an account and for an address.
const (
	triesAtOnce   = 5
	triesEvery    = 10 * time.Second
	toldEvery     = triesAtOnce * triesEvery // that one is held back
	mostAddresses = 10_000                   // whose limiters are kept
	unknownShares = 1024                     // limiters that all names share of which there is no account
)

// limits holds attempts to sign in back. No one can make it forget those of an account.
type limits struct {
	mu        sync.Mutex
	addresses map[string]*limiter
	accounts  map[string]*limiter // by name in lower case
	seed      maphash.Seed
}

// A limiter is of one address or account.
type limiter struct {
	*rate.Limiter
	told time.Time // when it was last said that it holds back
}

// allow reports whether there may be one more attempt of an address for an account; known is whether there is such an account. tell is
// whether the log is to say that there may not.
func (l *limits) allow(from, account string, known bool) (ok, tell bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok, tell = l.address(from); !ok { // it takes nothing from the account: its owner may come from elsewhere
		return ok, tell
	}
	if l.accounts == nil {
		l.accounts, l.seed = map[string]*limiter{}, maphash.MakeSeed()
	}
	account = strings.ToLower(account)
	if !known { // held back alike: an answer does not tell which names there are
		account = "\x00" + strconv.FormatUint(maphash.String(l.seed, account)%unknownShares, 10)
	}
	return of(l.accounts, account).allow()
}

// fromAddress reports whether there may be one more attempt of an address.
func (l *limits) fromAddress(from string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	ok, _ := l.address(from)
	return ok
}

func (l *limits) address(from string) (ok, tell bool) {
	if a, err := netip.ParseAddr(from); err == nil && a.Is6() {
		if p, err := a.Prefix(64); err == nil { // one customer has as many addresses as this
			from = p.String()
		}
	}
	if l.addresses == nil {
		l.addresses = map[string]*limiter{}
	}
	if len(l.addresses) >= mostAddresses {
		l.forget()
	}
	return of(l.addresses, from).allow()
}

func of(all map[string]*limiter, key string) *limiter {
	if all[key] == nil {
		all[key] = &limiter{Limiter: rate.NewLimiter(rate.Every(triesEvery), triesAtOnce)}
	}
	return all[key]
}

func (l *limiter) allow() (ok, tell bool) {
	if l.Allow() {
		return true, false
	}
	now := time.Now()
	if tell = now.Sub(l.told) >= toldEvery; tell {
		l.told = now
	}
	return false, tell
}

// forget drops the limiters of addresses that hold nothing back, and all when that makes no room.
func (l *limits) forget() {
	for key, one := range l.addresses {
		if one.Tokens() >= triesAtOnce {
			delete(l.addresses, key)
		}
	}
	if len(l.addresses) >= mostAddresses {
		clear(l.addresses)
	}
}
