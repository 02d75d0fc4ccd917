// Kubernetes checks manifests of Jobs, Pods and PersistentVolumeClaims as the API
// server does when one is created, without a server: strict decoding, in which an
// unknown field is an error, the defaults, then the server's own validation. It
// is a module of its own because that code brings hundreds of packages along.
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
	"k8s.io/kubernetes/pkg/api/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/batch"
	batchinstall "k8s.io/kubernetes/pkg/apis/batch/install"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	coreinstall "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
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
// one or more YAML documents.
func check(text []byte) error {
	objects := 0
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
		if err := checkObject(document); err != nil {
			return err
		}
		objects++
	}
	if objects == 0 {
		return errors.New("the manifest has no object")
	}
	return nil
}

// checkObject puts an object through what the server does before it stores a
// new one.
func checkObject(document []byte) error {
	obj, err := decode(document)
	if err != nil {
		return err
	}
	var errs field.ErrorList
	var warnings []string
	ctx := context.Background()
	switch o := obj.(type) {
	case *batch.Job:
		complete(o)
		errs = batchvalidation.ValidateJob(o, batchvalidation.JobValidationOptions{
			PodValidationOptions:  pod.GetValidationOptionsFromPodTemplate(&o.Spec.Template, nil),
			RequirePrefixedLabels: true,
		})
		warnings = job.WarningsForJobSpec(ctx, field.NewPath("spec"), &o.Spec, nil)
	case *core.Pod:
		o.Namespace = metav1.NamespaceDefault
		errs = corevalidation.ValidatePodCreate(o, pod.GetValidationOptionsFromPodSpecAndMeta(&o.Spec, nil, &o.ObjectMeta, nil))
		warnings = pod.GetWarningsForPod(ctx, o, nil)
	case *core.PersistentVolumeClaim:
		o.Namespace = metav1.NamespaceDefault
		errs = corevalidation.ValidatePersistentVolumeClaim(o, corevalidation.ValidationOptionsForPersistentVolumeClaim(o, nil))
		warnings = persistentvolumeclaim.GetWarningsForPersistentVolumeClaim(o)
	default:
		return fmt.Errorf("%T: want a Job, a Pod or a PersistentVolumeClaim", obj)
	}
	if len(errs) > 0 {
		return errs.ToAggregate()
	}
	if len(warnings) > 0 {
		return fmt.Errorf("the server warns: %q", warnings)
	}
	return nil
}

// decode reads a document with the defaults for what it leaves out; unknown and
// duplicate fields are errors.
func decode(document []byte) (runtime.Object, error) {
	scheme := runtime.NewScheme()
	batchinstall.Install(scheme)
	coreinstall.Install(scheme)
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(batch.SchemeGroupVersion, core.SchemeGroupVersion)
	obj, _, err := decoder.Decode(document, nil, nil)
	return obj, err
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
