package spec

import (
	"math/big"
	"strings"

	"go.yaml.in/yaml/v4"

	"qsim/engine/quantity"
	"qsim/scenarios/checks"
	"qsim/scenarios/tree"
)

// ErrorShare is an error kind, such as timeout, and the share of a class's failing attempts that fail with it.
type ErrorShare struct {
	Kind  string
	Share Share
}

// ErrorShares lists the error kinds of a class's failing attempts, in the order of the file. The shares add up to 100%.
type ErrorShares []ErrorShare

// UnmarshalYAML reads a map from error kinds to shares, which must add up to 100%.
func (e *ErrorShares) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return &quantity.Error{Message: "want a map from error kinds to shares",
			Help: "write errors: {timeout: 80%, validation: 20%}"}
	}
	var bad []*yaml.LoadError
	var shares ErrorShares
	sum := new(big.Rat)
	for key, value := range tree.Pairs(node) {
		var share Share
		if err := value.Load(&share); err != nil {
			bad = append(bad, tree.Errors(err)...)
			continue
		}
		if problem := checks.BadErrorKind(key.Value); problem != "" {
			bad = append(bad, tree.Errorf(key, "bad error kind %s: %s", quantity.Quote(key.Value), problem))
		}
		shares = append(shares, ErrorShare{key.Value, share})
		sum.Add(sum, big.NewRat(share.Num, max(share.Den, 1)))
	}
	if len(bad) == 0 && sum.Cmp(big.NewRat(1, 1)) != 0 {
		percent, _ := new(big.Rat).Mul(sum, big.NewRat(100, 1)).Float64()
		bad = append(bad, tree.Errorf(node, "the shares of the error kinds add up to %.10g%%, not 100%%", percent))
	}
	if len(bad) > 0 {
		return &yaml.LoadErrors{Errors: bad}
	}
	*e = shares
	return nil
}

// MarshalYAML returns a YAML map from error kinds to shares, in the order of the slice.
func (e ErrorShares) MarshalYAML() (any, error) {
	node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, s := range e {
		node.Content = append(node.Content, tree.Scalar(s.Kind), tree.Scalar(s.Share.String()))
	}
	return node, nil
}

// Nodes selects the processes that a storm hits: a number or a share of them, or a list by index from 0. Which ones
// make up a count or a share is drawn per seed.
type Nodes struct {
	CountOrShare
	List []Count // if not nil, the indexes of the nodes hit
	That bool    // the node of the event that triggered the storm
}

// thatNode is the value of a storm's key nodes that selects the node on which the event that triggered it happened.
const thatNode = "that"

// UnmarshalYAML reads a number of nodes, a share of them, a list of indexes, or "that".
func (n *Nodes) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode && node.Value == thatNode {
		n.That = true
		return nil
	}
	if node.Kind == yaml.SequenceNode {
		n.List = []Count{}
		return node.Load(&n.List)
	}
	return node.Load(&n.CountOrShare)
}

// MarshalYAML returns what UnmarshalYAML reads: a number, a share, a list or "that".
func (n Nodes) MarshalYAML() (any, error) {
	if n.That {
		return tree.Scalar(thatNode), nil
	}
	if n.List != nil {
		node := tree.Dumped(n.List)
		node.Style = yaml.FlowStyle
		return &node, nil
	}
	return tree.Scalar(n.String()), nil
}

// Bound is the limit on a metric in an objective: a duration, a share, a rate or a number.
type Bound struct {
	Value float64 // number of seconds, share of 1, events per second, or plain number
	Unit  string  // unit in which the text is written: "s", "%", "/s" or ""
	Text  string
}

// UnmarshalText parses a duration, a share, a rate or a plain number.
func (b *Bound) UnmarshalText(text []byte) error {
	word := string(text)
	var err error
	value := Bound{Text: word}
	switch {
	case strings.HasSuffix(word, "%"):
		var share Share
		err = share.UnmarshalText(text)
		value.Value, value.Unit = share.Float(), "%"
	case strings.Contains(word, "/"):
		var rate Rate
		err = rate.UnmarshalText(text)
		value.Value, value.Unit = rate.PerSecond(), "/s"
	default:
		if number, ok := quantity.ParseNumber(word); ok {
			value.Value, _ = number.Float64()
			break
		}
		var d Duration
		err = d.UnmarshalText(text)
		value.Value, value.Unit = d.Std().Seconds(), "s"
	}
	if err != nil {
		if e, ok := err.(*quantity.Error); ok && strings.HasPrefix(e.Message, "bad duration") {
			return &quantity.Error{Message: "bad bound " + quantity.Quote(word),
				Help: "write a duration (10s), a share (5%), a rate (80/s) or a number"}
		}
		return err
	}
	if value.Value < 0 {
		return quantity.Errorf("bound %s is negative", quantity.Quote(word))
	}
	*b = value
	return nil
}

// MarshalYAML returns the bound as the scenario file spells it: its Text.
func (b Bound) MarshalYAML() (any, error) { return tree.Scalar(b.Text), nil }
