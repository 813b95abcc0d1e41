/*
 * The lease protocol: a store that lends jobs to nodes, and a network that loses, doubles and delays what they send.
 *
 * A job that is ready is claimed under a lease with a token above all earlier ones. Its node runs it and commits the
 * outcome under that token, again and again until it is answered; meanwhile it extends the lease. A lease that is
 * not extended expires; then a reaper takes the job under a token of its own and commits what becomes of it. The
 * fence of the store refuses outcomes and extensions under any token but the latest.
 *
 * Messages have no channel. What a node has sent once may arrive at any later time, any number of times or never,
 * whatever has become of the node: a message is lost if that step is not taken, late if it is taken late, doubled
 * if it is taken twice. So every commit that a node may send is sent again as often as can be. A batch of outcomes is
 * one step for each of them, as the store may apply any part of a batch and leave the rest for its next copy.
 *
 * One step of the store, or of what a node knows, is one d_step. Time is not in the model: a lease expires at any moment.
 * Nor is liveness: that every job comes to its end is beyond it, as are waits, priorities, policies and limits.
 *
 *   JOBS, MOST, CRASHES   jobs, leases of each, crashes of each node
 *   FENCE                 TOKEN, STATE (the job is in flight, whoever has it) or NONE (the job has not ended)
 *   LAPSES                the store takes an expired lease from its holder by itself
 *   FORGETS               the store may lose the record of a lease
 *   EDGES                 print every step of job 0, once for each state of that job, for comparison with another model
 *   BREAK_...             break one rule: an assertion must fail
 */
#define TOKEN 0
#define STATE 1
#define NONE  2

#ifndef JOBS
#define JOBS 2
#endif
#ifndef MOST
#define MOST 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef FENCE
#define FENCE TOKEN
#endif

/* A job is in one of these states. */
#define READY    0
#define WAITING  1
#define INFLIGHT 2
#define DONE     3
#define DEAD     4

/* A lease, to the node that it was lent to, whatever the store thinks of it by now. */
#define UNLENT  0
#define LENT    1 /* the answer to the claim may be on its way */
#define RUNNING 2
#define LOST    3 /* running; the node has been told that the lease is gone */
#define GOOD    4 /* ended well: the commit says so */
#define BAD     5 /* ended badly; a reaper's lease from the start */
#define GONE    6 /* nothing comes of it */
#define BACK    7 /* handed back before it ran: the commit says so */

byte state[JOBS];
byte leases[JOBS]; /* that were lent */
byte token[JOBS];
bool expired[JOBS], lapsed[JOBS], forgotten[JOBS];

/* Leases, MOST of each job. */
byte phase[JOBS * MOST], number[JOBS * MOST], life[JOBS * MOST];
bool holder[JOBS * MOST], reaps[JOBS * MOST];
bool judged[JOBS * MOST]; /* the store has applied or refused its outcome */

byte lives[2];  /* of each node */
byte heard[2];  /* the latest life of each node of which a commit has reached the store: of that one it remembers commits */

#define AT(j, g)       ((j) * MOST + (g) - 1)
#define OVER(i)        (life[i] < lives[holder[i]])
#define HELD(j, g)     (state[j] == INFLIGHT && (g) == leases[j] && !lapsed[j])
#define MATCHES(j, g)  (number[AT(j, g)] == token[j])
#define SENT(i)        (phase[i] == GOOD || phase[i] == BAD || phase[i] == BACK)

/* The rules, and what becomes of each when it is broken. */
#ifdef BREAK_CLAIM_TAKES_READY_JOBS
#define CLAIMABLE(j) (state[j] == READY || state[j] == INFLIGHT)
#elif defined(BREAK_CLAIM_WAITS_UNTIL_DUE)
#define CLAIMABLE(j) (state[j] == READY || state[j] == WAITING)
#else
#define CLAIMABLE(j) (state[j] == READY)
#endif

#ifdef BREAK_CLAIM_RAISES_TOKEN
#define RAISED(j, reaper) (reaper || token[j] == 0)
#elif defined(BREAK_RECOVERY_RAISES_TOKEN)
#define RAISED(j, reaper) (!(reaper))
#else
#define RAISED(j, reaper) 1
#endif

