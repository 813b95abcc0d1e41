package spec

import (
	"qsim/engine/quantity"
	"qsim/policies"
)

type (
	Duration     = quantity.Duration     // a duration: 1h30m
	Offset       = quantity.Offset       // a signed duration: 30s, -30s
	Count        = quantity.Count        // a whole number: 100, 100k
	Attempts     = quantity.Attempts     // a number of attempts: 4, unlimited
	Limit        = quantity.Limit        // a number with or without a limit: 0, 4, unlimited
	Factor       = quantity.Factor       // a factor above 0: 2.5
	Number       = quantity.Number       // a number: 0, 2.5
	Rate         = quantity.Rate         // events per unit of time: 120/s
	Share        = quantity.Share        // a share: 20%
	CountOrShare = quantity.CountOrShare // a number or a share: 20, 20%
	Jitter       = policies.Jitter       // a jitter: full, ±20%, +30s
)
