// Package request measures remote procedure calls and HTTP over loopback: the steps that need a client and a server of Go's library, which a small program leaves out.
package request

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/rpc"
	"time"

	"example.org/homenode/measure/guest/steps"
)

// Steps returns the steps, the fastest first.
func Steps() []steps.Step {
	return []steps.Step{
		{Name: "rpc", About: "a call with 16 bytes and its answer over loopback, Go's net/rpc (gob)", Measure: netRPC},
		{Name: "http", About: "GET and its answer of 2 bytes over loopback, HTTP/1.1 with the connection kept", Measure: http1},
		{Name: "rpc-like", About: "POST with the framing of gRPC over loopback, HTTP/2 without TLS: no gRPC library", Measure: http2},
	}
}

// Echo is the service of net/rpc.
type Echo struct{}

// Same returns its argument.
func (Echo) Same(in [16]byte, out *[16]byte) error {
	*out = in
	return nil
}

// netRPC calls a procedure with 16 bytes.
func netRPC(ctx context.Context, o *steps.Options) (_ []float64, err error) {
	server := rpc.NewServer()
	if err := server.Register(Echo{}); err != nil {
		return nil, err
	}
	here, there, err := pair()
	if err != nil {
		return nil, err
	}
	go server.ServeConn(there)
	client := rpc.NewClient(here)
	defer func() { err = errors.Join(err, client.Close()) }()
	var in, out [16]byte
	return steps.Loop(ctx, o, func() error { return client.Call("Echo.Same", in, &out) })
}

// pair returns two connected ends on loopback.
func pair() (here, there net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	if here, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	if there, err = l.Accept(); err != nil {
		return nil, nil, errors.Join(err, here.Close())
	}
	return here, there, nil
}

// http1 requests a response of 2 bytes over a persistent connection.
func http1(ctx context.Context, o *steps.Options) ([]float64, error) {
	return requests(ctx, o, false, nil, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
}

// http2 posts a message framed as in gRPC: a byte, the length in 4 bytes, the message; the status is a trailer.
func http2(ctx context.Context, o *steps.Options) ([]float64, error) {
	message := make([]byte, 5+16)
	binary.BigEndian.PutUint32(message[1:], 16)
	return requests(ctx, o, true, message, func(w http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(io.LimitReader(r.Body, 64<<10))
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Trailer", "Grpc-Status")
		_, _ = w.Write(got)
		w.Header().Set("Grpc-Status", "0")
	})
}

// requests sends one request after another to a server on loopback.
func requests(ctx context.Context, o *steps.Options, second bool, message []byte, handle http.HandlerFunc) (_ []float64, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	var protocols http.Protocols
	protocols.SetHTTP1(!second)
	protocols.SetUnencryptedHTTP2(second)
	server := &http.Server{Handler: handle, Protocols: &protocols, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	transport := &http.Transport{Protocols: &protocols}
	defer func() {
		transport.CloseIdleConnections()
		err = errors.Join(err, server.Close())
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
	}()
	method := http.MethodGet
	if message != nil {
		method = http.MethodPost
	}
	client := &http.Client{Transport: transport}
	return steps.Loop(ctx, o, func() error {
		// The deadline of ctx would need a timer for each request, and would interrupt one.
		r, err := http.NewRequestWithContext(context.WithoutCancel(ctx), method, "http://"+l.Addr().String(), bytes.NewReader(message))
		if err != nil {
			return err
		}
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return errors.Join(err, answer.Body.Close())
	})
}