#ifdef BREAK_RECOVERY_TAKES_ENDED_LEASES
#define TAKEABLE(j) (state[j] == INFLIGHT)
#elif defined(BREAK_RECOVERY_TAKES_JOBS_IN_FLIGHT)
#define TAKEABLE(j) (state[j] == INFLIGHT && expired[j] || state[j] == DONE)
#else
#define TAKEABLE(j) (state[j] == INFLIGHT && (expired[j] || lapsed[j]))
#endif

#if FENCE == NONE
#define PASSES(j, g) (state[j] <= INFLIGHT)
#elif FENCE == STATE || defined(BREAK_COMMIT_IS_FENCED)
#define PASSES(j, g) (state[j] == INFLIGHT)
#elif defined(BREAK_COMMIT_UNDER_EXPIRED_LEASE)
#define PASSES(j, g) (state[j] == INFLIGHT && MATCHES(j, g) && !expired[j])
#else
#define PASSES(j, g) (state[j] == INFLIGHT && MATCHES(j, g))
#endif

#define RECORDED(j) (state[j] == INFLIGHT && !lapsed[j] && !forgotten[j])
#if FENCE != TOKEN || defined(BREAK_EXTENSION_IS_FENCED)
#define PROLONGS(j, g) RECORDED(j)
#elif defined(BREAK_EXTENSION_OF_EXPIRED_LEASE)
#define PROLONGS(j, g) (RECORDED(j) && MATCHES(j, g) && !expired[j])
#else
#define PROLONGS(j, g) (RECORDED(j) && MATCHES(j, g))
#endif

#ifdef BREAK_ANSWER_RUNS_ONCE
#define STARTS(i) ((phase[i] == LENT || phase[i] == RUNNING) && !OVER(i))
#elif defined(BREAK_ANSWER_IS_TO_ITS_LIFE)
#define STARTS(i) (phase[i] == LENT)
#else
#define STARTS(i) (phase[i] == LENT && !OVER(i))
#endif

#ifdef BREAK_REFUSAL_IS_OF_ITS_LEASE
#define LOSES(j, g) ((g) > 1 || !PROLONGS(j, g))
#else
#define LOSES(j, g) (!PROLONGS(j, g))
#endif

/* A commit that the store knows is answered as it was then, and nothing happens. */
#ifdef BREAK_RESEND_IS_KNOWN
#define KNOWN(i) 0
#elif defined(BREAK_UNHEARD_IS_REMEMBERED)
byte latest[2];
#define KNOWN(i) (judged[i] && life[i] == heard[holder[i]] && latest[holder[i]] == i)
#else
#define KNOWN(i) (judged[i] && life[i] == heard[holder[i]])
#endif

#ifdef BREAK_LOST_LEASE_IS_SILENT
bool told[JOBS * MOST];
#define TELL(i) told[i] = 1
#define TOLD(i) told[i]
#define AFTER_LOST BAD
#else
#define TELL(i) skip
#define TOLD(i) 0
#define AFTER_LOST GONE
#endif

/* What must hold, of lease g of job j. The latest lease is the one that counts, whatever its number. */
#if FENCE == TOKEN
#define ONLY_LATEST(j, g) assert((g) == leases[j] && !lapsed[j])                     /* I-7: the fence lets nobody else through */
#define NOT_CURRENT(j, g) assert(!(state[j] == INFLIGHT && HELD(j, g)))              /* I-7: and refuses nobody who holds the lease */
#elif FENCE == STATE
#define ONLY_LATEST(j, g) skip
#define NOT_CURRENT(j, g) assert(state[j] != INFLIGHT)
#else
#define ONLY_LATEST(j, g) skip
#define NOT_CURRENT(j, g) assert(state[j] >= DONE)
#endif
#define NOT_PROLONGED(j, g) assert(!(HELD(j, g) && RECORDED(j)))

