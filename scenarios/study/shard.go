package study

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Shard is one of Of parts of a sweep, with the cells whose index modulo Of is Index.
type Shard struct{ Index, Of int }

// mostShards is the highest number of shards of a sweep: one for each cell.
const mostShards = MostCells

// ParseShard parses I/N, with I from 0, as shard I of N.
func ParseShard(text string) (Shard, error) {
	first, second, ok := strings.Cut(text, "/")
	index, err := strconv.Atoi(strings.TrimSpace(first))
	of, failed := strconv.Atoi(strings.TrimSpace(second))
	switch {
	case !ok || err != nil || failed != nil:
		return Shard{}, fmt.Errorf("want I/N, as 0/8 for the first of eight shards")
	case of < 1 || of > mostShards:
		return Shard{}, fmt.Errorf("want 1 to %d shards, not %d", mostShards, of)
	case index < 0 || index >= of:
		return Shard{}, fmt.Errorf("the shards of %d are 0/%[1]d to %d/%[1]d", of, of-1)
	}
	return Shard{index, of}, nil
}

// String returns the shard as text: 1/4.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// name returns the name of the shard's files, without the endings.
func (s Shard) name() string { return fmt.Sprintf("shard-%d-of-%d", s.Index, s.Of) }

// cells returns the indexes of the shard's cells in a sweep of size cells, ascending.
func (s Shard) cells(size int) []int {
	var cells []int
	for i := s.Index; i < size; i += s.Of {
		cells = append(cells, i)
	}
	return cells
}

const (
	complete = ".jsonl"   // ending of the file of a complete shard
	partial  = ".partial" // ending of the folder with the cells of an incomplete shard
)

var shardName = regexp.MustCompile(`^shard-(\d{1,6})-of-(\d{1,6})(\.jsonl|\.partial)$`)

// shardOf parses the name of a shard's file or folder; ok is false if it is none.
func shardOf(name string) (s Shard, ending string, ok bool) {
	match := shardName.FindStringSubmatch(name)
	if match == nil {
		return Shard{}, "", false
	}
	s.Index, _ = strconv.Atoi(match[1])
	s.Of, _ = strconv.Atoi(match[2])
	return s, match[3], s.Index < s.Of && s.name()+match[3] == name
}

// List returns shard indexes, which must ascend, in the syntax of a batch system's array jobs: 1,3-5.
func List(indexes []int) string {
	var parts []string
	for i := 0; i < len(indexes); {
		k := i
		for k+1 < len(indexes) && indexes[k+1] == indexes[k]+1 {
			k++
		}
		part := strconv.Itoa(indexes[i])
		if k > i {
			part += "-" + strconv.Itoa(indexes[k])
		}
		parts = append(parts, part)
		i = k + 1
	}
	return strings.Join(parts, ",")
}
