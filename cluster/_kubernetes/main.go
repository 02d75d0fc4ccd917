// Kubernetes checks manifests of Jobs as the API server does when one is
// created, without a server: strict decoding, in which an unknown field is an
// error, the defaults, then the server's own validation of Jobs and of their
// pods. It is a module of its own because that code brings hundreds of packages
// along.
//
//	go run . MANIFEST...
//
// The exit status is 1 if a manifest is refused.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/job"
	"k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/batch"
	batchinstall "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/batch/validation"
	coreinstall "k8s.io/kubernetes/pkg/apis/core/install"
)

func main() {
	refused := false
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		if err == nil {
			err = check(text)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			refused = true
			continue
		}
		fmt.Printf("%s: accepted\n", path)
	}
	if refused {
		os.Exit(1)
	}
}

// check returns why the API server would refuse the manifest, or warn of it:
// one or more YAML documents, each a Job.
func check(text []byte) error {
	jobs := 0
	for r := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		json, err := yaml.ToJSON(document)
		if err != nil {
			return err
		}
		if string(json) == "null" {
			continue // comments alone
		}
		if err := checkJob(document); err != nil {
			return err
		}
		jobs++
	}
	if jobs == 0 {
		return errors.New("no Job")
	}
	return nil
}

// checkJob puts a Job through what the server does before it stores a new one.
func checkJob(document []byte) error {
	j, err := decode(document)
	if err != nil {
		return err
	}
	complete(j)
	errs := validation.ValidateJob(j, validation.JobValidationOptions{
		PodValidationOptions:  pod.GetValidationOptionsFromPodTemplate(&j.Spec.Template, nil),
		RequirePrefixedLabels: true,
	})
	if len(errs) > 0 {
		return errs.ToAggregate()
	}
	if warnings := job.WarningsForJobSpec(context.Background(), field.NewPath("spec"), &j.Spec, nil); len(warnings) > 0 {
		return fmt.Errorf("the server warns: %q", warnings)
	}
	return nil
}

// decode reads a document with the defaults for what it leaves out; fields that
// are unknown or there twice are errors.
func decode(document []byte) (*batch.Job, error) {
	scheme := runtime.NewScheme()
	batchinstall.Install(scheme)
	coreinstall.Install(scheme)
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(batch.SchemeGroupVersion)
	obj, _, err := decoder.Decode(document, nil, nil)
	if err != nil {
		return nil, err
	}
	j, ok := obj.(*batch.Job)
	if !ok {
		return nil, fmt.Errorf("a %T is no Job", obj)
	}
	return j, nil
}

// complete adds what the client and the server do to every new Job: a
// namespace, an identity, and the labels and the selector that tie its pods to
// it (jobStrategy.PrepareForCreate in Kubernetes' registry).
func complete(j *batch.Job) {
	const identity = "00000000-0000-4000-8000-000000000000"
	j.Namespace, j.UID = metav1.NamespaceDefault, identity
	if j.Spec.Template.Labels == nil {
		j.Spec.Template.Labels = make(map[string]string)
	}
	for label, value := range map[string]string{
		batch.LegacyJobNameLabel:       j.Name,
		batch.JobNameLabel:             j.Name,
		batch.LegacyControllerUidLabel: identity,
		batch.ControllerUidLabel:       identity,
	} {
		if _, found := j.Spec.Template.Labels[label]; !found {
			j.Spec.Template.Labels[label] = value
		}
	}
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batch.ControllerUidLabel: identity}}
	}
}
