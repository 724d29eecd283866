package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// faults are simulated failures of a host's answers, by name.
var faults = map[string]func(text string) (string, error){
	"hang":   func(string) (string, error) { time.Sleep(time.Minute); return "", errors.New("it hung") },
	"refuse": func(string) (string, error) { return "", errors.New("the host is not connected") },
	"cut":    func(text string) (string, error) { return text[:len(text)/2], nil },
	"junk":   func(string) (string, error) { return "<html>502 Bad Gateway</html>", nil },
	"build":  func(text string) (string, error) { return strings.Replace(text, "|Sched|", "|Sched|0|0|", 1), nil }, // other columns than the known ones
}

// parseFaults parses "esx02.demo=hang,epyc01.demo=cut" into faults by host ID.
func (d *demoLab) parseFaults(text string) (map[string]string, error) {
	out := map[string]string{}
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }) {
		host, kind, ok := strings.Cut(part, "=")
		if !ok || faults[kind] == nil {
			return nil, fmt.Errorf("--faults: found %q, want HOST=KIND with one of %s", part, strings.Join(slices.Sorted(maps.Keys(faults)), ", "))
		}
		if d.hostID[host] == "" {
			return nil, fmt.Errorf("--faults: found the host %q, want one of %s", host, strings.Join(slices.Sorted(maps.Keys(d.hostID)), ", "))
		}
		out[d.hostID[host]] = kind
	}
	return out, nil
}

// ServeLab runs the simulated vCenter of serve demo until ctx ends, for other programs, with
// simulated faults.
func ServeLab(ctx context.Context, w io.Writer, faultList string) error {
	d, err := startDemo(ctx, time.Now())
	if err != nil {
		return err
	}
	defer d.close()
	d.past = nil
	set, err := d.parseFaults(faultList)
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.faults = set
	d.mu.Unlock()
	u := d.vc.URL
	password, _ := u.User.Password()
	fmt.Fprintf(w, "simulated vCenter with %d hosts that live, until Ctrl-C:\n\n", len(d.hostID))
	fmt.Fprintf(w, "  export GOVC_URL=%s://%s/sdk GOVC_USERNAME=%s GOVC_PASSWORD=%s GOVC_INSECURE=true\n", u.Scheme, u.Host, u.User.Username(), password)
	fmt.Fprintf(w, "  homenode serve vcenter --every 20s\n")
	d.run(ctx)
	return nil
}
