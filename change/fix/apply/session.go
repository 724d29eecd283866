package apply

import (
	"context"
	"errors"
	"time"

	"example.org/homenode/numa"
)

// losses bounds how often a request that changes something is made again after its connection dropped.
const losses = 5

// passing reports whether an error is one of the session or the connection: the vCenter may be well again later.
func passing(err error) bool { return errors.Is(err, numa.ErrExpired) || errors.Is(err, numa.ErrLost) }

// again makes a request that changes nothing until it is answered: after a login when the session expired, and while the
// vCenter is out of reach, as when it restarts.
func (r *run) again(ctx context.Context, request func() error) error {
	for begin, tries := time.Now(), 0; ; tries++ {
		known := r.session()
		err := request()
		if err == nil || !passing(err) || ctx.Err() != nil || time.Since(begin) > r.o.Outage {
			return err
		}
		if errors.Is(err, numa.ErrExpired) {
			if err = r.relogin(ctx, known); err != nil && !passing(err) {
				return err
			}
		}
		if err != nil || tries > 0 {
			if err := r.rest(ctx, nil); err != nil {
				return err
			}
		}
	}
}

// once makes a request that changes something, and again when the session had expired: then it was not carried out.
func (r *run) once(ctx context.Context, request func() error) error {
	known := r.session()
	err := request()
	if errors.Is(err, numa.ErrExpired) && r.relogin(ctx, known) == nil {
		return request()
	}
	return err
}

// session counts the logins.
func (r *run) session() int {
	r.login.Lock()
	defer r.login.Unlock()
	return r.logins
}

// relogin logs in, unless another VM's step has done so since the session was known.
func (r *run) relogin(ctx context.Context, known int) error {
	r.login.Lock()
	defer r.login.Unlock()
	if r.logins != known {
		return nil
	}
	err := r.t.Login(ctx)
	if err == nil {
		r.logins++
	}
	return err
}
