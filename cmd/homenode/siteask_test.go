package main

import (
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"example.org/homenode/internal/browser"
	"example.org/homenode/internal/golden"
	"example.org/homenode/internal/testdeps"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/vsphere/lab"
)

// TestSiteAsks looks at every page that asks a question: what it says is that of the command that it names.
func TestSiteAsks(t *testing.T) {
	t.Parallel()
	at := startSite(t, "--fleet=demo").URL
	styles := sitePage(t, at+"/static/site.css", http.StatusOK)
	for page, want := range map[string][]string{
		"/what-if": {"Change something and compare the fleet", "<legend>Hosts</legend>", `name="vcpus"`},
		"/what-if?vm=sql01&vcpus=32&coresPerSocket=2&hotAdd=off&hw=19": {"Switching CPU hot add off lets sql01 see its 2 NUMA nodes; half of its memory accesses stop being remote.", "sql01, today and changed", "Changed: 32 vCPU, 384 GB on esx02.demo", "homenode assess &#39;--what-if=vm=sql01 vcpus=32 coresPerSocket=2 hotAdd=off hw=19&#39; demo"},
		"/what-if?vm=sql01&host=esx15.demo":                            {"sql01 cannot run: does not power on: virtual hardware 19 is newer"},
		"/what-if?vm=sql*&memory=1TB":                                  {"5 worse", "today and changed", "more VM differs"},
		"/what-if?hosts=esx0*&nodesPerSocket=2":                        {"worse", "nodesPerSocket=2"},
		"/what-if?release=8.0U3":                                       {"release=8.0U3"},
		"/what-if?lose-host=esx01.demo":                                {"must power on elsewhere"},
		"/what-if?add-host=2x32c/1TB+cluster=prod-a":                   {"capacity"},
		"/what-if?what-if=vm%3Dsql01+hotAdd%3Doff":                     {"Switching CPU hot add off lets sql01 see its 2 NUMA nodes"},
		"/vm?vm=sql01": {"/what-if?coresPerSocket=2&amp;hotAdd=on&amp;hw=19&amp;memory=384GB&amp;vcpus=32&amp;vm=sql01", "/host?host=esx02.demo", "The guest sees 1 node, carried by 2 clients.", "CPU hot add hides NUMA"},
		"/calculator":  {"The topology of a VM on a host, and why.", "Show an example", `placeholder="512GB"`},
		"/calculator?vcpus=24&memory=512GB&sockets=2&cores=16&host-memory=768GB":                                                                                  {"The guest sees 2 nodes, carried by 2 clients.", "Nothing to do about its settings.", `class="picture topo"`},
		"/calculator?vcpus=24&memory=512GB&sockets=2&cores=16&host-memory=768GB&divided=snc2&noht=on&preferHT=TRUE&perNode=8&set=numa.vcpu.min%3D4&event=vmotion": {"--host=2x16c/768GB/snc2/noht", " numa.vcpu.maxPerVirtualNode=8 ", " numa.vcpu.min=4"},
		"/calculator?kind=fit": {"Show an example", `placeholder="24x192GB*40"`},
		"/calculator?kind=fit&vm=24x192GB*40&hosts=2x32c/1TB,2x48c/1.5TB,2x64c/2TB":     {"At 1 vCPU per core, 40 VMs (960 vCPUs, 7680 GB) need 10 &#43; 1 spare hosts of 2x48c/1.5TB, or as many of 2x64c/2TB; ", "2x64c/2TB", `class="picture topo"`},
		"/calculator?kind=fit&source=SOURCE&cluster=prod-a&vm=24x192GB*40":              {"130 running VMs and 40 of", "--cluster=prod-a"},
		"/calculator?kind=fit&source=SOURCE&cluster=all&vm=24x192GB":                    {"more VMs of 24x192GB fit"},
		"/calculator?kind=fit&hosts=2x32c/1TB&vm=2x8GB*2%3B8x32GB*100%3B+db:4x16GB*200": {"--vm=8x32GB*100", "--vm=db:4x16GB*200"},
		"/calculator?kind=io&iops=100k&block=32k":                                       {"93.6 GHz"},
		"/calculator?kind=io&path=ram&throughput=20GB/s&host-cores=32&core=3.0GHz":      {"of the CPU"},
		"/calculator?kind=latency&calls=20":                                             {"Remote memory is 1.7 × local"},
		"/calculator?kind=speed&vcpu-speed=1GHz&vm=8x64GB&host=2x18c/1TB@3GHz":          {"Limit 8 GHz"},
		"/calculator?kind=dump&ram=1.5TB&boot=32GB":                                     {"Fits on 32 GiB"},
		"/calculator?kind=dump&source=SOURCE&boot=32GB":                                 {"of 24 hosts: 24 fit"},
		"/calculator?kind=pages&memory=1.5TB":                                           {"Freed with salting 0"},
		"/simulate?part=esx01.demo&hours=2&moment=00:30":                                {"Simulated", "At 2026-01-05 00:30:00 UTC", `class="cursor"`, "Every decision of the scheduler", "moment=00%3A00%3A00&part=esx01.demo#drawings", "A page simulates up to 48 hours"},
		"/simulate?part=prod-a&hours=1&vm=sql01":                                        {"Simulated: sql01 in demo"},
		"/search?q=sql":                                                                 {`href="/vm?vm=`, "names found"},
		"/search?q=hot+add":                                                             {`href="/rule?rule=N001"`, `href="/rule?rule=B-15"`, `href="/rule?rule=numa.allowHotadd"`},
		"/search?q=B-15":                                                                {`href="/rule?rule=B-15"`},
		"/search?q=prod-a":                                                              {"cluster"},
		"/search?q=nothinglikethis":                                                     {"is named like"},
	} {
		got := sitePage(t, at+page, http.StatusOK)
		for _, w := range want {
			if !strings.Contains(got, w) && !strings.Contains(html.UnescapeString(got), w) {
				t.Errorf("%s: %q is not on the page: %s", page, w, headline(got))
			}
		}
		if strings.Contains(got, "style=") || strings.Contains(got, "<style") {
			t.Errorf("%s: an inline style", page)
		}
		for _, m := range regexp.MustCompile(`<svg[^>]* class="(\w+)"`).FindAllStringSubmatch(got, -1) {
			if !strings.Contains(styles, "."+m[1]+" ") {
				t.Errorf("%s: a drawing of the class %s, of which the style sheet knows nothing", page, m[1])
			}
		}
		if ids := twice(got); ids != "" {
			t.Errorf("%s: ids are there twice: %s", page, ids)
		}
	}
	for page, want := range map[string]int{
		"/simulate?part=none": 400, "/simulate?part=esx01.demo&hours=1&at=1h+fail%0Arun": 400, "/what-if?vcpus=4": 400, "/what-if?vm=a%22b&vcpus=2": 400, "/what-if?vm=none&vcpus=2": 400, "/calculator?vcpus=24": 400,
	} {
		sitePage(t, at+page, want)
	}
	for _, long := range []string{"hosts=2x32c/1TB&vm=1x1GB*20001", "hosts=2x32c/1TB&vm=1x1GB*999999", "hosts=2x32c/1TB&vm=1x1GB*2%3B8x32GB*19999", "hosts=2x32c/1TB&vm=" + strings.Repeat("a:1x1GB*1%3B", 41), "vm=1x1GB*2&hosts=" + strings.Repeat("2x32c/1TB,", 21)} {
		for i := range 41 { // no two have one name
			long = strings.Replace(strings.Replace(long, "a:", fmt.Sprintf("v%d:", i), 1), "2x32c/1TB,", fmt.Sprintf("h%d:2x16c/1TB,", i), 1)
		}
		if page := sitePage(t, at+"/calculator?kind=fit&"+strings.TrimSuffix(strings.TrimSuffix(long, ","), "%3B"), 400); !strings.Contains(page, "a page asks about 20000 at most") {
			t.Errorf("%.30s: %s", long, headline(page))
		}
	}
	for q, to := range map[string]string{"esx15.demo": "/host?host=esx15.demo", "e-spill": "/rule?rule=e-spill"} {
		c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := c.Get(at + "/search?q=" + url.QueryEscape(q))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || !strings.HasPrefix(got, to) {
			t.Errorf("search for %s: %d to %s", q, res.StatusCode, got)
		}
	}
}

