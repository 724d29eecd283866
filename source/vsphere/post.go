package vsphere

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/vmware/govmomi/vim25/soap"
	govxml "github.com/vmware/govmomi/vim25/xml"
)

// post sends one request to the property collector like the library, over its connection and with
// its cookies, and passes the objects of the answer to each. It returns the token of the next page.
func (r *reader) post(ctx context.Context, body soap.HasFault, response string, each func(*content) error) (token string, err error) {
	b, err := govxml.Marshal(soap.Envelope{Body: body})
	if err != nil {
		return "", err
	}
	err = r.callFor(ctx, maxPage, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.soap.URL().String(), bytes.NewReader(append([]byte(govxml.Header), b...)))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", `text/xml; charset="utf-8"`)
		req.Header.Set("SOAPAction", r.client.Namespace+"/"+r.client.Version)
		return r.soap.Do(ctx, req, func(res *http.Response) error {
			switch res.StatusCode {
			case http.StatusOK, http.StatusInternalServerError: // the latter comes with a fault
			default:
				return errors.New(res.Status)
			}
			token, err = r.answer.read(res.Body, response, each)
			return err
		})
	})
	return token, err
}
