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

// TestNoText makes every mistake that the YAML library quotes, with a secret at its place: the error has the line, the kind of the mistake, and none of the text.
func TestNoText(t *testing.T) {
	for bad, want := range map[string]string{
		"findings: {webhooks: ['https://hooks.example.com/s3cret']}": "line 1: found a value of another form than its name wants",
		"samples:\n  - s3cret": "line 2: found a value of another form than its name wants",
		"samples: [{url: 'https://a/', authorization: !!int s3cret}]": "found a value of another form than its name wants",
		"samples: [{url: 'https://a/', s3cret: x}]":                   "line 1: found a name that no setting has",
		"samples:\n- {s3cret: 1, s3cret: 2}":                          "line 2: found a name twice",
		"samples: [{url: 'https://a/', labels: s3cret}]":              "line 1: found a value of another form than its name wants",
		"samples: [{authorization: *s3cret}]":                         "found a * before what no & names: quote a value that begins with *",
		"samples:\n- {authorization: \"\\xs3cret\"}":                  "line 2: it is no YAML: quote a value with special characters",
		"samples: [{url: 'https://a/', authorization: !s3cret! x}]":   "it is no YAML",
		"samples: [{url: 'https://a/', authorization: s3cret: x}]":    "it is no YAML",
		"findings: {all: s3cret}":                                     "line 1: found a value of another form than its name wants",
		"s3cret":                                                      "line 1: found a value of another form than its name wants",
	} {
		if _, err := Parse("send.yaml", []byte(bad)); err == nil || strings.Contains(err.Error(), "s3cr") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", bad, err, want)
		}
	}
}
