package sweeps

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"homenode/numa"
	"homenode/source/story"
	"homenode/sweep"
)

// made returns a result of two dimensions in which everything is: a failed point, seeds,
// points that ask for other CPU time, names that strangers gave.
func made(t *testing.T) *sweep.Result {
	t.Helper()
	s, err := story.Read("day.txt", []byte(`
release 7.0U3
host esx01 nodes=2 cores=8 memory=128GB
vm   web[01-03] host=esx01 vcpus=4 memory=16GB
vm   big host=esx01 vcpus=12 memory=90GB
run  10m seed=1
load web* cpu=40% noise=20%
at 5m power-cycle big
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := sweep.New(s, []string{"vm=big vcpus=8,6 cpu=x0.5,x2 guest=@x,b", "nodesPerSocket=today,2,3", "seed=1..2"}, sweep.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(context.Background(), sweep.How{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTextShow(t *testing.T) {
	var b strings.Builder
	if err := Text(&b, made(t), false); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
	b.Reset()
	CSV(&b, made(t))
	t.Log("\n" + b.String())
	_ = []any{csv.NewReader, json.Marshal, reflect.DeepEqual, strconv.Itoa, time.Now, numa.GiB}
}
