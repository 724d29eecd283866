//go:build linux

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/xuri/excelize/v2"

	"example.org/homenode/internal/browser"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/numa"
	"example.org/homenode/source/scenario/given"
)

// watched notes when the headline changes, the longest frame and the memory of the module. Of the worker it changes the first lines.
const watched = `
const Plain = Worker, Parts = Blob;
Worker = function (...args) {
	window.worker = new Plain(...args);
	worker.addEventListener("message", ({ data }) => { window.memory = Math.max(window.memory || 0, data.memory || 0); });
	return worker;
};
Blob = function (parts, options) {
	return new Parts(String(parts[0]).includes("instantiateStreaming") ? [` + "`" + `{
		const post = postMessage, instantiate = WebAssembly.instantiateStreaming;
		let module;
		WebAssembly.instantiateStreaming = async (...args) => { const made = await instantiate(...args); module = made.instance.exports; return made; };
		self.postMessage = (message) => post({ ...message, memory: module ? module.mem.buffer.byteLength : 0 });
	}` + "`" + `, ...parts] : parts, options);
};
let last = performance.now();
window.frame = 0;
(function tick(now) { window.frame = Math.max(window.frame, now - last); last = now; requestAnimationFrame(tick); })(last);
new MutationObserver(() => {
	const h1 = document.querySelector("main h1");
	if (h1 && h1.textContent !== window.headline) { window.headline = h1.textContent; window.at = performance.now(); }
}).observe(document, { subtree: true, childList: true });
document.addEventListener("change", () => { window.begun = performance.now(); window.frame = 0; window.memory = 0; }, true);
`

