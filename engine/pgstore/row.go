package pgstore

import (
	"bytes"
	"encoding/binary"
	"time"

	"qsim/engine"
)

// row reads the columns of a result row in sequence, in PostgreSQL's binary format: integers of two, four or eight
// bytes, the most significant first. Null reads as zero. This is several times faster than scanning each column by its
// type, and a claim returns a hundred rows of fifteen columns.
type row struct{ values [][]byte }

func (r *row) next() []byte {
	v := r.values[0]
	r.values = r.values[1:]
	return v
}

func (r *row) int64() int64 {
	switch v := r.next(); len(v) {
	case 8:
		return int64(binary.BigEndian.Uint64(v))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(v)))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(v)))
	case 0:
		return 0
	}
	panic("pgstore: a column is no integer")
}

func (r *row) int32() int32 { return int32(r.int64()) }

// lease reads a lease from a row with the columns of leaseColumns.
func (r *row) lease() (l engine.Lease) {
	l.ID, l.Kind, l.Priority = engine.JobID(r.int64()), engine.Kind(r.int32()), int16(r.int32())
	l.Tenant, l.Token = engine.TenantID(r.int32()), engine.Token(r.int64())
	l.Delivery, l.Charged, l.Failures, l.Recoveries, l.Snoozes = r.int32(), r.int32(), r.int32(), r.int32(), r.int32()
	l.LastDelay, l.Waited, l.Age = time.Duration(r.int64()), time.Duration(r.int64()), nonNegative(r.int64())
	l.Payload = bytes.Clone(r.next()) // the original belongs to the connection
	return l
}
