package collect_test

import (
	"errors"
	"testing"
	"time"

	"example.org/homenode/serve/collect"
)

// TestClosely looks at one of four hosts closely, which are asked once a day else: it is asked at once, and its status says so.
func TestClosely(t *testing.T) {
	s := newSite(t)
	out := &sink{}
	c, stop := s.start(out, collect.Options{Every: 24 * time.Hour})
	defer stop()
	for _, h := range []string{"esx1", "esx2"} {
		until(t, "first tick of "+h, func() bool { return out.of(h) == 1 })
	}
	if _, _, err := c.Closely("host-9"); !errors.Is(err, collect.ErrUnknownHost) {
		t.Errorf("an unknown host: %v", err)
	}
	id := ""
	for _, h := range c.Status().Hosts {
		if h.Name == "esx1" {
			id = h.ID
		}
	}
	every, end, err := c.Closely(id)
	if left := time.Until(end); err != nil || every != 20*time.Second || left > time.Hour || left < 59*time.Minute {
		t.Errorf("every %v until %v: %v", every, end, err)
	}
	until(t, "second tick of esx1", func() bool { return out.of("esx1") == 2 })
	for _, h := range c.Status().Hosts {
		if h.Closely.IsZero() == (h.Name == "esx1") {
			t.Errorf("%s: looked at closely until %v", h.Name, h.Closely)
		}
	}
	if n := out.of("esx2"); n != 1 {
		t.Errorf("esx2 was asked %d times", n)
	}
}
