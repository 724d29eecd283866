package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	cdp "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"example.org/homenode/ask"
	"example.org/homenode/ask/fleet"
	"example.org/homenode/ask/recording"
	"example.org/homenode/internal/browser"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	pages "example.org/homenode/page"
)

// madePage returns the address of homenode.html, which is compiled once.
func madePage(t *testing.T) string {
	t.Helper()
	onePage.Do(func() { onePage.file = compiledPage(t) })
	if onePage.file == nil {
		t.Fatal("the page was not compiled")
	}
	return browser.File(t, onePage.file)
}

var onePage struct {
	sync.Once
	file []byte
}

// compiledPage compiles and writes the page: without inlining, as most of what make page writes, which takes half the time.
func compiledPage(t *testing.T) []byte {
	t.Helper()
	folder := t.TempDir()
	wasm := filepath.Join(folder, "page.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=all=-l -dwarf=false", "-ldflags=-s -w", "-o", wasm, "example.org/homenode/page/wasm")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	module := golden.Read(t, wasm)
	runtime := golden.Read(t, filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	var b bytes.Buffer
	if err := pages.Write(&b, "test", module, runtime); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// openPage opens the page, with its worker in window.worker, and waits for the first answer.
func openPage(t *testing.T, address string) *browser.Page {
	t.Helper()
	b := browser.Open(t, address, `const Plain = Worker; Worker = function (...args) { return window.worker = new Plain(...args); }`)
	settled(t, b, "")
	return b
}

// settled waits until the page shows another headline than before, or an error, and returns it.
func settled(t *testing.T, b *browser.Page, before string) string {
	t.Helper()
	is := fmt.Sprintf(`(() => { const el = document.querySelector("main [role=alert]") || document.querySelector("main h1"); return !document.querySelector("main[aria-busy]") && el && el.textContent !== %q ? el.textContent : "" })()`, before)
	text, err := chromedp.Run(b.Context, chromedp.Poll[string](is, chromedp.WithPollingTimeout(3*time.Minute)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// requested sends a request to the worker of the page and returns the reply as JSON; data in it is text.
func requested(t *testing.T, b *browser.Page, request string) (reply struct {
	Value struct {
		Address, HTML, Data string
		Tell                []string
	}
	Error string
}) {
	t.Helper()
	script := `window.reply = ""; worker.addEventListener("message", function hear({ data }) {
		if (data.id !== -1) return;
		worker.removeEventListener("message", hear);
		if (data.value && data.value.data) data.value.data = new TextDecoder().decode(data.value.data);
		window.reply = JSON.stringify(data);
	}); worker.postMessage({ id: -1, ` + request + ` })`
	b.Script(t, script)
	text, err := chromedp.Run(b.Context, chromedp.Poll[string](`window.reply`, chromedp.WithPollingTimeout(3*time.Minute)))
	if err == nil {
		err = json.Unmarshal([]byte(text), &reply)
	}
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// TestPageCorpus asks the page the questions of the corpus and compares the data with the recorded answers of the commands: a random tenth of the questions,
// all in make prove.
func TestPageCorpus(t *testing.T) {
	t.Parallel()
	b := openPage(t, madePage(t))
	read := func(name string) string {
		text := golden.Read(t, filepath.Join("..", "..", name))
		return string(text)
	}
	recorded := map[string]string{}
	for block := range strings.SplitSeq("\n"+read(corpusAnswers), "\n$ homenode ") {
		q, answer, _ := strings.Cut(block, "\n")
		_, recorded[q], _ = strings.Cut(answer, "\n") // the exit code
	}
	questions, dropped, n := questionsOf(read(corpusQuestions)), "", 0
	seed := time.Now().UnixNano()
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	t.Logf("seed %d", seed)
	for _, q := range questions {
		files, address, ok := pageQuestion(q)
		if !ok || !testdeps.Proof() && random.IntN(10) != 0 {
			continue
		}
		if drop := strings.Join(files, " "); drop != dropped && files != nil {
			var list []string
			for _, f := range files {
				name, _ := json.Marshal(f)
				content, _ := json.Marshal(read(f))
				list = append(list, fmt.Sprintf(`{ name: %s, file: new Blob([%s]) }`, name, content))
			}
			if r := requested(t, b, "drop: ["+strings.Join(list, ", ")+"]"); r.Error != "" {
				t.Errorf("%s: %s", drop, r.Error)
				continue
			}
			dropped = drop
		}
		n++
		at, _ := json.Marshal(address)
		r := requested(t, b, fmt.Sprintf(`address: %s, form: "json"`, at))
		var value any
		if r.Error == "" {
			if err := json.Unmarshal([]byte(r.Value.Data), &value); err != nil {
				t.Errorf("%s: %v", q, err)
				continue
			}
		}
		var got strings.Builder
		if data := dataOf(value); data != nil {
			writeData(&got, "", "", data)
		}
		if was, is := strings.TrimSpace(recorded[q]), strings.TrimSpace(got.String()); was != is {
			t.Errorf("%s (%s)\n%s %s", q, address, lineDifference(was, is), r.Error)
		}
	}
	t.Logf("%d of %d questions asked", n, len(questions))
	if n < 10 {
		t.Errorf("only %d questions were asked", n)
	}
	b.Silent(t)
}

// pageQuestion returns a question of the corpus as the page asks it: the files to drop, and the address. ok is false if the page does not ask it.
func pageQuestion(q string) (files []string, address string, ok bool) {
	args := shellWords(q)
	entry := map[string]*ask.Entry{"assess": fleet.AssessEntry, "explain": fleet.ExplainEntry, "capture": recording.CaptureEntry}[args[0]]
	if entry == nil || slices.Contains(args, "<") {
		return nil, "", false
	}
	fields, query, rest := ask.Fields(entry.Ask()), url.Values{}, []string(nil)
	for i := 1; i < len(args); i++ {
		name, value, given := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		at := slices.IndexFunc(fields, func(f *ask.Field) bool { return f.Name == name && !f.Argument })
		switch {
		case !strings.HasPrefix(args[i], "--"):
			rest = append(rest, args[i])
			continue
		case name == "config" && value == "none":
			continue
		case at < 0 || slices.Contains([]string{"evidence", "product", "nodes-per-socket", "assume-host", "fleet", "choose", "hosts"}, name): // the page reads these differently
			return nil, "", false
		case !given && fields[at].Kind == ask.Truth:
			value = "true"
		case !given:
			i++
			value = args[i]
		}
		if strings.HasPrefix(value, "@") {
			return nil, "", false
		}
		query.Add(name, value)
	}
	path := map[string]string{"assess": "/", "explain": "/file", "capture": "/capture"}[args[0]]
	switch {
	case args[0] == "explain" && rest == nil:
		path = "/shape"
	case args[0] == "explain" && len(rest) == 2:
		path, rest = "/find", rest[:1]
		query.Add("name", args[2])
	case args[0] == "explain" && len(rest) == 1 && len(query) > 0 && (query.Has("vm") || query.Has("host") || query.Has("cluster")):
		path = "/vm"
	}
	for _, f := range rest {
		if info, err := os.Stat(filepath.Join("..", "..", f)); err != nil || info.IsDir() { // the demo comes through a simulated vCenter
			return nil, "", false
		}
	}
	if len(rest) > 1 {
		return nil, "", false
	}
	return rest, path + "?" + query.Encode(), true
}

// TestPageForms uses the page as a user does: the sentence, the file dialog, a dragged file and folder, a VM, a what-if, the plan and the rules; a broken file is refused with a list of the
// formats. The page makes no request, the browser reports no error, and axe finds no fault in either theme, wide or narrow.
func TestPageForms(t *testing.T) {
	t.Parallel()
	axe := testdeps.Axe(t)
	b := openPage(t, madePage(t))
	first := settled(t, b, "")
	if !strings.Contains(first, "1 node") {
		t.Errorf("the first answer is %q", first)
	}
	b.Script(t, `const field = document.querySelector("[name=hotAdd]"); field.value = "off"; field.dispatchEvent(new Event("input", { bubbles: true }))`)
	if second := settled(t, b, first); !strings.Contains(second, "2 nodes") {
		t.Errorf("without hot add the answer is %q", second)
	}
	browser.Eval(t, b, `new URLSearchParams(location.hash.slice(1)).get("vm")`, "24x512GB hotAdd=off")
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		golden.Write(t, path, []byte(text))
		return path
	}
	before := pageHeadline(t, b)
	b.Do(t, chromedp.SetUploadFiles("#file", []string{write("notes.bin", "\x00\x01 nothing")}))
	if text := settled(t, b, before); !strings.Contains(text, "RVTools") {
		t.Errorf("a broken file is answered with %q, want the formats that are read", text)
	}
	if text := dragged(t, b, write("dragged.bin", "\x00\x01 nothing")); !strings.Contains(text, "dragged.bin") {
		t.Errorf("a dragged file is answered with %q, want its name", text)
	}
	if err := os.Mkdir(filepath.Join(folder, "fleet"), 0o755); err != nil {
		t.Fatal(err)
	}
	scenario := write("fleet/fleet.txt", pageFleet)
	text := dragged(t, b, filepath.Dir(scenario))
	if want := assessedHeadline(t, scenario); text != want {
		t.Errorf("the page says %q, the command %q", text, want)
	}
	for _, at := range []struct{ hash, want string }{{"#/find?name=sql01", "guest sees"}, {"#/what-if?what-if=" + url.QueryEscape("vm=sql01 hotAdd=off"), "sql01"}, {"#/plan", "change"}, {"#/rule", "checks"}, {"#/", text}} {
		before := pageHeadline(t, b)
		b.Script(t, "location.hash = "+strconv.Quote(at.hash))
		if got := settled(t, b, before); !strings.Contains(got, at.want) {
			t.Errorf("%s: %q, want %q in it", at.hash, got, at.want)
		}
	}
	pageSaves(t, b)
	goneBack(t, b)
	b.Silent(t)
	for _, mode := range []struct {
		width  int64
		scheme string
	}{{1400, "light"}, {320, "dark"}} {
		pageAccessible(t, b, axe, mode.width, mode.scheme)
	}
	before = pageHeadline(t, b)
	b.Do(t, chromedp.SetUploadFiles("#file", []string{absolute(t, filepath.Join("testdata", "corpus", "inputs", "db01.vmx"))}))
	before = settled(t, b, before)
	axeSilent(t, b, "a file without a host")
	b.Script(t, `document.querySelector("form.ask button").click()`)
	if text := settled(t, b, before); !strings.Contains(text, "NUMA") {
		t.Errorf("with a host the headline is %q", text)
	}
}

// TestPageFirefox answers a question and reads a file in Firefox, which makes no request.
func TestPageFirefox(t *testing.T) {
	testdeps.Proving(t) // as its dependencies
	t.Parallel()
	f := browser.OpenFirefox(t, madePage(t))
	first := firefoxHeadline(t, f, "")
	f.Text(t, `(() => { const field = document.querySelector("[name=hotAdd]"); field.value = "off"; field.dispatchEvent(new Event("input", { bubbles: true })); return "" })()`)
	second := firefoxHeadline(t, f, first)
	if !strings.Contains(first, "1 node") || !strings.Contains(second, "2 nodes") {
		t.Errorf("the answers are %q and %q", first, second)
	}
	file := filepath.Join(t.TempDir(), "fleet.txt")
	golden.Write(t, file, []byte(pageFleet))
	begun := f.Text(t, `String(performance.now())`)
	f.Choose(t, "#file", file)
	text, want := firefoxHeadline(t, f, second), assessedHeadline(t, file)
	if text != want {
		t.Errorf("Firefox shows %q, the command %q", text, want)
	}
	f.Silent(t)
	t.Logf("%s: %s to %s ms", f.Text(t, "navigator.userAgent"), begun, f.Text(t, `String(performance.now())`))
}

// firefoxHeadline waits until Firefox shows another headline than before, or an error, and returns it.
func firefoxHeadline(t *testing.T, f *browser.Firefox, before string) string {
	t.Helper()
	return f.Text(t, fmt.Sprintf(`(async () => {
		for (;;) {
			const el = document.querySelector("main [role=alert]") || document.querySelector("main h1");
			if (el && !document.querySelector("main[aria-busy]") && el.textContent !== %q) return el.textContent;
			await new Promise((done) => setTimeout(done, 20));
		}
	})()`, before))
}

// assessedHeadline returns the first sentence of assess about a file.
func assessedHeadline(t *testing.T, file string) string {
	t.Helper()
	var out, errs bytes.Buffer
	run(t.Context(), []string{"assess", file, "--format=json", "--config=none"}, strings.NewReader(""), &out, &errs)
	var native struct{ Verdict []string }
	if err := json.Unmarshal(out.Bytes(), &native); err != nil || len(native.Verdict) == 0 {
		t.Fatalf("%v %s", err, errs.String())
	}
	return native.Verdict[0]
}

// TestPageFiles drops a vm-support bundle, a folder of a KVM host, and a broken file of each kind, which is an error or a warning with its name, asks a question after each,
// and stops the reading of a capture.
func TestPageFiles(t *testing.T) {
	t.Parallel()
	b := openPage(t, madePage(t))
	bundle, kvm := vmSupport(t), filepath.Join("testdata", "corpus", "inputs", "kvm")
	before := pageHeadline(t, b)
	b.Do(t, chromedp.SetUploadFiles("#file", []string{bundle}))
	for file, got := range map[string]string{bundle: settled(t, b, before), kvm: dragged(t, b, absolute(t, kvm))} {
		if want := assessedHeadline(t, file); got != want || strings.Contains(got, "No VM") {
			t.Errorf("%s: the page says %q, the command %q", file, got, want)
		}
	}
	hosts := filepath.Join(t.TempDir(), "RVTools_tabvHost.csv") // dropped after the VMs, to which it belongs
	golden.Write(t, hosts, []byte("Host,Cluster,# CPU,Cores per CPU,# Cores,# Memory,ESX Version\nesx01,prod,2,16,32,261797,VMware ESXi 8.0.3 build-24022510\n"))
	before = pageHeadline(t, b)
	requested(t, b, `drop: [{ name: "RVTools_tabvInfo.csv", file: new Blob(["VM,CPUs,Memory,Host,Cluster\nsql01,24,65536,esx01,prod\n"]) }]`)
	b.Do(t, chromedp.SetUploadFiles("#file", []string{hosts}))
	if got := settled(t, b, before); !strings.Contains(got, "1 VM") || !strings.Contains(evaluated[string](t, b, `document.querySelector("#pages").textContent`), "Plan") {
		t.Errorf("after the hosts the page says %q", got)
	}
	for name, text := range map[string]string{
		"rvtools.xlsx": "PK\x03\x04 cut", "rvtools.zip": "PK\x03\x04 cut", "vm-support.tgz": "\x1f\x8b\x08\x00 cut", "snapshot.json": `{"format": "homenode-snapshot", "vms": [`, "govc.json": `[{"config": {"name": 3`,
		"tabvInfo.csv": "VM,CPUs\n\"sql01,4\n", "esxtop.csv": "\"(PDH-CSV 4.0) (UTC)(0)\",\"cut", "db01.vmx": ".encoding = \"UTF-8\"\nnumvcpus = \"many", "vmware.log": "2026-11-03T09:00:00.000Z| vmx| I125: cut", "domain.xml": "<domain type='kvm'><name>cut",
		"plan.json": `{"format_version": "1.2", "planned_values": {`, "fleet.txt": "vm sql01 vcpus=many\n", "empty.csv": "",
	} {
		label, _ := json.Marshal(name)
		content, _ := json.Marshal([]byte(text))
		r := requested(t, b, fmt.Sprintf(`drop: [{ name: %s, file: new Blob([Uint8Array.from(atob(%s), (c) => c.charCodeAt(0))]) }]`, label, content))
		text := r.Error
		if text == "" { // the answer about it reports the damage
			shown := requested(t, b, fmt.Sprintf(`address: %q, form: "page"`, r.Value.Address))
			text = shown.Error
			if strings.Contains(shown.Value.HTML, " warning") || strings.Contains(shown.Value.HTML, `role="alert"`) || strings.Contains(shown.Value.HTML, "could not be read") {
				text = shown.Value.HTML
			}
		}
		if !strings.Contains(text, name) {
			t.Errorf("%s opens %q with %.300q: want an error or a warning with its name", name, r.Value.Address, text)
		}
		if r := requested(t, b, `address: "/shape?vm=24x512GB&host=2x16c/768GB", form: "json"`); r.Error != "" {
			t.Fatalf("after %s: %s", name, r.Error)
		}
	}
	pageStops(t, b)
	b.Silent(t)
}

// vmSupport writes a vm-support bundle of a host with one VM.
func vmSupport(t *testing.T) string {
	t.Helper()
	vmx, err := os.ReadFile(filepath.Join("testdata", "corpus", "inputs", "db01.vmx"))
	const top, name = "esx-esx01-2023-05-01--10.00-1/", "vm-support.tgz"
	file := filepath.Join(t.TempDir(), name)
	if err == nil {
		err = os.WriteFile(file, packed(t, map[string]string{
			top + "vmfs/volumes/5a1f/db01/db01.vmx":               string(vmx),
			top + "commands/vmware_-vl.txt":                       "VMware ESXi 8.0.3 build-24022510\nVMware ESXi 8.0 Update 3\n",
			top + "commands/localcli_hardware-cpu-global-get.txt": "   CPU Packages: 2\n   CPU Cores: 20\n   CPU Threads: 40\n   Hyperthreading Active: true\n",
			top + "commands/localcli_hardware-memory-get.txt":     "   Physical Memory: 240470433792 Bytes\n   Reliable Memory: 0 Bytes\n   NUMA Node Count: 2\n",
		}), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// absolute returns the absolute path of a file.
func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPageKeyboard goes through the page by Tab alone, without a file and with a fleet.
func TestPageKeyboard(t *testing.T) {
	t.Parallel()
	b := openPage(t, madePage(t))
	b.Script(t, `document.activeElement.blur()`)
	tabThrough(t, b, "/shape")
	file := filepath.Join(t.TempDir(), "fleet.txt")
	golden.Write(t, file, []byte(pageFleet))
	before := pageHeadline(t, b)
	b.Do(t, chromedp.SetUploadFiles("#file", []string{file}))
	settled(t, b, before)
	b.Script(t, `document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute("tabindex")`)
	tabThrough(t, b, "/")
	b.Silent(t)
}

// pageStops drops a capture of some hundred MB and stops reading it; the page answers afterwards.
func pageStops(t *testing.T, b *browser.Page) {
	t.Helper()
	capture := golden.Read(t, filepath.Join("..", "..", "cmd/homenode/testdata/corpus/inputs/esx02.csv"))
	content, _ := json.Marshal(string(capture))
	before := pageHeadline(t, b)
	b.Script(t, `const text = `+string(content)+`, end = text.indexOf("\n") + 1, files = new DataTransfer();
		files.items.add(new File([text.slice(0, end), ...Array(4000).fill(text.slice(end))], "esxtop.csv"));
		const field = document.querySelector("#file");
		const bar = document.querySelector("#bar"), begun = new MutationObserver(() => {
			if (bar.value > 0) { begun.disconnect(); document.querySelector("#stop").click(); }
		});
		begun.observe(bar, { attributes: true });
		field.files = files.files;
		field.dispatchEvent(new Event("change", { bubbles: true }))`)
	stopped := settled(t, b, before)
	if !strings.Contains(evaluated[string](t, b, `document.querySelector("main").textContent`), "Stopped.") {
		t.Errorf("after Stop the page shows %q", stopped)
	}
	b.Script(t, `location.hash = "#vm=24x512GB+hotAdd%3Doff&host=2x16c/768GB&release=8.0U3"`)
	if text := settled(t, b, stopped); !strings.Contains(text, "2 nodes") {
		t.Errorf("afterwards the answer is %q", text)
	}
}

// pageSaves presses the buttons that save the fleet and its plan, and reads the files.
func pageSaves(t *testing.T, b *browser.Page) {
	t.Helper()
	folder := t.TempDir()
	if _, err := chromedp.Call(b.Context, cdp.SetDownloadBehavior, cdp.SetDownloadBehaviorParams{Behavior: cdp.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ hash, button, file, has string }{
		{"#/plan", "PowerCLI script", "homenode-plan.ps1", "sql01"}, {"#/", "CSV", "homenode-assess.csv", "sql01"}, {"#/", "Excel", "homenode-assess.xlsx", "PK"}, {"#/", "report", "homenode-assess.html", "sql01"},
		{"#/", "anonymised snapshot with its key", "homenode-snapshot.json", `"format"`}, {"#/", "", "homenode-snapshot.key.json", "sql01"},
	} {
		if before := pageHeadline(t, b); evaluated[string](t, b, "location.hash") != tt.hash {
			b.Script(t, "location.hash = "+strconv.Quote(tt.hash))
			settled(t, b, before)
		}
		if tt.button != "" {
			b.Script(t, fmt.Sprintf(`[...document.querySelectorAll("#forms button")].find((one) => one.textContent === %q).click()`, tt.button))
		}
		var saved []byte
		for end := time.Now().Add(time.Minute); len(saved) == 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			saved, _ = os.ReadFile(filepath.Join(folder, tt.file)) // it comes
		}
		if !bytes.Contains(saved, []byte(tt.has)) || tt.file == "homenode-snapshot.json" && bytes.Contains(saved, []byte("sql01")) {
			t.Errorf("%s is saved as %s: %.300q", tt.button, tt.file, saved)
		}
	}
}

// goneBack scrolls, opens another page and goes back, which returns to the same place.
func goneBack(t *testing.T, b *browser.Page) {
	t.Helper()
	before := pageHeadline(t, b)
	b.Do(t, chromedp.EmulateViewport(1280, 300))
	b.Script(t, `scrollTo(0, 250); requestAnimationFrame(() => requestAnimationFrame(() => { location.hash = "#/rule" }))`)
	rules := settled(t, b, before)
	browser.Eval(t, b, `scrollY`, 0.0)
	b.Script(t, `history.back()`)
	settled(t, b, rules)
	browser.Eval(t, b, `scrollY`, 250.0)
}

// pageHeadline returns the error or headline that the page shows.
func pageHeadline(t *testing.T, b *browser.Page) string {
	t.Helper()
	text, err := chromedp.Run(b.Context, chromedp.Evaluate[string](`(document.querySelector("main [role=alert]") || document.querySelector("main h1")).textContent`))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// dragged drops a file or folder on the page and returns the new headline.
func dragged(t *testing.T, b *browser.Page, path string) string {
	t.Helper()
	before := pageHeadline(t, b)
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		event := input.DispatchDragEventParams{Type: kind, X: 300, Y: 300, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: []string{path}, DragOperationsMask: 1}}
		if _, err := chromedp.Call(b.Context, input.DispatchDragEvent, event); err != nil {
			t.Fatal(err)
		}
	}
	return settled(t, b, before)
}

// pageFleet has a VM whose NUMA hot add hides.
const pageFleet = `release 8.0U3
cluster prod
host esx[01-02] nodes=2 cores=16 memory=768GB
vm sql01 host=esx01 vcpus=24 coresPerSocket=1 memory=512GB hotAdd=on
vm web[01-20] vcpus=4 memory=16GB
`

// pageAccessible checks every path of the page at a width and in a theme.
func pageAccessible(t *testing.T, b *browser.Page, axe string, width int64, scheme string) {
	t.Helper()
	b.Do(t, chromedp.EmulateViewport(width, 900))
	if _, err := chromedp.Call(b.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
		t.Fatal(err)
	}
	b.Script(t, axe)
	for _, hash := range []string{"#/", "#/find?name=sql01", "#/what-if?what-if=" + url.QueryEscape("vm=sql01 hotAdd=off"), "#/plan?allow=better", "#/nosuch", "#vm=24x512GB&host=2x16c/768GB"} {
		b.Script(t, `document.querySelector("main").replaceChildren(); if (location.hash === `+strconv.Quote(hash)+`) dispatchEvent(new Event("hashchange")); else location.hash = `+strconv.Quote(hash))
		settled(t, b, "")
		axeSilent(t, b, fmt.Sprintf("%s, %d px, %s", hash, width, scheme))
		if wide, err := chromedp.Run(b.Context, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); err != nil || wide > width {
			t.Errorf("%s: %d px wide in %d: %v", hash, wide, width, err)
		}
	}
}

// axeSilent checks that axe, which the page has loaded, finds nothing.
func axeSilent(t *testing.T, b *browser.Page, at string) {
	t.Helper()
	b.Script(t, `window.axeResult = ""; axe.run(document, { resultTypes: ["violations"] }).then((r) => { window.axeResult = JSON.stringify(r.violations.map((v) => v.id + " (" + v.impact + "): " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120)).join(" | "))); })`)
	found, err := chromedp.Run(b.Context, chromedp.Poll[string](`window.axeResult`, chromedp.WithPollingTimeout(2*time.Minute)))
	if err != nil {
		t.Fatal(err)
	}
	if found != "[]" {
		t.Errorf("%s: axe finds %s", at, found)
	}
}
