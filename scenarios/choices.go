package scenarios

import "qsim/engine/quantity"

// Words that a key may have for its value. Each type lists its own below.
type (
	Fence        string // token, state, none
	Place        string // due, tail, head, created
	LateClaim    string // return, run, ignore
	GiveUp       string // requeue, drop
	Counts       string // failure, nothing
	Owner        string // every, leader
	PromoteOrder string // oldest, newest
	RetryCount   string // claim, failure
	Expect       string // met, missed
	Ack          string // late, early
	Waiting      string // store, held
	LeaseOf      string // job, node
	NodeNames    string // new, kept
	LeaseCheck   string // store, local
	After        string // retry, ready, dead
	ReaperFinds  string // in-flight, lease
	ReaperPlace  string // retry: as every retry stands; due, tail, head, created
)

// UnmarshalText reads one of the words of Fence.
func (v *Fence) UnmarshalText(text []byte) error { return choose(v, text) }

func (Fence) words() []string { return []string{"token", "state", "none"} }

// UnmarshalText reads one of the words of Place.
func (v *Place) UnmarshalText(text []byte) error { return choose(v, text) }

func (Place) words() []string { return []string{"due", "tail", "head", "created"} }

// UnmarshalText reads one of the words of LateClaim.
func (v *LateClaim) UnmarshalText(text []byte) error { return choose(v, text) }

func (LateClaim) words() []string { return []string{"return", "run", "ignore"} }

// UnmarshalText reads one of the words of GiveUp.
func (v *GiveUp) UnmarshalText(text []byte) error { return choose(v, text) }

func (GiveUp) words() []string { return []string{"requeue", "drop"} }

// UnmarshalText reads one of the words of Counts.
func (v *Counts) UnmarshalText(text []byte) error { return choose(v, text) }

func (Counts) words() []string { return []string{"failure", "nothing"} }

// UnmarshalText reads one of the words of Owner.
func (v *Owner) UnmarshalText(text []byte) error { return choose(v, text) }

func (Owner) words() []string { return []string{"every", "leader"} }

// UnmarshalText reads one of the words of PromoteOrder.
func (v *PromoteOrder) UnmarshalText(text []byte) error { return choose(v, text) }

func (PromoteOrder) words() []string { return []string{"oldest", "newest"} }

// UnmarshalText reads one of the words of RetryCount.
func (v *RetryCount) UnmarshalText(text []byte) error { return choose(v, text) }

func (RetryCount) words() []string { return []string{"claim", "failure"} }

// UnmarshalText reads one of the words of Expect.
func (v *Expect) UnmarshalText(text []byte) error { return choose(v, text) }

func (Expect) words() []string { return []string{"met", "missed"} }

// UnmarshalText reads one of the words of Ack.
func (v *Ack) UnmarshalText(text []byte) error { return choose(v, text) }

func (Ack) words() []string { return []string{"late", "early"} }

// UnmarshalText reads one of the words of Waiting.
func (v *Waiting) UnmarshalText(text []byte) error { return choose(v, text) }

func (Waiting) words() []string { return []string{"store", "held"} }

// UnmarshalText reads one of the words of LeaseOf.
func (v *LeaseOf) UnmarshalText(text []byte) error { return choose(v, text) }

func (LeaseOf) words() []string { return []string{"job", "node"} }

// UnmarshalText reads one of the words of NodeNames.
func (v *NodeNames) UnmarshalText(text []byte) error { return choose(v, text) }

func (NodeNames) words() []string { return []string{"new", "kept"} }

// UnmarshalText reads one of the words of LeaseCheck.
func (v *LeaseCheck) UnmarshalText(text []byte) error { return choose(v, text) }

func (LeaseCheck) words() []string { return []string{"store", "local"} }

// UnmarshalText reads one of the words of After.
func (v *After) UnmarshalText(text []byte) error { return choose(v, text) }

func (After) words() []string { return []string{"retry", "ready", "dead"} }

// UnmarshalText reads one of the words of ReaperFinds.
func (v *ReaperFinds) UnmarshalText(text []byte) error { return choose(v, text) }

func (ReaperFinds) words() []string { return []string{"in-flight", "lease"} }

// UnmarshalText reads one of the words of ReaperPlace.
func (v *ReaperPlace) UnmarshalText(text []byte) error { return choose(v, text) }

func (ReaperPlace) words() []string { return []string{"retry", "due", "tail", "head", "created"} }

// Wake says who is told at once of new ready jobs: one (written true or one), all
// or none (written false).
type Wake string

// UnmarshalText reads true, one, all or false.
func (v *Wake) UnmarshalText(text []byte) error {
	if err := choose(v, text); err != nil {
		return err
	}
	switch *v {
	case "true":
		*v = "one"
	case "false":
		*v = "none"
	}
	return nil
}

func (Wake) words() []string { return []string{"true", "one", "all", "false"} }

// MarshalYAML writes v as a scenario does.
func (v Wake) MarshalYAML() (any, error) {
	switch v {
	case "one":
		return true, nil
	case "none":
		return false, nil
	}
	return string(v), nil
}

// wordType is a type whose values are a few words.
type wordType interface {
	~string
	words() []string
}

// choose sets v to text if it is one of its words.
func choose[S wordType](v *S, text []byte) error {
	i, err := quantity.Choose(string(text), (*v).words())
	if err == nil {
		*v = S((*v).words()[i])
	}
	return err
}