/* Edges of job 0, as text: the state before, the step, the state after. */
#ifdef EDGES
c_code {
	typedef struct { char text[64]; } Edge;
	static Edge *edges;
	static unsigned used, room;
	static char before[32];

	static void write_job(char *to) {
		int g;
		to += sprintf(to, "%d%d%d%d", now.state[0], now.expired[0], now.lapsed[0], now.forgotten[0]);
		for (g = 0; g < now.leases[0]; g++) {
			int over = now.phase[g] != 6 && now.life[g] < now.lives[now.holder[g]];
			int phase = now.phase[g] == 7 && !now.judged[g] ? 1 : now.phase[g];
			to += sprintf(to, " %d%d%d%d%d", now.holder[g], now.reaps[g], phase, over, now.judged[g]);
		}
	}
	static Edge *place(Edge *in, unsigned size, const char *text) {
		unsigned h = 2166136261u;
		const char *c;
		for (c = text; *c; c++)
			h = (h ^ *c) * 16777619u;
		for (h &= size - 1; in[h].text[0] && strcmp(in[h].text, text); h = (h + 1) & (size - 1))
			;
		return &in[h];
	}
	/* Of a step of lease g, who is its node. */
	static void note_edge(int event, int who, int g, int what) {
		char text[64], after[32];
		Edge *e;
		write_job(after);
		if (g)
			who = now.holder[g - 1];
		sprintf(text, "%s|%c%d%d%d|%s", before, event, who, g, what, after);
		if (used * 2 >= room) {
			unsigned i, size = room ? 2 * room : 1 << 16;
			Edge *grown = calloc(size, sizeof *grown);
			for (i = 0; i < room; i++)
				if (edges[i].text[0])
					*place(grown, size, edges[i].text) = edges[i];
			free(edges);
			edges = grown;
			room = size;
		}
		e = place(edges, room, text);
		if (!e->text[0]) {
			strcpy(e->text, text);
			used++;
			printf("%s\n", text);
		}
	}
};
#define FROM(j) if :: (j) == 0 -> c_code { write_job(before); } :: else fi
#define STEP(j, event, n, g, what) if :: (j) == 0 -> c_code { note_edge(event, n, g, what); } :: else fi
#else
#define FROM(j) skip
#define STEP(j, event, n, g, what) skip
#endif

#define LATEST(j) AT(j, leases[j])

inline lend(j, n, reaper, how, begun) {
	leases[j]++;
	token[j] = token[j] + RAISED(j, reaper);
	number[LATEST(j)] = token[j];
	holder[LATEST(j)] = n;
	reaps[LATEST(j)] = reaper;
	phase[LATEST(j)] = how;
	life[LATEST(j)] = begun;
	state[j] = INFLIGHT;
	expired[j] = 0;
	lapsed[j] = 0;
	forgotten[j] = 0;
}

inline leave(j, to) {
	assert(state[j] != DONE && state[j] != DEAD); /* I-3: what has ended stays so */
	state[j] = to;
	expired[j] = 0;
	lapsed[j] = 0;
	forgotten[j] = 0;
}

inline be_gone(i) { /* what it was does not matter any more */
	phase[i] = GONE;
	life[i] = 0;
	judged[i] = 0;
}

inline hear(i) {
	heard[holder[i]] = (life[i] > heard[holder[i]] -> life[i] : heard[holder[i]]);
	judged[i] = 1;
#ifdef BREAK_UNHEARD_IS_REMEMBERED
	latest[holder[i]] = i;
#endif
}

/* The other outcome of a batch is answered, and forgotten. */
#ifdef BREAK_BATCH_IS_ATOMIC
#define REST_OF_BATCH(j, g) \
	if \
	:: phase[AT(1 - (j), 1)] == GOOD && holder[AT(1 - (j), 1)] == holder[AT(j, g)] -> judged[AT(1 - (j), 1)] = 1 \
	:: else \
	fi;
#else
#define REST_OF_BATCH(j, g)
#endif

#define COMMIT(j, g, how, to) \
	:: d_step { (how) && !KNOWN(AT(j, g)) && PASSES(j, g) -> \
		FROM(j); \
		ONLY_LATEST(j, g); \
		assert(!TOLD(AT(j, g))); /* I-10: a process does not commit under a lease that it knows to be lost */ \
		leave(j, to); \
		hear(AT(j, g)); \
		REST_OF_BATCH(j, g) \
		STEP(j, 'C', 0, g, to); }

