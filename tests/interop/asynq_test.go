package interop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
)

// asynq keeps each queue in a slot of its own.
var asynqQueues = map[string]int{"critical": 6, "default": 3, "low": 1}

func TestAsynq(t *testing.T) {
	onBoth(t, func(t *testing.T, addrs []string) {
		opt := asynq.RedisClusterClientOpt{Addrs: addrs}
		q := &asynqUser{T: t, client: asynq.NewClient(opt), inspector: asynq.NewInspector(opt), runs: map[string][]asynqRun{}}
		t.Cleanup(func() { q.client.Close(); q.inspector.Close() })
		q.refuseDuplicates()
		began := time.Now()
		work, delayed, flaky, hopeless, archived := q.enqueueAll()

		server := asynq.NewServer(opt, asynq.Config{
			Concurrency: 4, Queues: asynqQueues, LogLevel: asynq.FatalLevel,
			TaskCheckInterval: 20 * time.Millisecond, DelayedTaskCheckInterval: 50 * time.Millisecond,
			RetryDelayFunc:   func(int, error, *asynq.Task) time.Duration { return 50 * time.Millisecond },
			GroupGracePeriod: time.Second,
			GroupAggregator:  asynq.GroupAggregatorFunc(joinPayloads),
		})
		if err := server.Start(asynq.HandlerFunc(q.process)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Shutdown)

		for _, info := range work {
			q.waitFor(info, asynq.TaskStateCompleted)
			if got := q.task(info); string(got.Result) != "done: "+string(info.Payload) {
				t.Errorf("the result of %s in %s is %q", info.Payload, info.Queue, got.Result)
			}
			q.ran(info, 1)
		}
		q.waitFor(delayed, asynq.TaskStateCompleted)
		if at := q.ran(delayed, 1)[0].at; at.Sub(began) < time.Second {
			t.Errorf("the delayed task was done after %v", at.Sub(began))
		}
		q.waitFor(flaky, asynq.TaskStateCompleted)
		for i, run := range q.ran(flaky, 3) {
			if run.retried != i {
				t.Errorf("run %d of the flaky task was told %d retries", i, run.retried)
			}
		}
		q.waitFor(hopeless, asynq.TaskStateArchived)
		if got := q.task(hopeless); got.Retried != 1 || got.LastErr != "it cannot be done" {
			t.Errorf("the hopeless task: %d retries, last error %q", got.Retried, got.LastErr)
		}
		q.ran(hopeless, 2)
		q.waitFor(archived, asynq.TaskStateArchived)
		q.ran(archived, 1)
		q.aggregated("abc")
		q.manage(archived)
	})
}

// asynqUser is a program that uses asynq.
type asynqUser struct {
	*testing.T
	client    *asynq.Client
	inspector *asynq.Inspector

	mu   sync.Mutex
	runs map[string][]asynqRun // by task ID
}

type asynqRun struct {
	at      time.Time
	retried int
	payload string
}

func (q *asynqUser) enqueue(kind, payload string, opts ...asynq.Option) *asynq.TaskInfo {
	q.Helper()
	info, err := q.client.EnqueueContext(q.Context(), asynq.NewTask(kind, []byte(payload)), append(opts, asynq.Retention(time.Hour))...)
	if err != nil {
		q.Fatalf("enqueueing %s %s: %v", kind, payload, err)
	}
	return info
}

func (q *asynqUser) refuseDuplicates() {
	task := asynq.NewTask("work", []byte("unique"))
	for i, want := range []error{nil, asynq.ErrDuplicateTask} {
		if _, err := q.client.Enqueue(task, asynq.Unique(time.Minute), asynq.Queue("low")); !errors.Is(err, want) {
			q.Errorf("enqueueing a unique task, %d: %v, want %v", i, err, want)
		}
	}
	for i, want := range []error{nil, asynq.ErrTaskIDConflict} {
		if _, err := q.client.Enqueue(task, asynq.TaskID("the one"), asynq.Queue("low")); !errors.Is(err, want) {
			q.Errorf("enqueueing a task with an ID, %d: %v, want %v", i, err, want)
		}
	}
}

func (q *asynqUser) enqueueAll() (work []*asynq.TaskInfo, delayed, flaky, hopeless, archived *asynq.TaskInfo) {
	for queue := range asynqQueues {
		for i := range 10 {
			work = append(work, q.enqueue("work", fmt.Sprint(i), asynq.Queue(queue)))
		}
	}
	// asynq counts in whole seconds: this is one to two seconds.
	delayed = q.enqueue("work", "later", asynq.ProcessIn(2*time.Second), asynq.Queue("critical"))
	if delayed.State != asynq.TaskStateScheduled {
		q.Errorf("the delayed task is %v", delayed.State)
	}
	flaky = q.enqueue("flaky", "", asynq.MaxRetry(5), asynq.Queue("low"))
	hopeless = q.enqueue("hopeless", "", asynq.MaxRetry(1))
	archived = q.enqueue("skip", "", asynq.MaxRetry(5))
	for _, part := range []string{"a", "b", "c"} {
		q.enqueue("part", part, asynq.Group("parts"), asynq.Queue("critical"))
	}
	for queue, want := range map[string]asynq.QueueInfo{
		"critical": {Size: 14, Pending: 10, Scheduled: 1, Aggregating: 3, Groups: 1},
		"default":  {Size: 12, Pending: 12},
		"low":      {Size: 13, Pending: 13},
	} {
		got, err := q.inspector.GetQueueInfo(queue)
		if err != nil {
			q.Fatal(err)
		}
		got = &asynq.QueueInfo{Size: got.Size, Pending: got.Pending, Scheduled: got.Scheduled, Aggregating: got.Aggregating, Groups: got.Groups}
		if *got != want {
			q.Errorf("queue %s: %+v, want %+v", queue, *got, want)
		}
	}
	return work, delayed, flaky, hopeless, archived
}

