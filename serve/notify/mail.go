package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"homenode/internal/bounded"
	"homenode/internal/loopback"
	"homenode/internal/texttab"
	"homenode/internal/words"
	"homenode/serve/board"
	"homenode/serve/post"
)

// A Mail goes to a server by SMTP.
type Mail struct {
	Server   string   `yaml:"server"` // host:port
	CA       string   `yaml:"ca"`     // file of certificates that the server may be signed by; empty is those of the system
	TLS      string   `yaml:"tls"`    // starttls, tls (from the beginning), or none: only on this machine
	From     string   `yaml:"from"`
	To       []string `yaml:"to"`
	User     string   `yaml:"user"`
	Password string   `yaml:"password"`

	page  string
	host  string
	roots *x509.CertPool
}

func (m *Mail) check() (err error) {
	if m.host, _, err = net.SplitHostPort(m.Server); err != nil {
		return fmt.Errorf("server: found %q, want host:port", m.Server)
	}
	switch m.TLS {
	case "":
		m.TLS = "starttls"
	case "starttls", "tls":
	case "none":
		if !loopback.Host(m.host) {
			return errors.New("tls: none is for a server on this machine: names and passwords would be readable on the way")
		}
	default:
		return fmt.Errorf("tls: found %q, want starttls, tls or none", m.TLS)
	}
	if m.roots, err = bounded.Certificates(m.CA); err != nil {
		return fmt.Errorf("ca: %w", err)
	}
	if len(m.To) == 0 {
		return errors.New("to: found no address")
	}
	for _, a := range append([]string{m.From}, m.To...) {
		if x, err := mail.ParseAddress(a); err != nil || x.Address != a {
			return fmt.Errorf("found %q, want an address such as numa@example.com", a)
		}
	}
	return nil
}

func (m *Mail) name() string { return "mail " + m.Server }

// body makes the message with its headers.
func (m *Mail) body(vcenter string, alarms []board.Alarm, now time.Time) []byte {
	begun := 0
	for i := range alarms {
		if alarms[i].End.IsZero() {
			begun++
		}
	}
	var what []string
	if begun > 0 {
		what = append(what, words.Plural(begun, "finding"))
	}
	if ended := len(alarms) - begun; ended > 0 {
		what = append(what, fmt.Sprintf("%d over", ended))
	}
	first := &alarms[0].Finding
	title := texttab.Line(fmt.Sprintf("homenode: %s: %s, %s %s", vcenter, strings.Join(what, ", "), first.Rule, subject(first)))
	var b bytes.Buffer
	head := func(name, value string) { fmt.Fprintf(&b, "%s: %s\r\n", name, value) }
	head("From", m.From)
	head("To", strings.Join(m.To, ", "))
	head("Subject", mime.QEncoding.Encode("utf-8", title))
	head("Date", now.Format(time.RFC1123Z))
	head("Message-ID", fmt.Sprintf("<%d.homenode@%s>", now.UnixNano(), m.From[strings.LastIndexByte(m.From, '@')+1:]))
	head("MIME-Version", "1.0")
	head("Content-Type", "text/plain; charset=utf-8")
	head("Content-Transfer-Encoding", "quoted-printable")
	b.WriteString("\r\n")
	q := quotedprintable.NewWriter(&b)
	for i := range alarms {
		a, f := &alarms[i], &alarms[i].Finding
		state := "since " + a.Begin.UTC().Format("2006-01-02 15:04:05 UTC")
		if !a.End.IsZero() {
			state = "over: " + a.Begin.UTC().Format("2006-01-02 15:04:05") + " to " + a.End.UTC().Format("2006-01-02 15:04:05 UTC")
		}
		for _, line := range []string{strings.ToUpper(f.Severity.String()) + " " + f.Rule + " " + subject(f), state, f.Message, f.Advice} {
			if line != "" {
				fmt.Fprintf(q, "%s\r\n", texttab.Line(line)) // to memory: no error
			}
		}
		fmt.Fprint(q, "\r\n")
	}
	fmt.Fprintf(q, "%s\r\n", m.page)
	_ = q.Close()
	return b.Bytes()
}

func (m *Mail) send(ctx context.Context, vcenter string, alarms []board.Alarm) (err error) {
	conn, err := loopback.Dial(ctx, "tcp", m.Server)
	if err != nil {
		return err
	}
	defer conn.Close()
	if until, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(until); err != nil {
			return err
		}
	}
	config := &tls.Config{ServerName: m.host, RootCAs: m.roots}
	if m.TLS == "tls" {
		conn = tls.Client(conn, config)
	}
	c, err := smtp.NewClient(conn, m.host)
	if err != nil {
		return err
	}
	defer c.Close()
	if m.TLS == "starttls" {
		if err := c.StartTLS(config); err != nil {
			return err
		}
	}
	if m.User != "" {
		if err := c.Auth(smtp.PlainAuth("", m.User, m.Password, m.host)); err != nil {
			return fmt.Errorf("%w: %w", errLogin, err)
		}
	}
	if err := c.Mail(m.From); err != nil {
		return permanent(err)
	}
	var refused []string
	for _, to := range m.To {
		if err := permanent(c.Rcpt(to)); errors.Is(err, post.ErrRefused) && len(refused)+1 < len(m.To) {
			refused = append(refused, to)
		} else if err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return permanent(err)
	}
	if _, err := w.Write(m.body(vcenter, alarms, time.Now())); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return permanent(err)
	}
	_ = c.Quit() // it is delivered
	if len(refused) > 0 {
		return fmt.Errorf("%w by %s", errPartly, strings.Join(refused, ", "))
	}
	return nil
}

// permanent marks what the server would refuse later too.
func permanent(err error) error {
	if e, ok := errors.AsType[*textproto.Error](err); ok && e.Code >= 500 {
		return fmt.Errorf("%w: %w", post.ErrRefused, err)
	}
	return err
}
