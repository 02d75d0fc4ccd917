package main

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"polkrepro/kernel"
	"polkrepro/loss"
	"polkrepro/polk"
	"polkrepro/polk/prune"
)

func read(p string, names map[string]int) (x [][]float64, y []float64) {
	f, _ := os.Open(p)
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		w := strings.Split(s.Text(), ",")
		r := make([]float64, len(w)-1)
		for i := range r {
			r[i], _ = strconv.ParseFloat(w[i], 64)
		}
		l := w[len(w)-1]
		if _, ok := names[l]; !ok {
			names[l] = len(names)
		}
		x = append(x, r)
		y = append(y, float64(names[l]))
	}
	return
}

type sched struct {
	eta      float64
	from, to int
}

func (s sched) Rate(t int) float64 {
	if t < s.from {
		return s.eta
	}
	return s.eta * math.Max(1e-3, float64(s.to-t)/float64(s.to-s.from))
}
func (s sched) Validate(float64) error { return nil }

func cpu() float64 {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
}

func floats(s string) (o []float64) {
	for _, w := range strings.Split(s, ",") {
		v, _ := strconv.ParseFloat(w, 64)
		o = append(o, v)
	}
	return
}

func main() {
	sets := flag.String("sets", "", "")
	orders := flag.String("orders", "500", "")
	pruners := flag.String("pruners", "komp-order", "")
	etas := flag.String("etas", "2", "")
	bws := flag.String("bws", "0.5", "")
	passes := flag.String("passes", "4", "")
	decay := flag.Float64("decay", 0, "fraction from which the rate decays; 1 none")
	batches := flag.String("batches", "32", "")
	scales := flag.String("scales", "standard", "")
	lname := flag.String("loss", "multi-hinge", "")
	lams := flag.String("lams", "1e-6", "")
	threads := flag.Int("threads", 1, "")
	limit := flag.Int("n", 0, "")
	ks := flag.String("ks", "0.01", "")
	flag.Parse()
	for _, set := range strings.Split(*sets, ",") {
		names := map[string]int{}
		X, Y := read("/tmp/w/d/sets/"+set+"/train.csv", names)
		U, V := read("/tmp/w/d/sets/"+set+"/test.csv", names)
		p := len(X[0])
		for _, sc := range strings.Split(*scales, ",") {
			n := len(X)
			if *limit > 0 {
				n = min(n, *limit)
			}
			x := make([]float32, n*p)
			u := make([]float32, len(U)*p)
			for q := range p {
				var s, s2 float64
				lo, hi := math.Inf(1), math.Inf(-1)
				for _, r := range X[:n] {
					s += r[q]
					s2 += r[q] * r[q]
					lo = min(lo, r[q])
					hi = max(hi, r[q])
				}
				m := s / float64(n)
				d := math.Sqrt(s2/float64(n) - m*m)
				if sc == "unit" {
					m, d = lo, hi-lo
				}
				if !(d > 0) {
					d = math.Inf(1)
				}
				for i, r := range X[:n] {
					x[i*p+q] = float32((r[q] - m) / d)
				}
				for i, r := range U {
					u[i*p+q] = float32((r[q] - m) / d)
				}
			}
			med := median(min(n, 500), p, x)
			for _, pr := range strings.Split(*pruners, ",") {
				for _, M := range floats(*orders) {
					for _, bw := range floats(*bws) {
						for _, eta := range floats(*etas) {
							for _, ps := range floats(*passes) {
								for _, bt := range floats(*batches) {
									for _, lam := range floats(*lams) {
									for _, K := range floats(*ks) {
										l, _ := loss.ByName(*lname)
										var inst *prune.Instance
										switch pr {
										case "komp":
										case "none":
											inst, _ = prune.Find(pr, nil)
										default:
											var err error
											inst, err = prune.Find(pr, prune.Params{"order": M})
											if err != nil {
												panic(err)
											}
										}
										B := int(bt)
										T := int(ps * float64(n) / bt)
										L, err := polk.New(polk.Config{Kernel: kernel.Gaussian{Bandwidth: bw * med}, Loss: l, Classes: len(names), Dim: p, Regularizer: lam,
											LearningRate: sched{eta, int(*decay * float64(T)), T}, Budget: polk.Parsimony(K), Pruner: inst, Threads: *threads})
										if err != nil {
											panic(err)
										}
										c0 := cpu()
										rng := rand.New(rand.NewPCG(1, 2))
										var perm []int
										bx := make([]float32, B*p)
										by := make([]float64, B)
										for range T {
											for i := range B {
												if len(perm) == 0 {
													perm = rng.Perm(n)
												}
												j := perm[0]
												perm = perm[1:]
												copy(bx[i*p:], x[j*p:(j+1)*p])
												by[i] = Y[j]
												if l.Outputs(3) == 1 {
													by[i] = 2*Y[j] - 1
												}
											}
											if err := L.Step(B, bx, by); err != nil {
												fmt.Println(err)
												break
											}
										}
										c1 := cpu()
										e := L.Expansion()
										var s kernel.Scorer
										out := make([]float64, len(U)*e.Outputs)
										s.Scores(e, len(U), u, out, 1)
										wrong := 0
										for i := range U {
											f := out[i*e.Outputs : (i+1)*e.Outputs]
											c := 0
											if e.Outputs > 1 {
												c = loss.Predict(f)
											} else if f[0] > 0 {
												c = 1
											}
											if float64(c) != V[i] {
												wrong++
											}
										}
										fmt.Printf("%-14s %-8s %-10s M %4g bw %5.3g eta %4g ps %3g b %2g lam %g K %g: order %4d err %5.2f cpu %.2f\n", set, sc, pr, M, bw, eta, ps, bt, lam, K, e.Order(), 100*float64(wrong)/float64(len(U)), c1-c0)
									}
									}
								}
							}
						}
					}
				}
			}
		}
	}
}

func median(n, p int, x []float32) float64 {
	var d []float64
	for i := range n {
		for j := range i {
			var s float64
			for q := range p {
				v := float64(x[i*p+q] - x[j*p+q])
				s += v * v
			}
			d = append(d, s)
		}
	}
	slices.Sort(d)
	return math.Sqrt(d[len(d)/2])
}
