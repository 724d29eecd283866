package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The names on the server. Someone may have created the streams before, with replicas or
// limits of their own: what is there is used as it is.
const (
	workStream   = "HOMENODE_WORK"
	resultStream = "HOMENODE_RESULTS"
	workConsumer = "homenode-work"
)

// keep is how long the queue holds what is not asked for again. Whoever still waits puts
// tasks that are gone there again.
const keep = 7 * 24 * time.Hour

// defaultAckWait is how long after its last sign of life a worker counts as dead and its
// task goes to another one.
const defaultAckWait = 30 * time.Second

// A Client is a connection to a queue.
type Client struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	work    jetstream.Stream
	results jetstream.Stream
	tasks   jetstream.Consumer // of work: every worker takes from it
	ackWait time.Duration      // of tasks
	secret  []byte             // that the keys of runs are made of
	piece   int                // most bytes of a result in one message
	log     func(string)
}

// open finds or creates the streams.
func open(ctx context.Context, nc *nats.Conn, ackWait time.Duration, log func(string)) (*Client, error) {
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncTimeout(10*time.Second))
	if err != nil {
		return nil, err
	}
	// Half of what the server takes leaves room for headers.
	c := &Client{nc: nc, js: js, log: log, ackWait: ackWait, piece: int(min(nc.MaxPayload()/2, 512<<10))}
	err = c.insist(ctx, "open", func() error {
		c.work, c.results, c.tasks, err = c.prepare(ctx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	c.ackWait = c.tasks.CachedInfo().Config.AckWait
	return c, nil
}

// prepare finds or creates the streams and the consumer.
func (c *Client) prepare(ctx context.Context) (work, results jetstream.Stream, tasks jetstream.Consumer, err error) {
	if work, err = c.stream(ctx, jetstream.StreamConfig{
		Name:        workStream,
		Description: "homenode: tasks that are not done",
		Subjects:    []string{"homenode.work.*.*"},
		Retention:   jetstream.WorkQueuePolicy,
		// A task that is there is not taken again, however late: that is what message
		// IDs do for a window of time only.
		Discard:              jetstream.DiscardNew,
		DiscardNewPerSubject: true,
		MaxMsgsPerSubject:    1,
		MaxAge:               keep,
		AllowDirect:          true,
	}); err != nil {
		return nil, nil, nil, err
	}
	if results, err = c.stream(ctx, jetstream.StreamConfig{
		Name:              resultStream,
		Description:       "homenode: results of tasks",
		Subjects:          []string{"homenode.done.*.*", "homenode.part.*.*.*.*", "homenode.back.*.*"},
		MaxMsgsPerSubject: 1, // the last one
		MaxAge:            keep,
		AllowDirect:       true,
	}); err != nil {
		return nil, nil, nil, err
	}
	tasks, err = work.Consumer(ctx, workConsumer)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		tasks, err = work.CreateConsumer(ctx, jetstream.ConsumerConfig{
			Durable:       workConsumer,
			AckPolicy:     jetstream.AckExplicitPolicy,
			AckWait:       c.ackWait,
			MaxDeliver:    -1, // workers count: they tell a crash from a task given back
			MaxAckPending: -1,
		})
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("consumer %s: %w", workConsumer, err)
	}
	return work, results, tasks, nil
}

func (c *Client) stream(ctx context.Context, config jetstream.StreamConfig) (jetstream.Stream, error) {
	s, err := c.js.Stream(ctx, config.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = c.js.CreateStream(ctx, config)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // someone else was faster
			s, err = c.js.Stream(ctx, config.Name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", config.Name, err)
	}
	return s, nil
}

// runKey returns the key of a run. It is the same when a run is taken up again. Only those know it
// who have a task of the run, or the token or credentials of those who collect.
func (c *Client) runKey(run string) []byte { return mac(c.secret, "homenode run "+run) }

// Close ends the connection.
func (c *Client) Close() { c.nc.Close() }

// say tells whoever runs this what happens.
func (c *Client) say(format string, args ...any) {
	if c.log != nil {
		c.log(fmt.Sprintf(format, args...))
	}
}

// insist does what f does until it succeeds, ctx ends, or the server refuses: a queue
// that is away comes back, and one that came back without its streams gets them again.
func (c *Client) insist(ctx context.Context, what string, f func() error) error {
	wait := 50 * time.Millisecond
	for {
		err := f()
		if err == nil || !away(err) {
			return err
		}
		if wait > time.Second {
			c.say("the queue %s: waiting until it does (%s: %v)", wanted(err), what, err)
		}
		if wait > 200*time.Millisecond {
			// What the Client holds are names: they stay. f tells how it went.
			_, _, _, _ = c.prepare(ctx)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait = min(2*wait, 10*time.Second)
	}
}

// wanted says what the queue does not do: one that is full answers.
func wanted(err error) string {
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) {
		return "does not take what it is sent"
	}
	return "does not answer"
}

// away reports whether an error says that the queue cannot be reached, is starting, or has
// lost its streams.
func away(err error) bool {
	for _, e := range []error{
		jetstream.ErrStreamNotFound, jetstream.ErrConsumerNotFound, jetstream.ErrConsumerDeleted,
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected,
		nats.ErrConnectionReconnecting, jetstream.ErrNoStreamResponse, nats.ErrReconnectBufExceeded, jetstream.ErrAsyncPublishTimeout,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && api.Code == 503
}
