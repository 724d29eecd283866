package target

import (
	"regexp"
	"strings"
	"testing"

	"example.org/homenode/change/move"
	"example.org/homenode/source/definition"
	conf "example.org/homenode/source/proxmox"
)

// TestProxmoxOver sets what a script sets in a configuration that was there before: Proxmox starts the VM with what results.
func TestProxmoxOver(t *testing.T) {
	const old = "cores: 4\nsockets: 2\nmemory: 8192\nvcpus: 3\nhotplug: disk,network,usb,memory\nnuma: 1\nhugepages: 2\nkeephugepages: 1\n" +
		"numa0: cpus=0-1,hostnodes=0,memory=2048,policy=bind\nnuma1: cpus=2-3,hostnodes=1,memory=2048,policy=bind\n" +
		"numa2: cpus=4-5,hostnodes=0,memory=2048,policy=bind\nnuma3: cpus=6-7,hostnodes=1,memory=2048,policy=bind\n"
	pair := regexp.MustCompile(`--([a-z0-9]+) ('[^']*'|\S+)`)
	for _, s := range shapes {
		for name, o := range map[string]move.Options{"free": {}, "bound": {At: at(9)}} {
			m := moved(t, s.name, "proxmox", o)
			for _, f := range Files([]*move.Move{m}) {
				if !strings.HasSuffix(f.Name, ".sh") || len(m.Refused) > 0 {
					continue
				}
				keys := map[string]string{}
				for line := range strings.Lines(old) {
					key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
					keys[key] = value
				}
				for _, found := range pair.FindAllStringSubmatch(string(f.Data), -1) {
					value := strings.Trim(found[2], "'")
					if found[1] != "delete" {
						keys[found[1]] = value
						continue
					}
					for key := range strings.SplitSeq(value, ",") {
						delete(keys, key)
					}
				}
				var text strings.Builder
				for key, value := range keys {
					text.WriteString(key + ": " + value + "\n")
				}
				docs, err := conf.Read("1.conf", strings.NewReader(text.String()))
				if err != nil {
					t.Fatal(err)
				}
				for _, stray := range docs[0].(*definition.VM).Stated.Strays {
					if stray.Refused {
						t.Errorf("%s, %s: %s\n%s", s.name, name, stray.Text, text.String())
					}
				}
			}
		}
	}
}
