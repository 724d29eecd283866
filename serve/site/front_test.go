package site

import (
	"context"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"example.org/homenode/output/answer"
	"example.org/homenode/rules"
	"example.org/homenode/serve/board"
	"example.org/homenode/serve/held"
)

// TestFront shows the first page once more while a newer one is made, announces that one, and makes none without new data. After a pause a reader waits.
func TestFront(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := board.New(rules.Options{}, time.Hour)
		made, slow := 0, time.Duration(0)
		s := &Site{Fleets: func() []*held.Fleet { return []*held.Fleet{{Name: "vc"}} }, Live: &Live{Board: b}}
		p := &screen{path: frontPath, show: func(*request) (*view, error) {
			time.Sleep(slow)
			made++
			return &view{answer: &answer.Answer{Title: strconv.Itoa(made)}}, nil
		}}
		read := func(address, want string) {
			t.Helper()
			ctx, gone := context.WithCancel(t.Context())
			defer gone() // a reader leaves while a page is made
			x, err := s.request(p, httptest.NewRequestWithContext(ctx, "GET", address, nil))
			if err != nil {
				t.Fatal(err)
			}
			if v, err := s.front.shown(x); err != nil || v.answer.Title != want {
				t.Errorf("%s: page %s, want %s (%v)", address, v.answer.Title, want, err)
			}
		}
		read("/", "1")
		read("/?vms.page=2", "2") // has HTML of its own
		time.Sleep(presentFor + time.Second)
		read("/", "1") // nothing has changed
		b.Touch()
		slow = 5 * time.Second
		_, next := b.Generation()
		read("/", "1")
		read("/?fleet=vc", "1")
		time.Sleep(slow + time.Second)
		synctest.Wait()
		select {
		case <-next:
		default:
			t.Error("the new page is not announced")
		}
		read("/", "3")
		time.Sleep(presentFor)
		read("/", "3") // it was the announced change
		synctest.Wait()
		b.Touch()
		time.Sleep(frontFor)
		read("/", "4")
	})
}
