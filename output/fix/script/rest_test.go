package script_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"homenode/change/fix"
	"homenode/internal/testdeps"
	"homenode/numa"
	"homenode/output/fix/script"
)

// An automation is what the published vSphere Automation API (/api/vcenter/vm) says of VMs, as far as scripts call it: the simulator
// has no hardware of VMs there. Changes of hardware are refused while a VM runs.
type automation struct {
	mu     sync.Mutex
	vms    map[string]*vmInfo
	writes int
	t      *testing.T
}

type vmInfo struct {
	PowerState string `json:"power_state"`
	Name       string `json:"name"`
	Identity   struct {
		InstanceUUID string `json:"instance_uuid"`
	} `json:"identity"`
	Hardware struct {
		Version string `json:"version"`
	} `json:"hardware"`
	CPU struct {
		Count          int64 `json:"count"`
		CoresPerSocket int64 `json:"cores_per_socket"`
		HotAddEnabled  bool  `json:"hot_add_enabled"`
	} `json:"cpu"`
	Memory struct {
		SizeMiB       int64 `json:"size_MiB"`
		HotAddEnabled bool  `json:"hot_add_enabled"`
	} `json:"memory"`
}

const (
	apiUser     = `DOM\it's "me"`
	apiPassword = `p\a"ss $(id) 'x'`
)

func (a *automation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.URL.Path == "/api/session" && r.Method == http.MethodPost {
		if user, password, _ := r.BasicAuth(); user != apiUser || password != apiPassword {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode("session-1")
		return
	}
	if r.Header.Get("vmware-api-session-id") != "session-1" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	id, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/vcenter/vm/"), "/")
	vm := a.vms[id]
	switch call := r.Method + " " + rest + "?" + r.URL.RawQuery; {
	case r.URL.Path == "/api/session":
	case vm == nil:
		w.WriteHeader(http.StatusNotFound)
	case call == "GET ?":
		_ = json.NewEncoder(w).Encode(vm)
	case call == "POST guest/power?action=shutdown":
		vm.PowerState = "POWERED_OFF"
	case call == "POST power?action=start":
		vm.PowerState = "POWERED_ON"
	case vm.PowerState != "POWERED_OFF":
		w.WriteHeader(http.StatusBadRequest)
	case call == "PATCH hardware/cpu?":
		a.patch(w, r, &vm.CPU)
	case call == "PATCH hardware/memory?":
		a.patch(w, r, &vm.Memory)
	case call == "POST hardware?action=upgrade":
		a.patch(w, r, &vm.Hardware)
	default:
		a.t.Errorf("a call that is not published: %s", call)
		w.WriteHeader(http.StatusNotFound)
	}
}

func (a *automation) patch(w http.ResponseWriter, r *http.Request, into any) {
	a.writes++
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		a.t.Error(err)
		w.WriteHeader(http.StatusBadRequest)
	}
}

// TestREST runs scripts for the Automation API against a handler that follows its publication: there twice and back twice, drift, and
// what the API has not.
func TestREST(t *testing.T) {
	testdeps.Program(t, "jq")
	testdeps.Program(t, "curl")
	a := &automation{t: t, vms: map[string]*vmInfo{}}
	for i, name := range hostile {
		vm := &vmInfo{PowerState: "POWERED_ON", Name: name + `","power_state":"POWERED_OFF`}
		if i%2 == 0 {
			vm.PowerState = "POWERED_OFF"
		}
		vm.Identity.InstanceUUID, vm.Hardware.Version = fmt.Sprint("uuid-", i), "VMX_19"
		vm.CPU.Count, vm.CPU.CoresPerSocket, vm.CPU.HotAddEnabled, vm.Memory.SizeMiB = 8, 1, true, 4096
		a.vms[fmt.Sprint("vm-", i)] = vm
	}
	server := httptest.NewTLSServer(a)
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"CURL_CA_BUNDLE=" + ca, "VSPHERE_SERVER=" + strings.TrimPrefix(server.URL, "https://"), "VSPHERE_USER=" + apiUser, "VSPHERE_PASSWORD=" + apiPassword}
	w := &world{plan: &fix.Plan{ID: "0123456789abcdef"}}
	change := func(i int, edits ...numa.Edit) {
		w.plan.Changes = append(w.plan.Changes, fix.Change{VM: &fix.Target{Name: hostile[i], ID: fmt.Sprint("vm-", i), UUID: fmt.Sprint("uuid-", i)}, Edits: edits,
			Basis: []fix.Known{{Name: "vcpus", Value: "8"}, {Name: "numa.vcpu.min", Value: "9"}}})
	}
	cores := numa.Edit{Kind: numa.EditCoresPerSocket, From: numa.Is("1"), To: numa.Is("4")}
	change(0, cores, numa.Edit{Kind: numa.EditCPUHotAdd, From: numa.Is("true"), To: numa.Is("false")})
	change(1, cores, numa.Edit{Kind: numa.EditMemory, From: numa.Is("4096"), To: numa.Is("8192")}, numa.Edit{Kind: numa.EditMemoryHotAdd, From: numa.Is("false"), To: numa.Is("true")})
	show := func() string {
		data, _ := json.Marshal(a.vms)
		return string(data)
	}
	before := show()
	for _, undo := range []bool{false, true} {
		file := w.write(t, "rest", script.Options{Power: true, Undo: undo})
		if out, code := run(t, env, "sh", file); code != 0 {
			t.Fatalf("undo %t: exit code %d:\n%s", undo, code, out)
		}
		after, writes := show(), a.writes
		if out, code := run(t, env, "sh", file); code != 0 || show() != after || a.writes != writes {
			t.Errorf("undo %t, the second time: exit code %d, %d writes:\n%s", undo, code, a.writes-writes, out)
		}
		if c := a.vms["vm-1"]; !undo && (c.CPU.CoresPerSocket != 4 || c.Memory.SizeMiB != 8192 || !c.Memory.HotAddEnabled || c.PowerState != "POWERED_ON") {
			t.Errorf("vm-1 is %+v", c)
		}
	}
	if show() != before {
		t.Errorf("afterwards:\n%s\nbefore:\n%s", show(), before)
	}

	a.vms["vm-1"].CPU.CoresPerSocket = 2
	drifted, writes := show(), a.writes
	if out, code := run(t, env, "sh", w.write(t, "rest", script.Options{Power: true})); code != 1 || a.writes != writes || show() != drifted || !strings.Contains(out, `coresPerSocket is "2", not "1"`) {
		t.Errorf("drift: exit code %d, %d writes:\n%s", code, a.writes-writes, out)
	}
	a.vms["vm-1"].CPU.CoresPerSocket = 1
	change(2, numa.Edit{Kind: numa.EditExtraConfig, Key: "numa.vcpu.min", To: numa.Is("9")})
	change(3, numa.Edit{Kind: numa.EditCoresPerSocket, From: numa.Is("1"), To: numa.Is("0")})
	out, code := run(t, env, "sh", w.write(t, "rest", script.Options{Power: true}))
	if code != 2 || !strings.Contains(out, "has no advanced settings") || !strings.Contains(out, "no cores per socket that are assigned at power-on; powercli can") || a.vms["vm-0"].CPU.CoresPerSocket != 4 {
		t.Errorf("what REST has not: exit code %d:\n%s", code, out)
	}
}
