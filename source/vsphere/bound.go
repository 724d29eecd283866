package vsphere

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Limits of a server's answers, unpacked, during one call. A login or the content of the service
// has some 10 KB; the custom attributes of labelsPage VMs with 30 attributes each 2 MB; a page of
// VMs 2 MB, and it is parsed object by object. The library uses up to 16 times the bytes of an answer as memory.
const (
	maxAnswer = 1 << 20
	maxLabels = 16 << 20
	maxPage   = 256 << 20
)

// A slowError reports that the whole read took too long, although each call ended in time.
type slowError struct{ limit time.Duration }

func (e slowError) Error() string {
	return fmt.Sprintf("the read as a whole takes longer than %v", e.limit)
}

// within bounds the duration of the whole read.
func (r *reader) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, r.opts.ReadTimeout, slowError{r.opts.ReadTimeout})
}

// A budget is the number of bytes that a call may still receive. The library may send several
// requests in one call, one after the other.
type budget struct{ most, left int64 }

type budgetKey struct{}

// A boundedTransport keeps answers within the budget of their call.
type boundedTransport struct{ *http.Transport }

func (t boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.Transport.RoundTrip(req)
	if err == nil {
		if b, ok := req.Context().Value(budgetKey{}).(*budget); ok {
			res.Body = &boundedBody{res.Body, b}
		}
	}
	return res, err
}

type boundedBody struct {
	io.ReadCloser
	*budget
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("found more than %d MB in one answer", b.most>>20)
	}
	return n, err
}

// mostObjects bounds the objects in the answers to a query: a view is live, so objects created
// during a read may be included.
func mostObjects(announced int) int { return 2*announced + 1000 }

// mostReserved is the largest capacity allocated at once, whatever the view announces: append alone
// would copy the 1 KB of each of 10,000 VMs four times.
const mostReserved = 10_000

// mostPages bounds the answers: a server may send fewer objects at a time than requested, but rarely none.
func mostPages(announced int) int { return announced + 10 }
