package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"

	"golang.org/x/crypto/argon2"
)

// Of new hashes: the second recommendation of OWASP's cheat sheet of password storage, argon2id with 19 MiB and two passes.
const (
	hashTime    = 2
	hashMemory  = 19 << 10 // KiB
	hashThreads = 1
	hashSalt    = 16
	hashKey     = 32
)

// Of passwords.
const (
	PasswordLeast = 12   // bytes
	passwordMost  = 1024 // bytes; argon2 takes any
)

// verifyAtOnce is how many passwords are verified at a time: each takes 19 MiB and some 60 ms of a processor.
const verifyAtOnce = 2

// A passwordHash is a parsed hash.
type passwordHash struct {
	time, memory uint32
	threads      uint8
	salt, key    []byte
}

// HashPassword returns what the file keeps of a password, in the PHC string format.
func HashPassword(password string) (string, error) {
	if len(password) < PasswordLeast || len(password) > passwordMost {
		return "", fmt.Errorf("want a password of %d to %d bytes", PasswordLeast, passwordMost)
	}
	salt := make([]byte, hashSalt)
	_, _ = rand.Read(salt) // never fails
	h := passwordHash{hashTime, hashMemory, hashThreads, salt, nil}
	return h.format(h.of(password, hashKey)), nil
}

func (h *passwordHash) of(password string, size int) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.threads, uint32(size))
}

func (h *passwordHash) format(key []byte) string {
	e := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.time, h.threads, e(h.salt), e(key))
}

// parseHash reads a hash; its error does not repeat it.
func parseHash(s string) (h passwordHash, err error) {
	var version int
	var salt, key string
	bad := errors.New("want argon2id, as homenode serve password writes it")
	if n, _ := fmt.Sscanf(fields(s), "argon2id v=%d m=%d,t=%d,p=%d %s %s", &version, &h.memory, &h.time, &h.threads, &salt, &key); n != 6 || version != argon2.Version {
		return h, bad
	}
	var errSalt, errKey error
	h.salt, errSalt = base64.RawStdEncoding.DecodeString(salt)
	h.key, errKey = base64.RawStdEncoding.DecodeString(key)
	if errSalt != nil || errKey != nil || h.format(h.key) != s {
		return h, bad
	}
	if h.memory < hashMemory || h.memory > 256<<10 || h.time < 1 || h.time > 16 || h.threads < 1 || h.threads > 16 || len(h.salt) < hashSalt || len(h.key) < hashKey || len(h.key) > 64 {
		return h, errors.New("want m from 19456 to 262144, t from 1 to 16, p from 1 to 16, a salt of 16 bytes and a key of 32")
	}
	return h, nil
}

// fields puts blanks where a PHC string has dollars.
func fields(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] == '$' {
			b[i] = ' '
		}
	}
	if len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	return string(b)
}

// noUser is verified where there is no user of a name, so that the answer takes as long.
var noUser = passwordHash{hashTime, hashMemory, hashThreads, make([]byte, hashSalt), make([]byte, hashKey)}

// verify reports whether a password is that of a user; the user may be nil. It waits for its turn.
func (g *Gate) verify(ctx context.Context, u *Local, password string) (bool, error) {
	select {
	case g.verifying <- struct{}{}:
		defer func() { <-g.verifying }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	h := &noUser
	if u != nil {
		h = &u.hash
	}
	same := subtle.ConstantTimeCompare(h.of(password, len(h.key)), h.key) == 1
	return same && u != nil, nil
}

// NewToken returns a secret for a program or an operator, and what the file keeps of it.
func NewToken() (token, sum string) {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	token = base64.RawURLEncoding.EncodeToString(b)
	return token, sumOf(token)
}

// sumOf returns what is kept of a token. It is random, so no slow hash is needed.
func sumOf(token string) string {
	s := sha256.Sum256([]byte(token))
	return hex.EncodeToString(s[:])
}

func isSHA256(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}
