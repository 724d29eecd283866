package access

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// certificateEvery is how often the files of a certificate are looked at, at the most.
const certificateEvery = 10 * time.Second

// A Certificate is that of the server. It is read again when its files change; while they cannot be read, the one before stays.
type Certificate struct {
	Cert, Key string      // files in PEM form
	Warn      func(error) // is told that they cannot be read

	mu      sync.Mutex
	now     *tls.Certificate
	looked  time.Time
	changed [2]time.Time // when the files were, at the last reading
}

// Get returns the certificate, as tls.Config asks for it.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != nil && time.Since(c.looked) < certificateEvery {
		return c.now, nil
	}
	c.looked = time.Now()
	changed, err := c.stat()
	if err == nil && c.now != nil && changed == c.changed {
		return c.now, nil
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(c.Cert, c.Key)
	}
	if err == nil {
		c.now, c.changed = &pair, changed
		return c.now, nil
	}
	if c.now == nil {
		return nil, err
	}
	if c.Warn != nil {
		c.Warn(fmt.Errorf("the certificate of before stays: %w", err))
	}
	return c.now, nil
}

// stat returns when the files changed. The key is for its owner alone.
func (c *Certificate) stat() (at [2]time.Time, err error) {
	for i, path := range []string{c.Cert, c.Key} {
		info, err := os.Stat(path)
		if err != nil {
			return at, err
		}
		if i == 1 && info.Mode().Perm()&0o007 != 0 && os.PathSeparator == '/' { // a group may be that of certificates
			return at, fmt.Errorf("%s: everybody may read it (mode %04o): chmod 640 it", path, info.Mode().Perm())
		}
		at[i] = info.ModTime()
	}
	return at, nil
}
