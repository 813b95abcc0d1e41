package chaos

// finding is the first seed, from 1 on, that finds a planted bug: so many seeds it takes.
// It says which invariant breaks then.
type finding struct {
	seed   uint64
	breaks string
}

// found is written by go test -run TestPlantedBugs -rewrite.
var found = map[string]finding{
	"nothing is fenced": {3, "I-7"},
	"whoever commits is let through while the job is in flight": {3, "I-7"},
	"the reaper overwrites a completed job":                     {7, "I-3"},
	"the reaper overrules a new attempt":                        {331, "I-6"},
	"the reaper reads, and writes later":                        {8, "I-6"},
	"attempts are counted twice when a reply is lost":           {31, "I-4"},
	"one attempt more than the limit":                           {3, "I-4"},
	"one attempt less than the limit":                           {3, "I-4"},
	"a heartbeat extends a recovered lease":                     {3, "I-3"},
	"a heartbeat shortens a lease":                              {5, "I-6"},
	"a current lease is not extended":                           {3, "I-7"},
	"a promoter that dies loses what it took":                   {7, "I-18"},
	"a cap leaks a slot for every recovery":                     {25, "I-18"},
	"a weighted share starves retries at batch 1":               {53, "I-11"},
	"a weighted share is that of the other class":               {139, "I-11"},
	"a cap on retries is off by one":                            {17, "I-11"},
	"half of a batch is applied":                                {2, "I-1"},
	"acks are answered and forgotten":                           {1, "I-1"},
	"a batch that comes again is not recognised":                {29, "I-16"},
	"a batch is given up after one try":                         {2, "I-16"},
	"the clocks of nodes are trusted":                           {125, "I-6"},
	"the store's clock is ahead of its due times":               {1, "I-8"},
	"a delay is halved":                                         {1, "I-8"},
	"a backoff grows past its bound":                            {3, "I-9"},
	"no backoff at all":                                         {3, "I-9"},
	"an error that is final is tried again":                     {52, "I-4"},
	"a claim does not raise the token":                          {1, "I-6"},
	"a recovery does not raise the token":                       {3, "I-6"},
	"a claim is not counted as a delivery":                      {1, "I-5"},
	"leases are recovered before they end":                      {1, "I-6"},
	"leases that lapsed are honoured":                           {86, "I-7"},
	"nobody recovers leases":                                    {4, "I-18"},
	"recoveries are rare":                                       {8, "I-13"},
	"a restarted node keeps the leases of its former life":      {4, "I-18"},
	"one job is claimed twice":                                  {1, "I-6"},
	"a job is lost on its way into the store":                   {1, "I-1"},
	"a job changes its tenant":                                  {1, "I-2"},
	"serial keys are ignored":                                   {4, "I-8"},
	"dead jobs come back":                                       {1, "I-1"},
	"a return costs an attempt":                                 {17, "I-4"},
	"a free failure costs an attempt":                           {17, "I-4"},
	"a limit on a class is off by one":                          {4, "I-8"},
	"a limit on what is in flight is off by one":                {6, "I-8"},
	"nobody wakes, and polls are rare":                          {3, "I-18"},
	"workers idle beside ready jobs":                            {16, "I-12"},
	"a class of jobs is claimed every quarter of an hour":       {248, "I-14"},
	"waits are counted from the wrong time":                     {1, "I-15"},
	"a promotion is forgotten":                                  {7, "I-1"},
	"the dead are not counted":                                  {1, "I-1"},
	"a failed attempt is acked":                                 {1, "I-10"},
	"two outcomes of a batch change places":                     {12, "I-10"},
	"a policy remembers other runs":                             {16, "I-17"},
}