/* What becomes of job j in the store. The first lease of job 0 is of node 0: nodes are alike. */
#define OF_JOB_AND_NODE(j, n) \
	:: d_step { CLAIMABLE(j) && leases[j] < MOST && ((j) != 0 || (n) == 0 || leases[j] > 0) -> \
		FROM(j); \
		assert(state[j] == READY); /* I-6, I-8: what is claimed is ready */ \
		lend(j, n, 0, LENT, lives[n]); \
		assert(leases[j] == 1 || number[LATEST(j)] > number[AT(j, leases[j] - 1)]); /* I-6: the token is above all others */ \
		STEP(j, 'L', n, 0, 0); } \
	:: d_step { CLAIMABLE(j) && leases[j] < MOST && ((j) != 0 || (n) == 0 || leases[j] > 0) && lives[n] > 0 -> /* by a life that has ended */ \
		FROM(j); \
		lend(j, n, 0, GONE, 0); \
		STEP(j, 'l', n, 0, 0); } \
	:: d_step { TAKEABLE(j) && leases[j] < MOST -> \
		FROM(j); \
		assert(state[j] == INFLIGHT); /* I-3, I-6: what is recovered is in flight */ \
		assert(expired[j] || lapsed[j]); /* I-6: and its lease has ended */ \
		assert(lapsed[j] || !judged[LATEST(j)]); /* I-16: and its outcome was not answered */ \
		lend(j, n, 1, BAD, lives[n]); \
		assert(number[LATEST(j)] > number[AT(j, leases[j] - 1)]); /* I-6 */ \
		STEP(j, 'K', n, 0, 0); }

#define OF_JOB(j) \
	:: d_step { RECORDED(j) && !expired[j] -> FROM(j); expired[j] = 1; STEP(j, 'X', 0, 0, 0); } \
	:: d_step { state[j] == WAITING -> FROM(j); state[j] = READY; STEP(j, 'P', 0, 0, 0); } \
	:: d_step { state[j] == READY -> FROM(j); leave(j, DEAD); STEP(j, 'H', 0, 0, 0); } /* shed by a claim */ \
	:: d_step { state[j] == DEAD -> FROM(j); state[j] = READY; STEP(j, 'R', 0, 0, 0); } /* redriven by hand */

#define IF_LAPSES(j) \
	:: d_step { RECORDED(j) && expired[j] && leases[j] < MOST -> \
		FROM(j); \
		leases[j]++; \
		token[j]++; \
		number[LATEST(j)] = token[j]; /* which nobody has */ \
		reaps[LATEST(j)] = 1; \
		phase[LATEST(j)] = GONE; \
		lapsed[j] = 1; \
		STEP(j, 'Y', 0, 0, 0); }

#define IF_FORGETS(j) \
	:: d_step { RECORDED(j) -> FROM(j); forgotten[j] = 1; expired[j] = 0; STEP(j, 'M', 0, 0, 0); }

