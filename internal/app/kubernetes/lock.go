// SPDX-License-Identifier: MIT

//go:build !js

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ErrTaken is the error of a lease that another drain holds, or has written first.
var ErrTaken = errors.New("another drain holds the lock")

// LeaseName names the lease that one drain at a time holds: two would take each other's cordons over.
const LeaseName = "gapwise-drain"

// errLost is the cause of a drain's end whose lease is another's, or may be soon.
var errLost = errors.New("the lock is lost")

const (
	leaseLasts   = 30 * time.Second // a lease that nobody has renewed for so long is free
	leaseRenewed = leaseLasts / 3
	leaseTried   = 2 * time.Second // after a renewal that failed
)

// lock is a lease that is held.
type lock struct {
	Control
	by    string
	lease coordinationv1.Lease // as the cluster has it
}

// hold takes the lease and renews it until the returned function gives it back. The returned context ends if the lease
// is lost, by the cause errLost. Without the right to leases nothing is held, which is logged.
func hold(ctx context.Context, k Control, by string, log func(string, ...any)) (context.Context, func(), error) {
	l := &lock{Control: k, by: by}
	switch err := l.take(ctx, log); {
	case ctx.Err() != nil:
		return ctx, nil, fmt.Errorf("stopped before anything was done (%w)", ctx.Err())
	case errors.Is(err, ErrTaken):
		return ctx, nil, err
	case errors.Is(err, ErrGone):
		return ctx, nil, fmt.Errorf("the namespace of the lock isn't there: %w", err)
	case err != nil:
		log("no lock: another drain at the same time isn't noticed (%v)", err)
		return ctx, func() {}, nil
	}
	under, lose := context.WithCancelCause(ctx)
	over, done := make(chan struct{}), make(chan struct{})
	calls := context.WithoutCancel(ctx) // a stopped drain opens its nodes under the lease
	go func() {
		defer close(done)
		for renewed, wait := time.Now(), leaseRenewed; ; {
			select {
			case <-over:
				return
			case <-time.After(wait):
			}
			began := time.Now()
			short, stop := context.WithTimeout(calls, leaseRenewed)
			err := l.renew(short)
			stop()
			switch {
			case err == nil:
				renewed, wait = began, leaseRenewed
			case errors.Is(err, ErrTaken), time.Since(renewed) >= leaseLasts-leaseRenewed: // before others may take it
				lose(fmt.Errorf("%w: %w", errLost, err))
				return
			default:
				wait = leaseTried
			}
		}
	}()
	return under, func() {
		close(over)
		<-done
		if !errors.Is(context.Cause(under), errLost) {
			if err := l.give(calls); err != nil {
				log("the lock stays for %v: %v", leaseLasts, err)
			}
		}
		lose(nil)
	}, nil
}

// take creates the lease. One that is there is replaced if it doesn't change for as long as it lasts. No clocks of two
// machines are compared.
func (l *lock) take(ctx context.Context, log func(string, ...any)) error {
	since, version := time.Time{}, ""
	for {
		l.lease = coordinationv1.Lease{}
		l.write()
		err := l.Lease(ctx, "create", &l.lease)
		if !errors.Is(err, ErrTaken) {
			return err
		}
		err = l.Lease(ctx, "get", &l.lease)
		if errors.Is(err, ErrGone) { // given back since
			continue
		}
		if err != nil {
			return err
		}
		holder, lasts := l.holder(), leaseLasts
		if s := l.lease.Spec.LeaseDurationSeconds; s != nil {
			lasts = time.Duration(*s) * time.Second
		}
		switch {
		case since.IsZero():
			since, version = time.Now(), l.lease.ResourceVersion
			log("locked by %s: is it renewed within %v?", holder, lasts)
		case l.lease.ResourceVersion != version:
			return fmt.Errorf("%w: %s; wait for it, or stop it by Ctrl-C or TERM, which open its nodes", ErrTaken, holder)
		case time.Since(since) >= lasts:
			log("take over the lock of %s", holder)
			l.write()
			if err = l.Lease(ctx, "replace", &l.lease); !errors.Is(err, ErrTaken) && !errors.Is(err, ErrGone) {
				return err
			} // others were first
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// write has the lease say that this drain holds it from now on.
func (l *lock) write() {
	now, seconds := metav1.NowMicro(), int32(leaseLasts/time.Second)
	l.lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &l.by, LeaseDurationSeconds: &seconds, AcquireTime: &now,
		RenewTime: &now}
}

func (l *lock) holder() string {
	if l.lease.Spec.HolderIdentity == nil {
		return "nobody"
	}
	return *l.lease.Spec.HolderIdentity
}

// renew renews the lease, and creates one that somebody has deleted. The error is ErrTaken if another drain holds it.
func (l *lock) renew(ctx context.Context) error {
	now := metav1.NowMicro()
	l.lease.Spec.RenewTime = &now
	err := l.Lease(ctx, "replace", &l.lease)
	if errors.Is(err, ErrGone) {
		l.lease.ObjectMeta = metav1.ObjectMeta{}
		err = l.Lease(ctx, "create", &l.lease)
	}
	if errors.Is(err, ErrTaken) {
		return l.look(ctx)
	}
	return err
}

// look reads the lease: a write of its holder's may have been done although its answer was lost.
func (l *lock) look(ctx context.Context) error {
	if err := l.Lease(ctx, "get", &l.lease); err != nil {
		return err
	}
	if l.holder() != l.by {
		return fmt.Errorf("%w: %s", ErrTaken, l.holder())
	}
	return nil
}

// give gives the lease back.
func (l *lock) give(ctx context.Context) error {
	err := l.Lease(ctx, "delete", &l.lease)
	if errors.Is(err, ErrTaken) {
		if err = l.look(ctx); err == nil {
			err = l.Lease(ctx, "delete", &l.lease)
		}
	}
	if errors.Is(err, ErrGone) {
		return nil
	}
	return err
}