// TestPageFigures measures the page of make page in Chromium, and the program with the same files. It reports the figures: machines differ.
func TestPageFigures(t *testing.T) {
	testdeps.Proving(t)
	folder := cmp.Or(os.Getenv("HOMENODE_FIGURES"), t.TempDir())
	made := exec.CommandContext(t.Context(), "make", "--no-print-directory", "-C", "../..", "page", "PAGE="+filepath.Join(folder, "homenode.html"))
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program := filepath.Join(folder, "homenode")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(filepath.Join(folder, "homenode.html"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 8e6 {
		t.Errorf("the page has %d bytes, want at most 8 MB", info.Size())
	}
	address := "file://" + filepath.Join(folder, "homenode.html")
	few, many, worse := filepath.Join(folder, "rvtools-571.xlsx"), filepath.Join(folder, "rvtools-10000.xlsx"), filepath.Join(folder, "rvtools-worse.xlsx")
	writeRVTools(t, few, 571, false)
	writeRVTools(t, many, 10_000, false)
	writeRVTools(t, worse, 10_000, true)
	long := filepath.Join(folder, "esxtop.csv")
	if out, err := exec.CommandContext(t.Context(), "go", "run", "-C", "../../cmd/bench", "./capture", "generate", "-mb", "500", long).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	figures := []string{fmt.Sprintf("%.2f MB", float64(info.Size())/1e6)}
	b := browser.Open(t, address, watched)
	settled(t, b, "")
	figures = append(figures, fmt.Sprintf("opened in %.2f s", shownAfter(t, b, "0")))
	b.Go(t, "about:blank")
	b.Go(t, address+"#vm=28x512GB+hotAdd%3Don&host=2x16c%2F768GB&release=8.0U3")
	settled(t, b, "")
	figures = append(figures, fmt.Sprintf("a link %.2f s", shownAfter(t, b, "0")), typedAnswers(t, b))
	for _, f := range []struct{ name, file, command string }{{"571 VMs", few, "assess"}, {"10,000 VMs", many, "assess"}, {"10,000 VMs of three findings each", worse, "assess"}, {"500 MB of esxtop", long, "capture"}} {
		b.Go(t, "about:blank")
		b.Go(t, address)
		before := settled(t, b, "")
		b.Do(t, chromedp.SetUploadFiles("#file", []string{f.file}))
		settled(t, b, before)
		took := shownAfter(t, b, "begun")
		begin := time.Now()
		out, err := exec.CommandContext(t.Context(), program, f.command, f.file, "--format=html").Output()
		native := time.Since(begin).Seconds()
		if code, ok := err.(*exec.ExitError); err != nil && (!ok || code.ExitCode() != exitFindings) || len(out) == 0 {
			t.Fatalf("%s: %v", f.file, err)
		}
		time.Sleep(200 * time.Millisecond) // the frame of the answer
		frame, memory := evaluated[float64](t, b, "window.frame"), evaluated[float64](t, b, "window.memory")
		figures = append(figures, fmt.Sprintf("%s %.2f s (%.1f × the program's), %.0f MB, longest frame %.0f ms", f.name, took, took/native, memory/1e6, frame))
	}
	b.Silent(t)
	f := browser.OpenFirefox(t, address)
	before := firefoxHeadline(t, f, "")
	for _, file := range []string{few, worse} {
		begin := time.Now()
		f.Choose(t, "#file", file)
		before = firefoxHeadline(t, f, before)
		figures = append(figures, fmt.Sprintf("in Firefox %s %.2f s", filepath.Base(file), time.Since(begin).Seconds()))
	}
	t.Log("figures: " + strings.Join(figures, "; "))
}

// shownAfter returns the seconds from a moment to the last headline.
func shownAfter(t *testing.T, b *browser.Page, begun string) float64 {
	t.Helper()
	return evaluated[float64](t, b, "window.at - "+begun) / 1000
}

// typedAnswers types numbers of vCPUs and returns how long the answers take.
func typedAnswers(t *testing.T, b *browser.Page) string {
	t.Helper()
	b.Script(t, `const field = document.querySelector("[name=vcpus]"), took = [];
		(async () => {
			for (let n = 8; n < 48; n++) {
				const begun = performance.now(), before = document.querySelector("main h1").nextSibling;
				field.value = n;
				field.dispatchEvent(new Event("input", { bubbles: true }));
				while (document.querySelector("main h1")?.nextSibling === before) await new Promise((done) => setTimeout(done));
				took.push(performance.now() - begun);
			}
			window.took = took.sort((a, b) => a - b);
		})()`)
	if _, err := chromedp.Run(b.Context, chromedp.Poll[bool](`!!window.took`, chromedp.WithPollingTimeout(time.Minute))); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("typed answers %.0f ms, 9 of 10 within %.0f", evaluated[float64](t, b, "took[20]"), evaluated[float64](t, b, "took[36]"))
}

// writeRVTools writes a fleet of so many VMs as RVTools does, with as many columns. Each VM of a troubled fleet is wide, has hot add and a limit.
func writeRVTools(t *testing.T, path string, vms int, troubled bool) {
	t.Helper()
	fleet := given.Fleet(t, "big.txtar", bigFleet(vms))
	info := []any{"VM", "Powerstate", "Template", "CPUs", "Memory", "Host", "Cluster", "VM ID"}
	var other []any
	for i := range 80 {
		info, other = append(info, fmt.Sprintf("Custom %d", i)), append(other, "notConfigured")
	}
	sheets := []struct {
		name string
		rows [][]any
	}{
		{"vInfo", [][]any{info}},
		{"vCPU", [][]any{{"VM", "CPUs", "Sockets", "Cores p/s", "Reservation", "Limit", "Hot Add", "VM ID"}}},
		{"vMemory", [][]any{{"VM", "Size MiB", "Reservation", "Hot Add", "VM ID"}}},
		{"vHost", [][]any{{"Host", "Cluster", "CPU Model", "HT Active", "# CPU", "Cores per CPU", "# Cores", "# Memory", "ESX Version", "Object ID"}}},
	}
	add := func(sheet int, row ...any) { sheets[sheet].rows = append(sheets[sheet].rows, row) }
	for i := range fleet.VMs {
		v := &fleet.VMs[i]
		limit := -1
		if troubled {
			v.VCPUs.Value, v.CoresPerSocket.Value, v.CPUHotAdd.Value, limit = 20+2*(i%6), 1, true, 8000
		}
		host, cores, memory := fmt.Sprintf("h%04d", i/20), max(1, v.CoresPerSocket.Value), int(v.Memory.Value/numa.MiB)
		add(0, append([]any{v.Name, "poweredOn", "False", v.VCPUs.Value, memory, host, fmt.Sprintf("c%04d", i/500), v.ID}, other...)...)
		add(1, v.Name, v.VCPUs.Value, v.VCPUs.Value/cores, cores, 0, limit, v.CPUHotAdd.Value, v.ID)
		add(2, v.Name, memory, 0, v.MemoryHotAdd.Value, v.ID)
		if i%20 == 0 {
			add(3, host, fmt.Sprintf("c%04d", i/500), "Intel(R) Xeon(R) Gold 6354 CPU @ 3.00GHz", "True", 2, 18, 36, 1048576, "VMware ESXi 7.0.3 build-21930508", fmt.Sprintf("host-%d", i/20))
		}
	}
	book := excelize.NewFile()
	defer book.Close()
	for _, s := range sheets {
		if _, err := book.NewSheet(s.name); err != nil {
			t.Fatal(err)
		}
		w, err := book.NewStreamWriter(s.name)
		for i := 0; err == nil && i < len(s.rows); i++ {
			err = w.SetRow("A"+strconv.Itoa(i+1), s.rows[i])
		}
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := book.SaveAs(path); err != nil {
		t.Fatal(err)
	}
}
