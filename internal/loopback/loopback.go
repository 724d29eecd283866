// Package loopback restricts connections to this machine.
package loopback

import (
	"context"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// Host reports whether a host is this machine by its name or address alone: localhost, 127.0.0.0/8 and ::1. Other names
// do not count, whatever they resolve to now, nor do 0.0.0.0 and ::, which are all addresses.
func Host(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Dial connects; localhost is this machine even if a resolver returns another address.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{}
	if host, _, err := net.SplitHostPort(address); err == nil && Host(host) {
		d.Control = only
	}
	return d.DialContext(ctx, network, address)
}

// Listen listens on an address of this machine, and on no other.
func Listen(address string) (net.Listener, error) {
	c := net.ListenConfig{Control: only}
	return c.Listen(context.Background(), "tcp", address)
}

// only rejects a resolved address that is not this machine.
func only(_, address string, _ syscall.RawConn) error {
	if host, _, err := net.SplitHostPort(address); err != nil || !Host(host) {
		return fmt.Errorf("%s is not an address of this machine alone", address)
	}
	return nil
}
