package access

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"

	"example.org/homenode/internal/bounded"
)

// certificateEvery is the least time between two checks of the certificate files.
const certificateEvery = 10 * time.Second

// A Certificate is the server's certificate. It is reloaded when its files change; while they cannot be read, the previous one
// remains in use.
type Certificate struct {
	Cert, Key string      // PEM files
	Warn      func(error) // is called when they cannot be read, or the certificate has expired

	mu      sync.Mutex
	now     *tls.Certificate
	looked  time.Time
	changed [2]time.Time // modification times at the last reading
}

// Get returns the certificate; it is a GetCertificate function of tls.Config.
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
		pair, err = c.load()
	}
	if err == nil {
		c.now, c.changed = &pair, changed
		if end := pair.Leaf.NotAfter; c.Warn != nil && end.Before(c.looked) {
			c.Warn(fmt.Errorf("%s: the certificate expired on %s, and clients refuse it", c.Cert, end.UTC().Format(time.DateOnly)))
		}
		return c.now, nil
	}
	if c.now == nil {
		return nil, err
	}
	if c.Warn != nil {
		c.Warn(fmt.Errorf("the previous certificate remains in use: %w", err))
	}
	return c.now, nil
}

// load reads the certificate with its key.
func (c *Certificate) load() (pair tls.Certificate, err error) {
	cert, err := bounded.File(c.Cert, bounded.List)
	if err != nil {
		return pair, err
	}
	key, err := bounded.File(c.Key, bounded.List)
	if err != nil {
		return pair, err
	}
	return tls.X509KeyPair(cert, key)
}

// stat returns the modification times. Only the owner and group may read the key.
func (c *Certificate) stat() (at [2]time.Time, err error) {
	for i, path := range []string{c.Cert, c.Key} {
		info, err := os.Stat(path)
		if err != nil {
			return at, err
		}
		if i == 1 && info.Mode().Perm()&0o007 != 0 && os.PathSeparator == '/' { // the group may be one for certificates
			return at, fmt.Errorf("%s: it is readable by everybody (mode %04o): chmod 640 it", path, info.Mode().Perm())
		}
		at[i] = info.ModTime()
	}
	return at, nil
}
