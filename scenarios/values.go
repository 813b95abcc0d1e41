package scenarios

import (
	"qsim/engine/quantity"
	"qsim/policies"
)

type (
	Duration     = quantity.Duration     // 1h30m
	Offset       = quantity.Offset       // 30s, -30s
	Count        = quantity.Count        // 100, 100k
	Attempts     = quantity.Attempts     // 4, unlimited
	Limit        = quantity.Limit        // 0, 4, unlimited
	Factor       = quantity.Factor       // 2.5
	Number       = quantity.Number       // 0, 2.5
	Rate         = quantity.Rate         // 120/s
	Share        = quantity.Share        // 20%
	CountOrShare = quantity.CountOrShare // 20, 20%
	Jitter       = policies.Jitter       // full, ±20%, +30s
)
