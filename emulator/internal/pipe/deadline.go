package pipe

import (
	"sync"
	"time"
)

// deadline is the time at which waiting on a condition must end. The lock of
// the condition guards it.
//
// Clients move their deadlines with every command and rarely reach one, so
// setting a deadline touches no timer. Only a wait does, and a timer that rings
// before the deadline, because that has moved since, is set again by the wait
// it interrupted.
type deadline struct {
	at    time.Time // zero: none
	wakes *sync.Cond
	timer *time.Timer
	rings time.Time // when timer does; zero: it does not
}

func (d *deadline) set(t time.Time) {
	d.at = t
	d.wakes.Broadcast()
}

func (d *deadline) passed() bool {
	return !d.at.IsZero() && !time.Now().Before(d.at)
}

// wait waits for the condition and sees to it that it is woken at the deadline,
// or earlier.
func (d *deadline) wait() {
	if !d.at.IsZero() && (d.rings.IsZero() || d.at.Before(d.rings)) {
		d.rings = d.at
		if d.timer == nil {
			d.timer = time.AfterFunc(time.Until(d.at), d.ring)
		} else {
			d.timer.Reset(time.Until(d.at))
		}
	}
	d.wakes.Wait()
}

func (d *deadline) ring() {
	d.wakes.L.Lock()
	defer d.wakes.L.Unlock()
	d.rings = time.Time{}
	d.wakes.Broadcast()
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.rings = time.Time{}
	}
}
