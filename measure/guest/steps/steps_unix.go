//go:build unix

package steps

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// A descriptor blocks the thread that reads or writes it, without Go's poller.
type descriptor struct {
	in, out int      // equal for a socket
	file    *os.File // its owner; nil if opened by this package
}

func (d descriptor) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(d.in, p)
		switch {
		case err == unix.EINTR: //nolint:errorlint // an errno
		case err == nil && n == 0:
			return 0, os.ErrClosed
		default:
			return n, err
		}
	}
}

func (d descriptor) Write(p []byte) (int, error) {
	for {
		n, err := unix.Write(d.out, p)
		if err != unix.EINTR {
			return n, err
		}
	}
}

func (d descriptor) Close() error {
	if d.in != d.out {
		return errors.Join(unix.Close(d.out), unix.Close(d.in))
	}
	err := ignoreUnconnected(unix.Shutdown(d.in, unix.SHUT_RDWR))
	if d.file != nil {
		return errors.Join(err, d.file.Close())
	}
	return errors.Join(err, unix.Close(d.in))
}

// ignoreUnconnected drops the error of a socket whose other end is closed.
func ignoreUnconnected(err error) error {
	if errors.Is(err, unix.ENOTCONN) {
		return nil
	}
	return err
}

// pipes returns two ends connected by two pipes.
func pipes() (a, b end, err error) {
	var there, back [2]int
	if err := unix.Pipe(there[:]); err != nil {
		return nil, nil, err
	}
	if err := unix.Pipe(back[:]); err != nil {
		return nil, nil, errors.Join(err, unix.Close(there[0]), unix.Close(there[1]))
	}
	return descriptor{in: back[0], out: there[1]}, descriptor{in: there[0], out: back[1]}, nil
}

// blocking takes the socket of a connection out of Go's poller. The connection is closed.
func blocking(c net.Conn) (end, error) {
	if t, ok := c.(*net.TCPConn); ok {
		if err := t.SetNoDelay(true); err != nil {
			return nil, err
		}
	}
	f, err := c.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		return nil, err
	}
	fd := int(f.Fd())
	return descriptor{fd, fd, f}, errors.Join(unix.SetNonblock(fd, false), c.Close())
}

// sockets returns two connected Unix sockets.
func sockets() (a, b end, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, err
	}
	return descriptor{in: fds[0], out: fds[0]}, descriptor{in: fds[1], out: fds[1]}, nil
}

// temporary returns a file in dir that is deleted when it is closed, however the program ends.
func temporary(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "homenode-measure-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
