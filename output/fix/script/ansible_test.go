package script_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25"
	"github.com/vmware/govmomi/vim25/types"

	"example.org/homenode/change/fix"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/output/fix/script"
)

// TestAnsible runs playbooks against the simulated vCenter: there twice and back twice, then drift, and what is left. It takes minutes
// and half a gigabyte of collections, so it runs in make prove alone.
func TestAnsible(t *testing.T) {
	program := testdeps.Ansible(t)
	w := newWorld(t)
	// The simulator says 6.5 and answers with properties of 8.0, which pyVmomi then does not know.
	w.vc.Model.Map().Get(vim25.ServiceInstance).(*simulator.ServiceInstance).Content.About.ApiVersion = "8.0.2.0"
	for _, e := range w.vc.Model.Map().All("VirtualMachine") { // as VMs of a vCenter have; the module adds them to a VM that has none
		if vm := e.(*simulator.VirtualMachine); vm.Config != nil {
			for bus := range int32(2) {
				vm.Config.Hardware.Device = append(vm.Config.Hardware.Device, &types.VirtualIDEController{VirtualController: types.VirtualController{VirtualDevice: types.VirtualDevice{Key: 200 + bus}, BusNumber: bus}})
			}
		}
	}
	proxy := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { relay(rw, r, w.vc.URL.Host) })) // the modules want TLS
	defer proxy.Close()
	address, _ := url.Parse(proxy.URL)
	address.User = w.vc.URL.User
	env := []string{"VMWARE_HOST=" + address.Hostname(), "VMWARE_PORT=" + address.Port(), "VMWARE_USER=" + address.User.Username(), "VMWARE_VALIDATE_CERTS=no",
		"ANSIBLE_LOCALHOST_WARNING=False", "ANSIBLE_INVENTORY_UNPARSED_WARNING=False", "ANSIBLE_NOCOLOR=1", "HOME=" + t.TempDir(), "LC_ALL=C.UTF-8",
		"PATH=" + filepath.Dir(program) + ":" + os.Getenv("PATH")}
	if password, ok := address.User.Password(); ok {
		env = append(env, "VMWARE_PASSWORD="+password)
	}
	play := func(file string) (string, int) { return run(t, env, program, file) }
	w.change(w.pick(t, 0, func(vm *numa.VM) bool { return running(vm) && vm.CPUHotAdd.Value && vm.CoresPerSocket.Value == 1 }),
		hotAdd("false"), numa.Edit{Kind: numa.EditCoresPerSocket, To: numa.Is("2")}, key("numa.vcpu.preferHT", "TRUE"), key(`homenode.{{ 1 }} "'`, "x"), key("homenode.test", `{{ 1 + 1 }} {% raw %} 'q' "d"`+"\nü"))
	w.change(w.pick(t, 1, running), key("numa.vcpu.min", "12"))
	w.change(w.pick(t, 0, off), numa.Edit{Kind: numa.EditMemoryHotAdd, To: numa.Is("true")}, numa.Edit{Kind: numa.EditMemory, To: numa.Is("8192")}, numa.Edit{Kind: numa.EditCoresPerSocket, To: numa.Is("2")})
	reserved := w.pick(t, 1, off)
	w.change(reserved, numa.EditMemoryReservation.To(int(reserved.Memory.Value/numa.MiB)), numa.Edit{Kind: numa.EditReserveAll, To: numa.Is("true")}, numa.EditCPUReservation.To(4000))
	w.twice(t, play, "ansible")

	saved := w.plan.Changes[1].Edits[0].From
	w.plan.Changes[1].Edits[0].From = numa.Is("{{ 7 }}")
	n := w.changed()
	if out, code := play(w.write(t, "ansible", script.Options{})); code != 2 || *n > 0 || !strings.Contains(out, "not {{ 7 }}. Nothing was changed") {
		t.Errorf("drift: exit code %d, %d changes:\n%s", code, *n, out)
	}
	w.plan.Changes[1].Edits[0].From = saved

	vm := w.plan.Changes[2].VM
	w.plan.Changes = append(w.plan.Changes[:2:2], fix.Change{VM: vm, Edits: []numa.Edit{{Kind: numa.EditVNUMAHotAdd, To: numa.Is("true")}}})
	out, code := play(w.write(t, "ansible", script.Options{}))
	if code != 2 || !strings.Contains(out, w.plan.Changes[0].VM.ID+" (it runs and has to be off)") || !strings.Contains(out, "vmware.vmware.vm has no such parameter") {
		t.Errorf("what is left: exit code %d:\n%s", code, out)
	}
	w.arrived(t, w.plan.Changes[1])
	t.Log("6 runs of playbooks: there and back, twice each, drift, what is left")
}

// relay answers as the vCenter does. Requests and answers are read whole: a ReverseProxy cuts some answers short.
func relay(w http.ResponseWriter, r *http.Request, host string) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+host+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Header = r.Header.Clone()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.Header().Del("Content-Length")
	w.WriteHeader(res.StatusCode)
	_, _ = w.Write(answer)
}
