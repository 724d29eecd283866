package vsphere

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	"github.com/vmware/govmomi/vim25/methods"
	"github.com/vmware/govmomi/vim25/soap"
	"github.com/vmware/govmomi/vim25/types"
	govxml "github.com/vmware/govmomi/vim25/xml"

	"example.org/homenode/numa"
	"example.org/homenode/source/xmlref"
)

// A Live is an open session with a vCenter or ESXi host. Its methods may be called concurrently, except
// Fleet with itself.
type Live struct {
	r *reader
}

// A Service is the service "Esxtop" of one host.
type Service struct{ ref types.ManagedObjectReference }

// Errors of a Live, wrapped by the returned errors.
var (
	// ErrExpired reports that the server does not know the session: log in again.
	ErrExpired = errors.New("session expired")
	// ErrRefused reports that the server rejected the account: retrying locks it.
	ErrRefused = errors.New("account refused")
	// ErrPrivilege reports that the account lacks a privilege.
	ErrPrivilege = errors.New("privilege missing")
	// ErrGone reports that the object no longer exists: look for it again.
	ErrGone = errors.New("object gone")
	// ErrNoService reports that the vCenter lists no service Esxtop for the host.
	ErrNoService = errors.New("no service Esxtop")
)

// A liveError is one of these with the failed request.
type liveError struct {
	kind error
	text string
}

func (e liveError) Error() string { return e.text }
func (e liveError) Unwrap() error { return e.kind }

// Open logs in.
func Open(ctx context.Context, u *url.URL, o Options) (*Live, error) {
	r, err := newReader(u, o)
	if err != nil {
		return nil, err
	}
	if err := r.connect(ctx); err != nil {
		r.soap.CloseIdleConnections()
		return nil, fmt.Errorf("%s: connect: %w", r.host, err)
	}
	if err := r.login(ctx); err != nil {
		r.forget(ctx, err)
		r.soap.CloseIdleConnections()
		if errors.As(err, new(refusedError)) {
			return nil, liveError{ErrRefused, fmt.Sprintf("%s: log in: %v", r.host, err)}
		}
		return nil, fmt.Errorf("%s: log in: %w", r.host, err)
	}
	return &Live{r}, nil
}

// Instance returns the instance UUID of the server, which stays the same under another name or address.
func (l *Live) Instance() string { return l.r.client.ServiceContent.About.InstanceUuid }

// Content returns the managers and the root folder of the server.
func (l *Live) Content() *types.ServiceContent { return &l.r.client.ServiceContent }

// Close logs out, also when ctx has ended.
func (l *Live) Close(ctx context.Context) error {
	defer l.r.soap.CloseIdleConnections()
	return l.r.logout(ctx)
}

// Fleet reads the inventory, like Read.
func (l *Live) Fleet(ctx context.Context) (*numa.Fleet, error) {
	limited, cancel := l.r.within(ctx)
	defer cancel()
	f, err := l.r.readFleet(limited)
	if err != nil {
		return nil, l.fail("inventory", err)
	}
	if err := f.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", l.r.host, err)
	}
	return f, nil
}

// Esxtop finds the service of a host by its name in the inventory.
func (l *Live) Esxtop(ctx context.Context, name string) (Service, error) {
	m := l.r.client.ServiceContent.ServiceManager
	if m == nil {
		return Service{}, liveError{ErrNoService, l.r.host + " has no service manager"}
	}
	var list []types.ServiceManagerServiceInfo
	err := l.r.call(ctx, func(ctx context.Context) error {
		res, err := methods.QueryServiceList(ctx, l.r.client, &types.QueryServiceList{This: *m, Location: []string{"vmware.host." + name}})
		if err == nil {
			list = res.Returnval
		}
		return err
	})
	if err != nil {
		return Service{}, l.fail("service list", err)
	}
	for _, s := range list {
		if s.ServiceName == "Esxtop" {
			return Service{s.Service}, nil
		}
	}
	return Service{}, liveError{ErrNoService, "vCenter lists no service Esxtop for it: it is not connected, or its name differs from that of the service"}
}

