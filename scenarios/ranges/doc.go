// Package ranges reads the values that a key of a scenario takes in turn, as
// `--vary KEY=RANGE` and `--x KEY=RANGE` give them:
//
//	8,16,32              a list, of anything that a scenario can say
//	none,full,"±20%"     quotes and brackets keep their commas
//	10s..60s/10s         from, to and step: 10s 20s 30s 40s 50s 1m
//	10s..60s/6           six values with equal distances; for numbers without a
//	8..64/4points        unit, where /4 would be a step, with the word points
//	1s..8m*2             log steps, each twice the one before: 1s 2s 4s ... 4m16s
//	1s..10m*5points      five values with equal ratios
//	1..8                 every whole number
//	1,2,4..16*4          a list may hold ranges
//
// Numbers are those of scenarios: durations with their unit, rates as 72/s, shares as
// 20%, counts as 100k. Arithmetic is exact: 0.1..0.3/0.1 ends with 0.3.
package ranges
