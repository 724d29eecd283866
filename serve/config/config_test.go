package config

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	c, err := Parse("send.yaml", []byte("findings: {webhooks: [{url: 'https://hooks.example.com/x'}]}\nsamples: [{url: 'http://127.0.0.1:9090/api/v1/write', labels: {collector: a}}]\n"))
	if err != nil || c.Findings == nil || len(c.Samples) != 1 || c.Samples[0].Name != "127.0.0.1:9090" {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, bad := range []string{"", "{}", "findings: {}", "samples: [{url: 'x'}]", "other: 1", "samples: [{url: 'http://a/'}, {url: 'http://a/b'}]", "samples: [{url: 'http://a/', labels: {'1x': y}}]",
		"samples: [{url: 'http://a/', labels: {host: y}}]", "samples: [{url: 'http://a/s3cret', name: '../x'}]", "findings: {webhooks: [{url: 's3cret'}]}", "findings: [s3cret", "samples: [{authorization: *s3cret}]"} {
		if _, err := Parse("send.yaml", []byte(bad)); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
