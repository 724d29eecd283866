package queue

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"homenode/internal/filelock"
	"homenode/internal/loopback"
)

// ServerOptions are those of a queue of its own.
type ServerOptions struct {
	Listen string // host:port; port 0 is any free one
	Store  string // folder for tasks and results; made when it is not there
	// Whoever listens for other machines needs all three.
	Token     string
	Cert, Key string       // files in PEM form
	Log       func(string) // errors and warnings of the server; nil for none
}

// Serve runs a NATS server with JetStream until ctx ends. ready is called with its URL as
// soon as it takes connections.
func Serve(ctx context.Context, o ServerOptions, ready func(url string)) error {
	opts, err := o.server()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Store, 0o700); err != nil {
		return err
	}
	unlock, err := filelock.Take(filepath.Join(o.Store, "homenode.lock"))
	if err != nil {
		return fmt.Errorf("store %s: %w", o.Store, err)
	}
	defer unlock()
	s, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	log := &serverLog{log: o.Log}
	s.SetLoggerV2(log, false, false, false)
	go s.Start()
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	for !s.ReadyForConnections(100 * time.Millisecond) {
		if !s.Running() {
			return errors.New("queue: the server did not start")
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	scheme := "nats://"
	if opts.TLSConfig != nil {
		scheme = "tls://"
	}
	ready(scheme + s.Addr().String())
	started(s)
	o.watch(ctx, s, log)
	return nil
}

// started is where tests get at a server.
var started = func(*server.Server) {}

// watch keeps the store going until ctx ends. A full disk ends the store, not the server:
// it begins again as soon as there is room.
func (o *ServerOptions) watch(ctx context.Context, s *server.Server, log *serverLog) {
	full := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(2 * time.Second):
		}
		if log.broken.Swap(false) {
			// A stream that could not write once takes nothing until it is opened again.
			_ = s.ShutdownJetStream()
		}
		switch {
		case !s.JetStreamEnabled():
			if !full {
				full = true
				o.say("the store %s takes nothing more, its disk may be full: trying again until it does", o.Store)
			}
			if room(o.Store) {
				// When it fails it is tried again.
				_ = s.EnableJetStream(&server.JetStreamConfig{StoreDir: o.Store, MaxStore: mostStore})
			}
		case full:
			full = false
			o.say("the store %s takes tasks and results again", o.Store)
		}
	}
}

// room reports whether the folder takes a file of some size.
func room(folder string) bool {
	f, err := os.CreateTemp(folder, "room-*")
	if err != nil {
		return false
	}
	_, err = f.Write(make([]byte, 4<<20))
	return errors.Join(err, f.Close(), os.Remove(f.Name())) == nil
}

func (o *ServerOptions) say(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}

// mostStore leaves it to the disk how much the store takes.
const mostStore = 1 << 50

// server returns the options of the NATS server.
func (o *ServerOptions) server() (*server.Options, error) {
	host, number, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("found the address %q, want host:port", o.Listen)
	}
	port, err := strconv.Atoi(number)
	if err != nil || port < 0 || port > 65535 {
		return nil, fmt.Errorf("found the port %q, want a number up to 65535", number)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	if (o.Cert == "") != (o.Key == "") {
		return nil, errors.New("a certificate and its key go together")
	}
	if !loopback.Host(host) && (o.Token == "" || o.Cert == "") {
		return nil, fmt.Errorf("%s can be reached from other machines: want a token and a certificate with its key", o.Listen)
	}
	opts := &server.Options{
		ServerName: "homenode",
		Host:       host,
		Port:       port,
		JetStream:  true,
		StoreDir:   o.Store,
		// The server would take a share of what is free when it starts, and never more.
		JetStreamMaxStore: mostStore,
		NoSigs:            true, // they are the program's
	}
	if o.Token != "" {
		for _, r := range Roles {
			opts.Users = append(opts.Users, &server.User{Username: string(r), Password: r.Token(o.Token), Permissions: r.permissions()})
		}
	}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("certificate %s: %w", o.Cert, err)
		}
		opts.TLS = true
		opts.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	return opts, nil
}

// A serverLog hands on what a NATS server warns of.
type serverLog struct {
	log    func(string)
	broken atomic.Bool // a stream could not write
}

func (l *serverLog) say(format string, args []any) {
	if l.log != nil {
		l.log(fmt.Sprintf(format, args...))
	}
}

func (l *serverLog) Warnf(format string, args ...any) { l.say(format, args) }
func (l *serverLog) Errorf(format string, args ...any) {
	if strings.Contains(strings.ToLower(format), "critical write error") {
		l.broken.Store(true)
	}
	l.say(format, args)
}
func (l *serverLog) Fatalf(format string, args ...any) { l.say(format, args) }

func (l *serverLog) Noticef(string, ...any) {}
func (l *serverLog) Debugf(string, ...any)  {}
func (l *serverLog) Tracef(string, ...any)  {}
