package spec

import (
	"errors"
	"math"

	"go.yaml.in/yaml/v4"

	"qsim/engine/dist"
	"qsim/engine/quantity"
	"qsim/results/plain"
	"qsim/scenarios/reference"
	"qsim/scenarios/tree"
)

// Distribution is the random distribution of a duration. Kind determines which fields are used.
type Distribution struct {
	Kind  string    `yaml:"dist"`            // kind of distribution
	Value *Duration `yaml:"value,omitempty"` // constant duration
	Mean  *Duration `yaml:"mean,omitempty"`  // the mean
	Min   *Duration `yaml:"min,omitempty"`   // shortest duration
	Max   *Duration `yaml:"max,omitempty"`   // longest duration
	CV    *Factor   `yaml:"cv,omitempty"`    // standard deviation ÷ mean
	P50   *Duration `yaml:"p50,omitempty"`   // the median
	P99   *Duration `yaml:"p99,omitempty"`   // 99th percentile
	SD    *Duration `yaml:"sd,omitempty"`    // the standard deviation
	K     *Count    `yaml:"k,omitempty"`     // number of phases, at least 1
	// shape: below 1 a longer tail than exponential, above 1 a shorter one
	Shape  *Factor    `yaml:"shape,omitempty"`
	Alpha  *Factor    `yaml:"alpha,omitempty"`       // exponent of the tail, above 1
	Values []Duration `yaml:"values,omitempty,flow"` // durations, equally likely
	// durations from a file in the folder of the scenario or below it; see OpenFile
	File string `yaml:"file,omitempty"`

	dist  dist.Dist
	named *yaml.Node // value of File, for errors in the file
}

// plainDistribution is a Distribution without its methods, so that the YAML library decodes and encodes it as a map.
type plainDistribution Distribution

// UnmarshalYAML reads a bare duration, which is a constant, or a map such as {dist: exponential, mean: 100ms}.
func (d *Distribution) UnmarshalYAML(node *yaml.Node) error {
	*d = Distribution{}
	if node.Kind != yaml.MappingNode {
		if node.Kind != yaml.ScalarNode {
			return &quantity.Error{Message: "want a duration or a distribution, not a list",
				Help: "write 100ms or {dist: exponential, mean: 100ms}"}
		}
		d.Kind, d.Value = "constant", new(Duration)
		if err := node.Load(d.Value); err != nil {
			return err
		}
		return d.buildAt(node)
	}
	bad := tree.Errors(node.Load((*plainDistribution)(d), tree.Strict...))
	d.named = tree.Lookup(node, "file")
	if bad = append(bad, reference.Tables().Distributions.Check(node)...); len(bad) > 0 {
		return &yaml.LoadErrors{Errors: bad}
	}
	if d.File != "" {
		return nil // Load reads the file when it knows whose folder it is in
	}
	return d.buildAt(node)
}

// Drawn returns a copy of what Dist returns, in seconds, for fields in which nil is no distribution; nil if d is nil.
func (d *Distribution) Drawn() *dist.Dist {
	if d == nil {
		return nil
	}
	drawn := d.dist
	return &drawn
}

// IsNone reports whether the distribution is the constant 0.
func (d *Distribution) IsNone() bool { return d.dist.IsConstant() && d.dist.Mean() == 0 }

// MarshalYAML returns a constant as a bare duration, any other distribution as a map with the key dist.
func (d Distribution) MarshalYAML() (any, error) {
	if d.Kind == "constant" && d.Value != nil { // without a value there was an error
		return tree.Scalar(d.Value.String()), nil
	}
	node := tree.Dumped((*plainDistribution)(&d))
	node.Style = yaml.FlowStyle
	return &node, nil
}

// Average returns the distribution's mean, at most quantity.Longest (a Pareto distribution's may be infinite).
func (d Distribution) Average() Duration {
	return Duration(math.Min(d.dist.Mean()*1e9, float64(quantity.Longest)))
}

// Dist returns the distribution in the form from which simulations draw values, which are numbers of seconds.
func (d *Distribution) Dist() dist.Dist { return d.dist }

// build returns what Dist returns later, made from the fields of Kind. The error names the parameter at fault.
func (d *Distribution) build() (dist.Dist, error) {
	seconds := func(v *Duration) float64 { return v.Std().Seconds() }
	switch {
	case d.Kind == "constant":
		return dist.Constant(seconds(d.Value))
	case d.Kind == "exponential":
		return dist.Exponential(seconds(d.Mean))
	case d.Kind == "uniform":
		return dist.Uniform(seconds(d.Min), seconds(d.Max))
	case d.Kind == "lognormal" && d.P50 != nil:
		return dist.LogNormalQuantiles(seconds(d.P50), seconds(d.P99))
	case d.Kind == "lognormal":
		return dist.LogNormalMeanCV(seconds(d.Mean), float64(*d.CV))
	case d.Kind == "normal":
		return dist.Normal(seconds(d.Mean), seconds(d.SD))
	case d.Kind == "gamma":
		return dist.Gamma(seconds(d.Mean), float64(*d.CV))
	case d.Kind == "erlang":
		return dist.Erlang(seconds(d.Mean), int(*d.K))
	case d.Kind == "weibull":
		return dist.Weibull(seconds(d.Mean), float64(*d.Shape))
	case d.Kind == "pareto":
		return dist.Pareto(seconds(d.Min), float64(*d.Alpha))
	case d.Kind == "hyperexponential":
		return dist.HyperExponential(seconds(d.Mean), float64(*d.CV))
	}
	return empirical(d.Values)
}

func empirical(values []Duration) (dist.Dist, error) {
	return dist.Empirical(plain.Map(values, func(v Duration) float64 { return v.Std().Seconds() }))
}

// buildAt stores what Dist returns, made from the fields. Errors have the position of the field's value in node.
func (d *Distribution) buildAt(node *yaml.Node) error {
	built, err := d.build()
	if err == nil {
		d.dist = built
		return nil
	}
	at := node
	bad := quantity.Errorf("%s", err)
	if own := (*dist.Error)(nil); errors.As(err, &own) {
		if value := tree.Lookup(node, own.Parameter); value != nil {
			at = value
		}
	}
	return &yaml.LoadErrors{Errors: []*yaml.LoadError{tree.ErrorAt(at, bad)}}
}