// sitePage returns a page, whose status must be as wanted.
func sitePage(t *testing.T, address string, want int) string {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	return answerOf(t, res, want)
}

// twice returns IDs that a page has twice.
func twice(page string) string {
	seen, out := map[string]bool{}, ""
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if seen[m[1]] && !strings.Contains(out, m[1]) {
			out += m[1] + " "
		}
		seen[m[1]] = true
	}
	return out
}

// TestSiteHostile gives every field of every page what a stranger could: nothing of it is taken for a flag, a file or markup, and the
// server goes on.
func TestSiteHostile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.yaml")
	golden.Write(t, secret, []byte("secretword: 1\n"))
	target := filepath.Join(dir, "written")
	at := startSite(t, "--fleet=demo").URL
	hostile := []string{`"><script>alert(1)</script>`, "--config=" + secret, "--output=" + target, "-o" + target, secret, "a\x00b", "\u202e\u0007", strings.Repeat("9", 4000), "-1", "1e309", "%s%n", "a b\"c#d", "line\nrun 9h", "--", "SOURCE", "../" + secret}
	pages := []string{"/what-if", "/calculator", "/calculator?kind=fit", "/calculator?kind=io", "/calculator?kind=latency", "/calculator?kind=speed", "/calculator?kind=dump", "/calculator?kind=pages",
		"/simulate?part=esx01.demo&hours=0.5", "/captures", "/capture?capture=demo", "/compare?a=demo", "/plans", "/plan", "/rules", "/rule", "/search", "/vm", "/host", "/cluster", "/"}
	seed := uint64(time.Now().UnixNano())
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(pages), func(i, j int) { pages[i], pages[j] = pages[j], pages[i] })
	if !testdeps.Proof() {
		pages = pages[:len(pages)/3]
	}
	t.Logf("seed %d, %d pages", seed, len(pages))
	for _, page := range pages {
		first := ""
		if res, err := http.Get(at + page); err == nil {
			b, _ := io.ReadAll(res.Body)
			res.Body.Close()
			first = string(b)
		}
		fields := []string{"vm", "host", "cluster", "rule", "q", "capture", "a", "b", "part", "kind", "fleet", "format"}
		for _, m := range regexp.MustCompile(`<(?:input|select)[^>]* name="([^"]+)"`).FindAllStringSubmatch(first, -1) {
			if !slices.Contains(fields, m[1]) {
				fields = append(fields, m[1])
			}
		}
		address, _ := url.Parse(at + page)
		for _, name := range fields {
			q := address.Query()
			q.Set(name, "@"+secret)
			if got := getPage(t, address, q); got.StatusCode < 400 || got.StatusCode >= 500 {
				t.Errorf("%s: %s=@file: status %d", page, name, got.StatusCode)
			}
			for _, value := range hostile[:3] {
				q.Set(name, value)
				got := getPage(t, address, q)
				if got.harmed() {
					t.Errorf("%s: %s=%.40q: status %d\n%.300s", page, name, value, got.StatusCode, headline(got.body))
				}
			}
		}
		for _, value := range hostile {
			for _, some := range [][]string{fields, fields[12:]} {
				q := address.Query()
				for _, name := range some {
					if name != "format" && name != "fleet" {
						q.Set(name, value)
					}
				}
				if got := getPage(t, address, q); got.harmed() {
					t.Errorf("%s: all fields %.40q: status %d\n%.300s", page, value, got.StatusCode, headline(got.body))
				}
			}
		}
	}
	if _, err := os.Stat(target); !os.IsNotExist(err) {
		t.Errorf("a page wrote a file: %v", err)
	}
}

