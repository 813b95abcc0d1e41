package wall

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"qsim/conform/common"
)

// line is one line of JSON in a driver's standard output: an event of a job, or an answer to a command.
type line struct {
	Kind    string // began, ended, died, delayed; done, serves
	Job     string
	Number  int
	OK      bool
	Delay   float64
	Error   string         // error of the message done
	Address map[string]any // address in the message serves: a server that is up
}

// log logs l, if it is an event, in r as an event of a node.
func (l line) log(r *common.Run, node string) {
	kind := map[string]common.Kind{"began": common.Began, "ended": common.Ended, "died": common.Died, "delayed": common.Delayed}[l.Kind]
	if kind != 0 {
		r.Log(common.Event{Kind: kind, Job: l.Job, Number: l.Number, Node: node, OK: l.OK, Delay: l.Delay})
	}
}

// process is a running driver program. It ends by itself when its standard input does, as when the test dies.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	answers chan line
	ended   chan struct{}
	wanted  atomic.Bool // the end of the process is expected
}

// begin starts a driver and passes each line of JSON that it prints to heard, or, without that, to ask as an answer.
// Other lines are ignored.
func begin(t *testing.T, command *exec.Cmd, heard func(line)) *process {
	p := &process{command: command, answers: make(chan line), ended: make(chan struct{})}
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.StdoutPipe()
	if err == nil {
		p.in, err = command.StdinPipe()
	}
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Errorf("%v: %v", command.Args, err)
		close(p.ended)
		return p
	}
	go func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var l line
			if !bytes.HasPrefix(lines.Bytes(), []byte("{")) || json.Unmarshal(lines.Bytes(), &l) != nil {
				continue
			}
			if heard != nil {
				heard(l)
			} else {
				p.answers <- l
			}
		}
		err := command.Wait()
		if !p.wanted.Load() {
			text := complaints.Bytes()
			t.Errorf("%v ended: %v\n%s", command.Args, err, text[max(0, len(text)-2000):])
		}
		close(p.ended)
	}()
	return p
}

// ask writes a message as JSON to the driver and waits for its answer; an error in that is returned.
func (p *process) ask(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(text, '\n')); err != nil {
		return err
	}
	select {
	case l := <-p.answers:
		if l.Error != "" {
			return errors.New(l.Error)
		}
		return nil
	case <-p.ended:
		return fmt.Errorf("%v has ended", p.command.Args)
	case <-time.After(time.Minute):
		return fmt.Errorf("%v does not answer", p.command.Args)
	}
}

// end kills the process, as a machine that fails does.
func (p *process) end() {
	if !p.wanted.Swap(true) && p.command.Process != nil {
		_ = p.command.Process.Kill()
	}
	<-p.ended
}
