package site

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/cdproto/emulation"

	"homenode/internal/browser"
)

func TestShots(t *testing.T) {
	b := browser.Open(t, "about:blank")
	for _, line := range strings.Split(strings.TrimSpace(os.Getenv("SHOTS")), "\n") {
		f := strings.Fields(line) // url out width height scheme
		w, _ := strconv.ParseInt(f[2], 10, 64)
		h, _ := strconv.ParseInt(f[3], 10, 64)
		b.Do(t, chromedp.EmulateViewport(w, h))
		if _, err := chromedp.Call(b.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: f[4]}}}); err != nil {
			t.Fatal(err)
		}
		b.Go(t, f[0])
		time.Sleep(1500 * time.Millisecond)
		png, err := chromedp.Run(b.Context, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(f[1], png, 0o644)
	}
	t.Log(b.Complaints())
}