type asked struct {
	*http.Response
	body string
}

// harmed reports whether an answer shows what it must not, or the server broke.
func (a *asked) harmed() bool {
	page := strings.HasPrefix(a.Header.Get("Content-Type"), "text/html")
	return a.StatusCode >= 500 || page && strings.Contains(a.body, "<script>alert") || strings.Contains(a.body, "secretword") || page && strings.ContainsAny(a.body, "\x00\x07\u202e")
}

func getPage(t *testing.T, address *url.URL, q url.Values) asked {
	t.Helper()
	u := *address
	u.RawQuery = q.Encode()
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Get(u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return asked{res, string(b)}
}

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestSiteFleets holds the fleets of two vCenters: each link of a page of one leads to pages of that.
func TestSiteFleets(t *testing.T) {
	dir := t.TempDir()
	var sources []string
	var accounts strings.Builder
	for _, name := range []string{"alpha", "beta"} {
		f, err := scenario.Read(name+".txt", fmt.Appendf(nil, "release 7.0U3\ncluster prod\nhost %s-esx nodes=2 cores=18 memory=512GB\nvm same host=%[1]s-esx vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on\nvm %[1]s-vm host=%[1]s-esx vcpus=4 memory=16GB\n", name))
		if err != nil {
			t.Fatal(err)
		}
		vc, err := lab.Start(f)
		if err != nil {
			t.Fatal(err)
		}
		defer vc.Close()
		password, _ := vc.URL.User.Password()
		fmt.Fprintf(&accounts, "%s %s %s\n", vc.URL.Host, vc.URL.User.Username(), password)
		bare := *vc.URL
		bare.User = nil
		sources = append(sources, bare.String())
	}
	credentials := filepath.Join(dir, "accounts")
	golden.Write(t, credentials, []byte(accounts.String()))
	at := startSite(t, append(sources, "--credentials="+credentials, "--insecure", "--every=2s")...).URL
	var names []string
	until(t, func() bool {
		names = nil
		for _, m := range regexp.MustCompile(`<nav class="fleets".*?</nav>`).FindAllString(sitePage(t, at+"/rules", http.StatusOK), -1) {
			for _, link := range regexp.MustCompile(`fleet=([^"&]+)`).FindAllStringSubmatch(m, -1) {
				names = append(names, link[1])
			}
		}
		return len(names) == 2
	})
	for _, fleet := range names {
		own := ""
		for _, page := range []string{"/?", "/?rule=N*&", "/what-if?vm=same&hotAdd=off&", "/vm?vm=same&", "/calculator?kind=fit&", "/simulate?hours=0.2&", "/captures?", "/rules?", "/rule?rule=N001&", "/search?q=e&", "/plans?", "/cluster?cluster=prod&"} {
			got := sitePage(t, at+page+"fleet="+fleet, http.StatusOK)
			for _, m := range regexp.MustCompile(` (?:href|action)="(/[^"]*)"`).FindAllStringSubmatch(got, -1) {
				link := html.UnescapeString(m[1])
				if strings.HasPrefix(m[0], " action") || strings.HasPrefix(link, "/static/") {
					continue
				}
				if u := parsed(t, at+link); u.Query().Get("fleet") == "" || u.Query().Get("fleet") != unescaped(fleet) && !strings.Contains(got, `class="fleets"`) {
					t.Errorf("%sfleet=%s: the link %s leads to another fleet", page, fleet, link)
				}
			}
			for _, f := range regexp.MustCompile(`(?s)<form[^>]*method="get".*?</form>`).FindAllString(got, -1) {
				if !strings.Contains(f, `name="fleet" value="`+unescaped(fleet)+`"`) {
					t.Errorf("%sfleet=%s: a form asks about another fleet:\n%.300s", page, fleet, f)
				}
			}
			for _, name := range []string{"alpha-vm", "beta-vm"} {
				if strings.Contains(got, name) {
					if own == "" {
						own = name
					}
					if own != name {
						t.Errorf("%sfleet=%s has %s and %s", page, fleet, own, name)
					}
				}
			}
		}
		if own == "" {
			t.Errorf("fleet %s shows none of its VMs", fleet)
		}
	}
}

func unescaped(s string) string {
	out, err := url.QueryUnescape(s)
	if err != nil {
		return s
	}
	return out
}

// TestSiteTyping types into the what-if and plays a simulation in a browser, below the strict policy and without a complaint.
func TestSiteTyping(t *testing.T) {
	t.Parallel()
	at := startSite(t, "--fleet=demo").URL
	b := browser.Open(t, at+"/what-if?vm=sql01")
	wait(t, b, `document.querySelector("h1").textContent.startsWith("Change something of sql01")`)
	b.Script(t, `const s = document.querySelector("select[name=hotAdd]"); s.focus(); s.value = "off"; s.dispatchEvent(new Event("input", { bubbles: true }));`)
	wait(t, b, `document.querySelector("h1").textContent.startsWith("Switching CPU hot add off lets sql01 see its 2 NUMA nodes") && document.querySelectorAll("#drawings svg").length === 2`)
	browser.Eval(t, b, `document.activeElement.name + " " + location.search`, "hotAdd ?vm=sql01&hotAdd=off")
	b.Go(t, at+"/calculator?kind=fit&vm=24x192GB*40&hosts=2x32c/1TB")
	wait(t, b, `document.querySelector("input[name=vm]") !== null`)
	b.Script(t, `const c = document.querySelector("input[name=vm]"); c.focus(); c.value = "24x192GB"; c.dispatchEvent(new Event("input", { bubbles: true }));`)
	wait(t, b, `document.querySelector("h1").textContent.includes("all memory local")`)
	b.Go(t, at+"/simulate?part=esx01.demo&hours=2&moment=01:00")
	wait(t, b, `document.querySelector(".player output") && document.querySelector(".player output").textContent === "01:00"`)
	browser.Eval(t, b, `document.querySelectorAll("svg.timeline .slice.now").length > 0 && document.querySelector(".player .said").textContent.includes("node 0")`, true)
	b.Script(t, `const r = document.querySelector(".player input"); r.value = 0; r.dispatchEvent(new Event("input", { bubbles: true }));`)
	browser.Eval(t, b, `document.querySelector(".player output").textContent`, "00:00")
	b.Script(t, `document.querySelector(".player button").click()`)
	wait(t, b, `+document.querySelector(".player input").value >= 2`)
	b.Script(t, `document.querySelector(".player button").click()`)
	if c := b.Complaints(); len(c) > 0 {
		t.Errorf("the browser complains: %q", c)
	}
}

// wait waits until an expression holds in a browser.
func wait(t *testing.T, b *browser.Page, what string) {
	t.Helper()
	until(t, func() bool {
		got, err := chromedp.Run(b.Context, chromedp.Evaluate[bool](what)) // between two pages there is nothing to ask
		return err == nil && got
	})
}