// process is the server's handler.
func (q *asynqUser) process(ctx context.Context, task *asynq.Task) error {
	id, _ := asynq.GetTaskID(ctx)
	retried, _ := asynq.GetRetryCount(ctx)
	q.mu.Lock()
	if task.Type() == "joined" {
		id = "joined"
	}
	q.runs[id] = append(q.runs[id], asynqRun{time.Now(), retried, string(task.Payload())})
	q.mu.Unlock()
	switch task.Type() {
	case "flaky":
		if retried < 2 {
			return errors.New("not yet")
		}
	case "hopeless":
		return errors.New("it cannot be done")
	case "skip":
		return fmt.Errorf("no use: %w", asynq.SkipRetry)
	}
	_, err := task.ResultWriter().Write(fmt.Appendf(nil, "done: %s", task.Payload()))
	return err
}

func (q *asynqUser) task(info *asynq.TaskInfo) *asynq.TaskInfo {
	q.Helper()
	got, err := q.inspector.GetTaskInfo(info.Queue, info.ID)
	if err != nil {
		q.Fatalf("the %s task of %s: %v", info.Type, info.Queue, err)
	}
	return got
}

// waitFor waits until a task is in a state.
func (q *asynqUser) waitFor(info *asynq.TaskInfo, state asynq.TaskState) {
	q.Helper()
	q.until(func() error {
		if got := q.task(info); got.State != state {
			return fmt.Errorf("the %s task %q of %s is %v, want %v", info.Type, info.Payload, info.Queue, got.State, state)
		}
		return nil
	})
}

func (q *asynqUser) until(check func() error) {
	q.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			q.Fatal(err)
		}
	}
}

// ran checks how often a task was run.
func (q *asynqUser) ran(info *asynq.TaskInfo, times int) []asynqRun {
	q.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	runs := q.runs[info.ID]
	if len(runs) != times {
		q.Fatalf("the %s task %q of %s ran %d times, want %d", info.Type, info.Payload, info.Queue, len(runs), times)
	}
	return runs
}

// joinPayloads makes one task of a group's.
func joinPayloads(_ string, tasks []*asynq.Task) *asynq.Task {
	var parts []byte
	for _, task := range tasks {
		parts = append(parts, task.Payload()...)
	}
	slices.Sort(parts)
	return asynq.NewTask("joined", parts)
}

// aggregated waits for the task that a group was made into.
func (q *asynqUser) aggregated(payload string) {
	q.Helper()
	q.until(func() error {
		q.mu.Lock()
		defer q.mu.Unlock()
		if runs := q.runs["joined"]; len(runs) != 1 || runs[0].payload != payload {
			return fmt.Errorf("the group's tasks: %+v", runs)
		}
		return nil
	})
}

// manage does what an operator does, at queues that are at rest.
func (q *asynqUser) manage(archived *asynq.TaskInfo) {
	check := func(err error) {
		q.Helper()
		if err != nil {
			q.Fatal(err)
		}
	}
	queues, err := q.inspector.Queues()
	check(err)
	if slices.Sort(queues); !slices.Equal(queues, []string{"critical", "default", "low"}) {
		q.Errorf("queues: %q", queues)
	}
	owners := map[string]bool{}
	for _, queue := range queues {
		nodes, err := q.inspector.ClusterNodes(queue)
		check(err)
		for _, node := range nodes {
			owners[node.Addr] = true
		}
	}
	if len(owners) < 2 {
		q.Errorf("the queues are on %v", owners)
	}

	check(q.inspector.RunTask(archived.Queue, archived.ID))
	q.until(func() error {
		q.mu.Lock()
		defer q.mu.Unlock()
		if n := len(q.runs[archived.ID]); n != 2 {
			return fmt.Errorf("the archived task ran %d times, want a second time", n)
		}
		return nil
	})
	q.waitFor(archived, asynq.TaskStateArchived)
	check(q.inspector.DeleteTask(archived.Queue, archived.ID))
	if _, err := q.inspector.GetTaskInfo(archived.Queue, archived.ID); !errors.Is(err, asynq.ErrTaskNotFound) {
		q.Errorf("the deleted task: %v", err)
	}

	check(q.inspector.PauseQueue("low"))
	paused := q.enqueue("work", "paused", asynq.Queue("low"))
	check(q.inspector.ArchiveTask("low", paused.ID))
	if got := q.task(paused); got.State != asynq.TaskStateArchived {
		q.Errorf("the task archived by hand is %v", got.State)
	}
	check(q.inspector.UnpauseQueue("low"))
	q.ran(paused, 0)
	if err := q.inspector.DeleteQueue("low", false); !errors.Is(err, asynq.ErrQueueNotEmpty) {
		q.Errorf("deleting a queue with tasks: %v", err)
	}
	check(q.inspector.DeleteQueue("low", true))
	queues, err = q.inspector.Queues()
	check(err)
	if slices.Sort(queues); !slices.Equal(queues, []string{"critical", "default"}) {
		q.Errorf("queues after one was deleted: %q", queues)
	}
}
