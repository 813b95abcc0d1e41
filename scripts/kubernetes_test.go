package scripts

import (
	"os"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// readManifest decodes a Kubernetes manifest; unknown keys, or the same key twice, are errors.
func readManifest(text []byte) (job batch.Job, err error) {
	err = yaml.UnmarshalStrict(text, &job)
	return job, err
}

// TestManifest checks that kubernetes/sweep.yaml is an indexed Job each of whose pods runs one shard of a sweep, of as
// many as the Job has completions.
func TestManifest(t *testing.T) {
	text, err := os.ReadFile("kubernetes/sweep.yaml")
	if err != nil {
		t.Fatal(err)
	}
	job, err := readManifest(text)
	if err != nil {
		t.Fatal(err)
	}
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Spec.CompletionMode == nil || *job.Spec.CompletionMode != batch.IndexedCompletion {
		t.Errorf("got %s %s with completion mode %v, want an indexed Job", job.APIVersion, job.Kind, job.Spec.CompletionMode)
	}
	if job.Spec.Completions == nil || *job.Spec.Completions != 8 {
		t.Fatalf("completions: got %v, want the 8 of the shards", job.Spec.Completions)
	}
	pod := job.Spec.Template.Spec
	if len(pod.Containers) != 1 || pod.RestartPolicy != "Never" {
		t.Fatalf("got %d containers and restart policy %s; a failure policy needs Never", len(pod.Containers), pod.RestartPolicy)
	}
	qsim := pod.Containers[0]
	if !slices.Contains(qsim.Args, "--shard=$(SHARD)/8") {
		t.Errorf("no shard of 8 in %q", qsim.Args)
	}
	if len(qsim.Env) != 1 || qsim.Env[0].Name != "SHARD" || qsim.Env[0].ValueFrom.FieldRef.FieldPath != "metadata.annotations['"+batch.JobCompletionIndexAnnotation+"']" {
		t.Errorf("SHARD is not the completion index: %+v", qsim.Env)
	}
	mounts := map[string]string{}
	for _, m := range qsim.VolumeMounts {
		mounts[m.Name] = m.MountPath
	}
	for _, v := range pod.Volumes {
		if mounts[v.Name] == "" {
			t.Errorf("volume %s is mounted nowhere", v.Name)
		}
		delete(mounts, v.Name)
	}
	if len(mounts) > 0 {
		t.Errorf("mounts without a volume: %v", mounts)
	}
	for _, rule := range job.Spec.PodFailurePolicy.Rules {
		if codes := rule.OnExitCodes; codes != nil && *codes.ContainerName != qsim.Name {
			t.Errorf("a failure rule is about container %s", *codes.ContainerName)
		}
	}
}

func TestManifestFindsFaults(t *testing.T) {
	text, err := os.ReadFile("kubernetes/sweep.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"a misspelled key", "completionMode:", "completionsMode:", "unknown field"},
		{"a key twice", "  parallelism: 4", "  parallelism: 4\n  parallelism: 5", "already set"},
		{"a wrong type", "completions: 8", "completions: many", "cannot unmarshal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(string(text), tt.old, tt.new, 1)
			if changed == string(text) {
				t.Fatalf("the manifest has no %q", tt.old)
			}
			if _, err := readManifest([]byte(changed)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error of %q", err, tt.want)
			}
		})
	}
}
