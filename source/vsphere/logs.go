package vsphere

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/vmware/govmomi/property"
	"github.com/vmware/govmomi/vim25/mo"
	"github.com/vmware/govmomi/vim25/types"

	"homenode/numa"
	"homenode/numa/pattern"
	"homenode/source/privilege"
)

// Limits of the fetched part of one vmware.log: the lines of the power-on are in the head, the
// latest events in the tail. ESXi keeps a log below some MB; one flooded by a guest grows.
const (
	logHead = 1 << 20
	logTail = 1 << 20
	mostUp  = 64 // folders above a VM
)

// A Log is the vmware.log of a VM, or its head and tail.
type Log struct {
	VM   string // ID
	Name string // its path on the datastore: "[ds1] db01/vmware.log"
	Data []byte
	Cut  bool // lines between head and tail were not fetched
}

// Logs fetches the vmware.log of VMs by their IDs from the datastores, through the vCenter or ESXi
// host at u, each with two requests of at most a MB. Failures become notes. The session is closed
// even when ctx ends early. It needs privilege.Files, unlike Read.
func Logs(ctx context.Context, u *url.URL, o Options, vms []string) (logs []Log, notes []numa.Note, err error) {
	r, err := newReader(u, o)
	if err != nil {
		return nil, nil, err
	}
	err = r.inSession(ctx, func(ctx context.Context) error {
		f := logFetcher{r, map[types.ManagedObjectReference]string{}}
		for _, id := range vms {
			ref := types.ManagedObjectReference{Type: "VirtualMachine", Value: id}
			log, err := f.fetch(ctx, ref)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil:
				notes = append(notes, numa.Note{At: r.at(ref), Text: fmt.Sprintf("vmware.log was not fetched: %v", err)})
			default:
				logs = append(logs, *log)
			}
		}
		return nil
	}, func(logout error) {
		notes = append(notes, numa.Note{At: r.host, Text: stays(logout)})
	})
	if err != nil {
		return nil, nil, err
	}
	return logs, notes, nil
}

// A logFetcher fetches the logs of one session.
type logFetcher struct {
	*reader
	centers map[types.ManagedObjectReference]string // inventory path of the datacenter, by a folder in it
}

var datastorePath = pattern.Of(`^\[([^\[\]]+)\] ?(.*)$`)

func (f *logFetcher) fetch(ctx context.Context, ref types.ManagedObjectReference) (*Log, error) {
	var vm mo.VirtualMachine
	err := f.call(ctx, func(ctx context.Context) error {
		return property.DefaultCollector(f.client).RetrieveOne(ctx, ref, []string{"parent", "parentVApp", "config.files"}, &vm)
	})
	if err != nil {
		return nil, err
	}
	if vm.Config == nil || vm.Config.Files.LogDirectory+vm.Config.Files.VmPathName == "" {
		return nil, errors.New("its files are not stated")
	}
	where := cmp.Or(vm.Config.Files.LogDirectory, path.Dir(vm.Config.Files.VmPathName))
	at := datastorePath.FindStringSubmatch(where)
	if at == nil {
		return nil, fmt.Errorf("found the log folder %q, want one such as [datastore1] db01", where)
	}
	parent := vm.Parent
	if parent == nil {
		parent = vm.ParentVApp
	}
	center, err := f.datacenter(ctx, parent)
	if err != nil {
		return nil, err
	}
	u := *f.soap.URL()
	u.User, u.Path = nil, path.Join("/folder", at[2], "vmware.log")
	u.RawQuery = url.Values{"dcPath": {center}, "dsName": {at[1]}}.Encode()
	log := &Log{VM: ref.Value, Name: fmt.Sprintf("[%s] %s", at[1], path.Join(at[2], "vmware.log"))}
	head, size, err := f.part(ctx, &u, 0, logHead)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", log.Name, err)
	}
	log.Data = head
	if size <= int64(len(head)) {
		return log, nil
	}
	from := max(int64(len(head)), size-logTail)
	tail, _, err := f.part(ctx, &u, from, size-from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", log.Name, err)
	}
	if from > int64(len(head)) { // no partial lines
		log.Cut = true
		head = head[:bytes.LastIndexByte(head, '\n')+1]
		tail = tail[bytes.IndexByte(tail, '\n')+1:]
	}
	log.Data = append(head, tail...)
	return log, nil
}

// datacenter returns the inventory path of the datacenter of a folder or vApp.
func (f *logFetcher) datacenter(ctx context.Context, at *types.ManagedObjectReference) (string, error) {
	var names []string
	var below []types.ManagedObjectReference
	for range mostUp {
		if at == nil {
			break
		}
		if known, ok := f.centers[*at]; ok {
			return known, nil
		}
		var one mo.ManagedEntity
		err := f.call(ctx, func(ctx context.Context) error {
			return property.DefaultCollector(f.client).RetrieveOne(ctx, *at, []string{"name", "parent"}, &one)
		})
		if err != nil {
			return "", fmt.Errorf("read the datacenter: %w", err)
		}
		if at.Type == "Datacenter" || names != nil {
			if one.Parent != nil { // the root folder has no name in paths
				names = append([]string{one.Name}, names...)
			}
		} else {
			below = append(below, *at)
		}
		at = one.Parent
	}
	if names == nil {
		return "", errors.New("found no datacenter above it")
	}
	center := strings.Join(names, "/")
	for _, folder := range below {
		f.centers[folder] = center
	}
	return center, nil
}

var contentRange = pattern.Of(`^bytes (\d+)-\d+/(\d+)$`)

// part fetches at most so many bytes of a file from an offset, and returns the size of the file.
func (f *logFetcher) part(ctx context.Context, u *url.URL, from, most int64) (data []byte, size int64, err error) {
	err = f.callFor(ctx, most+1, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return err
		}
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, from+most-1))
		return f.soap.Do(ctx, req, func(res *http.Response) error {
			switch res.StatusCode {
			case http.StatusPartialContent:
				m := contentRange.FindStringSubmatch(res.Header.Get("Content-Range"))
				if m == nil || m[1] != strconv.FormatInt(from, 10) {
					return fmt.Errorf("found the range %q, want one from %d", res.Header.Get("Content-Range"), from)
				}
				size, err = strconv.ParseInt(m[2], 10, 64)
			case http.StatusOK: // the server does not support ranges, or the file is empty
				if from > 0 {
					return errors.New("the server sends no parts of files")
				}
				size = res.ContentLength
			case http.StatusNotFound:
				return errors.New("not found")
			case http.StatusUnauthorized, http.StatusForbidden:
				return fmt.Errorf("%s: the account needs %s on the datastore", res.Status, strings.Join(privilege.Files, " and "))
			default:
				return errors.New(res.Status)
			}
			if err != nil {
				return err
			}
			data, err = io.ReadAll(io.LimitReader(res.Body, most))
			return err
		})
	})
	return data, max(size, int64(len(data))), err
}
