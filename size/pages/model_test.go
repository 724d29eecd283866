package pages

import (
	"context"
	"fmt"
	"testing"
	"time"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/source/demo"
	"example.org/homenode/source/story"
)

const twoNodes = `release 7.0U3
host esx01 nodes=2 cores=12 memory=256GB
vm app[1-4] host=esx01 vcpus=8 memory=16GB
vm red[1-2] host=esx01 vcpus=4 memory=16GB sched.mem.pshare.salt=red
vm own      host=esx01 vcpus=4 memory=16GB sched.mem.pshare.salt=
run 24h
load *    memory=100%
load app* common=25% image=win zero=5%
load red* common=25% image=win
load own  common=25% image=win
`

func simulated(t *testing.T, text string, m Model) *Simulated {
	t.Helper()
	s, err := story.Read("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m.Story = s
	r, err := Simulate(context.Background(), &m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSimulate checks that the simulation comes to what Share reckons for the long run, and
// that a wider salting saves no less.
func TestSimulate(t *testing.T) {
	r := simulated(t, twoNodes, Model{Length: 3 * time.Hour})
	setups, hosts := r.Sheets(&Model{}, "story", false)
	if unknown := append(setups.Unknown(), hosts.Unknown()...); unknown != nil {
		t.Errorf("nothing has %q", unknown)
	}
	if r.VMs != 7 || r.Alike != 7 || r.Salted != 3 || r.Salts != 1 {
		t.Errorf("found %d VMs, %d alike, %d with salt, %d salts of several; want 7, 7, 3, 1", r.VMs, r.Alike, r.Salted, r.Salts)
	}
	var got []string
	for _, x := range r.Runs {
		if off := x.Saved - x.LongRun.All(); off > gib/100 || off < -gib/100 {
			t.Errorf("%+v: simulated %v, reckoned %v", x.Setup, x.Saved, x.LongRun.All())
		}
		if x.Consumed+x.Saved != 7*16*gib {
			t.Errorf("%+v: consumed %v and saved %v, want all that is touched", x.Setup, x.Consumed, x.Saved)
		}
		got = append(got, fmt.Sprintf("%v %d: %.1f", x.AlwaysLarge, x.Salting, float64(x.Saved)/float64(gib)))
	}
	// 5 % zeros of 4 x 16 GB are 3.2 GB, whoever shares. Of 4 GB alike one copy stays on each
	// node: salting 2, the red ones are on two nodes; 1, the four of app leave two copies; 0,
	// the seven leave two.
	want := "[false 0: 0.0 true 0: 0.0 false 2: 3.2 false 1: 11.2 false 0: 23.2]"
	if fmt.Sprint(got) != want {
		t.Errorf("found %v, want %v", got, want)
	}
	last := r.Runs[len(r.Runs)-1].LongRun.All()
	if r.OneCopy.All() < last || r.HalfAlike.All() >= last || r.TwiceAlike.All() <= last {
		t.Errorf("found %v, one copy %v, half alike %v, twice %v", last, r.OneCopy.All(), r.HalfAlike.All(), r.TwiceAlike.All())
	}
}

// TestSimulateDemo checks that more alike saves no less, and that what is stated is kept.
func TestSimulateDemo(t *testing.T) {
	s, err := demo.Story()
	if err != nil {
		t.Fatal(err)
	}
	before := s.Fleet.Hosts[0].Options
	least := numa.Bytes(-1)
	for _, alike := range []float64{0, 0.1, 0.4} {
		m := Model{Story: s, Length: 2 * time.Hour, Alike: unit.Share(alike)}
		r, err := Simulate(context.Background(), &m)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range r.Runs {
			if i > 1 && x.Saved < r.Runs[i-1].Saved {
				t.Errorf("%.0f %% alike: %+v saves %v, %+v before it %v", alike*100, x.Setup, x.Saved, r.Runs[i-1].Setup, r.Runs[i-1].Saved)
			}
		}
		if saved := r.Runs[len(r.Runs)-1].Saved; saved < least {
			t.Errorf("%.0f %% alike saves %v, less alike %v", alike*100, saved, least)
		} else {
			least = saved
		}
	}
	if fmt.Sprint(before) != fmt.Sprint(s.Fleet.Hosts[0].Options) {
		t.Error("the story has changed")
	}
}
