//go:build !lockorder

package lock

import "sync"

// Mutex is a sync.Mutex with a place in the order.
type Mutex[P Place] = sync.Mutex