/* Lease g of job j, to its node and in what the node sends. */
#define OF_LEASE(j, g) \
	:: d_step { leases[j] >= g && !reaps[AT(j, g)] && PROLONGS(j, g) -> \
		FROM(j); \
		ONLY_LATEST(j, g); \
		expired[j] = 0; \
		STEP(j, 'E', 0, g, 1); } \
	:: d_step { leases[j] >= g && !reaps[AT(j, g)] && !PROLONGS(j, g) -> \
		FROM(j); \
		NOT_PROLONGED(j, g); \
		STEP(j, 'E', 0, g, 0); } \
	:: d_step { STARTS(AT(j, g)) -> \
		FROM(j); \
		assert(phase[AT(j, g)] == LENT && !OVER(AT(j, g))); /* I-5: it runs once, in the life that has claimed it */ \
		phase[AT(j, g)] = RUNNING; \
		STEP(j, 'S', 0, g, 0); } \
	:: d_step { phase[AT(j, g)] == RUNNING -> FROM(j); phase[AT(j, g)] = GOOD; STEP(j, 'F', 0, g, 1); } \
	:: d_step { phase[AT(j, g)] == RUNNING -> FROM(j); phase[AT(j, g)] = BAD; STEP(j, 'F', 0, g, 0); } \
	:: d_step { phase[AT(j, g)] == LOST -> FROM(j); end_lost(AT(j, g)); STEP(j, 'F', 0, g, 1); } \
	:: d_step { phase[AT(j, g)] == LOST -> FROM(j); end_lost(AT(j, g)); STEP(j, 'F', 0, g, 0); } \
	:: d_step { (phase[AT(j, g)] == LENT || phase[AT(j, g)] == RUNNING) && !OVER(AT(j, g)) && LOSES(j, g) -> \
		FROM(j); \
		NOT_PROLONGED(j, g); /* I-7: nobody gives up a lease that he has */ \
		TELL(AT(j, g)); \
		lose(AT(j, g)); \
		STEP(j, 'O', 0, g, 0); } \
	:: d_step { phase[AT(j, g)] == LENT && !OVER(AT(j, g)) -> phase[AT(j, g)] = BACK } \
	COMMIT(j, g, phase[AT(j, g)] == GOOD, DONE) \
	COMMIT(j, g, phase[AT(j, g)] == BAD, WAITING) \
	COMMIT(j, g, phase[AT(j, g)] == BAD || phase[AT(j, g)] == BACK, READY) \
	COMMIT(j, g, phase[AT(j, g)] == BAD, DEAD) \
	:: d_step { SENT(AT(j, g)) && !KNOWN(AT(j, g)) && !PASSES(j, g) -> \
		FROM(j); \
		NOT_CURRENT(j, g); \
		assert(!judged[AT(j, g)] || OVER(AT(j, g))); /* I-16: nothing is judged twice */ \
		assert(!TOLD(AT(j, g))); /* I-10 */ \
		hear(AT(j, g)); \
		STEP(j, 'Z', 0, g, 0); }

inline end_lost(i) {
	if
	:: AFTER_LOST == GONE -> be_gone(i)
	:: else -> phase[i] = AFTER_LOST
	fi
}

inline lose(i) {
	if
	:: phase[i] == LENT -> be_gone(i)
	:: else -> phase[i] = LOST
	fi
}

inline abort(i, n) {
	if
	:: holder[i] == n && (phase[i] == RUNNING || phase[i] == LOST) -> be_gone(i)
	:: else
	fi
}

/* A node dies, with what it runs and all it knows, and starts again. */
#if JOBS == 2
#define OTHERS(n)
#define ABORTS(n) abort(0, n); abort(1, n); abort(2, n); abort(JOBS * MOST - 1, n)
#else
/* An outcome of another job, committed by the present life of a node, reaches the store. */
#define OTHERS(n) :: d_step { heard[n] < lives[n] -> heard[n] = lives[n] }
#define ABORTS(n) abort(0, n); abort(MOST / 2, n); abort(MOST - 1, n)
#endif

#define OF_NODE(n) \
	:: d_step { lives[n] < CRASHES -> \
		FROM(0); \
		ABORTS(n); \
		lives[n]++; \
		STEP(0, 'D', n, 0, 0); } \
	OTHERS(n)

#if MOST > 2
#define LEASES(j) OF_LEASE(j, 1) OF_LEASE(j, 2) OF_LEASE(j, 3)
#else
#define LEASES(j) OF_LEASE(j, 1) OF_LEASE(j, 2)
#endif
#ifdef LAPSES
#define LAPSE(j) IF_LAPSES(j)
#else
#define LAPSE(j)
#endif
#ifdef FORGETS
#define FORGET(j) IF_FORGETS(j)
#else
#define FORGET(j)
#endif
#define ALL_OF(j) OF_JOB_AND_NODE(j, 0) OF_JOB_AND_NODE(j, 1) OF_JOB(j) LAPSE(j) FORGET(j) LEASES(j)

active proctype system() {
end:	do
	ALL_OF(0)
#if JOBS == 2
	ALL_OF(1)
#endif
	OF_NODE(0)
	OF_NODE(1)
	od
}