// fail adds the request to an error and wraps the matching error above.
func (l *Live) fail(what string, err error) error {
	text := fmt.Sprintf("%s: %v", what, err)
	switch {
	case errors.As(err, new(expiredError)):
		return liveError{ErrExpired, text}
	case errors.As(err, new(privilegeError)):
		return liveError{ErrPrivilege, text}
	case hasFault[*types.ManagedObjectNotFound](err):
		return liveError{ErrGone, text}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// maxStats bounds one raw answer; one of a host of 100 VMs has 1.5 MB, and characters escaped in XML
// take up to six times their size.
const maxStats = 64 << 20

// Execute sends a command to the service, CounterInfo, FetchStats or FreeStats, and passes the answer
// to read, valid during the call. It returns the number of received bytes.
func (l *Live) Execute(ctx context.Context, s Service, command string, read func(text []byte) error) (size int, err error) {
	body := methods.ExecuteSimpleCommandBody{Req: &types.ExecuteSimpleCommand{This: s.ref, Arguments: []string{command}}}
	request, err := govxml.Marshal(soap.Envelope{Body: &body})
	if err != nil {
		return 0, err
	}
	b := buffers.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= keptBuffer {
			buffers.Put(b)
		}
	}()
	var text []byte
	err = l.r.callFor(ctx, maxStats, func(ctx context.Context) error {
		b.Reset()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.r.soap.URL().String(), bytes.NewReader(append([]byte(govxml.Header), request...)))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", `text/xml; charset="utf-8"`)
		req.Header.Set("SOAPAction", l.r.client.Namespace+"/"+l.r.client.Version)
		return l.r.soap.Do(ctx, req, func(res *http.Response) error {
			if _, err := b.ReadFrom(res.Body); err != nil {
				return err
			}
			switch res.StatusCode {
			case http.StatusOK:
				text, err = returned(b.Bytes())
				return err
			case http.StatusInternalServerError:
				return faultOf(b)
			}
			return errors.New(res.Status)
		})
	})
	size = b.Len()
	if err != nil {
		return size, l.fail(command, err)
	}
	return size, read(text)
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keptBuffer is the largest buffer that is reused.
const keptBuffer = 4 << 20

// faultOf returns the fault of an answer, like the library.
func faultOf(r io.Reader) error {
	var body methods.ExecuteSimpleCommandBody
	d := govxml.NewDecoder(r)
	d.TypeFunc = types.TypeFunc()
	if err := d.Decode(&soap.Envelope{Body: &body}); err != nil {
		return fmt.Errorf("found a fault that cannot be decoded: %w", err)
	}
	if f := body.Fault(); f != nil {
		return soap.WrapSoapFault(f)
	}
	return errors.New("found a fault without its reason")
}

// returned returns the text of the one returnval of an answer, in the memory of the answer. It replaces
// the library's decoder, which takes three times as long.
func returned(answer []byte) ([]byte, error) {
	begin := bytes.Index(answer, []byte("<returnval"))
	if begin < 0 {
		if bytes.Contains(answer, []byte("ExecuteSimpleCommandResponse")) {
			return nil, nil // the answer to FreeStats
		}
		return nil, errors.New("found no returnval in the answer")
	}
	rest := answer[begin:]
	open := bytes.IndexByte(rest, '>')
	if open < 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if rest[open-1] == '/' {
		return nil, nil
	}
	rest = rest[open+1:]
	end := bytes.IndexByte(rest, '<')
	if end < 0 {
		return nil, fmt.Errorf("the answer is cut off: %w", io.ErrUnexpectedEOF)
	}
	if !bytes.HasPrefix(rest[end:], []byte("</returnval>")) {
		return nil, errors.New("found an element in returnval, want text")
	}
	return xmlref.Decode(rest[:0], rest[:end])
}
