package queue_test

import (
	"testing"

	"example.com/queue"

	"qsim/scenarios/scenariotest"
)

func TestOutage(t *testing.T) { scenariotest.Run(t, "outage.yaml", queue.Polite) }
