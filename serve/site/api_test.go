package site

import (
	"strings"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/serve/held"
	"example.org/homenode/source/scenario/given"
)

// TestParameters asks the API with values as its document describes them: boxes are true or false, defaults have names, a parameter belongs to its
// question, and an error names the parameter and the values that it takes.
func TestParameters(t *testing.T) {
	f := given.Fleet(t, "test", []byte("release 7.0U3\ncluster c\nhost esx1 cluster=c nodes=2 cores=18 memory=512GB\nvm db host=esx1 vcpus=24 coresPerSocket=2 memory=128GB hotAdd=on\n"))
	fleet := &held.Fleet{Name: "c", Result: rules.Run(f, rules.Options{}), Sources: []string{"fleet.txt"}}
	s := &Site{Fleets: func() []*held.Fleet { return []*held.Fleet{fleet} }}
	const shape = "calculator?vcpus=24&memory=64GB&sockets=2&cores=16&host-memory=768GB"
	for address, want := range map[string]string{
		"plans?allow-better=maybe":                          `"allow-better: found \"maybe\", want true or false"`,
		"plans?allow-better=0":                              `"format": "homenode-plan"`,
		shape + "&noht=false&latency=normal&hot-add=off":    `"format": "homenode-explanation"`,
		shape + "&latency=much":                             `want one of normal, low, medium, high`,
		"calculator?kind=io&path=vsan-esa&iops=1k&block=4k": `"format": "homenode-size-io"`,
		"calculator?kind=io&path=tape":                      `"path: found \"tape\", want one of vsan-esa, nvme, network, ram"`,
		"calculator?kind=upgrade&hw=21":                     `\"hw\" is no parameter of this question`,
		"calculator?kind=fit":                               `nothing is asked`,
		"vm?vm=db&on=esx1":                                  `"format": "homenode-explanation"`,
		"vm?vm=db&cpus=4":                                   `\"cpus\" is no parameter of this question`,
		"nosuch":                                            `"error"`,
		"fleet":                                             `"format": "homenode-assessment"`,
	} {
		if _, header, body := get(t, s, apiPath+address); !strings.Contains(body, want) || !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %q is not in %s", address, want, body[:min(len(body), 300)])
		}
	}
	with := func(address string) string {
		_, _, body := get(t, s, address)
		return body
	}
	if !strings.Contains(with("/plans?allow-better=on"), "--allow=better") || strings.Contains(with("/plans?allow-better=false"), "--allow=better") {
		t.Error("a box that is false is not asked, one that is on is")
	}
}
