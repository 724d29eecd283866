package loopback

import "testing"

func TestHost(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "::ffff:10.0.0.1": false, "192.0.2.1": false, "fe80::1%lo": false, "[::1]": false,
		"localhost.example.com": false, "127.0.0.1.example.com": false, "127.1": false, "2130706433": false, "vc01": false,
	} {
		if got := Host(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}

// TestListen listens and connects here, and opens nothing on an address that others reach.
func TestListen(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := Dial(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	for _, bad := range []string{":0", "0.0.0.0:0"} {
		if l, err := Listen(bad); err == nil {
			_ = l.Close()
			t.Errorf("%s: listens", bad)
		}
	}
	// What a resolver could say of localhost.
	for address, want := range map[string]bool{"127.0.0.1:25": true, "[::1]:25": true, "192.0.2.1:25": false, "[2001:db8::1]:25": false} {
		if err := only("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}
