// Package keyed draws random numbers as pure functions of a key (the seed, the purpose of the number and its subject,
// such as a job) instead of in a sequence: other draws, or another order of draws, change none of them.
package keyed

import "math/bits"

// Purpose is a use of random numbers, such as run times: drawing more for one never shifts another.
type Purpose uint8

const (
	ForJitter        Purpose = iota + 1 // delay of a retry
	ForArrival                          // times between arrivals
	ForTenant                           // tenant of a job
	ForRunTime                          // run time of an execution
	ForFailure                          // whether an attempt fails
	ForErrorKind                        // error kind of a failure
	ForPoison                           // whether a job is poison
	ForKill                             // whether and when an attempt kills its process
	ForRequestDelay                     // time of a call on its way to the store
	ForResponseDelay                    // time of its answer on the way back
	ForFault                            // whether a call is lost, duplicated or delayed
	ForPolicy                           // draws of a fetch policy
	ForStorm                            // nodes hit by a storm, and its times
	ForChaos                            // tests with random inputs
	ForTick                             // times of the ticks of an engine's timers
	ForStore                            // outcomes that a store applies, leases that it loses, dead jobs that are redriven
)

// Rand draws counter-based random numbers: each is a pure function of the seed, a purpose and a key. Two policies
// compared under one seed therefore see the same job fail at the same delivery, whatever order they run jobs in (common
// random numbers). The generator is Philox2x64-10 (Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1,
// 2, 3, SC'11), checked against the vectors published with Random123.
type Rand struct{ Seed uint64 }

// Uniform returns the number in (0, 1) of the n-th draw of purpose p for the subject (a, b), such as (job, delivery). b
// must be below 2^40.
func (r Rand) Uniform(p Purpose, a, b uint64, n uint16) float64 {
	// 52 bits and a half: one bit more would round to 1.
	return (float64(int64(r.Uint64(p, a, b, n)>>12)) + 0.5) * (1.0 / (1 << 52))
}

// Uint64 returns the 64 uniform bits of the n-th draw of purpose p for the subject (a, b). b must be below 2^40.
func (r Rand) Uint64(p Purpose, a, b uint64, n uint16) uint64 {
	lo, _ := philox2x64(r.Seed, a, b<<24|uint64(n)<<8|uint64(p))
	return lo
}

// weyl is the increment of the Philox key in each round: the golden ratio as a 64-bit fraction.
const weyl = 0x9E3779B97F4A7C15

// philox2x64 returns the 128 random bits for the counter (lo, hi) under a key, by ten rounds of Philox2x64. It is never
// inlined, so that the functions around it are: with the profile a draw takes a tenth fewer instructions.
//
//go:noinline
func philox2x64(key, lo, hi uint64) (uint64, uint64) {
	const twice = 2 * weyl & (1<<64 - 1)
	lo, hi = twoRounds(key, lo, hi)
	lo, hi = twoRounds(key+twice, lo, hi)
	lo, hi = twoRounds(key+2*twice, lo, hi)
	lo, hi = twoRounds(key+3*twice, lo, hi)
	return twoRounds(key+4*twice, lo, hi)
}

func twoRounds(key, lo, hi uint64) (uint64, uint64) {
	const multiplier = 0xD2B74407B1CE6E93
	h, l := bits.Mul64(multiplier, lo)
	high, low := bits.Mul64(multiplier, h^key^hi)
	return high ^ (key + weyl) ^ l, low
}
