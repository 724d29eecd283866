package steps

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

const syscallAbout = "GetProcessTimes of this process, 100 times a sample"

func systemCall(ctx context.Context, o *Options) ([]float64, error) {
	few := *o
	few.Samples = min(o.Samples, 1000)
	self := windows.CurrentProcess()
	var created, exited, kernel, user windows.Filetime
	return batch(ctx, &few, 100, func() error { return windows.GetProcessTimes(self, &created, &exited, &kernel, &user) })
}

// dataSync is unsupported: Windows cannot sync a file without its times.
func dataSync(context.Context, *Options) ([]float64, error) { return nil, ErrNotHere }

// A handle is an end of two anonymous pipes.
type handle struct{ in, out windows.Handle }

func (h handle) Read(p []byte) (int, error)  { return windows.Read(h.in, p) }
func (h handle) Write(p []byte) (int, error) { return windows.Write(h.out, p) }

func (h handle) Close() error {
	return errors.Join(windows.CloseHandle(h.out), windows.CloseHandle(h.in))
}

// pipes returns two ends connected by two pipes.
func pipes() (a, b end, err error) {
	var in, out, in2, out2 windows.Handle
	if err := windows.CreatePipe(&in, &out, nil, 0); err != nil {
		return nil, nil, err
	}
	if err := windows.CreatePipe(&in2, &out2, nil, 0); err != nil {
		return nil, nil, errors.Join(err, windows.CloseHandle(in), windows.CloseHandle(out))
	}
	return handle{in2, out}, handle{in, out2}, nil
}

// blocking returns the connection unchanged: on Windows Go's poller remains in use.
func blocking(c net.Conn) (end, error) { return c, nil }

func sockets() (a, b end, err error) { return nil, nil, ErrNotHere }

// temporary returns a file in dir that is deleted when it is closed, however the program ends.
func temporary(dir string) (*os.File, error) {
	name := filepath.Join(dir, fmt.Sprintf("homenode-measure-%d", os.Getpid()))
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.CREATE_NEW, windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		return nil, &os.PathError{Op: "create", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// InMemory returns the kind of file system that keeps the files of dir in memory; Windows has none.
func InMemory(string) (string, error) { return "", nil }
