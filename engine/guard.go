package engine

// Guard is what an outcome must match to take effect.
type Guard uint8

const (
	GuardStore Guard = iota // what StoreOptions.Fence says
	GuardToken              // as FenceToken
	GuardState              // as FenceState
	GuardNone               // as FenceNone
)

// Fence is the fence that g stands for in a store whose own is usual.
func (g Guard) Fence(usual Fence) Fence {
	if g == GuardStore {
		return usual
	}
	return Fence(g - GuardToken)
}

// Stand is where a job stands that an outcome makes ready at once.
type Stand uint8

const (
	StandAsUsual Stand = iota // by StoreOptions.Place, as if it had become due now
	StandHead                 // as PlaceHead says, in a store of any place: before whatever was not put there
	StandDue                  // by when it was last due: where it stood before it was claimed
	StandTail                 // behind whatever is ready
	StandCreated              // by enqueue time
)
