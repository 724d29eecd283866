package target

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/homenode/change/move"
	"example.org/homenode/internal/testdeps"
	guests "example.org/homenode/measure/qemu"
)

// A daemon is a libvirtd of this test alone: of an ordinary user, with folders of its own.
type daemon struct {
	dir string
	env []string
	as  *syscall.SysProcAttr
}

// nobody is a user without rights: libvirtd of root would work in /etc and /var.
const nobody = 65534

// startLibvirt starts a libvirtd, or skips the test.
func startLibvirt(t *testing.T) *daemon {
	t.Helper()
	testdeps.Proving(t)
	program := testdeps.Program(t, "libvirtd")
	testdeps.Program(t, "virsh")
	dir, err := os.MkdirTemp("/tmp", "hn") // a path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d := &daemon{dir: dir, as: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}}
	d.env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir, "LC_ALL=C")
	if err := os.Mkdir(filepath.Join(dir, "libvirt"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "libvirt", "qemu.conf"), []byte("stdio_handler = \"file\"\nsecurity_driver = \"none\"\n"))
	if os.Getuid() == 0 {
		d.as.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		for _, name := range []string{".", "libvirt", "libvirt/qemu.conf"} {
			if err := os.Chown(filepath.Join(dir, name), nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env, cmd.SysProcAttr, cmd.Dir = d.env, d.as, dir
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait() // it was ended
	})
	for range 300 {
		if _, err = d.virsh(t.Context(), "version"); err == nil {
			return d
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Fatalf("libvirtd does not answer: %v\n%s", err, said.Bytes())
	return nil
}

// virsh runs a command of virsh.
func (d *daemon) virsh(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "virsh", append([]string{"-q", "-c", "qemu:///session"}, args...)...)
	cmd.Env, cmd.SysProcAttr, cmd.Dir = d.env, &syscall.SysProcAttr{Credential: d.as.Credential}, d.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("virsh %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// file writes a file that the daemon reads.
func (d *daemon) file(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(d.dir, name)
	writeFile(t, path, data)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// emulated makes a domain start without KVM: a host of a test has none.
func emulated(domain []byte) []byte {
	return []byte(strings.NewReplacer(`type="kvm"`, `type="qemu"`, `mode="host-model"`, `mode="maximum"`, `mode="host-passthrough"`, `mode="maximum"`).Replace(string(domain)))
}

// TestDefine lets a real libvirtd take each domain: it makes the same arguments of QEMU of it, and what it keeps, read back, is
// the shape.
func TestDefine(t *testing.T) {
	d := startLibvirt(t)
	defined := 0
	moves := []*move.Move{{Title: "far", Name: "far", To: "libvirt", Platform: move.PlatformOf("libvirt"), Shape: memoryOnly}, many(t, "libvirt"), large(t, "libvirt", move.Options{})}
	for _, s := range shapes {
		moves = append(moves, moved(t, s.name, "libvirt", move.Options{}), moved(t, s.name, "libvirt", move.Options{At: at(9)}))
	}
	for _, m := range moves {
		path := d.file(t, "domain.xml", emulated(Files([]*move.Move{m})[0].Data))
		if _, err := d.virsh(t.Context(), "define", "--validate", path); err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		kept, err := d.virsh(t.Context(), "dumpxml", m.Name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readBack(File{Name: "dumpxml", Data: []byte(kept)})
		if err != nil || !reflect.DeepEqual(got, m.Shape) {
			t.Errorf("%s: libvirt keeps %+v, wrote %+v; %v", m.Name, got, m.Shape, err)
		}
		if m.At == nil && m.Shape.Page == 0 { // else nodes of the host are asked for
			argv, err := d.virsh(t.Context(), "domxml-to-native", "qemu-argv", path)
			if err != nil {
				t.Errorf("%s: %v", m.Name, err)
				continue
			}
			if m.Shape.Most() > move.FewAPICs && !strings.Contains(argv, "intel-iommu") {
				t.Errorf("%s: no IOMMU in %s", m.Name, argv)
			}
			if bits := move.AddressBits(m.Shape); bits > 0 && !strings.Contains(argv, fmt.Sprintf("phys-bits=%d", bits)) {
				t.Errorf("%s: no %d address bits in %s", m.Name, bits, argv)
			}
			if got, want := nodesOf(argv), nodesOf(strings.Join(QEMU(m.Shape, nil, false), " ")); !slices.Equal(got, want) {
				t.Errorf("%s: libvirt gives QEMU %q, homenode %q", m.Name, got, want)
			}
		}
		if _, err := d.virsh(t.Context(), "undefine", m.Name); err != nil {
			t.Fatal(err)
		}
		defined++
	}
	t.Logf("%d domains are defined as they were written", defined)
}

var argvPart = regexp.MustCompile(`-numa (node,\S+|dist,\S+)|-smp (\S+)`)

// nodesOf returns what arguments of QEMU say of nodes and vCPUs; names of memory differ.
func nodesOf(argv string) []string {
	var out []string
	for _, m := range argvPart.FindAllStringSubmatch(argv, -1) {
		text, _, _ := strings.Cut(cmp.Or(m[1], strings.ReplaceAll(m[2], "maxcpus="+strings.Split(m[2], ",")[0]+",", "")), ",memdev=")
		out = append(out, text)
	}
	return out
}

// TestBootLibvirt starts guests by a real libvirtd with the domains that are written for them.
func TestBootLibvirt(t *testing.T) {
	d := startLibvirt(t)
	guests.Need(t)
	booted := 0
	look := newLook(t)
	for _, name := range []string{"2x12", "5+5", "5+4", "4+4+2", "dies", "threads", "8 nodes"} {
		t.Run(name, func(t *testing.T) {
			m := moved(t, name, "libvirt", move.Options{})
			g := look.guest()
			g.By = func(ctx context.Context, machine guests.Machine) error {
				return d.run(ctx, t, Files([]*move.Move{m})[0].Data, m.Name, machine)
			}
			look.compare(t, g, m.Shape)
			if !t.Failed() {
				booted++
			}
		})
	}
	t.Logf("%d guests show the shape vCPU by vCPU", booted)
}

// singleThread is QEMU with one thread for all emulated vCPUs: with one for each, guests of 16 and more hang now and then.
const singleThread = `#!/bin/sh
for a; do
	shift
	[ "$a" != tcg ] || a=tcg,thread=single
	set -- "$@" "$a"
done
exec qemu-system-x86_64 "$@"
`

// run starts a domain and waits until it has ended.
func (d *daemon) run(ctx context.Context, t *testing.T, domain []byte, name string, m guests.Machine) error {
	for to, from := range map[string]string{"kernel": m.Kernel, "initrd": m.Initrd} {
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		d.file(t, to, data)
	}
	text := strings.Replace(string(emulated(domain)), "<domain type=\"qemu\">", `<domain type="qemu" xmlns:qemu="http://libvirt.org/schemas/domain/qemu/1.0">`, 1)
	var words bytes.Buffer
	if err := xml.EscapeText(&words, []byte(m.Append)); err != nil {
		return err
	}
	text = strings.Replace(text, "</os>", fmt.Sprintf("<kernel>%s/kernel</kernel><initrd>%s/initrd</initrd><cmdline>%s</cmdline></os>", d.dir, d.dir, words.String()), 1)
	emulator := d.file(t, "emulator", []byte(singleThread))
	if err := os.Chmod(emulator, 0o755); err != nil {
		return err
	}
	devices := "<devices><emulator>" + emulator + `</emulator><memballoon model="none"/>`
	for i := range m.Serials {
		path := filepath.Join(d.dir, fmt.Sprintf("serial%d", i))
		_ = os.Remove(path) // of the guest before
		devices += fmt.Sprintf(`<serial type="file"><source path="%s"/><target port="%d"/></serial>`, path, i)
	}
	// The last -cpu counts: one that shows threads of a core without KVM.
	devices += `</devices><qemu:commandline><qemu:arg value="-cpu"/><qemu:arg value="` + m.CPU + `"/></qemu:commandline></domain>`
	text = strings.Replace(text, "</domain>", devices, 1)
	if _, err := d.virsh(ctx, "create", d.file(t, "guest.xml", []byte(text))); err != nil {
		return err
	}
	defer func() { _, _ = d.virsh(context.WithoutCancel(ctx), "destroy", name) }() // it is gone, but for an error
	for ctx.Err() == nil {
		if all, err := d.virsh(ctx, "list", "--name"); err != nil || !slices.Contains(strings.Fields(all), name) {
			return errors.Join(err, d.collect(m.Serials))
		}
		time.Sleep(300 * time.Millisecond)
	}
	return errors.Join(ctx.Err(), d.collect(m.Serials))
}

// collect copies what the serial lines printed to where it is looked for.
func (d *daemon) collect(serials []string) error {
	for i, to := range serials {
		from, err := os.Open(filepath.Join(d.dir, fmt.Sprintf("serial%d", i)))
		if err != nil {
			return err
		}
		file, err := os.Create(to)
		if err != nil {
			return errors.Join(err, from.Close())
		}
		_, err = io.Copy(file, from)
		if err := errors.Join(err, file.Close(), from.Close()); err != nil {
			return err
		}
	}
	return nil
}
