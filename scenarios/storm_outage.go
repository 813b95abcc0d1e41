package scenarios

// OutageStorm makes every call to a dependency fail, whatever its limit.
type OutageStorm struct {
	Dependency string        `yaml:"dependency"`      // name of the dependency
	Error      string        `yaml:"error"`           // error kind of the failing attempts
	Takes      *Distribution `yaml:"takes,omitempty"` // run time of a failing attempt; left out: the service time
}

func (t *OutageStorm) check(c *checker, s *Storm, at keyPath) {
	c.checkDependencyHit(t.Dependency, at...)
	c.checkErrorKind(t.Error, at.key("error")...)
}

func (t *OutageStorm) effect(*Storm) Effect {
	return Effect{Dependency: t.Dependency, Fails: 1, Error: t.Error, Takes: t.Takes}
}

func (t *OutageStorm) fill() {
	if t.Error == "" {
		t.Error = "unavailable"
	}
}
