package steps

import (
	"context"
	"errors"
	"io"
	"net"

	"example.org/homenode/measure/guest/cpu"
)

// An end is one side of a connection; it blocks its thread.
type end interface {
	io.ReadWriteCloser
}

// on runs f on the processor of an end.
func (o *Options) on(processor int, f func() error) error {
	if !o.Pinned {
		return f()
	}
	return cpu.On(processor, f)
}

// roundTrips sends a byte from one end to the other and back. It closes both.
func roundTrips(ctx context.Context, o *Options, a, b end) (samples []float64, err error) {
	echoed := make(chan error, 1)
	go func() {
		echoed <- o.on(o.B, func() error {
			var one [1]byte
			for {
				if _, err := b.Read(one[:]); err != nil {
					return nil // the other end was closed
				}
				if _, err := b.Write(one[:]); err != nil {
					return nil
				}
			}
		})
	}()
	err = o.on(o.A, func() (err error) {
		var one [1]byte
		samples, err = Loop(ctx, o, func() error {
			if _, err := a.Write(one[:]); err != nil {
				return err
			}
			_, err := a.Read(one[:])
			return err
		})
		return err
	})
	closed := a.Close()
	return samples, errors.Join(err, closed, <-echoed, b.Close())
}

// channel sends a value to another goroutine and back.
func channel(ctx context.Context, o *Options) ([]float64, error) {
	there, back := make(chan int), make(chan int)
	defer close(there)
	go func() {
		for v := range there {
			back <- v
		}
	}()
	samples, err := Loop(ctx, o, func() error {
		there <- 1
		<-back
		return nil
	})
	return halves(samples), err
}

// pipe sends a byte through a pipe to another thread and back through a second pipe.
func pipe(ctx context.Context, o *Options) ([]float64, error) {
	a, b, err := pipes()
	if err != nil {
		return nil, err
	}
	samples, err := roundTrips(ctx, o, a, b)
	return halves(samples), err
}

func halves(samples []float64) []float64 {
	for i := range samples {
		samples[i] /= 2
	}
	return samples
}

// tcp sends a byte over a connection on loopback.
func tcp(ctx context.Context, o *Options) ([]float64, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return connected(ctx, o, l)
}

// unixSocket sends a byte over a pair of Unix sockets.
func unixSocket(ctx context.Context, o *Options) ([]float64, error) {
	a, b, err := sockets()
	if err != nil {
		return nil, err
	}
	return roundTrips(ctx, o, a, b)
}

// connected measures round trips over a connection to l, which it closes.
func connected(ctx context.Context, o *Options, l net.Listener) ([]float64, error) {
	here, err := net.Dial(l.Addr().Network(), l.Addr().String())
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	there, err := l.Accept()
	if err = errors.Join(err, l.Close()); err != nil {
		return nil, errors.Join(err, here.Close())
	}
	a, err := blocking(here)
	if err != nil {
		return nil, errors.Join(err, here.Close(), there.Close())
	}
	b, err := blocking(there)
	if err != nil {
		return nil, errors.Join(err, a.Close(), there.Close())
	}
	return roundTrips(ctx, o, a, b)
}

// connect opens, accepts and closes connections.
func connect(ctx context.Context, o *Options) (_ []float64, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	address := l.Addr().String()
	// Closed connections block their ports for a while: a few are enough.
	few := *o
	few.Samples = min(o.Samples, 500)
	return Loop(ctx, &few, func() error {
		here, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		there, err := l.Accept()
		if err != nil {
			return errors.Join(err, here.Close())
		}
		return errors.Join(here.Close(), there.Close())
	})
}
